"""What a memory costs on PostgreSQL, measured, and what breaks first at a size, calculated from it.

python -m benchmarks.scale measure "postgresql://…?schema=scale" --items 100000 --namespaces 1000 > costs.json
python -m benchmarks.scale foresee costs.json --items 1e9 --namespaces 1e7
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from pathlib import Path
from typing import Any, Final

from langgraph.store.base import PutOp

from benchmarks.corpus import Corpus
from langmemory.stores import MemoryStore

AT_ONCE: Final = 2_000
SINGLE: Final = 300
"""Puts and recalls that are timed one by one."""

WRITES_A_DAY: Final = 20
"""Memories and turns that an active namespace writes a day."""
ACTIVE: Final = 0.1
"""Namespaces that are used on a day."""
RECALLS_A_WRITE: Final = 1.0
PEAK: Final = 4.0
"""The busiest hour against the mean one."""
PATIENCE_MS: Final = 100
SERVER_DISK_TB: Final = 4.0
"""What one server holds so that a restore or a new replica takes hours, not days."""
_SIZES: Final = (
    "SELECT relname, pg_total_relation_size(oid), pg_indexes_size(oid) FROM pg_class WHERE relkind = 'r' "
    "AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s)"
)


def measure(address: str, items: int, namespaces: int) -> dict[str, Any]:
    """Write, beside what is there, recall, and look at what it took."""
    corpus = Corpus(seed=7)
    with MemoryStore(address) as store:
        raw, engine = store.conn.raw, store._core.engine
        schema: str = engine.schema  # type: ignore[attr-defined]

        def lsn() -> int:
            return int(raw.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()[0])

        def place(number: int) -> tuple[str, ...]:
            return ("users", f"u{number % namespaces}")

        there = raw.execute("SELECT count(*) FROM item").fetchone()[0]
        wal, began = lsn(), time.perf_counter()
        for start in range(there, there + items, AT_ONCE):
            store.batch(
                PutOp(place(n), f"k{n}", {"text": corpus.fact(n).text})
                for n in range(start, min(start + AT_ONCE, there + items))
            )
        batch_seconds, batch_wal = time.perf_counter() - began, lsn() - wal
        raw.execute("VACUUM ANALYZE")
        held = raw.execute("SELECT count(*) FROM item").fetchone()[0]
        rows = raw.execute(_SIZES.encode(), (schema,)).fetchall()
        put, recall = list[float](), list[float]()
        wal = lsn()
        for n in range(SINGLE):
            began = time.perf_counter()
            store.put(place(n * 37), f"single{n}", {"text": corpus.fact(held + n).text})
            put.append(time.perf_counter() - began)
        single_wal = lsn() - wal
        for n in range(SINGLE):
            began = time.perf_counter()
            store.recall(corpus.fact(n).question, place(n * 37))
            recall.append(time.perf_counter() - began)
        words = raw.execute("SELECT count(*) FROM word_count").fetchone()[0]
    return {
        "items": held,
        "namespaces": namespaces,
        "batch_put_ms": 1000 * batch_seconds / items if items else None,
        "batch_wal_bytes": batch_wal / items if items else None,
        "put_ms": 1000 * statistics.median(put),
        "put_wal_bytes": single_wal / SINGLE,
        "recall_ms": 1000 * statistics.median(recall),
        "recall_p95_ms": 1000 * sorted(recall)[int(SINGLE * 0.95)],
        "words": words,
        "bytes": {
            name: {"all": size / held, "indexes": index / held}
            for name, size, index in sorted(rows, key=lambda row: -row[1])
            if size / held >= 1
        },
    }


def waited_ms(rate: float, busy_ms: float, *, seconds: float = 600) -> float:
    """Return how long 95 % of writes wait at most for the one writer of a schema, simulated: they come at
    random, ``rate`` a second, and each keeps it busy for so long."""
    dice, now, free = random.Random(1), 0.0, 0.0
    waits = list[float]()
    while now < seconds:
        now += dice.expovariate(rate)
        waits.append(max(free - now, 0.0))
        free = max(free, now) + busy_ms / 1000
    return 1000 * sorted(waits)[int(len(waits) * 0.95)]


def schemas_for(rate: float, busy_ms: float) -> int:
    """Return among how many schemas writes have to be shared so that few wait longer than `PATIENCE_MS`."""
    schemas = max(int(rate * busy_ms / 1000), 1)
    while waited_ms(rate / schemas, busy_ms) > PATIENCE_MS:
        schemas += max(schemas // 20, 1)
    return schemas


def foresee(costs: dict[str, Any], items: float, namespaces: float) -> list[tuple[str, str, float]]:
    """Return (what, how much, of how many servers or schemas it asks), the greatest first."""
    bytes_each = sum(one["all"] for one in costs["bytes"].values())
    writes = namespaces * ACTIVE * WRITES_A_DAY / 86_400 * PEAK
    recalls = writes * RECALLS_A_WRITE
    disk_tb = items * bytes_each / 1e12
    wal_mb = writes * costs["put_wal_bytes"] / 1e6
    busy = writes * costs["put_ms"] / 1000
    asked = recalls * costs["recall_ms"] / 1000
    return sorted(
        (
            (
                "the writer of a schema",
                f"{writes:,.0f} puts/s keep {busy:,.1f} writers busy",
                schemas_for(writes, costs["put_ms"]),
            ),
            (
                "disk",
                f"{disk_tb:,.1f} TB, {bytes_each:,.0f} bytes a memory",
                disk_tb / SERVER_DISK_TB,
            ),
            ("recall", f"{recalls:,.0f}/s keep {asked:,.1f} connections busy", asked / 32),
            ("write-ahead log", f"{wal_mb:,.0f} MB/s at the peak", wal_mb / 100),
        ),
        key=lambda row: -row[2],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("measure")
    one.add_argument("address")
    two = parts.add_parser("foresee")
    two.add_argument("costs", type=Path)
    for part in (one, two):
        part.add_argument("--items", type=float, default=100_000)
        part.add_argument("--namespaces", type=float, default=1_000)
    asked = parser.parse_args()
    items, namespaces = asked.items, asked.namespaces
    if asked.part == "measure":
        print(json.dumps(measure(asked.address, int(items), int(namespaces)), indent=1))
        return
    for what, how_much, of_them in foresee(json.loads(asked.costs.read_text()), items, namespaces):
        print(f"{what:24} {of_them:8.1f}  {how_much}")


if __name__ == "__main__":
    main()
