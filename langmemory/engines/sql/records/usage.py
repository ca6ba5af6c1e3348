"""Usage of memories that were shown to a model: counts for each item, over all threads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from langmemory.engines.sql.records.items import MEMORY_COLUMNS, NAMED, memory
from langmemory.engines.sql.scope.ownership import visible_to
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.namespaces import below, to_path
from langmemory.types import MemoryUsage, Namespace


class Count(NamedTuple):
    """Counts to be added to the counts of an item."""

    loaded: int
    referenced: int
    succeeded: int
    read_tokens: int
    discovery_tokens: int
    """Takes the place of what was known: discovery happened once."""


class Citations(NamedTuple):
    """Citations of an item, to be added to those before."""

    matched: int
    """Those whose relevance is known."""
    relevance: float
    """Their sum, 0..1 each."""
    used_at: int
    """When an answer cited it last, microseconds since 1970 UTC."""


Counted = tuple[Namespace, str, Count]
"""Namespace and key of an item, and what is to be added."""


def add(connection: Connection, counted: Iterable[Counted], *, viewer: str | None) -> None:
    """Add to the counts of items; those that are gone, or the viewer may not know of, have none."""
    visible = visible_to(viewer)
    connection.executemany(
        "INSERT INTO usage (item, loaded, referenced, succeeded, read_tokens, discovery_tokens) "
        f"SELECT i.id, ?, ?, ?, ?, ? FROM item i WHERE {NAMED} AND {visible.sql} "
        "ON CONFLICT (item) DO UPDATE SET "
        "loaded = loaded + excluded.loaded, referenced = referenced + excluded.referenced, "
        "succeeded = succeeded + excluded.succeeded, "
        "read_tokens = read_tokens + excluded.read_tokens, "
        "discovery_tokens = excluded.discovery_tokens",
        [(*count, to_path(namespace), key, *visible.bindings) for namespace, key, count in counted],
    )


def cite(
    connection: Connection,
    cited: Iterable[tuple[Namespace, str, Citations]],
    *,
    viewer: str | None,
) -> None:
    """Add citations of items; those that are gone, or the viewer may not know of, have none."""
    visible = visible_to(viewer)
    connection.executemany(
        "INSERT INTO citation (item, matched, relevance, used_at) "
        f"SELECT i.id, ?, ?, ? FROM item i WHERE {NAMED} AND {visible.sql} "
        "ON CONFLICT (item) DO UPDATE SET matched = citation.matched + excluded.matched, "
        "relevance = citation.relevance + excluded.relevance, used_at = CASE WHEN "
        "excluded.used_at > citation.used_at THEN excluded.used_at ELSE citation.used_at END",
        [(*one, to_path(namespace), key, *visible.bindings) for namespace, key, one in cited],
    )


def restore(connection: Connection, item: int, count: Count) -> None:
    """Take back exported counts, for an item that has none here."""
    connection.execute("INSERT OR IGNORE INTO usage VALUES (?, ?, ?, ?, ?, ?)", (item, *count))


def restore_citations(connection: Connection, item: int, found: Citations) -> None:
    """Take back exported citations, for an item that has none here."""
    connection.execute("INSERT OR IGNORE INTO citation VALUES (?, ?, ?, ?)", (item, *found))


def of_namespace(
    connection: Connection, prefix: Namespace, viewer: str | None, limit: int
) -> list[MemoryUsage]:
    """Memories of a namespace and below it that were shown, those that helped most often first."""
    namespaces, labels = below(prefix)
    visible = visible_to(viewer)
    rows = connection.execute(
        f"SELECT {MEMORY_COLUMNS}, u.loaded, u.referenced, u.succeeded, u.read_tokens, "
        "u.discovery_tokens FROM usage u CROSS JOIN item i ON i.id = u.item "
        "CROSS JOIN namespace n ON n.id = i.namespace LEFT JOIN thread t ON t.id = i.thread "
        f"WHERE i.namespace IN {namespaces} AND {visible.sql} "
        "ORDER BY u.succeeded DESC, u.referenced DESC, u.loaded DESC, i.id LIMIT ?",
        (*labels, *visible.bindings, limit),
    )
    found = []
    for row in rows:
        shown, count = memory(row[:-5]), Count(*row[-5:])
        found.append(
            MemoryUsage(
                namespace=shown.namespace, key=shown.key, text=shown.text, **count._asdict()
            )
        )
    return found
