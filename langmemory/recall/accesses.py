"""Logs of recalls, in memory alone: how often and when a memory was recalled, and to whom it was shown.

Whoever owns the store writes the counts in batches. A crash loses counts, never memories.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from langmemory.types import Namespace


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
        """Note one access of each id. Return whether a batch is full."""
        with self._lock:
            for id_ in ids:
                times, last = self._accesses.get(id_, (0, at))
                self._accesses[id_] = (times + 1, max(last, at))
            return len(self._accesses) >= self._batch

    def drain(self) -> list[Access]:
        """Return everything noted so far, by id; the log is empty afterwards."""
        with self._lock:
            accesses, self._accesses = self._accesses, {}
        return [Access(id_, times, last) for id_, (times, last) in sorted(accesses.items())]


class ShownLog:
    """Memories that each thread was shown, so that it is not shown them again. Of this process alone."""

    def __init__(self, *, max_threads: int = 1000, max_memories: int = 10_000) -> None:
        """``max_threads``: threads remembered; the one unused longest is forgotten first.
        ``max_memories``: of one thread; the one shown first is forgotten first."""
        self._lock = threading.Lock()
        self._shown: OrderedDict[str, dict[tuple[Namespace, str], None]] = OrderedDict()
        self._max_threads = max_threads
        self._max_memories = max_memories

    def before(self, thread_id: str, namespace: Namespace) -> frozenset[tuple[Namespace, str]]:
        """Memories that the thread was shown before from a namespace and those below it."""
        depth = len(namespace)
        with self._lock:
            shown = self._shown.get(thread_id, {})
            return frozenset(one for one in shown if one[0][:depth] == namespace)

    def note(self, thread_id: str, memories: Iterable[tuple[Namespace, str]]) -> None:
        """Remember that the thread was shown these, by namespace and key."""
        with self._lock:
            shown = self._shown.setdefault(thread_id, {})
            self._shown.move_to_end(thread_id)
            shown.update(dict.fromkeys(memories))
            for oldest in list(islice(shown, max(len(shown) - self._max_memories, 0))):
                del shown[oldest]
            while len(self._shown) > self._max_threads:
                self._shown.popitem(last=False)
