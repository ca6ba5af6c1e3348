"""Memories by where they stand, not by what they say: always shown, put away, resting on others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

from langmemory.ledger import graph_rows
from langmemory.ledger.connection import Connection
from langmemory.ledger.items import NAMED, find
from langmemory.ledger.namespaces import below, to_path
from langmemory.ledger.scopes import visible_to
from langmemory.procedures import AFTER_KEYS, KEYS
from langmemory.types import Namespace

Place = tuple[Namespace, str]


def _alive(alive_at_us: int | None) -> tuple[str, tuple[int, ...]]:
    if alive_at_us is None:
        return "", ()
    return "AND (i.expires_at IS NULL OR i.expires_at > ?)", (alive_at_us,)


def mandates(
    connection: Connection,
    prefix: Namespace,
    *,
    viewer: str | None,
    alive_at_us: int | None,
    limit: int,
) -> list[int]:
    """Return the items of priority ``mandate`` that are in force, the most recently updated first."""
    namespaces, labels = below(prefix)
    visible = visible_to(viewer)
    alive, times = _alive(alive_at_us)
    # Named: the planner, which does not know how few mandates there are, may prefer another index.
    rows = connection.execute(
        "SELECT i.id FROM item i INDEXED BY item_mandate WHERE i.priority = 'mandate' "
        f"AND i.namespace IN {namespaces} AND i.status = 'active' AND {visible.sql} "
        f"{alive} ORDER BY i.updated_at DESC, i.id DESC LIMIT ?",
        (*labels, *visible.bindings, *times, limit),
    )
    return [int(row[0]) for row in rows]


def any_guardrail(connection: Connection, prefix: Namespace) -> bool:
    """Return whether a namespace has any memory of priority ``guardrail``, whoever may read it."""
    namespaces, labels = below(prefix)
    row = connection.execute(
        "SELECT 1 FROM item i INDEXED BY item_guardrail WHERE i.priority = 'guardrail' "
        f"AND i.namespace IN {namespaces} LIMIT 1",
        labels,
    ).fetchone()
    return row is not None


def requests(
    connection: Connection,
    prefix: Namespace,
    *,
    owner: str,
    relations: Sequence[str],
    alive_at_us: int | None,
    limit: int,
) -> list[int]:
    """Return the procedural items in force that belong to somebody and whose value names one of the
    relations, the most important first, of these the most recently updated."""
    namespaces, labels = below(prefix)
    alive, times = _alive(alive_at_us)
    rows = connection.execute(
        "SELECT i.id FROM item i INDEXED BY item_class WHERE i.kind = 'procedural' "
        f"AND i.namespace IN {namespaces} AND i.status = 'active' AND i.owner = ? "
        "AND i.priority <> 'archive' AND i.value ->> '$.relation' IN "
        f"({', '.join('?' * len(relations))}) {alive} "
        "ORDER BY i.importance DESC, i.updated_at DESC, i.id DESC LIMIT ?",
        (*labels, owner, *relations, *times, limit),
    )
    return [int(row[0]) for row in rows]


def procedures(
    connection: Connection,
    prefix: Namespace,
    *,
    viewer: str | None,
    alive_at_us: int | None,
    limit: int,
) -> list[tuple[int, str]]:
    """Return the procedures with steps that are in force, each with its task, the most recently updated
    first."""
    namespaces, labels = below(prefix)
    visible = visible_to(viewer)
    alive, times = _alive(alive_at_us)
    rows = connection.execute(
        "SELECT i.id, i.value ->> '$.task' FROM item i INDEXED BY item_class WHERE i.kind = 'procedural' "
        f"AND i.namespace IN {namespaces} AND i.status = 'active' AND i.priority <> 'archive' "
        f"AND i.key >= ? AND i.key < ? AND {visible.sql} {alive} "
        "ORDER BY i.updated_at DESC, i.id DESC LIMIT ?",
        (*labels, KEYS, AFTER_KEYS, *visible.bindings, *times, limit),
    )
    return [(int(item), task) for item, task in rows if isinstance(task, str)]


def inactive_places(
    connection: Connection, places: Iterable[Place], *, viewer: str | None
) -> set[Place]:
    """Return those of the items that are not in force, as far as the viewer may know of them."""
    found = set()
    visible = visible_to(viewer)
    for namespace, key in places:
        row = connection.execute(
            f"SELECT i.status FROM item i WHERE {NAMED} AND {visible.sql}",
            (to_path(namespace), key, *visible.bindings),
        ).fetchone()
        if row is not None and row[0] != "active":
            found.add((namespace, key))
    return found


def said_after(
    connection: Connection, namespace: Namespace, key: str, *, viewer: str | None
) -> list[str]:
    """Return the keys of the turns that stand after a turn in its thread, as far as the viewer may know of
    them."""
    after = "item t JOIN item i ON i.thread = t.thread AND i.position > t.position WHERE t.id = ?"
    return [
        row[0]
        for row in _rows_about_item(connection, namespace, key, f"i.key FROM {after}", viewer)
    ]


def evidence(
    connection: Connection, namespace: Namespace, key: str, *, viewer: str | None
) -> list[int]:
    """Return the sources of an item, as far as the viewer may know of it, oldest first."""
    sources = "i.id FROM evidence v JOIN item i ON i.id = v.source WHERE v.item = ?"
    return [int(row[0]) for row in _rows_about_item(connection, namespace, key, sources, viewer)]


def _rows_about_item(
    connection: Connection, namespace: Namespace, key: str, query: str, viewer: str | None
) -> list[Any]:
    """Return the rows of what is asked of an item, whose id is bound, by the ids of the items ``i``; those
    the viewer may know of."""
    item = find(connection, namespace, key, viewer=viewer)
    if item is None:
        return []
    visible = visible_to(viewer)
    rows: list[Any] = connection.execute(
        f"SELECT {query} AND {visible.sql} ORDER BY i.id", (item, *visible.bindings)
    ).fetchall()
    return rows


NAMING: Final = ("named", "nickname", "addressed_as")
"""Relations of facts that say what somebody is called."""
_NAMING: Final = f"({', '.join(map(repr, NAMING))})"
_SELF_NAMED: Final = f"""
    FROM alias a JOIN edge e ON e.subject = a.entity AND e.relation IN {_NAMING}
    JOIN item i ON i.id = e.fact LEFT JOIN entity o ON o.id = e.object
    WHERE a.namespace = (SELECT id FROM namespace WHERE path = ?) AND i.status = 'active'
    AND i.invalid_at IS NULL"""


def self_named(
    connection: Connection, namespace: Namespace, owner: str | None, norm: str, viewer: str | None
) -> str | None:
    """Return what somebody calls themselves: the latest name that a fact of theirs in force gives whoever
    bears their id; where they told no name, a nickname, or what they want to be called. Without an owner
    it is the only one, else nobody's.

    Args:
        namespace: Exactly this one.
        owner: Whose facts count; None is nobody's.
        norm: Their id, normalised.
        viewer: Who may read the fact.
    """
    if graph_rows.is_empty(connection):  # forty times as fast as the join, which finds nobody
        return None
    visible = visible_to(viewer)
    rows = connection.execute(
        f"SELECT coalesce(e.literal, o.name), e.relation {_SELF_NAMED} AND a.norm = ? AND i.owner IS ? "
        f"AND {visible.sql} ORDER BY e.relation = 'named' DESC, "
        "coalesce(i.valid_at, i.created_at) DESC, i.id DESC",
        (to_path(namespace), norm, owner, *visible.bindings),
    ).fetchall()
    if not rows or (owner is None and len({row[0] for row in rows if row[1] == rows[0][1]}) > 1):
        return None
    return str(rows[0][0])


def named_by_others(
    connection: Connection, namespace: Namespace, owner: str, name: str, viewer: str | None
) -> bool:
    """Return whether a fact of somebody else's gives the bearer of their id this name, too."""
    visible = visible_to(viewer)
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM edge e JOIN item i ON i.id = e.fact "
        f"JOIN entity s ON s.id = e.subject WHERE e.relation IN {_NAMING} AND e.literal = ? "
        "AND i.namespace = (SELECT id FROM namespace WHERE path = ?) AND i.status = 'active' "
        f"AND i.owner <> ? AND s.name = i.owner AND {visible.sql})",
        (name, to_path(namespace), owner, *visible.bindings),
    ).fetchone()
    return bool(row[0])


