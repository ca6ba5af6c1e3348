"""Searches with a query: the query's vector, and the ranking that LangGraph's `search` shows, by pages."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

import numpy as np

from langmemory.errors import EmbeddingError
from langmemory.languages import detect_language, keyword_terms, word_forms
from langmemory.ledger.engine import Snapshot
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.scopes import CompiledScope, compile_scope
from langmemory.ports.candidates import NOTHING, Floats, Ids, KeywordQuery, ScoredIds
from langmemory.recall import pipeline
from langmemory.recall.first_look import first_look
from langmemory.recall.layers import DOCUMENTS, LEAST_SHARE, SAID, places
from langmemory.recall.presets import Preset
from langmemory.recall.vocabulary import default_vocabulary
from langmemory.search.source import SnapshotSource
from langmemory.types import Scope, SearchMode

logger = logging.getLogger("langmemory.store")

OVERFETCH: Final = 4
"""Vectors compared exactly for each result asked for, beyond a floor."""
POOL: Final = 50
"""A hybrid search ranks so many items at a time: the pages within them cost one search each."""


GROWTH: Final = 8
"""Times as many are searched for when a page lies beyond what was found."""
MOST_RANKINGS: Final = 64
"""Searches whose rankings are kept, those asked last."""

Ranked = tuple[Ids, Floats]
"""Items and their scores, best first."""


def now_us() -> int:
    """Return microseconds since 1970 UTC."""
    return time.time_ns() // 1000


class Ranking(NamedTuple):
    """The ranking of a search so far."""

    ids: Ids
    scores: Floats
    wanted: int
    """How many items were asked for in the end."""
    complete: bool
    """Whether they are all there are."""


class Pages:
    """The rankings of the last searches, so that a later page goes on where the page before it ended.
    Thread-safe.

    How many candidates are compared exactly depends on what earlier searches met, so the same search
    may rank far results otherwise when it is asked again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, tuple[int, Ranking]] = OrderedDict()
        """With the newest change of the file when they were read."""

    def ranked(
        self,
        key: bytes,
        snapshot: Snapshot,
        best: Callable[[int], Ranked],
        *,
        first: int,
        begin: int,
        end: int,
    ) -> Ranked:
        """Return at least the first ``end`` items of a search, as far as there are so many.

        Args:
            key: Of the search, see `key_of`.
            snapshot: What it reads.
            best: Ranks so many items.
            first: How many to ask for at first, above 0.
            begin: Where the page begins; a first page is ranked anew.
            end: Where it ends.
        """
        known = None
        if begin:
            with self._lock:
                changes, known = self._kept.get(key, (-1, None))
            if changes != snapshot.newest_change():
                known = None
        if known is None:
            ids, scores = best(first)
            known = Ranking(ids, scores, first, complete=len(ids) < first)
        ids, scores, wanted, complete = known
        while wanted < end and not complete:
            wanted *= GROWTH
            more, of_more = best(wanted)
            complete = len(more) < wanted
            new = ~np.isin(more, ids)
            ids, scores = np.concatenate((ids, more[new])), np.concatenate((scores, of_more[new]))
        if begin or not complete:
            changes = snapshot.newest_change()
            with self._lock:
                self._kept[key] = (changes, Ranking(ids, scores, wanted, complete))
                self._kept.move_to_end(key)
                if len(self._kept) > MOST_RANKINGS:
                    self._kept.popitem(last=False)
        return ids, scores


