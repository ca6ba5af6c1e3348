"""Simulate ten years of one person's memory: its size, the time of a night, and how many facts are kept.

``python -m benchmarks.ten_years [--turns N] [--every DAYS] [--max-facts N] [--json FILE]``. Each day some
turns are remembered and facts learned from them; answers cite some; every so many days there is a night with
all tasks, by rules. The clock of the process is that of the simulation. At the end nights follow one another
on the unchanged store until one changes nothing, a night after another four months is taken back, and both
files are checked.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest import mock

import numpy as np

from benchmarks.life import BEGAN, DAYS, Life
from benchmarks.machine import description
from langmemory import MemoryStore
from langmemory.changes import ChangeSet
from langmemory.config import Config
from langmemory.context.citations import Usage
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.operations.maintaining import Maintaining
from langmemory.types import Namespace

ADA: Final[Namespace] = ("memories", "ada")
TURNS: Final = 10_000
EVERY_DAYS: Final = 30
FACTS_KEPT: Final = 0.4
"""Share of all facts ever learned that ``max_facts`` keeps, unless it is given."""
YEAR: Final = 365
MOST_REPEATED: Final = 6
IDLE_DAYS: Final = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class NightFigures:
    """One night of the simulation."""

    day: int
    turns: int
    facts: int
    """Derived memories that are not archived, after the night."""
    moved: int
    """Memories in the archive file."""
    seconds: float
    cpu_seconds: float
    memory_bytes: int
    archive_bytes: int
    changes: dict[str, int]
    """Changes by task."""
    failed: tuple[str, ...]


class Clock:
    """The time of the simulation."""

    def __init__(self) -> None:
        self.now = BEGAN

    def nanoseconds(self) -> int:
        return int(self.now.timestamp()) * 1_000_000_000

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the process read this clock where it notes when something happened."""
        with mock.patch.object(time, "time_ns", self.nanoseconds):
            yield


def cite(store: MemoryStore, keys: Sequence[str], now: datetime) -> None:
    """Count an answer for each key that cited it and was not corrected."""
    used = Counter(keys)
    store.admin.count_usage(
        [
            Usage(
                namespace=list(ADA), key=key, loaded=2 * times, referenced=times, succeeded=times,
                read_tokens=20, discovery_tokens=10, matched=times, relevance=0.8 * times,
                cited_at_us=int(now.timestamp() * 1_000_000),
            )
            for key, times in used.items()
        ]
    )  # fmt: skip


def known(store: MemoryStore) -> list[str]:
    """All that both files know but counters, when it was asked, and the record of maintenance."""
    counters = {"access_count", "accessed_at"}
    rows = (row for row in store.admin.export(history=False) if row["type"] not in ("meta", "run"))
    return [
        json.dumps({name: told for name, told in row.items() if name not in counters}, default=str)
        for row in rows
    ]


def facts_kept(store: MemoryStore) -> int:
    """How many derived memories are not archived: what ``max_facts`` limits."""
    with Maintaining(store).view(ADA) as view:
        aged = view.aged()
    return int((~aged.one_of(aged.status, "archived")).sum())


def night(store: MemoryStore, graph: Any, day: int, life: Life) -> NightFigures:
    """Run a night, and measure it."""
    began, busy = time.perf_counter(), time.process_time()
    found = graph.invoke({})
    seconds, cpu = time.perf_counter() - began, time.process_time() - busy
    stats = store.stats()
    return NightFigures(
        day=day,
        turns=life.said,
        facts=facts_kept(store),
        moved=stats.archived,
        seconds=seconds,
        cpu_seconds=cpu,
        memory_bytes=os.path.getsize(store.path),
        archive_bytes=stats.archive_bytes,
        changes={one["task"]: len(one["lines"]) for one in found["reports"] if one["lines"]},
        failed=tuple(f"{one['task']}: {one['error']}" for one in found["reports"] if one["error"]),
    )


