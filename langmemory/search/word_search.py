"""What searches by words share: the copy in memory with what was written since, ranked rows of which some are
out of scope, and texts that no index holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import are_in
from langmemory.ports.candidates import NOTHING, Floats, Ids
from langmemory.search.copies.bm25 import K1, B
from langmemory.search.copies.words import Current, Rows
from langmemory.search.scope_plan import ScopePlan

HEADROOM: Final = 2
"""Ranked rows looked at for each wanted one when predicates decide afterwards."""
EVERY: Final = 1 << 40

Weights = tuple[float, float]
"""Of the columns body and context."""
Found = tuple[Ids, Floats]
"""Item ids and scores, int64[n] and float32[n], best first."""
Best = Callable[[int, bool, Ids | None], Found]
"""Returns the best rows. It is told how many, whether rows that only frequent words bring are wanted as
well, and which items are in question, if these are known."""


def best_copied(
    copy: Current,
    tokens: Sequence[str],
    weights: Weights,
    limit: int,
    *,
    items: Ids | None,
    rows: Rows | None,
    complete: bool,
    score_changed: Callable[[Ids, frozenset[str]], Found],
) -> Found:
    """Return the rows with the highest BM25, by the copy, and by the index for what was written since.

    Args:
        tokens: Of the question.
        items: Only these, ascending; None: those of ``rows``, and where that is None, too, all.
        rows: Of the copy.
        score_changed: Returns the scores of items that were written since; of the tokens those in the set
            bring no rows.
    """
    words, changed, gone, _ = copy
    ids, scores, frequent = words.best(
        tokens,
        weights,
        limit,
        scope=rows if items is None else words.of(items),
        gone=gone,
        complete=complete,
    )
    if items is not None and len(changed):
        changed = changed[are_in(changed, items)]
    if not len(changed):
        return ids, scores
    # What brought no rows of the copy brings none of these: to walk through the rows with a
    # frequent word, and to score those that changed, takes longer than all of a search.
    later = score_changed(changed, frequent)
    ids, scores = np.concatenate((ids, later[0])), np.concatenate((scores, later[1]))
    order = np.lexsort((ids, -scores))[:limit]
    return ids[order], scores[order]


def in_scope(
    best: Best,
    kept: Callable[[Ids], NDArray[np.bool_]],
    plan: ScopePlan,
    limit: int,
    *,
    pool: int,
    complete: bool,
) -> Found:
    """Return the best rows that are in scope, of a search that does not know which are.

    Args:
        kept: bool[n]: which of the items are in scope.
        pool: Rows that are ranked at first.
        complete: See `Best`.
    """
    while True:
        ids, scores = best(pool, complete, None)
        passed = kept(ids)
        found = ids[passed][:limit], scores[passed][:limit]
        if len(found[0]) >= limit or len(ids) < pool:
            if len(found[0]) or not len(ids) or complete:
                return found
            complete = True  # what the rare words bring is all out of reach
            continue
        items = plan.after(int(passed.sum()), len(ids))
        if items is not None:
            return best(limit, complete, items) if len(items) else NOTHING
        pool = max(pool * 8, 1)


class TokenizedTexts:
    """Texts that the index does not hold, for its questions."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        """``texts``: the tokens of each, as the index has them."""
        self._tokens = texts
        self._counts = [Counter(tokens) for tokens in texts]
        mean = max(sum(map(len, texts)) / max(len(texts), 1), 1.0)
        self._lengths = [K1 * (1 - B + B * len(tokens) / mean) for tokens in texts]

    def scores(
        self,
        parts: Sequence[tuple[Sequence[str], bool]],
        weight: float,
        rarity: Callable[[int], float],
    ) -> Floats:
        """float32[n]: BM25 of each text, 0 where it does not match; how long it is, it is beside the others.

        Args:
            parts: The tokens of each part of the question, and whether words are meant that begin so.
            weight: Of the texts.
            rarity: Returns what a part weighs, by its place, see `idf`; asked for parts that match.
        """
        found = np.zeros(len(self._tokens), np.float32)
        for place, (tokens, begins) in enumerate(parts):
            counts = [self._count(n, tokens, begins=begins) for n in range(len(found))]
            if not any(counts):
                continue
            rare = rarity(place)
            for n, count in enumerate(counts):
                often = count * weight
                found[n] += rare * often * (K1 + 1) / (often + self._lengths[n])
        return found

    def _count(self, text: int, wanted: Sequence[str], *, begins: bool) -> int:
        """Return how often a word stands in a text, or some one after the other, or what begins so."""
        if not begins and len(wanted) == 1:
            return self._counts[text][wanted[0]]
        tokens, length = self._tokens[text], len(wanted)
        if begins:
            return sum(tokens[n].startswith(wanted[0]) for n in range(len(tokens) if wanted else 0))
        return sum(tokens[n : n + length] == wanted for n in range(len(tokens))) if wanted else 0
