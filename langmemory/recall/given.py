"""Memories that a thread was already given."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice

from langmemory.types import Namespace


class GivenLog:
    """Memories that each thread was given, so that each is not given it again. Of this process alone."""

    def __init__(self, *, max_threads: int = 1000, max_memories: int = 10_000) -> None:
        """``max_threads``: threads remembered; the one unused longest is forgotten first.
        ``max_memories``: of one thread; the one given first is forgotten first."""
        self._lock = threading.Lock()
        self._given: OrderedDict[str, dict[tuple[Namespace, str], None]] = OrderedDict()
        self._max_threads = max_threads
        self._max_memories = max_memories

    def given(self, thread_id: str, namespace: Namespace) -> frozenset[tuple[Namespace, str]]:
        """Memories that the thread was given before from a namespace and those below it."""
        depth = len(namespace)
        with self._lock:
            given = self._given.get(thread_id, {})
            return frozenset(one for one in given if one[0][:depth] == namespace)

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
