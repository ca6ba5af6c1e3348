"""Usage of memories that were shown to a model: counts for each item, over all threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple

from langmemory.context.citations import Mark, Usage, add_usage
from langmemory.ledger.connection import Connection
from langmemory.ledger.items import MEMORY_COLUMNS, NAMED, memory
from langmemory.ledger.namespaces import inside, to_path
from langmemory.ledger.scopes import visible_to
from langmemory.ledger.tables import schema
from langmemory.types import MemoryUsage, Namespace

COUNTS: Final = tuple(name for name in schema.USAGE.names if name not in schema.USAGE.id)
"""Columns of the counts of an item. Discovery happened once: its count is replaced."""

_DISCOVERY: Final = (
    "CASE WHEN i.value ->> '$.discovery_tokens' IS NULL THEN coalesce((SELECT sum(length("
    "o.value ->> '$.content')) / 4 FROM evidence v JOIN item o ON o.id = v.source WHERE v.item = i.id), ?) "
    "ELSE ? END"
)
"""What finding an item out took: where its value does not say, the tokens of the turns it was made from, four
characters each. The count knows its value and its own text."""


def add(connection: Connection, sums: Mapping[str | None, Collection[Usage]]) -> None:
    """Add counts, by viewer, to those of items; items that are gone, or the viewer may not know of,
    have none."""
    added = ", ".join(f"{name} = usage.{name} + excluded.{name}" for name in COUNTS[:-1])
    for viewer, counts in sums.items():
        visible = visible_to(viewer)
        connection.executemany(
            f"INSERT INTO usage (item, {', '.join(COUNTS)}) "
            f"SELECT i.id, ?, ?, ?, ?, {_DISCOVERY} FROM item i WHERE {NAMED} AND {visible.sql} "
            f"ON CONFLICT (item) DO UPDATE SET {added}, discovery_tokens = excluded.discovery_tokens",
            [
                (
                    *map(one.get, COUNTS),
                    one["discovery_tokens"],
                    to_path(one["namespace"]),
                    one["key"],
                    *visible.bindings,
                )
                for one in counts
            ],
        )
        connection.executemany(
            "INSERT INTO citation (item, matched, relevance, used_at) "
            f"SELECT i.id, ?, ?, ? FROM item i WHERE {NAMED} AND {visible.sql} "
            "ON CONFLICT (item) DO UPDATE SET matched = citation.matched + excluded.matched, "
            "relevance = citation.relevance + excluded.relevance, used_at = CASE WHEN "
            "excluded.used_at > citation.used_at THEN excluded.used_at ELSE citation.used_at END",
            [
                (
                    one.get("matched", 0),
                    one.get("relevance", 0.0),
                    one["cited_at_us"],
                    to_path(one["namespace"]),
                    one["key"],
                    *visible.bindings,
                )
                for one in counts
                if "cited_at_us" in one
            ],
        )


def restore(connection: Connection, item: int, count: Iterable[int]) -> None:
    """Take back exported counts, for an item that has none here."""
    connection.execute("INSERT OR IGNORE INTO usage VALUES (?, ?, ?, ?, ?, ?)", (item, *count))


class Rank(NamedTuple):
    """Where a memory stands among those that were shown."""

    succeeded: int
    referenced: int
    loaded: int
    item: int


def of_namespace(
    connection: Connection,
    prefix: Namespace,
    viewer: str | None,
    limit: int,
    *,
    key: str | None = None,
    after: Rank | None = None,
) -> list[tuple[Rank, MemoryUsage]]:
    """Return memories of a namespace and below it that were shown, those that helped most often first, each
    with its place; only those of a key, if any. ``after`` is the place of the last one of the page before."""
    where, labels = inside("i.namespace", prefix)
    if key is not None:
        where, labels = f"{where} AND i.key = ?", (*labels, key)
    visible = visible_to(viewer)
    counts = ", ".join(f"u.{name}" for name in COUNTS)
    if after is not None:
        where += " AND (u.succeeded, u.referenced, u.loaded, u.item) < (?, ?, ?, ?)"
        labels = (*labels, *after)
    rows = connection.execute(
        f"SELECT {MEMORY_COLUMNS}, {counts} FROM usage u CROSS JOIN item i ON i.id = u.item "
        "CROSS JOIN namespace n ON n.id = i.namespace LEFT JOIN thread t ON t.id = i.thread "
        f"WHERE {where} AND {visible.sql} "
        "ORDER BY u.succeeded DESC, u.referenced DESC, u.loaded DESC, u.item DESC LIMIT ?",
        (*labels, *visible.bindings, limit),
    )
    found = []
    for row in rows:
        shown, count = memory(row[:-5]), dict(zip(COUNTS, row[-5:], strict=True))
        rank = Rank(count["succeeded"], count["referenced"], count["loaded"], row[0])
        found.append(
            (
                rank,
                MemoryUsage(
                    namespace=shown.namespace,
                    key=shown.key,
                    text=shown.text,
                    **count,
                ),
            )
        )
    return found


def tokens(connection: Connection, prefix: Namespace) -> tuple[int, int]:
    """Return the tokens of showing the memories of a namespace and below it, and those that this saved
    (`MemoryUsage.saved_tokens`)."""
    where, labels = inside("i.namespace", prefix)
    read, saved = connection.execute(
        "SELECT coalesce(sum(u.read_tokens), 0), "
        "coalesce(sum(u.loaded * u.discovery_tokens - u.read_tokens), 0) FROM usage u "
        f"CROSS JOIN item i ON i.id = u.item WHERE {where}",
        labels,
    ).fetchone()
    return int(read), int(saved)


BATCH: Final = 1024
"""Memories from which it is time to write."""

EVERY_SECONDS: Final = 30.0
"""So long after the last time the next counts are written, however few they are."""


REPORTS: Final = 10_000
"""Memories of answers whose reports are known again, and memories whose relevance is known."""


class UsageCounts:
    """Usage counts on their way into the file: kept in memory and written in batches, off the hot path.
    A crash loses counts, never memories. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock``: seconds, from any beginning on."""
        self._clock = clock
        self._lock = threading.Lock()
        self._sums: dict[tuple[str | None, ...], Usage] = {}
        self._due_at = clock()
        self._shares: dict[tuple[str | None, ...], float] = {}
        """By viewer and memory, the relevance with which it was shown last; the latest last."""
        self._reported: dict[tuple[str | None, ...], set[Mark]] = {}
        """By viewer, answer and memory, the latest last."""
        self._outcomes: dict[tuple[str | None, ...], bool] = {}
        """By the same, whether an answer that followed a procedure turned out well."""
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
                one = self._with_relevance(one, memory)
                known = self._sums.get(memory)
                self._sums[memory] = one if known is None else add_usage(known, one)
            due = len(self._sums) >= BATCH or self._clock() >= self._due_at
            return due and bool(self._sums)

    def _with_relevance(self, one: Usage, memory: tuple[str | None, ...]) -> Usage:
        """Return a citation that was reported with the relevance with which the memory was shown."""
        if "share" in one:
            self._shares.pop(memory, None)
            self._shares[memory] = one["share"]
            while len(self._shares) > REPORTS:
                del self._shares[next(iter(self._shares))]
        if not one["referenced"] or "matched" in one or memory not in self._shares:
            return one
        times = one["referenced"]
        return {**one, "matched": times, "relevance": times * self._shares[memory]}

    def unreported(
        self, marks: set[Mark], viewer: str | None, answer: str, namespace: Namespace, key: str
    ) -> set[Mark]:
        """Return those marks of a memory that no report of this answer had yet, and remember them."""
        with self._lock:
            memory = (viewer, answer, *namespace, key)
            known = self._reported.pop(memory, set())
            self._reported[memory] = known | marks
            while len(self._reported) > REPORTS:
                del self._reported[next(iter(self._reported))]
            return marks - known

    def outcome_before(
        self, right: bool, viewer: str | None, answer: str, namespace: Namespace, key: str
    ) -> bool | None:
        """Return what this answer reported of a procedure before, and remember what it reports now."""
        with self._lock:
            procedure = (viewer, answer, *namespace, key)
            before = self._outcomes.pop(procedure, None)
            self._outcomes[procedure] = right
            while len(self._outcomes) > REPORTS:
                del self._outcomes[next(iter(self._outcomes))]
            return before

    def drain(self) -> dict[str | None, list[Usage]]:
        """Return everything noted so far, by viewer; nothing is left."""
        with self._lock:
            sums, self._sums = self._sums, {}
            self._due_at = self._clock() + EVERY_SECONDS
        by_viewer: dict[str | None, list[Usage]] = {}
        for (viewer, *_), one in sums.items():
            by_viewer.setdefault(viewer, []).append(one)
        return by_viewer
