"""A process in which SQLite gets no more memory, at some allocation of each call: ``python -m
tests.durability.memory_runs_out FOLDER CALLS`` prints what came of the calls.

It initialises SQLite before langmemory does, which would switch off the statistics that SQLite counts by.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import apsw

apsw.Connection(":memory:").execute("SELECT 1")

from langmemory import MemoryStore  # noqa: E402
from langmemory.engines.sqlite.engine import check  # noqa: E402
from langmemory.errors import LangMemoryError  # noqa: E402
from tests.durability.test_power_loss import Load, differences, texts  # noqa: E402

A_FILE = 40
"""Calls, then it is opened anew."""


def run(path: Path, calls: int) -> Counter[str]:
    """Make calls, each with as little room as to fail at some allocation, or at none."""
    rng, told, acknowledged = random.Random(5), Counter[str](), {}
    done = 0
    while done < calls:
        store = opened(path, rng, told)
        with store:
            load = Load(store, rng, acknowledged, count=done)
            for _ in range(A_FILE):
                done += 1
                apsw.hard_heap_limit(apsw.memory_used() + int(2 ** rng.uniform(6, 19)))
                try:
                    load.step()
                except LangMemoryError as error:
                    told[clear(error)] += 1
                else:
                    told["done"] += 1
                finally:
                    apsw.hard_heap_limit(0)
                found = texts(store)
                assert differences(found, acknowledged, load.under_way) == [], done
                for key in load.under_way:  # it was written, or was not
                    acknowledged[key] = found.get(key)
                load.under_way = {}
        with MemoryStore(path) as store, store._core.engine.read() as snapshot:
            assert differences(texts(store), acknowledged, {}) == [], done
            assert check(snapshot.connection) == [], done
    return told


def opened(path: Path, rng: random.Random, told: Counter[str]) -> MemoryStore:
    """Open the file, at first with little room."""
    apsw.hard_heap_limit(apsw.memory_used() + int(2 ** rng.uniform(8, 20)))
    try:
        return MemoryStore(path)
    except LangMemoryError as error:
        told[clear(error)] += 1
    finally:
        apsw.hard_heap_limit(0)
    return MemoryStore(path)


def clear(error: LangMemoryError) -> str:
    """Return the kind of an error that says what happened."""
    assert "memory" in str(error).casefold().replace("memory.db", ""), error
    return type(error).__name__


if __name__ == "__main__":
    for what, count in sorted(run(Path(sys.argv[1]) / "memory.db", int(sys.argv[2])).items()):
        print(what, count)
