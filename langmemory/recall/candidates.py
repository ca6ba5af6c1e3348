"""Candidates: the union of what each channel finds, with every channel's raw score for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from langmemory.ids import are_in, distinct
from langmemory.ports.candidates import (
    NOTHING,
    CandidateSource,
    Floats,
    Ids,
    KeywordQuery,
    ScoredIds,
)
from langmemory.ports.sparse import Pairs

FLAT_SHARE = 0.5
"""Of the best score, what the last item found has at least where the scores are flat."""
MANY_SESSIONS = 0.6
"""Sessions among the items found, for each of them, from which there are many sessions. Of 1,700
questions to 5,600 turns in one namespace 16 of 100 are asked deeper: R@5 .544 -> .555, R@10
.639 -> .645. With more depth for all questions they have .564 and .640. Of questions to one
conversation none is, where R@10 would fall by .006."""
LONG_SESSIONS = 2000
"""Turns of the sessions found together, as far as they are known, from which these are long."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """n distinct items in ascending order of id, and what the channels say of them."""

    ids: Ids
    keyword: Floats
    """float32[n]: BM25, 0 where the words did not find it."""
    dense: Floats
    """float32[n]: cosine, 0 without a vector."""
    named: ScoredIds
    """Those that speak of somebody the query names, and how telling that is (0..1)."""
    channels: dict[str, Ids]
    """The finds of each channel, best first."""

    def without(self, ids: Ids) -> Candidates:
        """The candidates but these."""
        kept = ~are_in(self.ids, ids)
        named = ~are_in(self.named.ids, ids)
        return Candidates(
            ids=self.ids[kept],
            keyword=self.keyword[kept],
            dense=self.dense[kept],
            named=ScoredIds(self.named.ids[named], self.named.scores[named]),
            channels={name: of[~are_in(of, ids)] for name, of in self.channels.items()},
        )


def gather(
    source: CandidateSource,
    *,
    vector: Floats | None,
    keyword: KeywordQuery | None,
    window: tuple[int, int] | None,
    depth: int,
    flat_depth: int = 0,
    category: KeywordQuery | None = None,
    category_depth: int = 0,
    names: Iterable[str] = (),
    entity_depth: int = 0,
    sparse: Pairs | None = None,
) -> Candidates:
    """Asks every channel that has a question for ``depth`` items and joins the answers.

    Words and vectors hand on ``flat_depth`` items where the scores of the words are flat.
    ``window`` is ``[since, until)`` in microseconds; ``sparse`` is the query's sparse vector. An item that
    only other channels found gets its exact cosine as well, so that scores are comparable. What is
    found by the words of a ``category`` (at most ``category_depth``), or only speaks of somebody with one
    of the ``names`` (at most ``entity_depth``), is a candidate without a keyword score.
    """
    by_words = NOTHING
    if keyword is not None:
        by_words = source.keyword(keyword, max(depth, flat_depth))
        first = ScoredIds(by_words.ids[:depth], by_words.scores[:depth])
        if len(by_words.ids) > depth and _is_flat(source, first):
            depth = flat_depth
        else:
            by_words = first
    by_vector = source.dense(vector, depth) if vector is not None else NOTHING
    by_sparse = NOTHING if sparse is None else source.sparse(sparse, depth)
    by_time = source.window(*window, depth) if window is not None else NOTHING.ids
    by_category = (
        source.keyword(category, category_depth) if category and category_depth else NOTHING
    )
    ids = distinct(by_vector.ids, by_words.ids, by_time, by_category.ids, by_sparse.ids)
    by_name = source.entity(names, ids, entity_depth) if entity_depth else NOTHING
    if len(by_name.ids):
        ids = distinct(ids, by_name.ids)

    bm25 = np.zeros(len(ids), dtype=np.float32)
    bm25[np.searchsorted(ids, by_words.ids)] = by_words.scores
    cosine = np.zeros(len(ids), dtype=np.float32)
    if vector is not None:
        known = np.searchsorted(ids, by_vector.ids)
        cosine[known] = by_vector.scores
        missing = np.ones(len(ids), dtype=np.bool_)
        missing[known] = False
        if missing.any():
            cosine[missing] = source.cosines(vector, ids[missing])
    channels = {"dense": by_vector.ids, "keyword": by_words.ids, "window": by_time}
    channels |= {"category": by_category.ids, "entity": by_name.ids, "sparse": by_sparse.ids}
    return Candidates(
        ids=ids,
        keyword=bm25,
        dense=cosine,
        named=by_name,
        channels={name: found for name, found in channels.items() if len(found)},
    )


def _is_flat(source: CandidateSource, found: ScoredIds) -> bool:
    """Whether the words of a query tell so little among so much that more items have to be looked at: the
    scores are flat, and what was found is of many sessions or of long ones. In a short talk, more candidates
    are only more that can be mistaken for the answer."""
    if found.scores[-1] < FLAT_SHARE * found.scores[0]:
        return False
    rows = source.rows(found.ids)
    alone = rows.thread < 0
    threads, number = np.unique(rows.thread[~alone], return_inverse=True)
    if len(threads) + alone.sum() >= MANY_SESSIONS * len(rows.ids):
        return True
    last = np.zeros(len(threads), np.int64)
    np.maximum.at(last, number, rows.position[~alone] + 1)
    return int(last.sum()) >= LONG_SESSIONS
