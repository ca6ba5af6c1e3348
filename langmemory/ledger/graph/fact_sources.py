"""Facts and the turns they rest on, as recall asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from langmemory.ledger.graph import graph
from langmemory.ledger.scope.ownership import visible_to
from langmemory.ledger.scope.scopes import CompiledScope
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.tree import IS_NODE
from langmemory.ports.candidates import NOTHING, Ids

NO_FACTS: Final = "SELECT NOT EXISTS (SELECT 1 FROM evidence)"


def is_empty(connection: Connection) -> bool:
    """Return whether nothing in the file was derived from anything."""
    return bool(connection.execute(NO_FACTS).fetchone()[0])


def fact_sources(connection: Connection, scope: CompiledScope, items: Ids) -> tuple[Ids, Ids]:
    """Return the pairs of a memory and its source, where either of the two is among the items and both are
    in scope: (int64[n] derived, int64[n] sources)."""
    if not len(items):
        return NOTHING.ids, NOTHING.ids
    asked = connection.array(items.tolist())
    found = {
        (reached, origin) if derived else (origin, reached)
        for origin, reached, derived in _evidence(connection, scope, asked)
    }
    return _columns(sorted(found))


def outdated(connection: Connection, scope: CompiledScope, items: Ids) -> list[tuple[int, bytes]]:
    """Return those of the items that something was derived from, of which all that the viewer may know
    of has given way since: (item, words of one fact) for each fact."""
    seen = visible_to(scope.scope.viewer)
    rows = connection.execute(
        "SELECT v.source, i.status, i.tokens FROM carray(?) c CROSS JOIN evidence v ON v.source = c.value "
        f"CROSS JOIN item i ON i.id = v.item WHERE {seen.sql} AND NOT ({IS_NODE.format('i')}) "
        "ORDER BY v.source, i.id",
        (connection.array(items.tolist()), *seen.bindings),
    ).fetchall()
    hold = {source for source, status, _ in rows if status == "active"}
    return [
        (source, tokens or b"")
        for source, status, tokens in rows
        if status == "superseded" and source not in hold
    ]


def successors(connection: Connection, scope: CompiledScope, items: Ids) -> tuple[Ids, Ids]:
    """Return the items that took the place of something that was derived from the items, of which the
    viewer may know: (int64[n] of the items, int64[n] memories in scope that hold now)."""
    where, bindings = graph.within(scope)
    seen = visible_to(scope.scope.viewer, "f")
    rows = connection.execute(
        "WITH RECURSIVE gone (source, namespace, heir) AS ("
        "SELECT v.source, f.namespace, f.superseded_by FROM carray(?) c "
        "CROSS JOIN evidence v ON v.source = c.value CROSS JOIN item f ON f.id = v.item "
        f"WHERE f.status = 'superseded' AND f.superseded_by IS NOT NULL AND {seen.sql} UNION "
        "SELECT g.source, f.namespace, f.superseded_by FROM gone g CROSS JOIN item f "
        "ON f.namespace = g.namespace AND f.key = g.heir "
        "WHERE f.status = 'superseded' AND f.superseded_by IS NOT NULL) "
        f"SELECT DISTINCT g.source, i.id{scope.value_column} FROM gone g "
        f"CROSS JOIN item i ON i.namespace = g.namespace AND i.key = g.heir WHERE {where} "
        "ORDER BY g.source, i.id",
        (connection.array(items.tolist()), *seen.bindings, *bindings),
    )
    return _columns(scope.passing(rows))


def _columns(pairs: Sequence[tuple[int, ...]]) -> tuple[Ids, Ids]:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


def _evidence(connection: Connection, scope: CompiledScope, asked: Any) -> list[tuple[Any, ...]]:
    """Return the steps between memories and their sources: (asked, reached, whether the reached was
    derived from it)."""
    where, bindings = graph.within(scope)
    rows = connection.execute(
        f"SELECT v.item, i.id, 0{scope.value_column} FROM carray(?) c "
        "CROSS JOIN evidence v ON v.item = c.value CROSS JOIN item i ON i.id = v.source "
        f"WHERE {where} UNION ALL "
        f"SELECT v.source, i.id, 1{scope.value_column} FROM carray(?) c "
        "CROSS JOIN evidence v ON v.source = c.value CROSS JOIN item i ON i.id = v.item "
        f"AND NOT ({IS_NODE.format('i')}) WHERE {where}",
        (asked, *bindings, asked, *bindings),
    )
    return scope.passing(rows)
