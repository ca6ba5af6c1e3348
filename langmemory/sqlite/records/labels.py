"""Short ids: which items one may mean, by an index that is filled up when it is asked.

An id is a hash of namespace and key, which SQLite cannot compute. Writing it with every item would
cost each write a page; so whoever looks one up first adds the items that came since the last time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from langmemory.sqlite.file.connection import Connection
from langmemory.sqlite.file.namespaces import below, from_path
from langmemory.sqlite.scope.ownership import visible_to
from langmemory.types import Namespace

BATCH: Final = 10_000
"""Items given their ids in one transaction (about 30 ms)."""


def is_complete(connection: Connection) -> bool:
    """Whether every item has its id. Item ids only grow, so the newest one tells."""
    row = connection.execute(
        "SELECT coalesce((SELECT max(id) FROM item), 0) <= coalesce((SELECT max(item) FROM label), 0)"
    ).fetchone()
    return bool(row[0])


def add(connection: Connection, hash_of: Callable[[Namespace, str], int]) -> None:
    """Give the next `BATCH` items their ids."""
    rows = connection.execute(
        "SELECT i.id, n.path, i.key FROM item i JOIN namespace n ON n.id = i.namespace "
        "WHERE i.id > coalesce((SELECT max(item) FROM label), 0) ORDER BY i.id LIMIT ?",
        (BATCH,),
    ).fetchall()
    connection.executemany(
        "INSERT INTO label (item, hash) VALUES (?, ?)",
        [(item, hash_of(from_path(path), key)) for item, path, key in rows],
    )


def find(
    connection: Connection, hash: int, prefix: Namespace, *, viewer: str | None = None
) -> list[int]:
    """Items of this id in a namespace and below it that the viewer may know of, oldest first."""
    namespaces, labels = below(prefix)
    visible = visible_to(viewer)
    rows = connection.execute(
        "SELECT i.id FROM label l CROSS JOIN item i ON i.id = l.item "
        f"WHERE l.hash = ? AND i.namespace IN {namespaces} AND {visible.sql} ORDER BY i.id",
        (hash, *labels, *visible.bindings),
    )
    return [int(row[0]) for row in rows]
