"""Recall's view of the file: `langmemory.ports.candidates.CandidateSource` over one snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langmemory.arguments import NO_LIMIT
from langmemory.ledger import graph_rows, items
from langmemory.ledger.claims import claims_asked, rivals_among
from langmemory.ledger.engine import Snapshot
from langmemory.ledger.scopes import CompiledScope
from langmemory.links import ABOUT
from langmemory.ports.candidates import (
    NOTHING,
    UNKNOWN_TIME,
    ClaimQuery,
    Floats,
    Ids,
    KeywordQuery,
    Rows,
    ScoredIds,
    Uses,
)
from langmemory.ports.sparse import Pairs
from langmemory.search.scope_plan import FACETS
from langmemory.types import Memory

RowTuples = list[tuple[Any, ...]]


class SnapshotSource:
    """Candidates of one scope, from one snapshot of the file."""

    def __init__(
        self,
        snapshot: Snapshot,
        scope: CompiledScope,
        *,
        exact: bool = False,
        shown: Floats | None = None,
        nearest: ScoredIds = NOTHING,
        words: bool = True,
    ) -> None:
        """
        Args:
            exact: Compare all vectors, without the quantized index.
            shown: The query's vector, where items will be shown as LangGraph does, with their cosines.
            nearest: The first answers of `dense`, where they are known.
            words: Whether the keyword index can be asked.
        """
        self._snapshot = snapshot
        self._scope = scope
        self._exact = exact
        self._shown = shown
        self._nearest = nearest
        self._words = words
        self._memories: dict[int, Memory] = {}
        """Those that were read; several stages ask for the best ones."""

    def dense(self, vector: Floats, limit: int) -> ScoredIds:
        if limit <= len(self._nearest.ids):
            return ScoredIds(self._nearest.ids[:limit], self._nearest.scores[:limit])
        # The last of so many candidates hardly matter: no need to be exact there.
        return ScoredIds(
            *self._snapshot.nearest(
                self._scope, vector, limit, overfetch=1, rough=True, exact=self._exact
            )
        )

    def keyword(self, query: KeywordQuery, limit: int) -> ScoredIds:
        if not self._words:
            return NOTHING
        return ScoredIds(*self._snapshot.keyword(self._scope, query, limit))

    def sparse(self, vector: Pairs, limit: int) -> ScoredIds:
        return self._snapshot.sparse(self._scope, vector, limit)

    def known(self, words: Sequence[str]) -> Mapping[str, str]:
        scope = self._scope.scope
        if not self._words:
            return {}
        return self._snapshot.known_words(scope.namespace, words, scope.viewer)

    def holds(self, word: str) -> bool:
        if self._scope.where == "TRUE" and self._scope.residual is None:
            return True  # all of the namespace is in scope
        return len(self.keyword(KeywordQuery(terms=(word,)), 1).ids) > 0

    def stems(self, words: Sequence[str]) -> Sequence[str]:
        return self._snapshot.stems(words)

    def window(self, since: int, until: int, limit: int) -> Ids:
        residual = self._scope.residual
        asked = limit if residual is None else NO_LIMIT  # those that do not pass would fill it
        namespaces, bindings = self._scope.namespaces()
        rows = self._snapshot.connection.execute(
            f"SELECT i.id FROM item i INDEXED BY item_valid WHERE i.namespace IN {namespaces} "
            f"AND i.valid_at >= ? AND i.valid_at < ? AND {self._scope.where} "
            "ORDER BY i.valid_at DESC, i.id DESC LIMIT ?",
            (*bindings, since, until, *self._scope.bindings, asked),
        ).fetchall()
        ids: Iterable[int] = (row[0] for row in rows)
        if residual is not None:
            ids = islice((one for one in ids if residual(self._snapshot.value(one))), limit)
        return np.fromiter(ids, np.int64)

    def cosines(self, vector: Floats, ids: Ids) -> Floats:
        found = self._snapshot.rough_cosines(vector, ids)
        found[np.isnan(found)] = 0  # np.nan_to_num takes ten times as long
        return found

    def rows(self, ids: Ids) -> Rows:
        if not len(ids):
            return as_rows(())
        return as_rows(self._snapshot.facets(ids, self._shown))

    def uses(self, ids: Ids) -> Uses:
        return as_uses(ids, self._uses(ids))

    def _uses(self, ids: Ids) -> RowTuples:
        """Return id, last access (or creation), accesses and priority of items, in any order."""
        connection = self._snapshot.connection
        found: RowTuples = connection.execute(
            "SELECT i.id, coalesce(i.accessed_at, i.created_at), i.access_count, i.priority "
            "FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
            (connection.array(ids),),
        ).fetchall()
        return found

    def at(self, threads: Ids, positions: Ids) -> Rows:
        if not len(threads):
            return as_rows(())
        connection, scope = self._snapshot.connection, self._scope
        found = connection.execute(
            f"SELECT {FACETS}{scope.value_column} "
            "FROM carray(?) c CROSS JOIN item i INDEXED BY item_thread "
            "ON i.thread = c.value >> 32 AND i.position = c.value & 0xffffffff "
            f"WHERE i.thread IS NOT NULL AND {scope.where}",
            (connection.array(threads << 32 | positions), *scope.bindings),
        )
        return as_rows(scope.passing(found))

    @cached_property
    def _nothing_derived(self) -> bool:
        return graph_rows.rests_on_nothing(self._snapshot.connection)

    def fact_sources(self, ids: Ids) -> tuple[Ids, Ids]:
        if self._nothing_derived:
            return NOTHING.ids, NOTHING.ids
        return graph_rows.fact_sources(self._snapshot.connection, self._scope, ids)

    def successors(self, ids: Ids) -> tuple[Ids, Ids]:
        if self._nothing_derived or self._scope.scope.as_of is not None:
            return NOTHING.ids, NOTHING.ids
        return graph_rows.successors(self._snapshot.connection, self._scope, ids)

    def outdated(self, ids: Ids) -> list[tuple[int, bytes]]:
        if self._nothing_derived:
            return []
        return graph_rows.outdated_sources(self._snapshot.connection, self._scope, ids)

    def of_others(self, ids: Ids) -> Ids:
        viewer = self._scope.scope.viewer
        if not viewer:
            return NOTHING.ids
        connection = self._snapshot.connection
        rows = connection.execute(
            "SELECT i.id FROM carray(?) c CROSS JOIN item i ON i.id = c.value WHERE i.owner <> ?",
            (connection.array(ids), viewer),
        )
        return np.fromiter((row[0] for row in rows), np.int64)

    def documents_among(self, ids: Ids) -> Ids:
        connection = self._snapshot.connection
        rows = connection.execute(
            "SELECT i.id FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
            "WHERE i.kind = 'resource'",
            (connection.array(ids),),
        )
        return np.fromiter((row[0] for row in rows), np.int64)

    @cached_property
    def _nobody_known(self) -> bool:
        return graph_rows.is_empty(self._snapshot.connection)

    def claims(self, query: ClaimQuery, limit: int) -> ScoredIds:
        if self._nobody_known:
            return NOTHING
        return claims_asked(self._snapshot.connection, self._scope, query, limit)

    def rivals(self, ids: Ids, now: int) -> tuple[Ids, Ids]:
        if self._nobody_known:
            return NOTHING.ids, NOTHING.ids
        return rivals_among(self._snapshot.connection, ids, now)

    def linked(self, ids: Ids) -> list[tuple[int, int]]:
        """Return the pairs of one of the items and a memory in scope that is about it, or that it affects."""
        if self._nobody_known:
            return []
        return graph_rows.linked(self._snapshot.connection, self._scope, ids, ABOUT)

    def memories(self, ids: Ids) -> list[Memory]:
        known, wanted = self._memories, ids.tolist()
        if new := [one for one in wanted if one not in known]:
            viewer = self._scope.scope.viewer
            found = items.memories(
                self._snapshot.connection, np.array(new, np.int64), viewer=viewer
            )
            known.update((one.id, one) for one in found)
        return [known[one] for one in wanted if one in known]


def as_uses(ids: Ids, found: RowTuples) -> Uses:
    """Return rows of `SnapshotSource._uses` as columns, in the order of the ids."""
    known = {row[0]: row[1:] for row in found}
    columns = list(zip(*(known[item] for item in ids.tolist()), strict=True)) or [()] * 3
    return Uses(np.array(columns[0], np.int64), np.array(columns[1], np.int64), columns[2])


def as_rows(found: Iterable[tuple[Any, ...]]) -> Rows:
    """Return rows of `FACETS` as columns."""
    columns = list(zip(*found, strict=True)) or [()] * 12
    return Rows(
        ids=np.array(columns[0], np.int64),
        thread=np.array(columns[1], np.int64),
        position=np.array(columns[2], np.int64),
        speaker=columns[3],
        said_at=np.array(columns[4], np.int64),
        tokens=columns[5],
        importance=np.array(columns[6], np.float32),
        confidence=np.array(columns[7], np.float32),
        status=columns[8],
        invalid_at=_times(columns[9]),
        expired_at=_times(columns[10]),
        is_document=np.array(columns[11], np.bool_),
    )


def _times(values: tuple[int | None, ...]) -> NDArray[np.int64]:
    return np.array([UNKNOWN_TIME if value is None else value for value in values], np.int64)
