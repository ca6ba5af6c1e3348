"""Rough counts that decide how a search is asked: cached, and taken anew as the file grows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final

from langmemory.engines.sqlite.file.connection import Connection

STALE_AFTER: Final = 1.2
"""A count is taken anew when the file has grown by this factor."""
MOST_ENTRIES: Final = 20_000


class Census:
    """How many rows an expression or a condition matches, up to a limit. Thread-safe; counts are
    estimates."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # By the hash of what was asked: a filter may name thousands of values. Two of the same hash
        # only mislead an estimate.
        self._counts: dict[int, tuple[int, int]] = {}
        self._shares: dict[int, float] = {}

    def size(self, connection: Connection) -> int:
        """About how many items there are: the highest id."""
        row = connection.execute("SELECT coalesce(max(id), 0) FROM item").fetchone()
        return int(row[0])

    def rows(self, connection: Connection, expression: str, limit: int, size: int) -> int:
        """Rows that an FTS5 expression matches, at most ``limit``, in a file of about ``size``."""
        return self._cached(
            (expression, limit),
            size,
            lambda: int(
                connection.execute(
                    "SELECT count(*) FROM (SELECT 1 FROM keyword WHERE keyword MATCH ? LIMIT ?)",
                    (expression, limit),
                ).fetchone()[0]
            ),
        )

    def items(
        self,
        connection: Connection,
        select: str,
        bindings: tuple[Any, ...],
        limit: int,
        size: int,
        *,
        anew: bool = False,
    ) -> int:
        """Rows of a query, at most ``limit``; ``anew``: as they are now, whatever is known."""
        sql = f"SELECT count(*) FROM ({select} LIMIT ?)"
        return self._cached(
            (select, bindings, limit),
            size,
            lambda: int(connection.execute(sql, (*bindings, limit)).fetchone()[0]),
            anew=anew,
        )

    def share(self, key: Hashable) -> float | None:
        """The share of the candidates for which conditions held the last time, 0..1; None: never asked."""
        return self._shares.get(hash(key))

    def found(self, key: Hashable, share: float) -> None:
        """Keep it for the next time."""
        with self._lock:
            if len(self._shares) >= MOST_ENTRIES:
                self._shares.clear()
            self._shares[hash(key)] = share

    def _cached(
        self, key: Hashable, size: int, count: Callable[[], int], *, anew: bool = False
    ) -> int:
        place = hash(key)
        known = None if anew else self._counts.get(place)
        if known is not None and known[0] <= size <= known[0] * STALE_AFTER:
            return known[1]
        found = count()
        with self._lock:
            if len(self._counts) >= MOST_ENTRIES:
                self._counts.clear()
            self._counts[place] = (size, found)
        return found
