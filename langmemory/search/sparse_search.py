"""The sparse channel: the highest sums of products of a query's weights with those of texts."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from langmemory.ids import are_in
from langmemory.ledger.scope.scopes import CompiledScope
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import ids_below
from langmemory.ledger.tables.sparse import of_items
from langmemory.ports.candidates import Floats, Ids, ScoredIds
from langmemory.ports.sparse import Pairs
from langmemory.search.copies import sparse
from langmemory.search.copies.sparse import Postings, products
from langmemory.search.copies.vectors import highest
from langmemory.search.scope_plan import ScopePlan

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
    if index is None or (copy := index.current()) is None:
        items = plan.items
        if items is None:
            items = _in_scope(connection, scope, "item i WHERE TRUE", ())
        if index is not None and len(items) >= sparse.WORTH_COPYING:
            index.searches += 1
        return _best_of(connection, query, items, limit)
    found = _from_copy(connection, copy, scope, plan.items, query, limit)
    newest = connection.execute("SELECT coalesce(max(seq), 0) FROM sparse").fetchone()[0]
    if newest <= copy.last:
        return found
    added = _in_scope(
        connection,
        scope,
        "sparse s CROSS JOIN item i ON i.id = s.item WHERE s.seq > ?",
        (copy.last,),
    )
    if index.outdated(len(added)):
        index.searches += 1
    return _best([found, _best_of(connection, query, added, limit)], limit)


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


def _in_scope(
    connection: Connection, scope: CompiledScope, source: str, bindings: tuple[Any, ...]
) -> Ids:
    """Return those items of a source that are in scope."""
    namespaces, labels = scope.namespaces()
    rows = connection.execute(
        f"SELECT i.id{scope.value_column} FROM {source} AND i.namespace IN {namespaces} "
        f"AND {scope.where}",
        (*bindings, *labels, *scope.bindings),
    )
    return np.array([row[0] for row in scope.passing(rows)], np.int64)


def _best_of(connection: Connection, query: Pairs, items: Ids, limit: int) -> ScoredIds:
    scores = products_of(connection, query, items)
    hit = scores > 0
    return _best([ScoredIds(items[hit], scores[hit])], limit)


def products_of(connection: Connection, query: Pairs, items: Ids) -> Floats:
    """float32[n]: the sum of products of each item with a query; 0 without a vector."""
    found = np.zeros(len(items), np.float32)
    order = np.argsort(items)
    for start in range(0, len(items), READ_AT_ONCE):
        some = order[start : start + READ_AT_ONCE]
        vectors = of_items(connection, items[some].tolist())
        ids = np.fromiter(vectors, np.int64, len(vectors))
        places = some[np.searchsorted(items[some], ids)]
        found[places] = products(query, [*vectors.values()])
    return found


def _best(parts: list[ScoredIds], limit: int) -> ScoredIds:
    ids = np.concatenate([one.ids for one in parts])
    scores = np.concatenate([one.scores for one in parts])
    kept = highest(scores, ids, limit)
    order = kept[np.lexsort((ids[kept], -scores[kept]))]
    return ScoredIds(ids[order], scores[order])
