"""Further looks: what is asked again after a first recall, in the words of a model or of the first results.

"Which town does Mara's sister work in?" finds that Mara's sister is a vet at Hollins; where Hollins is
stands in a memory that has no word of the question. A second look takes the telling words of the best results
that the query does not have and asks with them as well (pseudo-relevance feedback, Rocchio 1971). An expander
says the query in other words, where the first look found nothing likely. A reranker has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from langmemory.languages import LANGUAGES, split_words
from langmemory.recall.layers import dealt
from langmemory.recall.models import Expander, Reranker, expand_query, rerank
from langmemory.recall.presets import Preset
from langmemory.recall.vocabulary import Vocabulary
from langmemory.types import Recall, RecallResult

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


def look_further(
    query: str,
    found: Recall,
    again: Callable[[str], Recall],
    *,
    preset: Preset,
    vocabulary: Vocabulary,
    limit: int,
    expander: Expander | None,
    reranker: Reranker | None,
) -> Recall:
    """Return what a query found, after what its preset and the models ask for beyond the first look.

    Args:
        query: As it was asked.
        found: Its first results, more than ``limit`` where a reranker is to choose among them.
        again: Recalls another text from the same memories, with the same options.
        preset: Says when to expand, and how many words a second look takes.
        vocabulary: Tells how telling a word is.
        limit: Results at most.
        expander: None: the query is not expanded.
        reranker: None: the order stays.
    """
    if not (expander or preset.second_look or reranker):
        return found
    best = max((one.score for one in found.results), default=0.0)
    if expander and best < preset.expansion_threshold:
        queries, failure = expand_query(query, expander)
        more = [again(one).results for one in queries]
        lists = [
            found.results,
            dealt(more, sum(map(len, more))),
        ]  # the query's own keep every other place
        trace = replace(
            found.trace, expansions=tuple(queries), degraded=(*found.trace.degraded, *failure)
        )
        found = replace(found, results=tuple(dealt(lists, len(found) or limit)), trace=trace)
    if preset.second_look and (
        words := bridging_terms(query, found.results, vocabulary, preset.second_look)
    ):
        second = again(f"{query} {' '.join(words)}").results
        first = found.results[:KEPT]
        rest = dealt([second, found.results[KEPT:]], len(found) + len(second))
        found = replace(found, results=tuple(dealt([[*first, *rest]], len(found))))
    if reranker and found.results:
        results, failure = rerank(query, found.results, reranker)
        trace = replace(found.trace, degraded=(*found.trace.degraded, *failure))
        moved = map(_note_move, results, map(found.results.index, results), range(len(results)))
        found = replace(found, results=tuple(moved), trace=trace)
    return replace(found, results=found.results[:limit])


def _note_move(result: RecallResult, before: int, after: int) -> RecallResult:
    """Return a result with what a reranker did to it in its explanation, where it has one."""
    if result.explanation is None or before == after:
        return result
    moves = (*result.explanation.moves, f"rerank: {before + 1} -> {after + 1}")
    return replace(result, explanation=replace(result.explanation, moves=moves))


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
