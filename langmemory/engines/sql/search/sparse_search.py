"""The sparse channel: the highest sums of products of a query's weights with those of texts."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from langmemory.engines.sql.copies import sparse
from langmemory.engines.sql.copies.sparse import Postings, products
from langmemory.engines.sql.copies.vectors import highest
from langmemory.engines.sql.scope.scopes import CompiledScope
from langmemory.engines.sql.search.scope_plan import ScopePlan
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.namespaces import ids_below
from langmemory.ids import are_in
from langmemory.ports.candidates import Floats, Ids, ScoredIds
from langmemory.ports.sparse import Pairs

AT_FIRST: Final = 2
"""Rows of the copy looked up for each wanted item, and `FURTHER` times as many where too few are in scope."""
FURTHER: Final = 8
READ_AT_ONCE: Final = 2_048
"""Vectors read at a time where there is no copy."""


def search(
    connection: Connection,
    index: sparse.SparseIndex | None,
    scope: CompiledScope,
    query: Pairs,
    limit: int,
    *,
    plan: ScopePlan,
) -> ScoredIds:
    """Return the items in scope with the highest sums of products, above 0, best first, ties by id.

    Args:
        index: The copy in memory; None where there is none to be used.
        plan: Of the scope.
    """
    copy = None if index is None else index.current()
    if copy is None:
        found, read = _read(connection, scope, plan.items, query, limit)
        if index is not None and read >= sparse.WORTH_COPYING:
            index.searches += 1
        return found
    assert index is not None
    since = " AND s.seq > ?"
    later, added = _streamed(connection, scope, since, (copy.last,), query, limit)
    if index.outdated(added):
        index.searches += 1
    return _best([_from_copy(connection, copy, scope, plan.items, query, limit), later], limit)


def _from_copy(
    connection: Connection,
    copy: Postings,
    scope: CompiledScope,
    items: Ids | None,
    query: Pairs,
    limit: int,
) -> ScoredIds:
    scores = copy.scores(query)
    rows = np.flatnonzero(scores > 0)
    if items is not None:
        rows = rows[are_in(copy.items[rows], items)]
    elif scope.scope.namespace:
        within = np.array(ids_below(connection, scope.scope.namespace), np.int32)
        rows = rows[np.isin(copy.namespaces[rows], within)]
    asked = AT_FIRST * limit
    while True:
        best = rows[highest(scores[rows], copy.items[rows], asked)]
        found = connection.execute(
            f"SELECT s.seq{scope.value_column} FROM carray(?) c CROSS JOIN sparse s ON s.seq = c.value "
            f"CROSS JOIN item i ON i.id = s.item WHERE {scope.where}",
            (connection.array(copy.numbers[best].tolist()), *scope.bindings),
        )
        there = np.array([row[0] for row in scope.passing(found)], np.int64)
        kept = best[are_in(copy.numbers[best], there)]
        if len(kept) >= limit or len(best) == len(rows):
            return _best([ScoredIds(copy.items[kept], scores[kept])], limit)
        asked *= FURTHER


def _read(
    connection: Connection, scope: CompiledScope, items: Ids | None, query: Pairs, limit: int
) -> tuple[ScoredIds, int]:
    """Return the best by reading all vectors in scope, and how many these are."""
    if items is None:
        return _streamed(connection, scope, "", (), query, limit)
    scores = of_items(connection, query, items)
    hit = scores > 0
    return _best([ScoredIds(items[hit], scores[hit])], limit), len(items)


def _streamed(
    connection: Connection,
    scope: CompiledScope,
    further: str,
    bindings: tuple[Any, ...],
    query: Pairs,
    limit: int,
) -> tuple[ScoredIds, int]:
    """Return the best of the vectors in scope for which a further condition holds, and how many these are."""
    namespaces, labels = scope.namespaces()
    found, last, read = ScoredIds(np.empty(0, np.int64), np.empty(0, np.float32)), 0, 0
    while True:
        rows = connection.execute(
            f"SELECT s.seq, s.item, s.vector{scope.value_column} FROM sparse s CROSS JOIN item i "
            f"ON i.id = s.item WHERE s.seq > ?{further} AND i.namespace IN {namespaces} AND {scope.where} "
            "ORDER BY s.seq LIMIT ?",
            (last, *bindings, *labels, *scope.bindings, READ_AT_ONCE),
        ).fetchall()
        if rows:
            last, passing = rows[-1][0], scope.passing(rows)
            scores = products(query, [row[2] for row in passing])
            ids = np.fromiter((row[1] for row in passing), np.int64, len(passing))
            hit = scores > 0
            found = _best([found, ScoredIds(ids[hit], scores[hit])], limit)
            read += len(rows)
        if len(rows) < READ_AT_ONCE:
            return found, read


def of_items(connection: Connection, query: Pairs, items: Ids) -> Floats:
    """float32[n]: the sum of products of each item with a query; 0 without a vector."""
    rows = connection.execute(
        "SELECT s.item, s.vector FROM carray(?) c CROSS JOIN sparse s ON s.item = c.value",
        (connection.array(items),),
    ).fetchall()
    found = np.zeros(len(items), np.float32)
    if rows:
        order = np.argsort(items)
        ids = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        places = order[np.searchsorted(items, ids, sorter=order)]
        found[places] = products(query, [row[1] for row in rows])
    return found


def _best(parts: list[ScoredIds], limit: int) -> ScoredIds:
    ids = np.concatenate([one.ids for one in parts])
    scores = np.concatenate([one.scores for one in parts])
    kept = highest(scores, ids, limit)
    order = kept[np.lexsort((ids[kept], -scores[kept]))]
    return ScoredIds(ids[order], scores[order])
