"""The three parts of the demo: twelve questions to langmemory and to InMemoryStore, reflection, and a year
that passes."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langmemory.cli.reflect import text_of
from langmemory.errors import LangMemoryError

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from langmemory.cli.screen import Screen
    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace, Recall, RecallResult

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


WHERE = "Where does Lena live?"
BEFORE = datetime(2026, 3, 1, tzinfo=UTC)
AROUND = "What are the children of Lena's sister allergic to?"


def reflect(store: MemoryStore, namespace: Namespace, console: Screen) -> None:
    """Reflect all that was said, then ask what only knowledge can answer."""
    from langmemory.graphs.reflection import batches

    started = time.perf_counter()
    runs = [done for _, done in batches(store, namespace)]
    seconds = time.perf_counter() - started
    added = [key for run in runs for key in run["added"]]
    gone = {key for run in runs for key in run["superseded"]}
    console.print(
        f"{store.stats().by_kind['episodic']} messages read in {seconds:.1f} s: {len(added)} facts "
        f"about {len(store.graph(namespace).entities())} people and things, each with its "
        f"evidence; {len(gone)} no longer hold."
    )
    console.print(_facts(store, namespace, added, gone))
    _show_change(store, namespace, console)
    _show_way(store, namespace, console)
    show_picture(store, namespace, console)
    _show_undo(store, namespace, console, runs)


def _facts(store: MemoryStore, namespace: Namespace, keys: list[str], gone: set[str]) -> Any:
    """Two columns, what is over struck through."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    lines = [
        Text.assemble(
            ("– " if key in gone else "+ ", "red" if key in gone else "green"),
            (text_of(store, namespace, key), "dim strike" if key in gone else ""),
        )
        for key in keys
    ]
    half = (len(lines) + 1) // 2
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    for row in range(half):
        table.add_row(lines[row], lines[row + half] if row + half < len(lines) else "")
    return Padding(table, (1, 0))