def key_of(scope: Scope, query: str, mode: SearchMode) -> bytes:
    """Return the key of a search's ranking: a digest, as a query is nobody's business."""
    asked = repr((scope.namespace, scope.filter, scope.viewer, query, mode))
    return hashlib.blake2b(asked.encode(errors="surrogatepass")).digest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Searching:
    """How a store searches."""

    indexing: Indexing
    preset: Preset
    """Ranks hybrid searches."""
    exact: bool
    omit_expired: bool
    clock: Callable[[], int]
    """Microseconds since the epoch."""
    _warned: threading.Lock = field(default_factory=threading.Lock, init=False)
    """Taken, for good, by the search that says that the vectors do not fit."""
    _pages: Pages = field(default_factory=Pages, init=False)

    def alive_at_us(self) -> int | None:
        """Return the time at which an item must not have expired to be seen; None: it does not
        matter."""
        return self.clock() if self.omit_expired else None

    def embed(self, queries: Sequence[str]) -> dict[str, Floats | None]:
        """Return the vector of each query; None where the embedder failed, so that words decide."""
        embedder = self.indexing.embedder
        if embedder is None or not self.indexing.semantic:
            return {}
        vectors: dict[str, Floats | None] = {}
        for query in filter(str.strip, queries):
            try:
                vectors[query] = embedder.embed_query(query)
            except EmbeddingError as error:
                _warn(error)
                vectors[query] = None
        return vectors

    async def aembed(self, queries: Sequence[str]) -> dict[str, Floats | None]:
        """`embed`, awaiting the model."""
        embedder = self.indexing.embedder
        if embedder is None or not self.indexing.semantic:
            return {}

        async def one(query: str) -> Floats | None:
            try:
                return await embedder.aembed_query(query)
            except EmbeddingError as error:
                _warn(error)
                return None

        asked = list(filter(str.strip, queries))
        return dict(zip(asked, await asyncio.gather(*map(one, asked)), strict=True))

    def incomparable(self, snapshot: Snapshot) -> str | None:
        """Return why vectors of this store's model cannot be compared with the file's, and what to
        do: another process may have re-embedded it, or the model itself has changed since."""
        found = snapshot.model()
        if found.model is None or self.indexing.serves(found):
            return None
        if self.indexing.names(found):
            dims = self.indexing.embedder and self.indexing.embedder.dims
            why = (
                f"the file's vectors have {found.dims} dims, {found.model} makes {dims} now: keywords "
                "only, run `langmemory reembed`"
            )
        else:
            why = f"the file was re-embedded with {found.model}: keywords only, reopen the store"
        if self._warned.acquire(blocking=False):
            logger.warning("%s", why)
        return why

    def rank(
        self,
        snapshot: Snapshot,
        scope: Scope,
        query: str,
        vector: Floats | None,
        limit: int,
        offset: int = 0,
        *,
        words: bool = True,
    ) -> Ranked:
        """Return ids of the items ``offset`` to ``offset + limit`` in ranked order, with the scores
        LangGraph shows: the cosine, or BM25 for a search by words alone. Without ``words`` the keyword index
        is not asked where vectors can answer.

        The pages of one search neither overlap nor leave anything out, as long as nothing changes: a
        page goes on where the one before it ended (`Pages`), and a search for more items, which may
        order them differently, adds those it finds behind the ones that a search for fewer found.
        """
        compiled = compile_scope(scope, alive_at_us=self.alive_at_us())
        mode = self.indexing.mode
        if vector is None or mode == "keyword" or self.incomparable(snapshot):
            mode = "keyword"
        elif not words:
            mode = "semantic"
        first = -(-limit // POOL) * POOL if mode == "hybrid" else limit
        if first <= 0:
            return NOTHING
        ids, scores = self._pages.ranked(
            key_of(scope, query, mode),
            snapshot,
            lambda wanted: self._best(snapshot, compiled, query, vector, mode, wanted),
            first=first,
            begin=offset,
            end=offset + limit,
        )
        page, shown = ids[offset : offset + limit], scores[offset : offset + limit]
        if vector is None or mode == "keyword":
            return page, shown
        if mode == "hybrid":
            shown = snapshot.cosines_to_show(vector, page)
            shown[np.isnan(shown)] = 0
        # As InMemoryStore does: items in scope without a vector follow the ranked ones, with no score
        # (NaN here), if there is room.
        room = offset + limit - len(ids)
        if room <= 0:
            return page, shown
        rest = snapshot.without_vectors(compiled, ids, room)[max(offset - len(ids), 0) :]
        missing = np.full(len(rest), np.nan, np.float32)
        return np.concatenate((page, rest)), np.concatenate((shown, missing))

    def _best(
        self,
        snapshot: Snapshot,
        scope: CompiledScope,
        query: str,
        vector: Floats | None,
        mode: SearchMode,
        limit: int,
    ) -> Ranked:
        """Return the best items and a score; after a hybrid search not yet the one to be shown."""
        if vector is None or mode == "keyword":
            language = detect_language(query)
            terms = keyword_terms(query, language)
            asked = KeywordQuery(terms=tuple(terms), forms=tuple(word_forms(terms, language)))
            return snapshot.keyword(scope, asked, limit, complete=True)
        if mode == "semantic":
            return snapshot.nearest(scope, vector, limit, overfetch=OVERFETCH, exact=self.exact)
        if not scope.scope.kinds and snapshot.crowded(scope.scope.namespace):
            return self._of_layers(snapshot, scope, query, vector, limit)
        return self._order(snapshot, scope, query, vector, limit)

    def _order(
        self,
        snapshot: Snapshot,
        scope: CompiledScope,
        query: str,
        vector: Floats,
        limit: int,
        *,
        estimated: bool = False,
        nearest: ScoredIds = NOTHING,
    ) -> Ranked:
        """Return the best items, see `pipeline.order`."""
        return pipeline.order(
            query,
            SnapshotSource(snapshot, scope, exact=self.exact, shown=vector, nearest=nearest),
            vector=vector,
            now=datetime.now(UTC),
            preset=self.preset,
            vocabulary=default_vocabulary(),
            limit=limit,
            estimated=estimated,
        )

    def _of_layers(
        self, snapshot: Snapshot, scope: CompiledScope, query: str, vector: Floats, limit: int
    ) -> Ranked:
        """Return the best items of a namespace in which documents crowd what was said, or the other way, each
        ranked by itself. What is of an unlikely layer comes behind the other."""
        look = first_look(query, SnapshotSource(snapshot, scope, exact=self.exact), vector)
        shares, nearest = (1 - look.share, look.share), (look.said, look.written)

        def of(layer: int) -> Ranked:
            kinds = (SAID, DOCUMENTS)[layer]
            within = compile_scope(
                replace(scope.scope, kinds=kinds), alive_at_us=self.alive_at_us()
            )
            return self._order(
                snapshot, within, query, vector, limit, estimated=True, nearest=nearest[layer]
            )

        if min(shares) < LEAST_SHARE:
            likely = shares.index(max(shares))
            found = of(likely)
            if len(found[0]) >= limit:
                return found
            return _join_layers([found, of(1 - likely)], None, limit)
        layers = [of(0), of(1)]
        return _join_layers(
            layers, places(shares, [scores.tolist() for _, scores in layers]), limit
        )


def _join_layers(
    layers: Sequence[Ranked], order: Sequence[tuple[int, int]] | None, limit: int
) -> Ranked:
    """Return the items of both layers: in an order of layers and places in them, or one after the other."""
    ids, scores = (np.concatenate(columns) for columns in zip(*layers, strict=True))
    if order is not None:
        first = (0, len(layers[0][0]))
        at = [first[layer] + place for layer, place in order]
        ids, scores = ids[at], scores[at]
    return ids[:limit], scores[:limit]


def _warn(error: EmbeddingError) -> None:
    # Not the message: a provider may have put the text into it.
    logger.warning(
        "embedder failed (%s): searching by keywords", type(error.__cause__ or error).__name__
    )
