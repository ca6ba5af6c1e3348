"""The sparse channel: the highest sums of products of a query's weights with those of texts, from a copy
in memory.

Reading every vector of 100,000 memories takes three quarters of a second; a process that searches again has
them in memory.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import are_in
from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import ids_below
from langmemory.ledger.scopes import CompiledScope
from langmemory.ledger.sparse import of_items
from langmemory.ports.candidates import Floats, Ids, ScoredIds
from langmemory.ports.sparse import PAIR, Pairs
from langmemory.search.chunks import highest
from langmemory.search.scope_plan import ScopePlan

SEARCHES_BEFORE_COPY: Final = 2
"""Searches through many vectors after which a copy is made, which takes as long as these."""
WORTH_COPYING: Final = 2_000
"""Vectors below which reading them all takes a few milliseconds."""
COPIED_AT_ONCE: Final = 4_096
ADDED_SHARE: Final = 50
"""The copy is made anew when one of so many of its vectors was added since, or `ADDED_FLOOR`."""
ADDED_FLOOR: Final = 500
BYTES_A_WEIGHT: Final = 8
BYTES_A_ROW: Final = 20


@dataclass(frozen=True, slots=True)
class Postings:
    """The vectors of n rows, as they were at one moment."""

    last: int
    """The highest number of a vector that is in it."""
    numbers: Ids
    """int64[n], ascending: of the vectors."""
    items: Ids
    """int64[n]."""
    namespaces: NDArray[np.int32]
    """int32[n]."""
    dimensions: NDArray[np.uint32]
    """uint32[d], ascending."""
    ends: NDArray[np.int64]
    """int64[d + 1]: where the rows of each dimension begin and end in the next two."""
    rows: NDArray[np.int32]
    weights: Floats

    def scores(self, query: Pairs) -> Floats:
        """float32[n]: the sum of products of each row with a query."""
        found = np.zeros(len(self.numbers), np.float32)
        places = self.dimensions.searchsorted(query["dimension"])
        known = self.dimensions.take(places, mode="clip") == query["dimension"]
        for place, weight in zip(places[known].tolist(), query["weight"][known], strict=True):
            some = slice(self.ends[place], self.ends[place + 1])
            found[self.rows[some]] += self.weights[some] * weight
        return found


def products(query: Pairs, vectors: list[bytes]) -> Floats:
    """float32[n]: the sum of products of each vector, as it is stored, with a query."""
    lengths = np.fromiter(map(len, vectors), np.int64, len(vectors)) // PAIR.itemsize
    pairs = np.frombuffer(b"".join(vectors), PAIR)
    asked = query["dimension"]
    if not len(asked) or not len(pairs):
        return np.zeros(len(vectors), np.float32)
    places = asked.searchsorted(pairs["dimension"])
    met = asked.take(places, mode="clip") == pairs["dimension"]
    rows = np.repeat(np.arange(len(vectors)), lengths)[met]
    weights = pairs["weight"][met] * query["weight"][places[met]]
    return np.bincount(rows, weights, len(vectors)).astype(np.float32)


class SparseIndex:
    """The copy of one database. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: Postings | None = None
        self._dropped = 0
        self.searches = 0
        self.next_copy = SEARCHES_BEFORE_COPY

    def current(self) -> Postings | None:
        """Return the copy, if there is one."""
        return self._current

    def outdated(self, added: int) -> bool:
        """Return whether so many vectors were added since that the copy is to be made anew."""
        current = self._current
        return current is not None and added > max(len(current.items) // ADDED_SHARE, ADDED_FLOOR)

    def load(self, connection: Connection, budget_bytes: int) -> None:
        """Make the copy of what this connection sees, if it fits into the budget; a second for 100,000."""
        dropped = self._dropped
        made = _read(connection, budget_bytes)
        with self._lock:
            self._current = made if dropped == self._dropped else None
            if self._current is not None:
                self.searches, self.next_copy = 0, SEARCHES_BEFORE_COPY

    def drop(self) -> None:
        """Forget the copy, and one under way."""
        with self._lock:
            self._current = None
            self._dropped += 1


def _read(connection: Connection, budget_bytes: int) -> Postings | None:
    numbers, items, namespaces = list[int](), list[int](), list[int]()
    lengths, parts = list[int](), list[Any]()
    size = last = 0
    while found := connection.execute(
        "SELECT s.seq, s.item, i.namespace, s.vector FROM sparse s CROSS JOIN item i ON i.id = s.item "
        "WHERE s.seq > ? ORDER BY s.seq LIMIT ?",
        (last, COPIED_AT_ONCE),
    ).fetchall():
        last = found[-1][0]
        numbers += [row[0] for row in found]
        items += [row[1] for row in found]
        namespaces += [row[2] for row in found]
        lengths += [len(row[3]) // PAIR.itemsize for row in found]
        parts.append(np.frombuffer(b"".join(row[3] for row in found), PAIR))
        size += len(parts[-1]) * BYTES_A_WEIGHT + len(found) * BYTES_A_ROW
        if size > budget_bytes:
            return None
    if not parts:
        return None
    pairs = np.concatenate(parts)
    rows = np.repeat(np.arange(len(numbers), dtype=np.int32), lengths)
    named = pairs["dimension"]
    # Numbers of 16 bits are sorted by radix.
    order = np.argsort(
        named.astype(np.uint16) if named.max(initial=0) < 1 << 16 else named, kind="stable"
    )
    named = named[order]
    first = np.flatnonzero(np.diff(named, prepend=named[:1] + 1)) if len(named) else order
    return Postings(
        last=last,
        numbers=np.array(numbers, np.int64),
        items=np.array(items, np.int64),
        namespaces=np.array(namespaces, np.int32),
        dimensions=named[first],
        ends=np.append(first, len(named)),
        rows=rows[order],
        weights=pairs["weight"][order],
    )


AT_FIRST: Final = 2
"""Rows of the copy looked up for each wanted item, and `FURTHER` times as many where too few are in scope."""
FURTHER: Final = 8
READ_AT_ONCE: Final = 2_048
"""Vectors read at a time where there is no copy."""


def search(
    connection: Connection,
    index: SparseIndex | None,
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
        if index is not None and len(items) >= WORTH_COPYING:
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
    rows = (scores > 0).nonzero()[0]
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
