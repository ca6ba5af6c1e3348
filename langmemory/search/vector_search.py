"""The nearest vectors, and the exact cosines of items."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from langmemory.ids import are_in
from langmemory.ledger.connection import SLOT_BITS, Connection
from langmemory.ledger.scopes import CompiledScope
from langmemory.ports.candidates import NOTHING, Floats, Ids
from langmemory.search.binary import BinaryQuantizedIndex
from langmemory.search.chunks import fetch
from langmemory.search.scope_plan import ScopePlan

EXACT_FLOOR: Final = (1_000, 320)
"""Vectors that a search compares exactly however few are wanted, up to `MANY` and above: of the ten
nearest of 100,000 static vectors .995 are among the 1,000, and .96 among 200."""
MANY: Final = 200_000
"""Vectors above which a search compares fewer exactly, as no copy of them fits into memory as a rule."""
COARSE_FLOOR: Final = 4
"""As `EXACT_FLOOR`, where the coarse copy has told the others apart, to which 2 are enough (MiniLM and
Gaussian vectors); twice as many where predicates leave out some of them afterwards."""
SEVERAL: Final = 2
"""Vectors asked for per wanted one where that costs nothing: an item may have several, as a part of a
document does."""


def nearest(
    connection: Connection,
    index: BinaryQuantizedIndex,
    scope: CompiledScope,
    query: Floats,
    limit: int,
    *,
    overfetch: int,
    plan: ScopePlan,
    exact: bool = False,
    rough: bool = False,
) -> tuple[Ids, Floats]:
    """Return the ``limit`` items with the highest cosine: (int64[n], float32[n]), best first, ties by
    id.

    Candidates are the items in scope where these are few, else they come from the sign bits; either
    way the cosines are exact, and an item with several vectors counts with its best one.

    Args:
        query: float32[dims], L2-normalised.
        overfetch: Vectors compared exactly for each wanted item, beyond `EXACT_FLOOR`.
        exact: Compare every vector in scope instead.
        rough: Cosines that are right to about 0.002 will do, where that is faster.
    """
    if limit <= 0:
        return NOTHING
    if index.coarse is not None:  # vectors compared exactly
        wanted = limit + (COARSE_FLOOR if scope.trivial else 2 * COARSE_FLOOR)
    else:
        wanted = limit * overfetch + EXACT_FLOOR[index.size > MANY]
    selected = plan.items
    asked = wanted
    margin = 1.0
    if selected is None and not scope.trivial:
        asked = plan.candidates(wanted)
        margin = asked / wanted
    elif rough and index.coarse is not None:
        asked = SEVERAL * wanted
    while selected is None:
        near = index.candidates(
            connection,
            query,
            asked,
            scope.scope.namespace,
            margin=margin,
            exhaustive=exact,
        )
        if rough and near.cosines:
            ids, cosines = _scored_in_scope(connection, scope, near.ids, near.scores)
        else:
            ids, vectors = _in_scope(connection, scope, near.ids)
            cosines = np.vecdot(vectors, query) if len(ids) else near.scores[:0]
        if near.complete or len(ids) >= 0.9 * wanted:
            found = _pool(ids, cosines, limit)
            if near.complete or len(found[0]) >= limit:
                plan.found(len(ids), len(near.ids))
                if near.complete or not _several(ids):
                    return found
                return _by_best(connection, query, found, index if rough else None)
        # Predicates, or items with many vectors, left too few: start from what they leave, or ask
        # for as many more.
        selected = plan.after(len(ids), len(near.ids), read=True)
        asked = min(max(round(asked * 1.2 * wanted / max(len(ids), 1)), 2 * asked), 8 * asked)
        margin = asked / wanted
    while True:
        chosen = None if exact else index.closest_of(query, selected, wanted)
        if chosen is None and connection.measures:
            return _measured(connection, query, selected, limit)
        ids, vectors = (
            _of_items(connection, selected) if chosen is None else fetch(connection, chosen)
        )
        found = _pool(ids, np.vecdot(vectors, query) if len(ids) else NOTHING[1], limit)
        if chosen is None or not _several(ids):
            return found
        if len(found[0]) >= limit or len(chosen) < wanted:
            return _by_best(connection, query, found)
        wanted *= 4  # items with many vectors left too few


def _measured(connection: Connection, query: Floats, items: Ids, limit: int) -> tuple[Ids, Floats]:
    """Compare all vectors of some items in SQL, where none has to leave the database."""
    asked = SEVERAL * limit
    while len(items):
        rows = connection.execute(
            f"SELECT v.id, vec_distance_cosine(v.e, ?) AS far FROM carray(?) c "
            f"CROSS JOIN {connection.vector_rows} v ON {connection.vector_of('c.value')} "
            "ORDER BY far IS NULL, far, v.id LIMIT ?",
            (np.ascontiguousarray(query, np.float32).tobytes(), connection.array(items), asked),
        ).fetchall()
        near = np.unique(np.array([row[0] for row in rows], np.int64) >> SLOT_BITS)
        if len(near) >= limit or len(rows) < asked:
            best = cosines(connection, query, near)
            order = np.lexsort((near, -best))[:limit]
            return near[order], best[order]
        asked *= 4  # items with many vectors left too few
    return NOTHING


def _by_best(
    connection: Connection,
    query: Floats,
    found: tuple[Ids, Floats],
    rough: BinaryQuantizedIndex | None = None,
) -> tuple[Ids, Floats]:
    """Return the finds, each item with its best vector, which may not be among those compared; by the
    coarse copy of an index if that will do and there is one."""
    best = None if rough is None else rough.cosines(query, found[0])
    if best is None:
        best = cosines(connection, query, found[0])
    order = np.lexsort((found[0], -best))
    return found[0][order], best[order]


def _of_items(connection: Connection, items: Ids) -> tuple[Ids, Floats]:
    if not len(items):
        return connection.unpacked([])
    return connection.unpacked(
        connection.execute(
            f"SELECT v.id, v.e FROM carray(?) c CROSS JOIN {connection.vector_rows} v "
            f"ON {connection.vector_of('c.value')}",
            (connection.array(items),),
        ).fetchall()
    )


def _in_scope(connection: Connection, scope: CompiledScope, candidates: Ids) -> tuple[Ids, Floats]:
    if scope.trivial or not len(candidates):
        return fetch(connection, candidates)
    rows = connection.execute(
        f"SELECT v.id, v.e{scope.value_column} FROM carray(?) c "
        f"CROSS JOIN item i ON i.id = c.value >> {SLOT_BITS} "
        f"CROSS JOIN {connection.vector_rows} v ON v.id = c.value WHERE {scope.where}",
        (connection.array(candidates), *scope.bindings),
    )
    return connection.unpacked(scope.passing(rows))


def _scored_in_scope(
    connection: Connection, scope: CompiledScope, candidates: Ids, scores: Floats
) -> tuple[Ids, Floats]:
    """Return the candidates in scope with their scores."""
    if scope.trivial or not len(candidates):
        return candidates, scores
    rows = connection.execute(
        f"SELECT c.value{scope.value_column} FROM carray(?) c "
        f"CROSS JOIN item i ON i.id = c.value >> {SLOT_BITS} WHERE {scope.where}",
        (connection.array(candidates), *scope.bindings),
    )
    keep = are_in(candidates, np.array([row[0] for row in scope.passing(rows)], np.int64))
    return candidates[keep], scores[keep]


def _several(ids: Ids) -> bool:
    """Return whether an item may have several of these vectors."""
    return bool((ids & ((1 << SLOT_BITS) - 1)).any())


def _pool(ids: Ids, cosines: Floats, limit: int) -> tuple[Ids, Floats]:
    """Best cosine per item, best items first."""
    if not len(ids):
        return NOTHING
    items = ids >> SLOT_BITS
    order = np.lexsort((items, -cosines))
    items, cosines = items[order], cosines[order]
    if _several(ids):  # keep the first of each item, the best
        first = np.sort(np.unique(items, return_index=True)[1])
        items, cosines = items[first], cosines[first]
    return items[:limit], cosines[:limit]


def cosines(connection: Connection, query: Floats, items: Ids) -> Floats:
    """Return exact cosine of each item (its best vector) to the query, float32[n]; NaN without a vector."""
    result = np.full(len(items), np.nan, np.float32)
    if not len(items):
        return result
    order = np.argsort(items)
    ids, vectors = _of_items(connection, np.ascontiguousarray(items[order]))
    if len(ids):
        place = order[np.searchsorted(items[order], ids >> SLOT_BITS)]
        np.fmax.at(result, place, np.vecdot(vectors, query))
    return result


def without_vectors(
    connection: Connection, scope: CompiledScope, plan: ScopePlan, known: Ids, limit: int
) -> Ids:
    """Return the items in scope that have no vector and are not known yet, last updated first."""
    value = ""
    bindings: tuple[Any, ...]
    if (items := plan.items) is not None:
        if not len(items):
            return items
        source = "carray(?) c CROSS JOIN item i ON i.id = c.value WHERE TRUE"
        bindings = (connection.array(items),)
    else:
        value = scope.value_column
        namespaces, labels = scope.namespaces()
        source = f"item i WHERE i.namespace IN {namespaces} AND {scope.where}"
        bindings = (*labels, *scope.bindings)
    found = connection.execute(
        f"SELECT i.id{value} FROM {source} AND i.id NOT IN (SELECT value FROM carray(?)) "
        f"AND NOT EXISTS (SELECT 1 FROM {connection.vector_rows} v "
        f"WHERE {connection.vector_of('i.id')}) "
        "ORDER BY i.updated_at DESC, i.id DESC" + ("" if value else f" LIMIT {limit:d}"),
        (*bindings, connection.array(known)),
    )
    passing = scope.passing(found)[:limit] if value else found
    return np.array([row[0] for row in passing], np.int64)


def first_vectors(connection: Connection, items: Ids) -> tuple[Ids, Floats]:
    """Return the first vector of each item that has one: int64[m] item ids, float32[m, dims]."""
    ids, vectors = fetch(connection, items << SLOT_BITS)
    return ids >> SLOT_BITS, vectors
