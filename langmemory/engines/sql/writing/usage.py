"""Usage counts on their way into the file: kept in memory and written in batches, off the hot path.

A crash loses counts, never memories.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from langmemory.context.citations import Usage, added
from langmemory.engines.sql.records import usage
from langmemory.engines.sql.tables.connection import Connection
from langmemory.types import Namespace

BATCH: Final = 1024
"""Memories from which it is time to write."""

EVERY_SECONDS: Final = 30.0
"""So long after the last time the next counts are written, however few they are."""


class UsageCounts:
    """Thread-safe sums of what was counted since the last drain."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock``: seconds, from any beginning on."""
        self._clock = clock
        self._lock = threading.Lock()
        self._sums: dict[tuple[str | None, ...], Usage] = {}
        self._due_at = clock()
        self.any = False
        """Whether there was ever something to count."""

    def note(self, counts: Iterable[Usage], viewer: str | None) -> bool:
        """Add counts, on behalf of a viewer; whether it is time to write."""
        with self._lock:
            for one in counts:
                self.any = True
                if one["referenced"] and "cited_at_us" not in one:
                    one = {**one, "cited_at_us": time.time_ns() // 1000}
                memory = (viewer, *one["namespace"], one["key"])
                known = self._sums.get(memory)
                self._sums[memory] = one if known is None else added(known, one)
            due = len(self._sums) >= BATCH or self._clock() >= self._due_at
            return due and bool(self._sums)

    def drain(self) -> dict[str | None, list[Usage]]:
        """Everything noted so far, by viewer; nothing is left."""
        with self._lock:
            sums, self._sums = self._sums, {}
            self._due_at = self._clock() + EVERY_SECONDS
        by_viewer: dict[str | None, list[Usage]] = {}
        for (viewer, *_), one in sums.items():
            by_viewer.setdefault(viewer, []).append(one)
        return by_viewer


def write(connection: Connection, sums: dict[str | None, list[Usage]]) -> None:
    """Add what was drained to the counts in the file."""
    for viewer, counts in sums.items():
        usage.add(connection, map(_counted, counts), viewer=viewer)
        usage.cite(connection, filter(None, map(_cited, counts)), viewer=viewer)


def _counted(one: Usage) -> usage.Counted:
    count = usage.Count(
        loaded=one["loaded"],
        referenced=one["referenced"],
        succeeded=one["succeeded"],
        read_tokens=one["read_tokens"],
        discovery_tokens=one["discovery_tokens"],
    )
    return tuple(one["namespace"]), one["key"], count


def _cited(one: Usage) -> tuple[Namespace, str, usage.Citations] | None:
    if not one["referenced"] or "cited_at_us" not in one:
        return None
    found = usage.Citations(one.get("matched", 0), one.get("relevance", 0.0), one["cited_at_us"])
    return tuple(one["namespace"]), one["key"], found
