"""How fast this machine can read memory at all, and what brute force costs against that."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.vectors import Matrix


@dataclass(frozen=True, kw_only=True, slots=True)
class BruteForce:
    """One exact search over float32 rows in memory."""

    size: int
    limit_ms: float
    """Reading the rows once at the best rate seen."""
    numpy_ms: float
    """Matrix times vector and the ten largest, with numpy."""


def _best(call: Callable[[], object], repeats: int = 15) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def bytes_per_second() -> float:
    """Best of reading (matrix times vector) and of copying 512 MB, the copy counted both ways."""
    rows = np.ones((2**18, 512), dtype=np.float32)
    vector = np.ones(512, dtype=np.float32)
    target = np.empty_like(rows)
    reading = rows.nbytes / _best(lambda: rows @ vector)
    copying = 2 * rows.nbytes / _best(lambda: np.copyto(target, rows))
    return max(reading, copying)


def brute_force(vectors: Matrix, rate: float) -> BruteForce:
    query = np.ascontiguousarray(vectors[0])

    def ten_nearest() -> object:
        return np.argpartition(vectors @ query, -10)[-10:]

    return BruteForce(
        size=len(vectors),
        limit_ms=vectors.nbytes / rate * 1e3,
        numpy_ms=_best(ten_nearest) * 1e3,
    )