def tell_names(connection: Connection, namespace: Namespace, keys: Iterable[str]) -> bool:
    """Return whether one of the items of these keys tells what somebody is called."""
    told = " OR ".join(f"relation GLOB '*{one}'" for one in NAMING)
    return any(
        connection.execute(f"SELECT 1 FROM edge WHERE fact = ? AND ({told})", (item,)).fetchone()
        for key in keys
        if (item := find(connection, namespace, key)) is not None
    )


class Said(NamedTuple):
    """A turn of a thread, as far as it matters who may read it."""

    key: str
    role: str
    privacy: str


def said_before(
    connection: Connection, namespace: Namespace, key: str, owner: str, limit: int = 8
) -> list[Said]:
    """Return the turns that the owner's conversation holds directly before a turn, the latest first, up to
    what is somebody else's."""
    rows = connection.execute(
        "SELECT i.key, i.value ->> '$.role', i.privacy, i.owner FROM item t "
        "JOIN item i ON i.thread = t.thread AND i.position < t.position "
        "WHERE t.id = ? ORDER BY i.position DESC LIMIT ?",
        (find(connection, namespace, key), limit),
    )
    theirs = takewhile(lambda row: row[3] == owner, rows)
    return [Said(str(row[0]), str(row[1]), str(row[2])) for row in theirs]


def resting_on(
    connection: Connection, namespace: Namespace, keys: Iterable[str], owner: str
) -> list[str]:
    """Return the keys of what is made of these items of an owner alone, and is not private yet."""
    sources = connection.array({item for key in keys if (item := find(connection, namespace, key))})
    rows = connection.execute(
        "SELECT DISTINCT i.key, i.id FROM evidence v JOIN item i ON i.id = v.item "
        "WHERE v.source IN (SELECT value FROM carray(?1)) AND i.privacy <> 'private' "
        "AND (i.owner = ?2 OR i.kind = 'archival') "
        "AND (i.kind = 'archival' OR NOT EXISTS (SELECT 1 FROM evidence w JOIN item s ON s.id = w.source "
        "WHERE w.item = i.id AND w.source NOT IN (SELECT value FROM carray(?1))))",
        (sources, owner),
    ).fetchall()
    # A summary retells all its sources, and is retold by those above it.
    above = connection.execute(
        "WITH RECURSIVE retold (id) AS (SELECT value FROM carray(?1) UNION "
        "SELECT i.id FROM retold r CROSS JOIN evidence v ON v.source = r.id "
        "CROSS JOIN item i ON i.id = v.item WHERE i.kind = 'archival' AND i.privacy <> 'private') "
        "SELECT i.key FROM retold r JOIN item i ON i.id = r.id WHERE i.kind = 'archival' ORDER BY i.id",
        (connection.array([row[1] for row in rows]),),
    )
    return list(dict.fromkeys([str(row[0]) for row in (*rows, *above)]))
