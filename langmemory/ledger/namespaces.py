"""Namespaces and their threads as rows: interned ids, prefixes by whole labels, listing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from langmemory.ledger.connection import Connection
from langmemory.types import Namespace

SEPARATOR: Final = "."
"""LangGraph allows it in no label. Children of ``a`` lie between ``a.`` and ``a/``."""

Bindings = tuple[Any, ...]


def to_path(namespace: Sequence[str]) -> str:
    return SEPARATOR.join(namespace)


def from_path(path: str) -> Namespace:
    return tuple(path.split(SEPARATOR))


def find(connection: Connection, namespace: Namespace) -> int | None:
    """Return the id of exactly this namespace; None if nothing was ever stored in or below it."""
    row = connection.execute(
        "SELECT id FROM namespace WHERE path = ?", (to_path(namespace),)
    ).fetchone()
    return None if row is None else int(row[0])


def intern(connection: Connection, namespace: Namespace) -> int:
    """Return the id of the namespace; it and its ancestors get rows if they have none."""
    found = find(connection, namespace)
    if found is not None:
        return found
    parent = intern(connection, namespace[:-1]) if len(namespace) > 1 else None
    row = connection.execute(
        "INSERT INTO namespace (path, parent) VALUES (?, ?) RETURNING id",
        (to_path(namespace), parent),
    ).fetchone()
    return int(row[0])


def lineage(connection: Connection, namespace_id: int) -> list[int]:
    """Return the id and those of all ancestors."""
    ids: list[int] = []
    current: int | None = namespace_id
    while current is not None:
        ids.append(current)
        current = connection.execute(
            "SELECT parent FROM namespace WHERE id = ?", (current,)
        ).fetchone()[0]
    return ids


PLACES: Final = "SELECT path, id FROM namespace WHERE path IN (SELECT value FROM json_each(?))"
"""The ids of namespaces, by their paths as JSON."""


def with_ancestors(namespace: Namespace) -> list[str]:
    """Return the path of a namespace and those of its ancestors, its own first."""
    return [to_path(namespace[:length]) for length in range(len(namespace), 0, -1)]


def below(namespace: Namespace) -> tuple[str, Bindings]:
    """Return a SQL set of the ids of a namespace and everything below it; ``()`` is every namespace."""
    if not namespace:
        return "(SELECT id FROM namespace)", ()
    path = to_path(namespace)
    return (
        "(SELECT id FROM namespace WHERE path = ? UNION ALL "
        "SELECT id FROM namespace WHERE path > ? AND path < ?)",
        (path, path + ".", path + "/"),
    )


def ids_below(connection: Connection, namespace: Namespace) -> list[int]:
    query, bindings = below(namespace)
    return [int(row[0]) for row in connection.execute(f"SELECT id FROM {query}", bindings)]


def with_memories(connection: Connection, namespace: Namespace) -> list[Namespace]:
    """Return the namespaces in a prefix that hold memories, in alphabetical order."""
    query, bindings = below(namespace)
    rows = connection.execute(
        f"SELECT n.path FROM namespace n WHERE n.id IN {query} AND EXISTS (SELECT 1 FROM item i "
        "WHERE i.namespace = n.id AND i.kind <> 'working') ORDER BY n.path",
        bindings,
    )
    return [from_path(row[0]) for row in rows]


def inside(column: str, namespace: Namespace) -> tuple[str, Bindings]:
    """As ``column IN below(namespace)``, asked of one row after the other: where few rows are asked
    about, or most namespaces are below, it is not worth while to look all of these up first."""
    if not namespace:
        return "TRUE", ()
    path = to_path(namespace)
    return (
        f"EXISTS (SELECT 1 FROM namespace n WHERE n.id = {column} "
        "AND (n.path = ? OR (n.path > ? AND n.path < ?)))",
        (path, path + ".", path + "/"),
    )


FEW_NAMESPACES: Final = 64


def holds_few(connection: Connection, namespace: Namespace, most: int) -> bool:
    """Return whether a namespace and what is below it, if these are few, hold at most so many items."""
    query, bindings = below(namespace)
    ids = connection.execute(
        f"SELECT id FROM {query} LIMIT ?", (*bindings, FEW_NAMESPACES + 1)
    ).fetchall()
    return len(ids) <= FEW_NAMESPACES and hold_at_most(connection, namespace, most)


def hold_at_most(connection: Connection, namespace: Namespace, most: int) -> bool:
    """As `holds_few`, where they are known to be few."""
    query, bindings = below(namespace)
    (held,) = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM item WHERE namespace IN {query} LIMIT ?)",
        (*bindings, most + 1),
    ).fetchone()
    return bool(held <= most)


def of_kinds(namespace: Namespace, kinds: Sequence[str]) -> tuple[str, Bindings]:
    """Return a query of a row for each item of some kinds in a namespace and below it."""
    held = (
        "SELECT 1 FROM {} item i INDEXED BY item_class "
        f"WHERE i.kind IN ({', '.join('?' for _ in kinds)})"
    )
    if not namespace:
        return held.format(""), tuple(kinds)
    every, labels = below(namespace)
    return held.format(f"{every} n CROSS JOIN") + " AND i.namespace = n.id", (*labels, *kinds)


def holds_everything(connection: Connection, namespace: Namespace) -> bool:
    """Return whether there is no item outside of a namespace and what is below it, as in the memory of
    one person. Asked only of a file with few namespaces; of others it says no."""
    path = to_path(namespace)
    row = connection.execute(
        "SELECT (SELECT max(id) FROM namespace) <= ? AND NOT EXISTS (SELECT 1 FROM namespace n "
        "WHERE n.path <> ? AND NOT (n.path > ? AND n.path < ?) "
        "AND EXISTS (SELECT 1 FROM item i WHERE i.namespace = n.id))",
        (FEW_NAMESPACES, path, path + ".", path + "/"),
    ).fetchone()
    return bool(row[0])


def occupied_namespaces(
    connection: Connection,
    prefix: Namespace = (),
    now_us: int | None = None,
    *,
    among: str = "TRUE",
    bindings: Bindings = (),
) -> list[Namespace]:
    """Return the namespaces that hold at least one item, in any order.

    Args:
        prefix: Leading labels without wildcards.
        now_us: If given, items that expired before it do not count.
        among: SQL over ``item AS i``; other items do not count.
    """
    path = to_path(prefix)
    within = "TRUE"
    labels: Bindings = ()
    if prefix:  # one range of the index, and of it what is not only spelled alike
        within = "n.path >= ? AND n.path < ? AND (n.path = ? OR n.path > ?)"
        labels = (path, path + "/", path, path + ".")
    alive = ""
    if now_us is not None:
        # Mostly nothing has expired: then the index of namespaces tells, and no item is looked at.
        (expired,) = connection.execute(
            "SELECT EXISTS (SELECT 1 FROM item WHERE expires_at <= ?)", (now_us,)
        ).fetchone()
        if expired:
            alive = "AND (i.expires_at IS NULL OR i.expires_at > ?)"
            bindings = (*bindings, now_us)
    rows = connection.execute(
        f"SELECT path FROM namespace n WHERE {within} AND EXISTS "
        f"(SELECT 1 FROM item i WHERE i.namespace = n.id AND {among} {alive})",
        (*labels, *bindings),
    )
    return [from_path(row[0]) for row in rows]


def namespace_tokens(connection: Connection, namespace_id: int) -> str:
    """One token for the namespace and one per ancestor, so that a prefix is one term."""
    return tokens_of(lineage(connection, namespace_id))


def tokens_of(ids: Iterable[int]) -> str:
    """Return one token for each id of a namespace and its ancestors."""
    return " ".join(f"n{one}" for one in ids)


def find_thread(connection: Connection, namespace: int, name: str) -> int | None:
    """Return the id of the thread; None if nothing of it was ever stored."""
    row = connection.execute(
        "SELECT id FROM thread WHERE namespace = ? AND name = ?", (namespace, name)
    ).fetchone()
    return None if row is None else int(row[0])


def intern_thread(connection: Connection, namespace: int, name: str) -> int:
    """Return the id of the thread, which gets a row if it has none."""
    found = find_thread(connection, namespace, name)
    if found is not None:
        return found
    row = connection.execute(
        "INSERT INTO thread (namespace, name) VALUES (?, ?) RETURNING id", (namespace, name)
    ).fetchone()
    return int(row[0])
