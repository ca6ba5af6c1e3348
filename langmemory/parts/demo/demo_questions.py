"""The part of the demo that asks: twelve questions, to langmemory and to LangGraph's InMemoryStore."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langmemory.errors import LangMemoryError

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from langmemory.cli.screen import Screen
    from langmemory.stores import MemoryStore
    from langmemory.types import RecallResult

NAMESPACE = ("memories", "lena")

TOP = 3
"""The expected memory should be among the first three."""

PLACES = {1: "✓", 2: "2nd", 3: "3rd", None: "–"}
"""How the place of an expected memory is shown."""

LEGEND = f"✓ found first; 2nd and 3rd its place; – not among the first {TOP}.\n"

EXCERPT_CHARACTERS = 140

TABLE_COLUMNS = 72
"""In a narrower terminal the answers stand under each other."""

THEIRS = "InMemoryStore"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question of `questions.jsonl` and the messages that answer it."""

    question: str
    expected: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The memory that recall found for a question."""

    question: Question
    shown: RecallResult | None
    """The memory that answers it, else what was found first, if anything was."""
    rank: int | None
    """1-based place of the first expected message among the first `TOP`, else None."""
    milliseconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """The place of the same question's answer in LangGraph's store."""

    rank: int | None
    milliseconds: float


def sample_folder() -> Path:
    """`examples/data` of the repository, or its copy in the installed package.

    Raises:
        LangMemoryError: Neither is there.
    """
    package = Path(__file__).resolve().parents[2]
    for folder in (package.parent / "examples" / "data", package / "examples"):
        if (folder / "lena.jsonl").is_file():
            return folder
    raise LangMemoryError(
        "the sample conversation is not installed: clone the repository and run the demo there"
    )


def example_answer() -> str:
    """Return an answer to the demo's last message, written by hand, for who has no model running."""
    return (sample_folder() / "answer.txt").read_text(encoding="utf-8").strip()


def questions() -> list[Question]:
    lines = (sample_folder() / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Question(**{**row, "expected": tuple(row["expected"])}) for row in rows]


def answer(store: MemoryStore, question: Question) -> Answer:
    started = time.perf_counter()
    recall = store.recall(question.question, NAMESPACE, limit=TOP, explain=True)
    milliseconds = (time.perf_counter() - started) * 1000
    rank = _rank([str(one.memory.value.get("message_id")) for one in recall], question.expected)
    shown = recall.results[(rank or 1) - 1] if recall.results else None
    return Answer(question=question, shown=shown, rank=rank, milliseconds=milliseconds)


def their_places(store: MemoryStore) -> list[Place]:
    """Ask LangGraph's store, which has the same messages and the same embedding model, every question."""
    from langgraph.store.memory import InMemoryStore

    assert store.embeddings is not None  # the demo's own file has them
    dims = len(store.embeddings.embed_query("?"))
    other = InMemoryStore(index={"embed": store.embeddings, "dims": dims, "fields": ["content"]})
    for item in store.search(NAMESPACE, limit=store.stats().items):
        other.put(NAMESPACE, str(item.value["message_id"]), {"content": item.value["content"]})
    places = []
    for question in questions():
        started = time.perf_counter()
        found = other.search(NAMESPACE, query=question.question, limit=TOP)
        milliseconds = (time.perf_counter() - started) * 1000
        rank = _rank([item.key for item in found], question.expected)
        places.append(Place(rank=rank, milliseconds=milliseconds))
    return places


def _rank(ids: Sequence[str], expected: Sequence[str]) -> int | None:
    return next((rank for rank, id in enumerate(ids, start=1) if id in expected), None)


def show(answers: list[Answer], theirs: list[Place], memories: int, console: Screen) -> None:
    """Show each question with the memory found and its place, hits first, and what that comes to."""
    rows = sorted(zip(answers, theirs, strict=True), key=lambda row: row[0].rank or TOP + 1)
    console.print(_table(rows) if console.width >= TABLE_COLUMNS else _list(rows))
    console.print(LEGEND, style="dim")
    ours = f"{_sum([one.rank for one in answers], f'of {memories} memories, ')}"
    console.print(f"langmemory: {ours}.")
    same = f"{THEIRS}, with the same embedding model: {_sum([one.rank for one in theirs])}."
    console.print(same)
    milliseconds = statistics.median(one.milliseconds for one in answers)
    their_milliseconds = statistics.median(one.milliseconds for one in theirs)
    console.print(
        f"A question takes langmemory {milliseconds:.1f} ms with its explanation, {THEIRS} "
        f"{their_milliseconds:.1f} ms (median)."
    )


def _sum(ranks: Sequence[int | None], of: str = "") -> str:
    found = sum(rank is not None for rank in ranks)
    among = f"answers among the first {TOP} {of}" if of else "among them, "
    return f"{found} of {len(ranks)} {among}{ranks.count(1)} of them first"


def _table(rows: list[tuple[Answer, Place]]) -> Table:
    from rich.console import Group
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 1, 0), header_style="dim", expand=True)
    table.add_column("question, and what was found", ratio=1, overflow="fold")
    for name in ("langmemory", THEIRS):
        table.add_column(name, justify="center", no_wrap=True)
    for number, (one, their) in enumerate(rows):
        text = Group(_question(one), *_found(one, explained=not number))
        table.add_row(text, _place(one.rank), _place(their.rank))
    return table


def _list(rows: list[tuple[Answer, Place]]) -> Group:
    """As `_table`, for terminals too narrow for it."""
    from rich.console import Group
    from rich.text import Text

    lines: list[Any] = []
    for number, (one, their) in enumerate(rows):
        places = Text.assemble(
            ("langmemory ", "dim"), _place(one.rank),
            (f" · {THEIRS} ", "dim"), _place(their.rank),
        )  # fmt: skip
        lines += [_question(one), places, *_found(one, explained=not number), Text()]
    return Group(*lines)


def _question(one: Answer) -> Text:
    from rich.text import Text

    return Text(one.question.question, "bold")


def _place(rank: int | None) -> Text:
    from rich.text import Text

    return Text(PLACES[rank], "dim" if rank is None else "green" if rank == 1 else "yellow")


def _found(one: Answer, *, explained: bool) -> Iterator[Text]:
    """Yield the memory, who said it when, and, where it is to be ``explained``, why it was found."""
    from rich.text import Text

    from langmemory.cli.results import excerpt, when, who, why

    if one.shown is None:
        yield Text("Nothing was found.", "dim")
        return
    yield excerpt(one.shown, EXCERPT_CHARACTERS)
    instead = "" if one.rank else "found instead: "
    yield Text(f"{instead}{who(one.shown)}, {when(one.shown)}", "dim")
    if explained:
        because = " · ".join(line.plain.removeprefix("+ ") for line in why(one.shown).split())
        yield Text(f"why: {because}", "dim")
