"""Excerpts: which part of a long text meets a query best."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import pairwise
from math import isclose

import numpy as np

from langmemory.embeddings.static import TokenIds
from langmemory.languages import sentence_starts
from langmemory.recall.interaction import Interaction, interact, join_texts
from langmemory.recall.question_extraction import extract_question
from langmemory.recall.vocabulary import default_vocabulary

MOST_QUERY_TOKENS = 64
"""Of a longer query the telling ones count."""

SHORTEST_PIECE = 40
"""Characters, of a sentence that has no room."""

MOST_PIECES = 20_000
"""Of a text with more sentences, such as a table, the shortest are taken together."""

MOST_CHARACTERS = 1_000_000
"""Of a longer text the beginning is looked at (0.4 s): one message is not to keep others waiting."""


class Excerpts:
    """Parts of texts that meet one query. What a text says is compared with it once, however often the
    room for it changes.

    Args:
        query: In words; where it tells nothing, every part is the beginning.
    """

    def __init__(self, query: str) -> None:
        self._query = query
        self._found: dict[tuple[str, tuple[int, ...]], Interaction] = {}

    @cached_property
    def _asked(self) -> TokenIds:
        vocabulary = default_vocabulary()
        asked = np.unique(vocabulary.encode(extract_question(self._query)))
        rarest = np.argsort(-vocabulary.weights[asked], kind="stable")
        return asked[rarest[:MOST_QUERY_TOKENS]]

    def start(self, text: str, characters: int) -> int:
        """Return where the part of a text begins that meets the query best: at a sentence, or within one
        that is longer than there is room for, as what was dictated or is written without full stops.

        Sentences are compared by late interaction, those of a part together.

        Args:
            text: Of any length; beyond `MOST_CHARACTERS` no part is looked for.
            characters: There is room for.
        """
        text = text[:MOST_CHARACTERS]
        starts = _piece_starts(text, characters)
        if len(starts) < 2 or not len(self._asked):
            return 0
        return _best(self._met(text, starts), starts, len(text), characters)

    def _met(self, text: str, starts: list[int]) -> Interaction:
        """How the pieces of a text meet the query."""
        place = (text, tuple(starts))
        if place not in self._found:
            vocabulary = default_vocabulary()
            pieces = [text[start:end] for start, end in pairwise([*starts, len(text)])]
            tokens = [vocabulary.encode(piece).tobytes() for piece in pieces]
            self._found[place] = interact(self._asked, join_texts(tokens), vocabulary)
        return self._found[place]


def _best(met: Interaction, starts: list[int], length: int, characters: int) -> int:
    """Where the best part of a text of this length begins, given how its pieces meet a query."""
    ends = [*starts[1:], length]
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
    return starts[min(best + same // 2, bisect_left(starts, length - characters))]


def _piece_starts(text: str, characters: int) -> list[int]:
    """Where sentences begin, and between words the pieces of those with more characters."""
    shortest, length = len(text) // MOST_PIECES, max(characters // 4, SHORTEST_PIECE)
    starts = [0]
    for start, end in pairwise([*sentence_starts(text), len(text)]):
        if start - starts[-1] > shortest:
            starts.append(start)
        while end - starts[-1] > max(characters, 2 * length):
            after = starts[-1] + length
            space = text.find(" ", after, after + length)
            starts.append(after if space < 0 else space + 1)
    return starts
