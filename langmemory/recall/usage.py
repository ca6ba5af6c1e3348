"""Usage: what was recalled how often, and what a thread was already given. Off the hot path.

Recall only notes ids in memory; whoever owns the store writes them in batches. A crash loses
counts, never memories.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from langmemory.types import Namespace


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
    """What each thread was given, so that it is not given it again. Of this process alone."""

    def __init__(self, *, max_threads: int = 1000, max_memories: int = 10_000) -> None:
        """``max_threads``: threads remembered; the one unused longest is forgotten first.
        ``max_memories``: of one thread; the one given first is forgotten first."""
        self._lock = threading.Lock()
        self._given: OrderedDict[str, dict[tuple[Namespace, str], None]] = OrderedDict()
        self._max_threads = max_threads
        self._max_memories = max_memories

    def given(self, thread_id: str, namespace: Namespace) -> frozenset[str]:
        """Keys the thread was given before from a namespace and those below it."""
        depth = len(namespace)
        with self._lock:
            given = self._given.get(thread_id, {})
            return frozenset(key for where, key in given if where[:depth] == namespace)

    def note(self, thread_id: str, memories: Iterable[tuple[Namespace, str]]) -> None:
        """Remembers that the thread was given these, by namespace and key."""
        with self._lock:
            given = self._given.setdefault(thread_id, {})
            self._given.move_to_end(thread_id)
            given.update(dict.fromkeys(memories))
            for oldest in list(islice(given, max(len(given) - self._max_memories, 0))):
                del given[oldest]
            while len(self._given) > self._max_threads:
                self._given.popitem(last=False)
