"""Documents beside talk: Python's own library, read by `store.documents`, and asked by its docstrings.

The first sentence of 400 docstrings is taken out of the library's source and asked for; found is it if a
part with the rest of the docstring is among the first ten. The keyword arm and the semantic arm are
`store.search` of the same file with one arm alone. Then conversations are remembered into the same
namespace, and both are asked again.

    python -m benchmarks.reference [--half fit|test] [--folder KEEP] [--out benchmarks/results/documents.md]
"""

from __future__ import annotations

import argparse
import ast
import random
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from benchmarks.documents import QUESTIONS
from benchmarks.machine import description
from langmemory import MemoryStore
from langmemory.config import Config, SearchConfig
from langmemory.parts.evals.corpus import Corpus
from langmemory.parts.evals.loaders import load
from langmemory.parts.evals.ours import remembered_turns
from langmemory.types import Namespace, SearchMode

PLACE: Namespace = ("team",)
TALK = ("assistant", "work", "friends")
"""Of benchmarks/conversations."""
FOLDER = Path(__file__).parent
SHOWN = 10


@dataclass(frozen=True)
class Asked:
    """A question, and the lines of a file that answer it."""

    text: str
    path: str
    first_line: int
    last_line: int


def docstrings(source: str) -> Iterator[tuple[str, int, int, int]]:
    """Yield the first sentences of docstrings, where they begin and where the rest begins and ends, in
    lines from 0."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            continue
        text = ast.get_docstring(node, clean=False)
        if not text or not text.strip():
            continue
        begins = node.body[0].lineno - 1
        ends = (node.body[0].end_lineno or begins + 1) - 1
        rest = begins + sum(1 for _ in takewhile(str.strip, lines[begins : ends + 1]))
        first = " ".join(text.strip().split("\n\n")[0].split())
        if 25 < len(first) < 160 and rest < ends and sum(map(len, lines[rest:ends])) >= 80:
            yield first, begins, rest, ends


def library(folder: Path) -> list[Asked]:
    """Write the library without the sentences that are asked; return what is asked. The same for the same
    Python."""
    root = Path(sysconfig.get_path("stdlib"))
    left_out = {"test", "tests", "idlelib", "lib2to3", "site-packages", "config-3"}
    sources: dict[str, str] = {}
    found: dict[str, tuple[str, int, int, int]] = {}
    for path in sorted((*root.glob("*.py"), *root.glob("[!_]*/*.py"))):
        if left_out & set(path.parts) or path.stat().st_size > 400_000:
            continue
        name = path.relative_to(root).as_posix()
        sources[name] = path.read_text("utf-8", "replace")
        for first, *places in docstrings(sources[name]):
            found.setdefault(first, (name, *places))
    chosen = random.Random(7).sample(sorted(found), QUESTIONS)
    lines = {name: text.splitlines() for name, text in sources.items()}
    for first in chosen:
        name, begins, rest, _ = found[first]
        opening = lines[name][begins]
        lines[name][begins] = opening[: opening.index('"""') + 3] if '"""' in opening else '"""'
        lines[name][begins + 1 : rest] = [""] * (rest - begins - 1)
    for name, kept in lines.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(kept) + "\n", "utf-8")
    return [
        Asked(first, found[first][0], found[first][2] + 1, found[first][3] + 1) for first in chosen
    ]


def holds(value: Mapping[str, str], asked: Asked) -> bool:
    """Return whether a part of a document has lines of the answer."""
    if value.get("path") != asked.path or not value.get("place"):
        return False
    first, _, last = value["place"].removeprefix("L").partition("-L")
    return int(first) <= asked.last_line and int(last or first) >= asked.first_line


def share(found: Iterable[bool]) -> float:
    """Return how many of all, 0 to 1."""
    every = list(found)
    return sum(every) / len(every)


def remember(store: MemoryStore, corpus: Corpus) -> dict[str, str]:
    """Remember conversations; return the key of each turn."""
    keys: dict[str, str] = {}
    for conversation in corpus.conversations:
        for session in conversation.sessions:
            turns = remembered_turns(session)
            messages = [
                {"role": "assistant" if one.speaker == "assistant" else "user", "name": one.speaker or "",
                 "content": one.text}
                for one in turns
            ]  # fmt: skip
            thread = f"{corpus.name}/{conversation.id}/{session.id}"
            made = store.remember(PLACE, messages, thread_id=thread, at=session.at)
            keys |= {
                f"{conversation.id}/{turn.id}": key for turn, key in zip(turns, made, strict=True)
            }
    return keys


