"""The part of the demo in which a year passes: what fades, what nights change and why, and taking it back."""

from __future__ import annotations

import re
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langmemory.cli.screen import Screen
    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace

FROM = datetime(2026, 11, 9, tzinfo=UTC)
"""The day after the last message of the sample."""
DAYS = (91, 182, 273, 365)
"""Days after it on which a night is simulated."""
CITED = "What are the twins allergic to?"
"""A question that is asked every week of the year."""
FADED = 3
TOLD = {"promote": 2, "demote": 2, "consolidate": 1}
"""How many sentences of a task are shown."""
MONTH, MONTH_LINES = "2026-07", 5
"""A month of the sample, and the lines of its page that are shown."""
PAGE = 5
"""Lines that are shown of what is new on, and gone from, `MEMORY.md`."""


def pass_a_year(store: MemoryStore, namespace: Namespace, console: Screen) -> None:
    """Let a year pass with a night each quarter; show what faded and changed, and take it back."""
    from rich.text import Text

    from langmemory.cli.maintain import sentence
    from langmemory.cli.screen import FOLD, WHOLE, facts_table
    from langmemory.graphs.maintenance import build_maintenance_graph

    before, page, started = _known(store), _page(store, namespace), time.perf_counter()
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
        f"{len(DAYS)} nights of a simulated year in {seconds:.1f} s: {changes} changes. The twins' "
        f"allergy was asked for every week, nothing else."
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
    console.print(Text(f"\nThe journal's page of {MONTH}, in short", "bold"))
    for line in _month(store, namespace):
        console.print(Text(f"  {line}", no_wrap=True, overflow="ellipsis"))
    after = _page(store, namespace)
    console.print(
        Text.assemble(
            ("\nMEMORY.md", "bold"),
            f", {len(page)} lines before and {len(after)} after, among them",
        )
    )
    for sign, style, lines in (
        ("-", "red", [one for one in page if one not in after]),
        ("+", "green", [one for one in after if one not in page]),
    ):
        for line in lines[:PAGE]:
            console.print(Text(f"  {sign} {line}", style, no_wrap=True, overflow="ellipsis"))
    runs = sum(
        len(store.lifecycle.undo(night).applied) for night in reversed(nights) if _ran(store, night)
    )
    same = "the same as before" if _known(store) == before else "not the same"
    console.print(f"\nThe nights were taken back, {runs} runs: memory is {same}.")


def _month(store: MemoryStore, namespace: Namespace) -> list[str]:
    """Return the figures, themes and changes of the page of a month."""
    from langmemory.projections.journal.month_page import render

    lines = [
        line for page in store.journal.month(namespace, MONTH) for line in render(page).splitlines()
    ]
    shown = (line for line in lines[2:] if " facts on " in line or "→" in line)
    return [re.sub(r"\[([^\]]+)\]", r"\1", line.lstrip("# -")) for line in shown][:MONTH_LINES]


def _page(store: MemoryStore, namespace: Namespace) -> list[str]:
    """Return the lines of `MEMORY.md`, without their ids."""
    with tempfile.TemporaryDirectory() as folder:
        pages = store.journal.memory_files(folder)
        tokens = store.config.lifecycle.memory_page_tokens
        pages.write(namespace, budget_tokens=tokens, now_us=int(FROM.timestamp() * 1_000_000))
        lines = [
            line.rpartition(" ^")[0]
            for file in sorted(Path(folder).rglob("MEMORY.md"))
            for line in file.read_text("utf-8").splitlines()
        ]
    return [line.lstrip("- ") for line in lines if line]


def _ran(store: MemoryStore, night: str) -> bool:
    return night in {one.id for one in store.lifecycle.nights()}


def _cite(store: MemoryStore, namespace: Namespace, at: datetime) -> None:
    """Count thirteen answers that cited what the weekly question finds, the last one now."""
    from langmemory.context.citations import Usage

    best = store.recall(CITED, namespace, kinds=["semantic"], limit=1).results
    store.admin.count_usage(
        [
            Usage(
                namespace=list(namespace), key=one.memory.key, loaded=13, referenced=13,
                succeeded=13, read_tokens=0, discovery_tokens=0, matched=13, relevance=11.7,
                cited_at_us=int(at.timestamp() * 1_000_000),
            )
            for one in best
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