def simulate(path: Path, turns: int, every: int, max_facts: int) -> dict[str, Any]:
    """Live ten years; return the figures."""
    clock, life = Clock(), Life(turns_a_day=turns / DAYS)
    settings = {"max_facts": max_facts, "archive_after_days": 180, "task_seconds": 3_600}
    config = Config.model_validate({"lifecycle": settings})
    nights: list[NightFigures] = []
    began = time.perf_counter()
    with clock.running(), MemoryStore(path, config=config) as store:
        graph = build_maintenance_graph(store, now=lambda: clock.now)
        for day in range(DAYS):
            clock.now = BEGAN + timedelta(days=day, hours=23)
            keys = store.remember(ADA, life.turns(day), thread_id=f"day/{day}", owner="ada")
            changes = tuple(life.learned(day, keys))
            if changes:
                store.changes.apply(
                    ChangeSet(
                        namespace=ADA, run_id=f"learn/{day}", kind="reflection", reason="simulated",
                        changes=changes,
                    )
                )  # fmt: skip
            cite(store, life.cited(1), clock.now)
            if day % every == every - 1:
                clock.now += timedelta(hours=4)
                nights.append(night(store, graph, day, life))
                if day // YEAR != (day - every) // YEAR:
                    last = nights[-1]
                    print(
                        f"year {day // YEAR + 1}, {time.perf_counter() - began:.0f} s: {last}",
                        flush=True,
                    )
        lived = time.perf_counter() - began
        repeated = [night(store, graph, DAYS, life).changes]
        while repeated[-1] and len(repeated) < MOST_REPEATED:
            repeated.append(night(store, graph, DAYS, life).changes)
        before = known(store)
        clock.now += timedelta(days=IDLE_DAYS)
        last = graph.invoke({})
        changed = known(store) != before
        undone = store.lifecycle.undo(last["night"])
        same = known(store) == before
        problems = store.admin.check()
    return {
        "turns": life.said, "facts": life.facts, "max_facts": max_facts, "every_days": every,
        "seconds": lived, "nights": [asdict(one) for one in nights], "repeated": repeated,
        "last_night_changed": changed, "runs_undone": len(undone.applied), "undone_is_identical": same,
        "problems": problems,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "machine": description(None),
    }  # fmt: skip


def report(found: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    nights = found["nights"]
    lines = [
        f"{found['turns']:,} turns and {found['facts']:,} facts in {DAYS:,} days, `max_facts` "
        f"{found['max_facts']:,}, {len(nights)} nights, one every {found['every_days']} days; "
        f"{found['seconds']:.0f} s in all, peak memory {found['peak_mb']:.0f} MB.",
        "",
        "| year | turns | facts kept | moved | memory file MB | archive MB | night CPU s, median / p95 "
        "| wall s, median / p95 |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for year in range(DAYS // YEAR):
        of_year = [one for one in nights if one["day"] // YEAR == year]
        last = of_year[-1]
        spread = [
            " / ".join(f"{q:.1f}" for q in np.percentile([one[name] for one in of_year], [50, 95]))
            for name in ("cpu_seconds", "seconds")
        ]
        lines.append(
            f"| {year + 1} | {last['turns']:,} | {last['facts']:,} | {last['moved']:,} "
            f"| {last['memory_bytes'] / 1e6:.0f} | {last['archive_bytes'] / 1e6:.0f} "
            f"| {spread[0]} | {spread[1]} |"
        )
    total = Counter[str]()
    for one in nights:
        total.update(one["changes"])
    repeated = ", ".join(str(sum(one.values())) for one in found["repeated"])
    changed = "changed memory" if found["last_night_changed"] else "changed nothing"
    same = "identical" if found["undone_is_identical"] else "NOT identical"
    over = [one for one in nights if one["facts"] > found["max_facts"]]
    lines += [
        "",
        "Changes by task: " + ", ".join(f"{task} {count:,}" for task, count in total.items()) + ".",
        f"Nights after which more than `max_facts` were left: {len(over)}, at most by "
        f"{max((one['facts'] - found['max_facts'] for one in over), default=0):,}.",
        f"Failed tasks: {sum(len(one['failed']) for one in nights)}.",
        f"Nights on the store as the last day left it changed {repeated} memories, one after another.",
        f"A night after another {IDLE_DAYS} days {changed}; undone in {found['runs_undone']} runs, the "
        f"export is {same}. Problems in both files: {found['problems'] or 'none'}.",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--every", type=int, default=EVERY_DAYS, help="days between two nights")
    parser.add_argument("--max-facts", type=int)
    parser.add_argument("--json", type=Path, help="write the figures there")
    given = parser.parse_args()
    max_facts = given.max_facts or int(given.turns / Life().turns_a_fact * FACTS_KEPT)
    with tempfile.TemporaryDirectory() as folder:
        found = simulate(Path(folder) / "memory.db", given.turns, given.every, max_facts)
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1, default=str))
    for name, value in found["machine"].items():
        print(f"{name}: {value}")
    print(report(found))


if __name__ == "__main__":
    main()
