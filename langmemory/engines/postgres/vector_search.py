"""The search by vectors, where the server compares them: few, or more than copies in memory may take."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from langmemory.engines.postgres.connection import Connection, sent_vector
from langmemory.ledger.scopes import CompiledScope
from langmemory.ports.candidates import NOTHING, Floats, Ids
from langmemory.search.scope_plan import FACETS, SHOWN
from langmemory.types import Namespace

EXACT_UP_TO: Final = 5_000
"""Vectors in a namespace and below it that the server compares one by one, before a process has its
copies of all."""
SCATTERED_UP_TO: Final = 1_000
"""As `EXACT_UP_TO`, where a filter leaves these vectors of a larger scope: they stand far from one another,
and 10,000 take 170 ms."""
SPARE: Final = 32
"""Vectors looked at beyond the wanted items, since an item may have several."""
SHORT: Final = 500
"""Bytes of a value that is fetched with the vectors, in case it is among the results."""
_TOLD: Final = (
    FACETS
    + ", "
    + SHOWN.replace("i.value", f"CASE WHEN octet_length(i.value) <= {SHORT} THEN i.value END")
)
"""The columns of `FACETS` and of `SHOWN`."""
_SHOWN_FROM: Final = -len(SHOWN.split(","))
_VALUE: Final = SHOWN.split(", ").index("i.value")
FETCHED: Final = 128
"""Vectors whose cosines are fetched however few are wanted: what words find in a small scope is mostly
among them, so that it need not be compared again."""


class Sizes:
    """How many vectors namespaces have. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Namespace, tuple[int, int]] = {}

    def are_few(self, connection: Connection, scope: CompiledScope, newest: int) -> bool:
        """Return whether at most `EXACT_UP_TO` are in a namespace and below it. ``newest`` is the last
        place in the log of vectors: so many more there may be since they were counted."""
        namespace = scope.scope.namespace
        at, held = self._known.get(namespace, (newest + 1, 0))
        grown = newest - at
        if grown < 0 or (held <= EXACT_UP_TO < held + grown) or (held > EXACT_UP_TO < grown):
            query, labels = scope.namespaces()
            (held,) = connection.execute(
                "SELECT count(*) FROM (SELECT 1 FROM embedding v "
                f"WHERE v.namespace IN {query} LIMIT {EXACT_UP_TO + 1}) s",
                labels,
            ).fetchone()
            with self._lock:
                if len(self._known) >= MOST_ENTRIES:
                    self._known.clear()
                self._known[namespace] = (newest, held)
        return held <= EXACT_UP_TO


MOST_ENTRIES: Final = 20_000


def nearest(
    connection: Connection,
    scope: CompiledScope,
    query: Floats,
    limit: int,
    *,
    among: Ids | None = None,
    told: Compared | None = None,
) -> tuple[Ids, Floats]:
    """Return the items in scope with the best cosine: (int64[n], float32[n]), best first, ties by id;
    ``limit`` of them, or a few more. Every vector in scope is compared, and an item with several vectors
    counts with its best one.

    Args:
        query: float32[dims], L2-normalised.
        among: Only these items, ascending; all in scope are then among them.
        told: Takes what else recall asks of the items, where it can be told on the way.
    """
    if limit <= 0 or (among is not None and not len(among)):
        return NOTHING
    wanted = limit + SPARE if told is None else max(limit + SPARE, FETCHED)
    while True:
        rows = _rows(connection, scope, query, wanted, among, _TOLD if told is not None else "")
        if told is not None:
            told.tell(rows)
        ids = np.array([row[0] for row in rows], np.int64)
        cosines = np.array([row[1] for row in rows], np.float32)
        if len(ids):
            order = np.lexsort((ids, -cosines))
            ids, cosines = ids[order], cosines[order]
            first = np.sort(np.unique(ids, return_index=True)[1])
            ids, cosines = ids[first], cosines[first]
        if len(ids) >= limit or len(rows) < wanted:
            return ids, cosines
        wanted *= 4  # items with many vectors left too few