def opened(path: Path, mode: SearchMode = "hybrid") -> MemoryStore:
    """Open the file with one arm or both."""
    return MemoryStore(path, config=Config(search=SearchConfig(mode=mode)))


def recalled(store: MemoryStore, question: str) -> list[tuple[str, Mapping[str, str]]]:
    """Return keys and values of the first ten of a recall."""
    results = store.recall(question, PLACE, limit=SHOWN).results
    return [(one.memory.key, one.memory.value) for one in results]


def searched(store: MemoryStore, question: str) -> list[tuple[str, Mapping[str, str]]]:
    """Return those of a search."""
    return [(one.key, one.value) for one in store.search(PLACE, query=question, limit=SHOWN)]


Look = Callable[[MemoryStore, str], list[tuple[str, Mapping[str, str]]]]


def of_documents(store: MemoryStore, look: Look, asked: list[Asked]) -> float:
    """Return how many questions to the library are answered."""
    return share(any(holds(value, one) for _, value in look(store, one.text)) for one in asked)


def of_talk(
    store: MemoryStore, look: Look, corpora: list[Corpus], keys: Mapping[str, str], half: int
) -> float:
    """Return how much of the evidence of questions to the talk is found."""
    shares = []
    for corpus in corpora:
        for number, one in enumerate(corpus.scored):
            if number % 2 == half:
                wanted = {keys[f"{one.conversation}/{turn}"] for turn in one.evidence}
                found = {key for key, _ in look(store, one.text)}
                shares.append(len(wanted & found) / len(wanted))
    return sum(shares) / len(shares)


def measure(folder: Path, half: int) -> list[str]:
    """Measure all, and return the lines of the report."""
    path = folder / "memory.db"
    text = folder / "library"
    asked = library(text)
    started = time.perf_counter()
    if not path.exists():
        with opened(path) as store:
            done = store.documents.add(text, namespace=PLACE)
            print(
                f"{len(done.added)} files, {done.chunks} parts, {time.perf_counter() - started:.0f} s"
            )
    chosen = asked[half::2]
    corpora = [load(FOLDER / "conversations" / f"{name}.jsonl") for name in TALK]
    rows: list[tuple[str, float, float, float, float]] = []
    alone: dict[str, float] = {}
    arms: list[tuple[str, SearchMode, Look]] = [
        ("keyword arm", "keyword", searched), ("semantic arm", "semantic", searched),
        ("`search`", "hybrid", searched), ("`recall`", "hybrid", recalled),
    ]  # fmt: skip
    for name, mode, look in arms:
        with opened(path, mode) as store:
            alone[name] = of_documents(store, look, chosen)
            print(name, f"{alone[name]:.3f}", flush=True)
    keys: dict[str, str] = {}
    with opened(folder / "talk.db") as talk:
        for corpus in corpora:
            keys |= remember(talk, corpus)
        talks = {
            name: of_talk(talk, look, corpora, keys, half)
            for name, _, look in arms
            if name[0] == "`"
        }
    both = folder / "both.db"
    both.write_bytes(path.read_bytes())
    with opened(both) as store:
        for corpus in corpora:
            remember(store, corpus)
        for name, _, look in arms[2:]:
            documents = of_documents(store, look, chosen)
            talked = of_talk(store, look, corpora, keys, half)
            rows.append((name, alone[name], documents, talks[name], talked))
            print(name, *(f"{one:.3f}" for one in rows[-1][1:]), flush=True)
    questions = sum(len(corpus.scored[half::2]) for corpus in corpora)
    return [
        f"| {len(chosen)} questions to documents, {questions} to talk | documents alone | beside talk | "
        "talk alone | beside documents |",
        "|---|---|---|---|---|",
        *(f"| {name} | {alone[name]:.3f} | | | |" for name, _, _ in arms[:2]),
        *("| {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |".format(*row) for row in rows),
    ]


def main() -> None:
    """Measure one half of the questions, and write or print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("fit", "test"), default="test")
    parser.add_argument("--folder", type=Path, help="Keep the files here, for the next time.")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("talk.db", "both.db"):
            for old in folder.glob(f"{name}*"):
                old.unlink()
        lines = measure(folder, ("fit", "test").index(options.half))
    facts = [f"- {name}: {fact}" for name, fact in description(None).items()][:5]
    report = "\n".join(
        ["# Documents and talk", "", f"`python -m benchmarks.reference --half {options.half}`; recall@10.",
         "", *facts, "", *lines, ""]
    )  # fmt: skip
    if options.out is None:
        print(report)
    else:
        options.out.write_text(report, "utf-8")


if __name__ == "__main__":
    main()
