"""A second look without a model: from what the first results name to what is said of it elsewhere.

"Which town does Mara's sister work in?" finds that Mara's sister is a vet at Hollins; where Hollins is
stands in a memory that has no word of the question. The telling words of the best results that the query
does not have are looked up with it (pseudo-relevance feedback, Rocchio 1971), and what that finds takes
every second place behind the first results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langmemory.languages import LANGUAGES, split_words
from langmemory.recall.vocabulary import Vocabulary
from langmemory.types import RecallResult

READ: Final = 2
"""First results whose words are looked up."""
KEPT: Final = 4
"""First results that keep their places."""
SHORTEST: Final = 3
"""Letters of a word that is looked up."""
STEM: Final = 5
"""Letters by which two forms of a word are one."""
NAME: Final = 1.3
"""How much more telling a word is that is written as a name."""


def bridging_terms(
    query: str, results: Sequence[RecallResult], vocabulary: Vocabulary, limit: int
) -> list[str]:
    """Return the most telling words of the first results that the query does not have, best first."""
    asked = {word[:STEM] for word in split_words(query)}
    common = frozenset[str]().union(*(one.stop_words | one.fillers for one in LANGUAGES.values()))
    worth: dict[str, float] = {}
    for rank, result in enumerate(results[:READ], start=1):
        names = {name.casefold() for name in re.findall(r"(?<=[\w,;] )[^\W\d_a-z]\w+", result.text)}
        for word in dict.fromkeys(split_words(result.text)):
            if len(word) < SHORTEST or word in common or word[:STEM] in asked:
                continue
            [tokens] = vocabulary.embedder.tokenize([word])
            rarity = float(vocabulary.weights[tokens].max()) if len(tokens) else 0.0
            value = rarity * (NAME if word in names else 1.0) * 2 / (1 + rank)
            worth[word] = max(worth.get(word, 0.0), value)
    return sorted(worth, key=worth.__getitem__, reverse=True)[:limit]


def interleaved(
    first: Sequence[RecallResult], second: Sequence[RecallResult], limit: int
) -> list[RecallResult]:
    """Return the best of the first look, then the second's and the rest of the first in turn, each
    memory once; no score is above that of the place before it."""
    merged = list(first[:KEPT])
    known = {result.memory.id for result in merged}
    waiting = [list(reversed(second)), list(reversed(first[KEPT:]))]
    while len(merged) < limit and any(waiting):
        for results in waiting:
            while results and results[-1].memory.id in known:
                results.pop()
            if results and len(merged) < limit:
                merged.append(results.pop())
                known.add(merged[-1].memory.id)
    lowest = 1.0
    for place, result in enumerate(merged):
        lowest = min(lowest, result.score)
        merged[place] = replace(result, score=lowest)
    return merged
