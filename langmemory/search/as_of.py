"""Recall's view of the file as it was: what says the same by its indexes, the rest as it was said.

The indexes hold what items say today. What they said at the time asked about is in the history: it
is read, embedded and compared anew for each recall, as far as it is no more than `MOST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from langmemory.embeddings import StaticEmbedder
from langmemory.errors import EmbeddingError
from langmemory.languages import keyword_terms
from langmemory.ledger import history
from langmemory.ledger.engine import Engine, Snapshot, TextRanking
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.items import Write, without_heir
from langmemory.ledger.scopes import saying_the_same
from langmemory.ledger.versions import Version, as_then, versions
from langmemory.ports.candidates import Floats, Ids, KeywordQuery, Rows, ScoredIds, Uses
from langmemory.recall.ranking import join_rows
from langmemory.search.searching import now_us
from langmemory.search.source import SnapshotSource, as_rows, as_uses
from langmemory.types import Memory, Scope

MOST: Final = 1_000
"""Texts of then that one recall compares (0.2 s); those with most of its words, where there are more."""
MOST_ASKED: Final = 64
"""Of these, texts that a model behind a network is asked to embed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierTexts:
    """Texts of the items of a scope with ``known_at`` then, and do not say now."""

    scope: Scope
    query: str
    indexing: Indexing
    alive_at_us: int | None
    seq: int
    """The newest change of the file when it was read."""
    versions: Sequence[Version]
    """In the order of their ids."""
    writes: Sequence[Write]
    """The same as they would be indexed."""
    degraded: tuple[str, ...]

    @classmethod
    def read(
        cls,
        engine: Engine,
        indexing: Indexing,
        scope: Scope,
        query: str,
        *,
        alive_at_us: int | None,
        semantic: bool,
    ) -> EarlierTexts:
        """Read and embed it. Takes no snapshot along to the model.

        Args:
            engine: The file.
            indexing: How its items are indexed.
            scope: With ``known_at``.
            query: Chooses among more than `MOST`.
            alive_at_us: If given, items whose TTL ended before it are out of reach.
            semantic: Whether the query has a vector that these texts are to be compared with.
        """
        with engine.read() as snapshot:
            found = cls(
                scope=scope, query=query, indexing=indexing, alive_at_us=alive_at_us, seq=0,
                versions=(), writes=(), degraded=(),
            ).current(snapshot)  # fmt: skip
        drafts = {one.item: _draft(indexing, one) for one in found.versions}
        embedder = indexing.embedder if semantic else None
        asked = set(drafts) if embedder is not None else set[int]()
        degraded = list(found.degraded)
        if embedder is not None and not embedder.cheap and len(drafts) > MOST_ASKED:
            asked = _best(found.versions, query, MOST_ASKED)
            degraded.append(
                f"known_at: of {len(drafts)} earlier texts {MOST_ASKED} were embedded, the others are "
                "found by their words"
            )
        writes: dict[int, Write] = {}
        try:
            writes |= _embed_drafts(
                indexing, engine, {item: drafts[item] for item in sorted(asked)}
            )
        except EmbeddingError:
            degraded.append("known_at: embedder failed, earlier texts are found by their words")
        rest = {item: replace(one, texts=()) for item, one in drafts.items() if item not in writes}
        writes |= _embed_drafts(replace(indexing, embedder=None), engine, rest)
        ordered = [writes[one.item] for one in found.versions]
        for one, write in zip(found.versions, ordered, strict=True):
            if not _with_tokens(indexing, one, write):
                write.tokens = None  # or it would have an advantage over the others
        return replace(found, writes=ordered, degraded=tuple(degraded))

    def current(self, snapshot: Snapshot) -> EarlierTexts:
        """Return the same as of a snapshot: what has changed meanwhile is found by its words."""
        seq = history.newest(snapshot.connection)
        if seq == self.seq:
            return self
        known = {
            (one.item, one.said): write
            for one, write in zip(self.versions, self.writes, strict=True)
        }
        found = versions(snapshot.connection, self.scope, now_us(), alive_at_us=self.alive_at_us)
        degraded = self.degraded
        if len(found) > MOST:
            best = _best(found, self.query, MOST)
            told = f"known_at: of {len(found)} earlier texts {MOST} were looked at"
            degraded = (told, *(one for one in degraded if not one.endswith("were looked at")))
            found = [one for one in found if one.item in best]
        writes = [known.get((one.item, one.said)) or _draft(self.indexing, one) for one in found]
        return replace(self, seq=seq, versions=found, writes=writes, degraded=degraded)


def _embed_drafts(
    indexing: Indexing, engine: Engine, drafts: Mapping[int, Write]
) -> dict[int, Write]:
    """Return the writes with all that is derived from them."""
    listed = list(drafts.values())
    writes = indexing.embed(listed, indexing.pending(listed, engine), tokens=True)
    return dict(zip(drafts, writes, strict=True))


def _draft(indexing: Indexing, version: Version) -> Write:
    """Return the item as it would be indexed, had it not changed."""
    columns = {**version.columns, "thread_id": version.thread_id}
    return indexing.redraft(version.namespace, version.key, version.value, columns)


def _with_tokens(indexing: Indexing, version: Version, write: Write) -> bool:
    """Return whether the item was stored with its tokens: with the embedded model all are, else
    facts and turns."""
    if version.tokens is not None:
        return version.tokens
    is_derived = write.fingerprint is not None or version.columns["kind"] == "episodic"
    return is_derived or isinstance(indexing.embedder, StaticEmbedder)


