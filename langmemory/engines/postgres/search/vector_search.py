"""The search by vectors: exact cosines over the vectors of a scope."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from langmemory.engines.postgres.connection import Connection
from langmemory.engines.postgres.vectors import SLOT_BITS, parsed, text
from langmemory.engines.sql.scope.scopes import CompiledScope
from langmemory.ports.candidates import NOTHING, Floats, Ids

SPARE: Final = 32
"""Vectors looked at beyond the wanted items, since an item may have several."""


def nearest(
    connection: Connection,
    scope: CompiledScope,
    query: Floats,
    limit: int,
    *,
    among: Ids | None = None,
) -> tuple[Ids, Floats]:
    """Return the items in scope with the best cosine: (int64[n], float32[n]), best first, ties by id.

    An item with several vectors counts with its best one.

    Args:
        query: float32[dims], L2-normalised.
        among: Only these items, ascending; all in scope are then among them.
    """
    if limit <= 0 or (among is not None and not len(among)):
        return NOTHING
    wanted = limit + SPARE
    while True:
        rows = _rows(connection, scope, query, wanted, among)
        ids = np.array([row[0] for row in rows], np.int64)
        cosines = np.array([row[1] for row in rows], np.float32)
        if len(ids):
            order = np.lexsort((ids, -cosines))
            ids, cosines = ids[order], cosines[order]
            first = np.sort(np.unique(ids, return_index=True)[1])
            ids, cosines = ids[first], cosines[first]
        if len(ids) >= limit or len(rows) < wanted:
            return ids[:limit], cosines[:limit]
        wanted *= 4  # items with many vectors left too few


def _rows(
    connection: Connection, scope: CompiledScope, query: Floats, limit: int, among: Ids | None
) -> list[Any]:
    if among is not None:
        source = "carray(?) c CROSS JOIN embedding v ON v.item = c.value WHERE TRUE"
        bindings: tuple[Any, ...] = (connection.array(among),)
        value = ""
    else:
        value = scope.value_column
        joined = "" if scope.trivial else "CROSS JOIN item i ON i.id = v.item "
        namespaces, labels = scope.namespaces()
        source = f"embedding v {joined}WHERE v.namespace IN {namespaces} AND {scope.where}"
        bindings = (*labels, *scope.bindings)
    rows = connection.execute(
        f"SELECT v.item, -(v.e <#> ?::vector){value} FROM {source} "
        "ORDER BY v.e <#> ?::vector, v.item" + ("" if value else " LIMIT ?"),
        (text(query), *bindings, text(query), *(() if value else (limit,))),
    )
    return scope.passing(rows)[:limit] if value else rows.fetchall()


def cosines(connection: Connection, query: Floats, items: Ids) -> Floats:
    """Return exact cosine of each item (its best vector) to the query, float32[n]; NaN without a vector."""
    result = np.full(len(items), np.nan, np.float32)
    if not len(items):
        return result
    rows = connection.raw.execute(
        b"SELECT v.item, max(-(v.e <#> %s::vector)) FROM embedding v WHERE v.item = ANY(%s) GROUP BY 1",
        (text(query), items.tolist()),
    ).fetchall()
    found = dict(rows)
    for n, item in enumerate(items.tolist()):
        if item in found:
            result[n] = found[item]
    return result


def without_vectors(connection: Connection, scope: CompiledScope, known: Ids, limit: int) -> Ids:
    """Return the items in scope that have no vector and are not known yet, last updated first."""
    value = scope.value_column
    namespaces, labels = scope.namespaces()
    found = connection.execute(
        f"SELECT i.id{value} FROM item i WHERE i.namespace IN {namespaces} AND {scope.where} "
        "AND i.id NOT IN (SELECT value FROM carray(?)) "
        "AND NOT EXISTS (SELECT 1 FROM embedding v WHERE v.item = i.id) "
        "ORDER BY i.updated_at DESC, i.id DESC" + ("" if value else f" LIMIT {limit:d}"),
        (*labels, *scope.bindings, connection.array(known)),
    )
    passing = scope.passing(found)[:limit] if value else found
    return np.array([row[0] for row in passing], np.int64)


def first_vectors(connection: Connection, items: Ids) -> tuple[Ids, Floats]:
    """Return the first vector of each item that has one: int64[m] item ids, float32[m, dims]."""
    if not len(items):
        return parsed([])
    rows = connection.raw.execute(
        b"SELECT item, e::text FROM embedding WHERE id = ANY(%s)", ((items << SLOT_BITS).tolist(),)
    ).fetchall()
    return parsed(rows)
