"""Searches with a query: the query's vector, and the ranking LangGraph's `search` shows."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np

from langmemory.errors import EmbeddingError
from langmemory.lexicon import keyword_terms, match_expression
from langmemory.recall import pipeline
from langmemory.recall.presets import Preset
from langmemory.recall.vocabulary import default_vocabulary
from langmemory.sqlite.engine import Snapshot
from langmemory.sqlite.scopes import CompiledScope, compile_scope
from langmemory.sqlite.vectors import Floats, Ids
from langmemory.stores.indexing import Indexing
from langmemory.stores.operations import Ranked
from langmemory.stores.source import SnapshotSource
from langmemory.types import Scope

logger = logging.getLogger("langmemory.store")

POOL: Final = 50
"""A hybrid search ranks so many items at a time; pages within them never overlap."""


def now_us() -> int:
    """Microseconds since 1970 UTC."""
    return time.time_ns() // 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Searching:
    """How a store searches."""

    indexing: Indexing
    preset: Preset
    """Ranks hybrid searches."""
    overfetch: int
    exact: bool
    omit_expired: bool

    def alive_at_us(self) -> int | None:
        """The time at which an item must not have expired to be seen; None: it does not matter."""
        return now_us() if self.omit_expired else None

    def embed(self, queries: Sequence[str]) -> dict[str, Floats | None]:
        """The vector of each query; None where the embedder failed, so that words decide."""
        embedder = self.indexing.embedder
        if embedder is None or not self.indexing.semantic:
            return {}
        vectors: dict[str, Floats | None] = {}
        for query in queries:
            try:
                vectors[query] = embedder.embed_query(query)
            except EmbeddingError as error:
                _warn(error)
                vectors[query] = None
        return vectors

    async def aembed(self, queries: Sequence[str]) -> dict[str, Floats | None]:
        """`embed` without blocking the loop."""
        embedder = self.indexing.embedder
        if embedder is None or not self.indexing.semantic or embedder.cheap:
            return self.embed(queries)

        async def one(query: str) -> Floats | None:
            try:
                return await embedder.aembed_query(query)
            except EmbeddingError as error:
                _warn(error)
                return None

        return dict(zip(queries, await asyncio.gather(*map(one, queries)), strict=True))

    def comparable(self, snapshot: Snapshot) -> bool:
        """Whether the file still holds vectors of this store's model; another process may have
        re-embedded it."""
        found = snapshot.model()
        if found.model is None or self.indexing.serves(found):
            return True
        logger.warning(
            "the file was re-embedded with %s while open: searching by keywords; reopen the store",
            found.model,
        )
        return False

    def rank(
        self, snapshot: Snapshot, scope: Scope, query: str, vector: Floats | None, limit: int
    ) -> Ranked:
        """Item ids in ranked order with the scores LangGraph shows: the cosine, or BM25 for a
        search by words alone."""
        compiled = compile_scope(scope, alive_at_us=self.alive_at_us())
        mode = self.indexing.mode
        if vector is None or mode == "keyword" or not self.comparable(snapshot):
            return snapshot.keyword(compiled, match_expression(keyword_terms(query)), limit)
        if mode == "semantic":
            ids, cosines = snapshot.nearest(
                compiled, vector, limit, overfetch=self.overfetch, exact=self.exact
            )
        else:
            ids, cosines = pipeline.order(
                query,
                SnapshotSource(snapshot, compiled, exact=self.exact),
                vector=vector,
                now=datetime.now(UTC),
                preset=self.preset,
                vocabulary=default_vocabulary(),
                # Whole pools, so that the pages of one search are cut from one order.
                limit=-(-max(limit, 1) // POOL) * POOL,
            )
            ids = ids[:limit]
            cosines = np.nan_to_num(snapshot.cosines(vector, ids))
        return _filled(snapshot, compiled, ids[:limit], cosines[:limit], limit)


def _filled(
    snapshot: Snapshot, scope: CompiledScope, ids: Ids, scores: Floats, limit: int
) -> Ranked:
    """As InMemoryStore does: items in scope without a vector follow the ranked ones, with no score
    (NaN here), if there is room."""
    if len(ids) >= limit:
        return ids, scores
    rest = snapshot.without_vectors(scope, ids, limit - len(ids))
    missing = np.full(len(rest), np.nan, np.float32)
    return np.concatenate((ids, rest)), np.concatenate((scores, missing))


def _warn(error: EmbeddingError) -> None:
    # Not the message: a provider may have put the text into it.
    logger.warning(
        "embedder failed (%s): searching by keywords", type(error.__cause__ or error).__name__
    )
