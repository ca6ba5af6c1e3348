"""A `CandidateSource` on an in-memory SQLite, with the engine's keyword table and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import apsw
import numpy as np

from langmemory.embeddings.static import StaticEmbedder
from langmemory.engines.sqlite.keyword_search import match_expression
from langmemory.languages import index_text
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
from langmemory.recall import BALANCED, Preset, default_vocabulary, run
from langmemory.recall.further import look_further
from langmemory.recall.models import Expander, Reranker
from langmemory.types import Memory, Recall

VOCABULARY = default_vocabulary()
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


def micros(at: datetime | None) -> int:
    return UNKNOWN_TIME if at is None else int(at.timestamp() * 1_000_000)


def memory(number: int, text: str, **facets: object) -> Memory:
    """A memory of this id; whatever else is given overrides the defaults."""
    defaults: dict[str, object] = {
        "id": number,
        "namespace": ("people", "ada"),
        "key": f"m{number}",
        "value": {"text": text},
        "text": text,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Memory(**(defaults | facets))  # type: ignore[arg-type]


def ask(
    source: MemorySource,
    query: str,
    *,
    preset: Preset = BALANCED,
    limit: int = 3,
    expander: Expander | None = None,
    reranker: Reranker | None = None,
    **options: Any,
) -> Recall:
    """Recall from a source as a store does it: with further looks, and models around them."""
    vector = VOCABULARY.embedder.embed_documents([query])[0]
    options = {"vector": vector, "now": NOW, "vocabulary": VOCABULARY} | options
    wanted = max(limit, preset.rerank_depth) if reranker else limit
    degraded = options.pop("degraded", ())
    look = partial(run, source=source, preset=preset, limit=wanted, **options)
    return look_further(
        query,
        look(query, degraded=degraded),
        look,
        preset=preset,
        vocabulary=VOCABULARY,
        limit=limit,
        expander=expander,
        reranker=reranker,
    )


class MemorySource:
    """Holds memories in a list; exact cosine, FTS5 keywords, neighbours, given pairs of facts and turns."""

    def __init__(
        self,
        memories: Sequence[Memory],
        *,
        embed: bool = True,
        derived: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.by_id = {m.id: m for m in memories}
        self.ids = np.array([m.id for m in memories], dtype=np.int64)
        self.derived = derived
        self.hidden: frozenset[str] = frozenset()
        embedder = StaticEmbedder()
        self.tokens = dict(
            zip(
                self.by_id,
                (ids.tobytes() for ids in embedder.tokenize([m.text for m in memories])),
                strict=True,
            )
        )
        self.matrix = (
            embedder.embed_documents([m.text for m in memories])
            if embed
            else np.zeros((len(memories), embedder.dims), dtype=np.float32)
        )
        self.row = {m.id: i for i, m in enumerate(memories)}
        self.threads = {name: i for i, name in enumerate({m.thread_id for m in memories})}
        self.place = {(m.thread_id, m.position): m.id for m in memories if m.position is not None}
        self.db = apsw.Connection(":memory:")
        self.db.execute(
            "CREATE VIRTUAL TABLE keyword USING fts5(ns, body, context, content='',"
            " contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')"
        )
        for m in memories:
            said = m.valid_at or m.created_at
            date = f"{said.day} {said:%B} {said.year}"
            near = (
                self.place.get((m.thread_id, m.position + step))
                for step in (-1, 1)
                if m.position is not None
            )
            context = " ".join(self.by_id[i].text for i in near if i is not None)
            self.db.execute(
                "INSERT INTO keyword(rowid, ns, body, context) VALUES (?, 'n1', ?, ?)",
                (m.id, index_text(f"{m.speaker or ''} {date} {m.text}"), index_text(context)),
            )

    def dense(self, vector: Floats, limit: int) -> ScoredIds:
        scores = self.matrix @ vector
        best = np.argsort(-scores, kind="stable")[:limit]
        return ScoredIds(self.ids[best], scores[best])

    def keyword(self, query: KeywordQuery, limit: int) -> ScoredIds:
        rows = self.db.execute(
            "SELECT rowid, -bm25(keyword, 0, ?, ?) AS score FROM keyword WHERE keyword MATCH ?"
            " ORDER BY score DESC, rowid LIMIT ?",
            (
                query.body_weight,
                query.context_weight,
                f'ns : "n1" AND {{body context}} : ({match_expression(query.terms, query.phrases)})',
                limit,
            ),
        ).fetchall()
        return ScoredIds(
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.float32),
        )

    def known(self, words: Sequence[str]) -> dict[str, str]:
        return {
            word: token
            for word, token in zip(words, self.stems(words), strict=True)
            if self.db.execute(
                "SELECT 1 FROM keyword WHERE keyword MATCH ?", (f'"{word}"',)
            ).fetchone()
        }

    def holds(self, word: str) -> bool:
        return word not in self.hidden

    def stems(self, words: Sequence[str]) -> list[str]:
        tokenize = self.db.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        text = " ".join(words).encode()
        return tokenize(
            text, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
        )  # type: ignore[return-value]

    def sparse(self, vector: Pairs, limit: int) -> ScoredIds:
        return NOTHING

    def window(self, since: int, until: int, limit: int) -> Ids:
        said = {i: micros(m.valid_at or m.created_at) for i, m in self.by_id.items()}
        inside = sorted((i for i in said if since <= said[i] < until), key=lambda i: -said[i])
        return np.array(inside[:limit], dtype=np.int64)

    def cosines(self, vector: Floats, ids: Ids) -> Floats:
        found: Floats = self.matrix[[self.row[int(i)] for i in ids]] @ vector
        return found

    def rows(self, ids: Ids) -> Rows:
        found = [self.by_id[int(i)] for i in ids]

        def whole(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            return np.array(values, dtype=np.int64)

        def real(values: list[float]) -> Floats:
            return np.array(values, dtype=np.float32)

        return Rows(
            ids=np.array([m.id for m in found], dtype=np.int64),
            thread=whole([-1 if m.thread_id is None else self.threads[m.thread_id] for m in found]),
            position=whole([-1 if m.position is None else m.position for m in found]),
            speaker=[m.speaker for m in found],
            said_at=whole([micros(m.valid_at or m.created_at) for m in found]),
            tokens=[self.tokens[m.id] for m in found],
            importance=real([m.importance for m in found]),
            confidence=real([m.confidence for m in found]),
            status=[m.status for m in found],
            invalid_at=whole([micros(m.invalid_at) for m in found]),
            expired_at=whole([micros(m.expired_at) for m in found]),
            is_document=np.array([m.kind == "resource" for m in found], np.bool_),
        )

    def uses(self, ids: Ids) -> Uses:
        found = [self.by_id[int(i)] for i in ids]
        return Uses(
            accessed_at=np.array([micros(m.accessed_at or m.created_at) for m in found], np.int64),
            access_count=np.array([m.access_count for m in found], np.int64),
            priority=[m.priority for m in found],
        )

    def at(self, threads: Ids, positions: Ids) -> Rows:
        names = {number: name for name, number in self.threads.items()}
        near = (
            self.place.get((names.get(thread), position))
            for thread, position in zip(threads.tolist(), positions.tolist(), strict=True)
        )
        return self.rows(np.array([one for one in near if one is not None], dtype=np.int64))

    def fact_sources(self, ids: Ids) -> tuple[Ids, Ids]:
        asked = set(ids.tolist())
        pairs = [pair for pair in self.derived if asked.intersection(pair)]
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def successors(self, ids: Ids) -> tuple[Ids, Ids]:
        return ids[:0], ids[:0]

    def outdated(self, ids: Ids) -> Sequence[tuple[int, bytes]]:
        return ()

    def of_others(self, ids: Ids) -> Ids:
        return np.empty(0, np.int64)

    def claims(self, query: ClaimQuery, limit: int) -> ScoredIds:
        return NOTHING

    def rivals(self, ids: Ids, now: int) -> tuple[Ids, Ids]:
        return ids[:0], ids[:0]

    def memories(self, ids: Ids) -> list[Memory]:
        return [self.by_id[int(i)] for i in ids]
