"""The part of the demo that reflects: facts, a change, two dates, a way through the graph, an undo."""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langmemory.cli.reflect import text_of

if TYPE_CHECKING:
    from langmemory.cli.screen import Screen
    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace, Recall

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
