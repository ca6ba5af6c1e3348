"""Python's own library as a search for documents, in BEIR's layout: the first sentence of a docstring
asks for the rest of it.

    python -m benchmarks.documents OUT
    langmemory eval OUT
"""

from __future__ import annotations

import ast
import json
import random
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

QUESTIONS = 400
LONGEST = 1_500
"""Characters of a document."""


def docstrings() -> Iterator[tuple[str, str]]:
    """(first paragraph, the rest) of the functions and classes of the library, without its tests."""
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted((*library.glob("*.py"), *library.glob("[!_]*/*.py"))):
        if {"test", "tests", "idlelib", "lib2to3", "site-packages"} & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8", errors="ignore"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                first, *rest = re.split(r"\n\s*\n", ast.get_docstring(node) or "", maxsplit=1)
                yield " ".join(first.split()), " ".join("".join(rest).split())


def write(folder: Path) -> tuple[int, int]:
    """Write ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/test.tsv``; how many documents and
    questions. The same questions for the same Python."""
    documents = {
        first: rest[:LONGEST]
        for first, rest in docstrings()
        if 25 < len(first) < 160 and len(rest) >= 80
    }
    asked = random.Random(7).sample(sorted(documents), min(QUESTIONS, len(documents)))
    number = {first: n for n, first in enumerate(documents)}
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    _lines(folder / "corpus.jsonl", ((f"d{number[q]}", text) for q, text in documents.items()))
    _lines(folder / "queries.jsonl", ((f"q{number[q]}", q) for q in asked))
    relevant = "".join(f"q{number[q]}\td{number[q]}\t1\n" for q in asked)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + relevant)
    return len(documents), len(asked)


def _lines(path: Path, rows: Iterator[tuple[str, str]]) -> None:
    texts = (json.dumps({"_id": name, "title": "", "text": text}) + "\n" for name, text in rows)
    path.write_text("".join(texts), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("{} documents, {} questions in {}".format(*write(Path(sys.argv[1])), sys.argv[1]))
