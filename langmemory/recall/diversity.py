"""Diversity: the same thing said twice takes one place, and near the same may stand further down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langmemory.lexicon import split_words
from langmemory.recall.source import Floats


def mmr(score: Floats, vectors: Floats, *, lambda_: float, limit: int) -> NDArray[np.int64]:
    """int64[limit]: greedy order by maximal marginal relevance (Carbonell and Goldstein 1998):
    ``lambda * score - (1 - lambda) * highest cosine to what was taken``.

    ``score`` float32[n], 0..1; ``vectors`` float32[n, dims], L2-normalised or zero. Off by
    default: on the dev conversations every lambda below 1 lost evidence.
    """
    left = np.float32(lambda_) * score
    nearest = np.zeros(len(score), dtype=np.float32)
    order: list[int] = []
    for _ in range(min(limit, len(score))):
        best = int(np.argmax(left - np.float32(1 - lambda_) * nearest))
        order.append(best)
        left[best] = -np.inf
        np.maximum(nearest, vectors @ vectors[best], out=nearest)
    return np.array(order, dtype=np.int64)


class Folding:
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
