"""Python's own library as a search for documents, in BEIR's layout: the first sentence of a docstring
asks for the rest of it; with --texts one part of a long docstring, some hundred words, for the others.

    python -m benchmarks.documents OUT [--texts]
    langmemory eval OUT
"""

from __future__ import annotations

import ast
import json
import random
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

QUESTIONS = 400
LONGEST = 1_500
"""Characters of a document."""
PART_WORDS = 90
"""Words from which a part of a docstring ends with its paragraph."""
MOST_WORDS = 220
"""Of a part."""


def docstrings() -> Iterator[str]:
    """Of the modules, functions and classes of the library, without its tests."""
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted((*library.glob("*.py"), *library.glob("[!_]*/*.py"))):
        if {"test", "tests", "idlelib", "lib2to3", "site-packages"} & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8", errors="ignore"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                yield ast.get_docstring(node) or ""


def headed() -> Iterator[tuple[str, str]]:
    """(first paragraph, the rest) of docstrings."""
    for text in docstrings():
        first, *rest = re.split(r"\n\s*\n", text, maxsplit=1)
        yield " ".join(first.split()), " ".join("".join(rest).split())


def parts(text: str) -> list[str]:
    """A docstring cut between paragraphs, each part of some hundred words."""
    found: list[str] = []
    words: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        words += paragraph.split()
        if len(words) >= PART_WORDS:
            found.append(" ".join(words[:MOST_WORDS]))
            words = []
    if len(words) >= PART_WORDS // 2:
        found.append(" ".join(words))
    return found


def write(folder: Path) -> tuple[int, int]:
    """Write ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/test.tsv``; how many documents and
    questions. The same questions for the same Python."""
    documents = {
        first: rest[:LONGEST]
        for first, rest in headed()
        if 25 < len(first) < 160 and len(rest) >= 80
    }
    asked = random.Random(7).sample(sorted(documents), min(QUESTIONS, len(documents)))
    number = {first: n for n, first in enumerate(documents)}
    _write(
        folder,
        {f"d{number[q]}": text for q, text in documents.items()},
        {f"q{number[q]}": q for q in asked},
        [(f"q{number[q]}", f"d{number[q]}") for q in asked],
    )
    return len(documents), len(asked)


def write_texts(folder: Path) -> tuple[int, int]:
    """`write` for parts of docstrings that ask for their other parts; what asks is no document."""
    chosen = random.Random(7)
    cut = [found for text in dict.fromkeys(docstrings()) if (found := parts(text))]
    several = [number for number, found in enumerate(cut) if len(found) > 1]
    asking = {
        number: chosen.randrange(len(cut[number]))
        for number in chosen.sample(several, min(QUESTIONS, len(several)))
    }
    documents = {
        f"d{number}.{place}": text
        for number, found in enumerate(cut)
        for place, text in enumerate(found)
        if asking.get(number) != place
    }
    relevant = [
        (f"q{number}", f"d{number}.{other}")
        for number, place in asking.items()
        for other in range(len(cut[number]))
        if other != place
    ]
    queries = {f"q{number}": cut[number][place] for number, place in asking.items()}
    _write(folder, documents, queries, relevant)
    return len(documents), len(asking)


def _write(
    folder: Path,
    documents: Mapping[str, str],
    queries: Mapping[str, str],
    relevant: Sequence[tuple[str, str]],
) -> None:
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    _lines(folder / "corpus.jsonl", documents.items())
    _lines(folder / "queries.jsonl", queries.items())
    judged = "".join(f"{query}\t{document}\t1\n" for query, document in relevant)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)


def _lines(path: Path, rows: Iterable[tuple[str, str]]) -> None:
    texts = (json.dumps({"_id": name, "title": "", "text": text}) + "\n" for name, text in rows)
    path.write_text("".join(texts), encoding="utf-8")


if __name__ == "__main__":
    folders = [one for one in sys.argv[1:] if one != "--texts"]
    if len(folders) != 1:
        sys.exit(__doc__)
    written = (write_texts if "--texts" in sys.argv else write)(Path(folders[0]))
    print("{} documents, {} questions in {}".format(*written, folders[0]))
