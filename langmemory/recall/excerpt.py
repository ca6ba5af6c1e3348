"""Excerpts: which part of a long text meets a query best."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import isclose

import numpy as np

from langmemory.lexicon import sentence_starts
from langmemory.recall.interaction import interact, join_texts
from langmemory.recall.vocabulary import default_vocabulary

MOST_QUERY_TOKENS = 64
"""Of a longer query the telling ones count."""


def best_start(text: str, query: str, characters: int) -> int:
    """Where the part of a text begins that meets a query best: at a sentence.

    Sentences are compared by late interaction, those of a part together.

    Args:
        text: Of any length.
        query: In words; without one that tells anything the part is the beginning.
        characters: There is room for.
    """
    vocabulary = default_vocabulary()
    starts = sentence_starts(text)
    asked = np.unique(vocabulary.encode(query))
    if len(starts) < 2 or not len(asked):
        return 0
    asked = asked[np.argsort(-vocabulary.weights[asked], kind="stable")[:MOST_QUERY_TOKENS]]
    ends = [*starts[1:], len(text)]
    sentences = [
        vocabulary.encode(text[start:end]) for start, end in zip(starts, ends, strict=True)
    ]
    met = interact(asked, join_texts([ids.tobytes() for ids in sentences]), vocabulary)
    scores = []
    for first, start in enumerate(starts):
        last = max(bisect_right(ends, start + characters), first + 1)
        scores.append(float(met.shares @ met.matches[:, first:last].max(axis=1)))
    best = scores.index(max(scores))
    if best == 0:
        return 0
    same = 0  # parts that begin later and hold as much: the middle one shows what is around
    while best + same + 1 < len(scores) and isclose(scores[best + same + 1], scores[best]):
        same += 1
    # What is left of the room goes to what stands before.
    return starts[min(best + same // 2, bisect_left(starts, len(text) - characters))]
