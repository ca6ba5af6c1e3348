"""Measure a night of maintenance over a large memory, beside a process that reads and writes.

``python -m benchmarks.night [MEMORIES]``: the seconds of each task, the peak of this process's memory, and
the p50 and p95 of the other process's writes before and during the night.
"""

from __future__ import annotations

import multiprocessing
import random
import resource
import sys
import tempfile
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np
from langgraph.store.base import PutOp

from benchmarks.machine import description
from langmemory import MemoryStore
from langmemory.graphs.maintenance import build_maintenance_graph

MEMORIES = 100_000
BATCH = 1_000
QUIET_SECONDS = 10.0
PAUSE_SECONDS = 0.02
"""Between two rounds of the other process: some forty writes a second."""
WORDS = [f"word{number}" for number in range(5_000)]


def build(path: Path, memories: int) -> None:
    """Write memories of eight random words into one namespace."""
    draw = random.Random(1)
    with MemoryStore(path, index=False) as store:
        for start in range(0, memories, BATCH):
            store.batch(
                [
                    PutOp(("night",), f"m{number}", {"text": " ".join(draw.choices(WORDS, k=8))})
                    for number in range(start, min(start + BATCH, memories))
                ]
            )


def use(path: Path, ready: Event, until: Event, results: Any) -> None:
    """Put, get and search until told to stop; send the milliseconds of each put with its time."""
    writes = []
    with MemoryStore(path, index=False) as store:
        number = 0
        while not until.is_set():
            began = time.perf_counter()
            store.put(("night",), f"new{number}", {"text": " ".join(random.choices(WORDS, k=8))})
            writes.append((time.time(), (time.perf_counter() - began) * 1000))
            store.get(("night",), f"m{number}")
            store.search(("night",), query=WORDS[number % len(WORDS)], limit=10)
            number += 1
            ready.set()
            time.sleep(PAUSE_SECONDS)
    results.put(writes)


def main(memories: int) -> None:
    """Print the report."""
    for name, value in description(None).items():
        print(f"{name}: {value}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        began = time.monotonic()
        building = multiprocessing.get_context("spawn").Process(target=build, args=(path, memories))
        building.start()
        building.join()
        print(f"built {memories:,} memories in {time.monotonic() - began:.0f} s")
        context = multiprocessing.get_context("spawn")
        ready, stop, results = context.Event(), context.Event(), context.Queue()
        other = context.Process(target=use, args=(path, ready, stop, results))
        other.start()
        ready.wait()
        time.sleep(QUIET_SECONDS)
        with MemoryStore(path, index=False) as store:
            night_began = time.time()
            found = build_maintenance_graph(store).invoke({})
            night_ended = time.time()
        stop.set()
        writes = results.get()
        other.join()
    for report in found["reports"]:
        print(f"  {report['task']}: {report['seconds']:.1f} s {report['error'] or ''}")
    print(f"night: {night_ended - night_began:.1f} s")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    during = [ms for at, ms in writes if night_began <= at <= night_ended]
    for name, part in (
        ("before", [ms for at, ms in writes if at < night_began]),
        ("during", during),
    ):
        if part:
            middle, high = np.percentile(part, [50, 95])
            print(f"writes {name}: {len(part)}, p50 {middle:.1f} ms, p95 {high:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else MEMORIES)
