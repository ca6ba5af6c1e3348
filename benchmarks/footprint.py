"""Time to open and answer the first search, resident memory and file size, in a fresh process.

Run as ``python -m benchmarks.footprint STORE FILE VECTORS``: prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import contenders
from benchmarks.dataset import Namespace
from benchmarks.extensions import loadable_sqlite
from benchmarks.measure import settle
from benchmarks.vectors import Lookup, Matrix

SEARCHES = 200

STATUS = Path("/proc/self/status")
"""Where Linux tells a process what it holds; elsewhere footprints are left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Footprint:
    contender: str
    size: int
    import_ms: float
    """Importing the store's module, numpy and LangGraph being there already."""
    open_ms: float
    """From the constructor to the first search's results; file in the page cache."""
    resident_mb: float
    """After two hundred searches, Python and libraries included."""
    before_mb: float
    """The same process before it opened the store."""
    private_mb: float
    """Resident memory that is not a view of a file: what other programs cannot have."""
    file_mb: float


def resident_mb() -> tuple[float, float]:
    """Resident memory of this process, all of it and the anonymous part."""
    fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))  # type: ignore[return-value]


def file_mb(path: Path) -> float:
    """Size of the database with its write-ahead log."""
    parts = [path, path.with_name(path.name + "-wal")]
    return sum(part.stat().st_size for part in parts if part.exists()) / 2**20


def in_fresh_process(
    store: str, path: Path, size: int, namespace: Namespace, queries: Matrix
) -> Footprint:
    """Run this module in a child and read its line."""
    saved = path.with_suffix(".queries.npy")
    np.save(saved, queries[: SEARCHES + 1])
    command = [sys.executable, "-m", "benchmarks.footprint", store, str(path), str(saved)]
    environment = os.environ | {"BENCH_NAMESPACE": json.dumps(namespace)}
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return Footprint(size=size, file_mb=file_mb(path), **json.loads(output.stdout))


def main() -> None:
    store, path, saved = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    namespace = tuple(json.loads(os.environ["BENCH_NAMESPACE"]))
    vectors = np.load(saved)
    lookup = Lookup()
    texts = [f"query {n}" for n in range(len(vectors))]
    lookup.add(texts, vectors)
    dims = vectors.shape[1]
    start = time.perf_counter()
    if store == "SqliteStore":
        loadable_sqlite()
        from langgraph.store.sqlite import SqliteStore as _imported_too  # noqa: F401

        def opened() -> contenders.Contender:
            return contenders.sqlite(path, lookup, dims)
    else:
        from langmemory import MemoryStore as _imported  # noqa: F401

        def opened() -> contenders.Contender:
            return contenders.ours(path, lookup, dims, "hybrid")

    import_ms = (time.perf_counter() - start) * 1e3
    before, _ = resident_mb()
    start = time.perf_counter()
    contender = opened()
    contenders.search(contender, namespace, texts[0])
    open_ms = (time.perf_counter() - start) * 1e3
    for text in texts[1:]:
        contenders.search(contender, namespace, text)
    settle(lambda n: contenders.search(contender, namespace, texts[n]))  # that counts, too
    resident, private = resident_mb()
    contender.close()
    result = {
        "contender": contender.name,
        "import_ms": import_ms,
        "open_ms": open_ms,
        "resident_mb": resident,
        "before_mb": before,
        "private_mb": private,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
