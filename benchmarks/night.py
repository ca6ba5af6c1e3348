"""Measure a night of maintenance over a large memory, beside a process that reads and writes.

``python -m benchmarks.night [MEMORIES] [--learned] [--store FILE]``: seconds and CPU seconds of each task,
the peak of this process's memory, and the p50 and p95 of the other process's writes before and during the
night. With ``--learned`` the memories are turns and facts that were learned from them, half of each, with
vectors, evidence, entities and claims; else an application put them, and they have no vectors.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import shutil
import tempfile
import threading
import time
from datetime import datetime, timedelta
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np
from langgraph.store.base import PutOp

from benchmarks.life import BEGAN, Life
from benchmarks.machine import description
from langmemory import MemoryStore
from langmemory.changes import ChangeSet
from langmemory.config import Config
from langmemory.graphs import maintenance

MEMORIES = 100_000
BATCH = 1_000
QUIET_SECONDS = 10.0
PAUSE_SECONDS = 0.02
"""Between two rounds of the other process: some forty writes a second."""
LEARNED_DAYS = 1_000
WORDS = [f"word{number}" for number in range(5_000)]
PUT, ADA = ("night",), ("memories", "ada")


def build(path: Path, memories: int) -> None:
    """Write memories of eight random words into one namespace."""
    draw = random.Random(1)
    with MemoryStore(path, index=False) as store:
        for start in range(0, memories, BATCH):
            store.batch(
                [
                    PutOp(PUT, f"m{number}", {"text": " ".join(draw.choices(WORDS, k=8))})
                    for number in range(start, min(start + BATCH, memories))
                ]
            )


def live(path: Path, memories: int) -> None:
    """Write the turns of a simulated life, and as many facts that were learned from them."""
    life = Life(turns_a_day=memories / 2 / LEARNED_DAYS, turns_a_fact=1)
    with MemoryStore(path) as store:
        for day in range(LEARNED_DAYS):
            keys = store.remember(ADA, life.turns(day), thread_id=f"day/{day}", owner="ada")
            store.changes.apply(
                ChangeSet(
                    namespace=ADA, run_id=f"learn/{day}", kind="reflection", reason="simulated",
                    changes=tuple(life.learned(day, keys)),
                )
            )  # fmt: skip


def use(path: Path, learned: bool, ready: Event, until: Event, results: Any) -> None:
    """Put, get and search until told to stop; send the milliseconds of each put with its time."""
    writes = []
    namespace, key = (ADA, "fact/0000001") if learned else (PUT, "m1")
    with MemoryStore(path) if learned else MemoryStore(path, index=False) as store:
        number = 0
        while not until.is_set():
            began = time.perf_counter()
            store.put(namespace, f"new{number}", {"text": " ".join(random.choices(WORDS, k=8))})
            writes.append((time.time(), (time.perf_counter() - began) * 1000))
            store.get(namespace, key)
            store.search(namespace, query=WORDS[number % len(WORDS)], limit=10)
            number += 1
            ready.set()
            time.sleep(PAUSE_SECONDS)
    results.put(writes)


def watch_memory(until: threading.Event, peak: list[int]) -> None:
    """Note the most memory of this process that no file stands behind, in KiB; Linux only."""
    status = Path("/proc/self/status")
    while status.exists() and not until.wait(0.1):
        found = dict(line.split(":", 1) for line in status.read_text().splitlines())
        peak[0] = max(peak[0], int(found["RssAnon"].split()[0]))


def measure_tasks() -> dict[str, float]:
    """Return what fills with the CPU seconds of each task while nights run."""
    seconds: dict[str, float] = {}

    def measured(name: str, task: Any) -> Any:
        def run(night: Any, report: Any) -> None:
            began = time.process_time()
            try:
                task(night, report)
            finally:
                seconds[name] = time.process_time() - began

        return run

    maintenance.TASKS = {name: measured(name, task) for name, task in maintenance.TASKS.items()}
    return seconds


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("memories", type=int, nargs="?", default=MEMORIES)
    parser.add_argument("--learned", action="store_true", help="turns and facts with vectors")
    parser.add_argument("--store", type=Path, help="a copy of this file instead of a new one")
    parser.add_argument("--max-facts", type=int, help="lets the night evict some")
    given = parser.parse_args()
    for name, value in description(None).items():
        print(f"{name}: {value}")
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        began = time.monotonic()
        if given.store is not None:
            shutil.copy(given.store, path)
        else:
            target = live if given.learned else build
            building = context.Process(target=target, args=(path, given.memories))
            building.start()
            building.join()
            print(f"built {given.memories:,} memories in {time.monotonic() - began:.0f} s")
        ready, stop, results = context.Event(), context.Event(), context.Queue()
        other = context.Process(target=use, args=(path, given.learned, ready, stop, results))
        other.start()
        ready.wait()
        time.sleep(QUIET_SECONDS)
        cpu, watched, private = measure_tasks(), threading.Event(), [0]
        threading.Thread(target=watch_memory, args=(watched, private), daemon=True).start()
        print(f"load before the night: {os.getloadavg()[0]:.1f}")
        config = Config.model_validate({"lifecycle": {"max_facts": given.max_facts}})
        with MemoryStore(
            path, config=config, **({} if given.learned else {"index": False})
        ) as store:
            night_began, busy = time.time(), time.process_time()
            found = maintenance.build_maintenance_graph(store, now=clock(given.learned)).invoke({})
            night_ended, busy = time.time(), time.process_time() - busy
        watched.set()
        stop.set()
        writes = results.get()
        other.join()
    print(f"load after the night: {os.getloadavg()[0]:.1f}")
    for report in found["reports"]:
        print(
            f"  {report['task']}: {report['seconds']:.1f} s, CPU {cpu[report['task']]:.1f} s, "
            f"{len(report['lines']):,} changes {report['error'] or ''}"
        )
    print(f"night: {night_ended - night_began:.1f} s, CPU {busy:.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"peak memory: {peak / 1024:.0f} MB with mapped pages of the file, {private[0] / 1024:.0f} without"
    )
    during = [ms for at, ms in writes if night_began <= at <= night_ended]
    for name, part in (
        ("before", [ms for at, ms in writes if at < night_began]),
        ("during", during),
    ):
        if part:
            middle, high = np.percentile(part, [50, 95])
            print(f"writes {name}: {len(part)}, p50 {middle:.1f} ms, p95 {high:.1f} ms")


def clock(learned: bool) -> Any:
    """Return the time of the night: after the last day that was lived, or now."""
    return (
        (lambda: BEGAN + timedelta(days=LEARNED_DAYS))
        if learned
        else (lambda: datetime.now().astimezone())
    )


if __name__ == "__main__":
    main()
