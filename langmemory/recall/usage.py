"""Usage: what was recalled how often, and what a thread was already given. Off the hot path.

Recall only notes ids in memory; whoever owns the store writes them in batches. A crash loses
counts, never memories.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple


class Use(NamedTuple):
    """How often a memory was recalled since the last drain, and when last (microseconds)."""

    id: int
    times: int
    last_at: int


class UsageLog:
    """Thread-safe counter of accesses."""

    def __init__(self, *, batch: int = 256) -> None:
        """``batch``: distinct memories from which `record` says that it is time to drain."""
        self._lock = threading.Lock()
        self._uses: dict[int, tuple[int, int]] = {}
        self._batch = batch

    def record(self, ids: Iterable[int], at: int) -> bool:
        """Notes one access of each id; whether a batch is full."""
        with self._lock:
            for id_ in ids:
                times, last = self._uses.get(id_, (0, at))
                self._uses[id_] = (times + 1, max(last, at))
            return len(self._uses) >= self._batch

    def drain(self) -> list[Use]:
        """Everything noted so far, by id; the log is empty afterwards."""
        with self._lock:
            uses, self._uses = self._uses, {}
        return [Use(id_, times, last) for id_, (times, last) in sorted(uses.items())]


class GivenLog:
    """Keys that each thread was given, so that it is not given them again."""

    def __init__(self, *, max_threads: int = 1000) -> None:
        """``max_threads``: threads remembered; the one unused longest is forgotten first."""
        self._lock = threading.Lock()
        self._given: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._max_threads = max_threads

    def given(self, thread_id: str) -> frozenset[str]:
        """Keys the thread was given before."""
        with self._lock:
            return self._given.get(thread_id, frozenset())

    def note(self, thread_id: str, keys: Iterable[str]) -> None:
        """Remembers that the thread was given these keys."""
        with self._lock:
            self._given[thread_id] = self._given.pop(thread_id, frozenset()) | frozenset(keys)
            while len(self._given) > self._max_threads:
                self._given.popitem(last=False)