def _rows(
    connection: Connection,
    scope: CompiledScope,
    query: Floats,
    limit: int,
    among: Ids | None,
    columns: str,
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
    vector = sent_vector(query)
    nearest = (
        f"SELECT v.item, -(v.e <#> ?::vector) AS cosine{value} FROM {source} "
        "ORDER BY v.e <#> ?::vector, v.item"
    )
    bindings = (vector, *bindings, vector)
    if value:
        return scope.passing(connection.execute(nearest, bindings))[:limit]
    nearest += " LIMIT ?"
    if columns:
        nearest = (
            f"SELECT s.item, s.cosine, {columns} FROM ({nearest}) s CROSS JOIN item i ON i.id = s.item "
            "CROSS JOIN namespace n ON n.id = i.namespace ORDER BY s.cosine DESC, s.item"
        )
    found: list[Any] = connection.execute(nearest, (*bindings, limit)).fetchall()
    return found


class Compared:
    """The exact cosines of items to one query, as far as a snapshot has asked for them, and what else it was
    told of them on the way."""

    def __init__(self) -> None:
        self._query: Floats | None = None
        self._known: dict[int, float] = {}
        self.facets: dict[int, tuple[Any, ...]] = {}
        """Rows of `FACETS`, by id."""
        self.shown: dict[int, tuple[Any, ...]] = {}
        """Rows of `SHOWN`, by id."""

    def tell(self, rows: Sequence[Any]) -> None:
        """Keep what rows with `_TOLD` say beside the cosines."""
        for row in rows:
            if len(row) > 2:
                self.facets[row[0]], shown = row[2:_SHOWN_FROM], row[_SHOWN_FROM:]
                if shown[_VALUE] is not None:
                    self.shown[row[0]] = shown

    def ask(self, connection: Connection, query: Floats, items: Sequence[int]) -> None:
        """Ask for the cosines of items together with what `tell` keeps."""
        rows = connection.execute(
            f"SELECT i.id, (SELECT max(-(v.e <#> ?::vector)) FROM embedding v WHERE v.item = i.id), {_TOLD} "
            "FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
            "CROSS JOIN namespace n ON n.id = i.namespace",
            (sent_vector(query), connection.array(items)),
        ).fetchall()
        self.tell(rows)
        cosines = [np.nan if row[1] is None else row[1] for row in rows]
        self.add(query, np.array([row[0] for row in rows], np.int64), np.array(cosines))

    def add(self, query: Floats, ids: Ids, cosines: Floats) -> None:
        """Keep what was compared; what is known of another query goes."""
        if query is not self._query:
            self._query, self._known = query, {}
        self._known.update(zip(ids.tolist(), cosines.tolist(), strict=True))

    def cosines(
        self, connection: Connection, query: Floats, items: Ids, *, show: bool = False
    ) -> Floats:
        """Return the cosine of each item (its best vector) to the query, float32[n]; NaN without a
        vector. ``show``: what has to be asked, is asked together with what is shown of the items."""
        wanted = items.tolist()
        known = self._known if query is self._query else {}
        missing = [item for item in wanted if item not in known]
        if missing and show:
            rows = connection.execute(
                f"SELECT (SELECT max(-(v.e <#> ?::vector)) FROM embedding v WHERE v.item = i.id), {SHOWN} "
                "FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
                "CROSS JOIN namespace n ON n.id = i.namespace",
                (sent_vector(query), connection.array(wanted)),
            ).fetchall()
            self.shown |= {row[1]: row[1:] for row in rows}
            found = dict.fromkeys(missing, np.nan)
            found |= {row[1]: row[0] for row in rows if row[0] is not None}
        elif missing:
            found = dict.fromkeys(missing, np.nan)
            found |= connection.execute(
                "SELECT v.item, max(-(v.e <#> ?::vector)) FROM embedding v WHERE v.item IN "
                "(SELECT value FROM carray(?)) GROUP BY v.item",
                (sent_vector(query), connection.array(missing)),
            ).fetchall()
        if missing:
            self.add(query, np.array(list(found)), np.array(list(found.values())))
            known = self._known
        return np.array([known[item] for item in wanted], np.float32)
