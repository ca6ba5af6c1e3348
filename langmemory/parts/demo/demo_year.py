"""The part of the demo in which a year passes: what fades, what nights change and why, and taking it back."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langmemory.cli.screen import Screen
    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace

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
MONTH = "2026-07"
"""A month of the sample whose summary is shown."""


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
    title = "\nWhat faded, and what did not: the share that is left, and how it ages"
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
    if summary := store.get(namespace, f"summary/month/{MONTH}"):
        console.print(
            Text(f"\nThe summary of {MONTH}, by rules; each sentence names its sources", "bold")
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
