"""Short ids: which items one may mean, by an index that is filled up when it is asked.

An id is a hash of namespace and key, which SQLite cannot compute. Writing it with every item would
cost each write a page; so whoever looks one up first adds the items that came since the last time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from langmemory.ledger.scope.ownership import visible_to
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import below, from_path, holds_few
from langmemory.types import Namespace

FEW_ITEMS: Final = 500
"""A namespace with at most so many, as of one of many people, is looked through without the index (at
most 2 ms): nobody waits for those of all others to get their ids."""
BATCH: Final = 10_000
"""Items given their ids in one transaction (about 30 ms)."""


def is_complete(connection: Connection) -> bool:
    """Return whether every item has its id. Item ids only grow, so the newest one tells."""
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
    connection: Connection,
    hash: int,
    prefix: Namespace,
    hash_of: Callable[[Namespace, str], int],
    *,
    viewer: str | None = None,
) -> list[int] | None:
    """Return the items of this id in a namespace and below it that the viewer may know of, oldest first;
    None where the index has to be asked and not every item has its id yet."""
    namespaces, labels = below(prefix)
    visible = visible_to(viewer)
    scope = f"i.namespace IN {namespaces} AND {visible.sql} ORDER BY i.id"
    bindings = (*labels, *visible.bindings)
    if holds_few(connection, prefix, FEW_ITEMS):
        rows = connection.execute(
            "SELECT i.id, n.path, i.key FROM item i JOIN namespace n ON n.id = i.namespace "
            f"WHERE {scope}",
            bindings,
        )
        return [item for item, path, key in rows if hash_of(from_path(path), key) == hash]
    if not is_complete(connection):
        return None
    rows = connection.execute(
        f"SELECT i.id FROM label l CROSS JOIN item i ON i.id = l.item WHERE l.hash = ? AND {scope}",
        (hash, *bindings),
    )
    return [int(row[0]) for row in rows]
