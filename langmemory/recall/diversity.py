"""Diversity: the same thing said twice takes one place, and near the same may stand further down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langmemory.languages import split_words
from langmemory.ports.candidates import Floats


def mmr(score: Floats, vectors: Floats, *, lambda_: float, limit: int) -> NDArray[np.int64]:
    """int64[limit]: greedy order by maximal marginal relevance (Carbonell and Goldstein 1998):
    ``lambda * score - (1 - lambda) * highest cosine to what was taken``.

    ``score`` float32[n], 0..1; ``vectors`` float32[n, dims], L2-normalised or zero. Off by
    default: on the dev conversations every lambda below 1 lost evidence.
    """
    worth = np.float32(lambda_) * score
    weight = np.float32(1 - lambda_)
    nearest = np.zeros(len(score), dtype=np.float32)
    order: list[int] = []
    for _ in range(min(limit, len(score))):
        best = int(np.argmax(worth - weight * nearest))
        order.append(best)
        worth[best] = -np.inf
        np.maximum(nearest, vectors @ vectors[best], out=nearest)
    return np.array(order, dtype=np.int64)


def spread(order: NDArray[np.int64], session: NDArray[np.int64], cap: int) -> NDArray[np.int64]:
    """The order with what exceeds ``cap`` of one session behind all else; ``session`` int64[n], -1 for
    what was said in none."""
    seen: dict[int, int] = {}
    first: list[int] = []
    later: list[int] = []
    for place in order.tolist():
        one = int(session[place])
        seen[one] = seen.get(one, 0) + 1
        (first if one < 0 or seen[one] <= cap else later).append(place)
    return np.array(first + later, np.int64)


class Deduplication:
    """Decides, from the best result down, whether a text says what an earlier one said."""

    def __init__(self, similarity: float) -> None:
        """``similarity``: share of distinct words (Jaccard) from which two texts are one; 1 folds
        only texts that are equal but for case and space."""
        self._similarity = similarity
        self._taken: dict[str, int] = {}
        self._words: list[tuple[int, frozenset[str]]] = []

    def twin(self, number: int, text: str, speaker: str | None) -> int | None:
        """The number of the earlier result this one repeats, or None, which takes it. What two
        people say is never the same."""
        key = f"{speaker}\0{' '.join(text.casefold().split())}"
        if key in self._taken:
            return self._taken[key]
        if self._similarity < 1:
            words = frozenset((f"\0{speaker}", *split_words(text)))
            for earlier, others in self._words:
                if len(words & others) >= self._similarity * len(words | others):
                    return earlier
            self._words.append((number, words))
        self._taken[key] = number
        return None