def _show_change(store: MemoryStore, namespace: Namespace, console: Screen) -> None:
    """The same question for two dates, and why the answers differ."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    then = _facts_only(store, namespace, WHERE, as_of=BEFORE).results[0]
    now = _facts_only(store, namespace, WHERE).results[0]
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("in March", "dim"), then.text)
    for entry in store.changes.history(namespace, then.memory.key):
        table.add_row("", Text(f"{entry.action}: {entry.reason} ({entry.run_id})", "dim"))
    table.add_row(Text("now", "dim"), now.text)
    console.print(WHERE, style="bold")
    console.print(Padding(table, (0, 0, 0, 2)))


def _show_way(store: MemoryStore, namespace: Namespace, console: Screen) -> None:
    """A question whose answer names nobody in it, and how the graph leads there."""
    from rich.text import Text

    found = _facts_only(store, namespace, AROUND).results[0]
    way = store.graph(namespace).paths("Lena", "Emil")[0]
    console.print(Text.assemble("\n", (AROUND, "bold"), "\n  ", found.text))
    console.print(Text(f"  in the graph: {way}", "dim"))


def show_picture(store: MemoryStore, namespace: Namespace, console: Screen) -> None:
    from rich.text import Text

    file = Path(tempfile.gettempdir()) / "langmemory-demo.png"
    try:
        store.graph(namespace).subgraph("Lena", 3, past=True).draw(file)
    except (ImportError, OSError) as error:  # where it may not be written, as over another user's
        console.print(f"\nNo picture: {error}", style="yellow")
        return
    console.print(Text.assemble("\nAll of it as a picture: ", (str(file), "bold")), soft_wrap=True)


def _show_undo(
    store: MemoryStore, namespace: Namespace, console: Screen, runs: list[dict[str, Any]]
) -> None:
    """Take back the run that moved Lena, in a copy: the old answer is back."""
    from rich.text import Text

    from langmemory.stores import MemoryStore

    moved = next(run for run in reversed(runs) if run["superseded"])
    with MemoryStore(":memory:") as copy:
        copy.admin.import_rows(list(store.admin.export()))
        copy.changes.undo(moved["run_id"])
        found = _facts_only(copy, namespace, WHERE).results[0]
    console.print(f"\nlangmemory undo {moved['run_id']}", style="bold")
    as_before = "As before that run, in a copy of the file."
    console.print(Text.assemble(f"  {found.text} ", (as_before, "dim")))


def _facts_only(store: MemoryStore, namespace: Namespace, query: str, **options: Any) -> Recall:
    options |= {"kinds": ("semantic",), "limit": 1, "explain": True}
    return store.recall(query, namespace, **options)


FROM = datetime(2026, 11, 9, tzinfo=UTC)
"""The day after the last message of the sample."""
DAYS = (91, 182, 273, 365)
"""Days after it on which a night is simulated."""
ASKED: Final = {
    "What is Emil allergic to?": 13,
    "Who are Lena's friends?": 1,
    "Who is Fritzi?": 1,
    "Who is Tomás?": 1,
    "Where does Lena live?": 1,
    "Where does Lena work?": 1,
    "Where does Katrin live?": 1,
}
"""Questions, and how often each is asked in a quarter."""
LIKELY = 0.5
"""Score from which an answer cites a memory."""
FADED = 3
TOLD = {"promote": 2, "demote": 2}
"""How many sentences of a task are shown."""
DAY = "2026-07-12"
"""A day of the sample whose summary is shown."""


def pass_a_year(store: MemoryStore, namespace: Namespace, console: Screen) -> None:
    """Let a year pass with a night each quarter; show what faded and changed, and take it back."""
    from rich.text import Text

    from langmemory.cli.maintain import sentence
    from langmemory.cli.screen import FOLD, WHOLE, facts_table
    from langmemory.graphs.maintenance import build_maintenance_graph

    before, started = _known(store), time.perf_counter()
    clock = [FROM]
    graph = build_maintenance_graph(store, now=lambda: clock[0])
    nights, told = list[str](), dict[str, list[str]]()
    for days in DAYS:
        clock[0] = FROM + timedelta(days=days)
        _cite(store, namespace, clock[0])
        found = graph.invoke({"namespace": list(namespace)})
        nights.append(found["night"])
        for report in found["reports"]:
            told.setdefault(report["task"], []).extend(report["told"])
    seconds = time.perf_counter() - started
    changes = sum(map(len, told.values()))
    console.print(
        f"{len(DAYS)} nights of a simulated year in {seconds:.1f} s: {changes} changes. Emil's allergy "
        f"was asked for every week; friends, homes and jobs every quarter; nothing else."
    )
    faded = store.lifecycle.retention(namespace, now=clock[0], limit=1_000)
    faded.sort(key=lambda one: one.retention)
    title = "\nHow recently each was used: it changes no ranking, nights ask about what nobody uses"
    console.print(Text(title, "bold"))
    for one in (*faded[:FADED], *faded[-FADED:]):
        figures = f"  {one.retention:.2f} {one.temporal_class:9}  "
        console.print(Text.assemble((figures, "dim"), one.memory.text))
    console.print(Text("\nWhat changed, and why", "bold"))
    table = facts_table(WHOLE, FOLD)
    for task, most in TOLD.items():
        for line in told.get(task, ())[:most]:
            table.add_row(Text(f"  {task}", "dim"), sentence(line))
    console.print(table)
    fading = [one for one in store.changes.reviews(namespace) if one.about == "decay"]
    for review in fading[:1]:
        console.print(Text("\nWhat a person is asked", "bold"))
        answers = f"langmemory reviews answers it: {', '.join(review.options)}."
        table = facts_table(WHOLE, FOLD)
        table.add_row(Text(" "), Text.assemble(f"{review.question}\n", (answers, "dim")))
        console.print(table)
    if summary := store.get(namespace, f"summary/day/{DAY}"):
        console.print(
            Text(f"\nThe summary of {DAY}, by rules; each sentence names its sources", "bold")
        )
        table = facts_table(WHOLE, FOLD)
        for one in summary.value["sentences"]:
            table.add_row(Text(" "), Text(one["text"]))
        console.print(table)
    runs = sum(
        len(store.lifecycle.undo(night).applied) for night in reversed(nights) if _ran(store, night)
    )
    same = "the same as before" if _known(store) == before else "not the same"
    console.print(f"\nThe nights were taken back, {runs} runs: memory is {same}.")


def _ran(store: MemoryStore, night: str) -> bool:
    return night in {one.id for one in store.lifecycle.nights()}


def _cite(store: MemoryStore, namespace: Namespace, at: datetime) -> None:
    """Count the answers of a quarter, which cited what each question finds, the last ones now."""
    from langmemory.context.citations import Usage

    for question, times in ASKED.items():
        found = store.recall(question, namespace, kinds=["semantic"], limit=3, min_score=LIKELY)
        store.admin.count_usage(
            [
                Usage(
                    namespace=list(namespace), key=one.memory.key, loaded=times, referenced=times,
                    succeeded=times, read_tokens=0, discovery_tokens=0, matched=times,
                    relevance=0.9 * times, cited_at_us=int(at.timestamp() * 1_000_000),
                )
                for one in found
            ]
        )  # fmt: skip
    store.admin.usage()


def _known(store: MemoryStore) -> list[object]:
    """All that the file knows, without counters and the record of what happened."""
    counters = {"access_count", "accessed_at"}
    return [
        {name: told for name, told in row.items() if name not in counters}
        for row in store.admin.export(history=False)
        if row["type"] in ("item", "entity", "edge")
    ]