def _best(found: Sequence[Version], query: str, limit: int) -> set[int]:
    """Return ids of those with most of the query's words, of equals the later ones."""
    terms = keyword_terms(query)

    def worth(one: Version) -> tuple[int, int]:
        folded = one.said.casefold()
        return sum(term in folded for term in terms), one.item

    return {one.item for one in sorted(found, key=worth, reverse=True)[:limit]}


class AsOfSource(SnapshotSource):
    """A source over a file as it was. Items that still say what they said are read as by
    `SnapshotSource`; the others are read from their earlier versions."""

    def __init__(self, snapshot: Snapshot, past: EarlierTexts, *, exact: bool = False) -> None:
        scope = saying_the_same(snapshot.scoped(past.scope, alive_at_us=past.alive_at_us))
        super().__init__(snapshot, scope, exact=exact)
        self._past = past
        self._versions = {one.item: one for one in past.versions}
        self._ids = np.array([one.item for one in past.versions], np.int64)
        self._writes = dict(zip(self._versions, past.writes, strict=True))

    def dense(self, vector: Floats, limit: int) -> ScoredIds:
        found = super().dense(vector, limit)
        embedded = self._ids[np.isin(self._ids, self._owners)]
        return _merge_best(found, ScoredIds(embedded, self._cosines(vector, embedded)), limit)

    def keyword(self, query: KeywordQuery, limit: int) -> ScoredIds:
        found = super().keyword(query, limit)
        if not len(self._ids):
            return found
        scores = self._texts.scores(query)
        return _merge_best(found, ScoredIds(self._ids[scores > 0], scores[scores > 0]), limit)

    def window(self, since: int, until: int, limit: int) -> Ids:
        found = super().window(since, until, limit)
        then = [
            (one.columns["valid_at"], one.item)
            for one in self._past.versions
            if one.columns["valid_at"] is not None and since <= one.columns["valid_at"] < until
        ]
        if not then:
            return found
        rows = super().rows(found)
        both = [*then, *zip(rows.said_at.tolist(), rows.ids.tolist(), strict=True)]
        return np.array([item for _, item in sorted(both, reverse=True)[:limit]], np.int64)

    def cosines(self, vector: Floats, ids: Ids) -> Floats:
        found = super().cosines(vector, ids)
        then = np.isin(ids, self._ids)
        if then.any():
            found[then] = self._cosines(vector, ids[then])
        return found

    def rows(self, ids: Ids) -> Rows:
        present, then = self._split_by_version(ids)
        return self._with_rows(super().rows(present), then)

    def uses(self, ids: Ids) -> Uses:
        found = self._uses(self._split_by_version(ids)[0])
        for item, one in self._versions.items():
            was = one.columns
            at = was["created_at"] if was["accessed_at"] is None else was["accessed_at"]
            found.append((item, at, was["access_count"], was["priority"]))
        return as_uses(ids, found)

    def at(self, threads: Ids, positions: Ids) -> Rows:
        asked = set(zip(threads.tolist(), positions.tolist(), strict=True))
        then = [one for one in self._past.versions if (one.thread, one.position) in asked]
        return self._with_rows(super().at(threads, positions), then)

    def successors(self, ids: Ids) -> tuple[Ids, Ids]:
        return ids[:0], ids[:0]

    def memories(self, ids: Ids) -> list[Memory]:
        present, then = self._split_by_version(ids)
        connection, scope = self._snapshot.connection, self._past.scope
        return [
            *as_then(connection, super().memories(present), scope),
            *(without_heir(connection, one.memory(), scope.viewer) for one in then),
        ]

    # What was said then.

    def _split_by_version(self, ids: Ids) -> tuple[Ids, list[Version]]:
        then = np.isin(ids, self._ids)
        return ids[~then], [self._versions[item] for item in ids[then].tolist()]

    @cached_property
    def _texts(self) -> TextRanking:
        bodies = [self._writes[item].body or "" for item in self._ids.tolist()]
        return self._snapshot.ranking(bodies)

    @cached_property
    def _owners(self) -> Ids:
        """int64[m]: whose each of the vectors is."""
        return np.repeat(
            self._ids, [len(self._writes[item].embedded) for item in self._ids.tolist()]
        )

    @cached_property
    def _vectors(self) -> Floats:
        """float32[m, dims]: the vectors."""
        return np.concatenate([one.embedded for one in self._writes.values() if len(one.embedded)])

    def _cosines(self, vector: Floats, ids: Ids) -> Floats:
        """Return the cosine of the best vector of each; 0 without one."""
        found = np.full(len(self._ids), -np.inf, np.float32)
        if len(self._owners):
            places = self._ids.searchsorted(self._owners)
            np.maximum.at(found, places, np.vecdot(self._vectors, vector))
        found[np.isinf(found)] = 0
        asked: Floats = found[self._ids.searchsorted(ids)]
        return asked

    def _with_rows(self, rows: Rows, found: Sequence[Version]) -> Rows:
        return join_rows(rows, as_rows(map(self._row, found))) if found else rows

    def _row(self, one: Version) -> tuple[Any, ...]:
        """Return `FACETS` as they were."""
        was = one.columns
        said_at = was["created_at"] if was["valid_at"] is None else was["valid_at"]
        thread = -1 if one.thread is None else one.thread
        position = -1 if one.thread is None or one.position is None else one.position
        return (
            one.item, thread, position, was["speaker"], said_at, self._writes[one.item].tokens,
            was["importance"], was["confidence"], was["status"], was["invalid_at"],
            was["expired_at"], was["kind"] == "resource",
        )  # fmt: skip


def _merge_best(first: ScoredIds, second: ScoredIds, limit: int) -> ScoredIds:
    ids = np.concatenate((first.ids, second.ids))
    scores = np.concatenate((first.scores, second.scores))
    order = np.lexsort((ids, -scores))[:limit]
    return ScoredIds(ids[order], scores[order])
