"""Diversity: the same thing said twice takes one place, and near the same may stand further down."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.languages import split_words
from langmemory.ports.candidates import Floats

WINDOW: Final = 512
"""Candidates compared with one another at a time."""


def mmr(score: Floats, vectors: Floats, *, lambda_: float, limit: int) -> NDArray[np.int64]:
    """int64[limit]: greedy order by maximal marginal relevance (Carbonell and Goldstein 1998):
    ``lambda * score - (1 - lambda) * highest cosine to what was taken``.

    ``score`` float32[n], 0..1; ``vectors`` float32[n, dims], L2-normalised or zero. Off by
    default: on the dev conversations every lambda below 1 lost evidence.

    What a candidate is worth only falls as others are taken. So the best of a window stands as long
    as it is worth what the best beside the window was, and all others are compared with what was
    taken in one product of matrices: the same order as one comparison a pick, in a tenth of the
    time for thousands.
    """
    wanted = min(limit, len(score))
    weight = np.float32(1 - lambda_)
    relevance = np.float32(lambda_) * score
    nearest = np.zeros(len(score), dtype=np.float32)
    left = np.arange(len(score))
    order: list[int] = []
    while len(order) < wanted:
        worth = relevance[left] - weight * nearest[left]
        ranked = np.argsort(-worth, kind="stable")
        window, others = left[ranked[:WINDOW]], left[ranked[WINDOW:]]
        beside = worth[ranked[WINDOW]] if len(others) else -np.inf
        close, near = vectors[window] @ vectors[window].T, nearest[window]
        rest, taken = relevance[window], list[int]()
        while len(order) + len(taken) < min(wanted, len(order) + len(window)):
            now = rest - weight * near
            best = int(np.argmax(now))
            if taken and now[best] < beside:
                break
            taken.append(best)
            rest[best] = -np.inf
            np.maximum(near, close[best], out=near)
        order += window[taken].tolist()
        left = np.sort(np.concatenate((np.delete(window, taken), others)))
        further = vectors[left] @ vectors[window[taken]].T
        nearest[left] = np.maximum(nearest[left], further.max(axis=1))
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
