"""Counts of recalls: how often, and when last. Off the hot path.

Recall only notes ids in memory; whoever owns the store writes them in batches. A crash loses
counts, never memories.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import NamedTuple


class Access(NamedTuple):
    """How often a memory was recalled since the last drain, and when last (microseconds)."""

    id: int
    times: int
    last_at: int


class AccessLog:
    """Thread-safe counter of accesses."""

    def __init__(self, *, batch: int = 256) -> None:
        """``batch``: distinct memories from which `record` says that it is time to drain."""
        self._lock = threading.Lock()
        self._accesses: dict[int, tuple[int, int]] = {}
        self._batch = batch

    def record(self, ids: Iterable[int], at: int) -> bool:
        """Notes one access of each id; whether a batch is full."""
        with self._lock:
            for id_ in ids:
                times, last = self._accesses.get(id_, (0, at))
                self._accesses[id_] = (times + 1, max(last, at))
            return len(self._accesses) >= self._batch

    def drain(self) -> list[Access]:
        """Everything noted so far, by id; the log is empty afterwards."""
        with self._lock:
            accesses, self._accesses = self._accesses, {}
        return [Access(id_, times, last) for id_, (times, last) in sorted(accesses.items())]
