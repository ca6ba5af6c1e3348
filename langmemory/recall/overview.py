"""Overviews: answers to questions about a whole (a project, a spring, a year) or about an order of events.

Few of the memories that answer "Summarise the work on the boat" have a word of the question. What the
first results speak of leads to the others: their most telling words, and what they mean on average
(pseudo-relevance feedback, Rocchio 1971). The summaries of their days and themes, where a night wrote
some, name what is central there. A question that names a stretch of time and nothing else, or not even
that, is answered by what the summaries of this stretch retell. Turns that open a session and turns that
tell much come first, since people begin with the news; a day that was told of counts less, and what was
told in other words still less. The best of the first ranking stay first: where texts are long, a budget in
tokens has room for no more. Within a budget a text that takes much of it counts by the token.

The constants were chosen on the even conversations of ``benchmarks/conversations/overview.jsonl``; see
``benchmarks/results/overview.md``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import are_in, distinct, indexes
from langmemory.languages import Language, keyword_terms
from langmemory.ports.candidates import (
    NOTHING,
    CandidateSource,
    Floats,
    Ids,
    KeywordQuery,
    Level,
    ScoredIds,
)
from langmemory.recall import features
from langmemory.recall.fact_sources import FactSources
from langmemory.recall.scoring import min_max
from langmemory.recall.vocabulary import Vocabulary

SEEDS: Final = 8
"""First results that tell what the others are about."""
WORDS: Final = 32
"""Their most telling words that are looked up."""
WORD_DEPTH: Final = 120
"""Memories found by these words."""
MEANING_DEPTH: Final = 60
"""Memories found by what the first results mean on average."""
WORD_SHARE: Final = 0.5
"""How much meeting these words counts beside the best score of the first ranking ..."""
MEANING_SHARE: Final = 0.5
"""... and how much meaning the same."""
OPENING: Final = 0.6
"""How much more a turn counts that opens a session ..."""
OPENING_DECAY: Final = 0.8
"""... and the share of that for each turn further on."""
TELLING: Final = 0.6
"""How much more a long text counts ..."""
TELLING_TOKENS: Final = 30
"""... the tokens from which a text is long ..."""
TOO_LONG_TOKENS: Final = 90
"""... and those from which it counts less again: it takes the place of several others."""
DERIVED: Final = 1.4
"""How much more of these a fact has than its turn: it tells the same in fewer tokens."""
FIRST: Final = 2
"""The best of the first ranking that stay first. More cost evidence."""
BUDGET_SHARE: Final = 0.2
"""The share of a budget in tokens from which a text counts in proportion to its length (score by cost, Lin
and Bilmes 2010); not below `TELLING_TOKENS`. Smaller shares cost evidence."""
RETOLD: Final = 0.6
"""The share of its score that a fact keeps when a turn it was derived from is taken, and such a turn when
the fact is."""
REPEATED: Final = 0.985
"""The share of its score that a memory keeps for each that was taken of the same day before it."""
REPEATED_IN_PERIOD: Final = 0.5
"""The same for each that was taken of the same period, where only the tree tells what is to be shown."""
MOST: Final = 200
"""Memories that are put in order."""
SHORT_TOKENS: Final = 8
"""The tokens of a short fact: a budget has room for as many of these."""
LEVELS: Final[tuple[Level, ...]] = ("year", "month", "week", "day")
FEWEST_PERIODS: Final = 3
"""A stretch of time is told by its longest periods of which it has as many."""
DAY_US: Final = 86_400_000_000
ALL_TIME: Final = ((None, None),)


class Found(NamedTuple):
    """What was found for an overview beside the first ranking."""

    by_words: ScoredIds = NOTHING
    centre: Floats | None = None
    """float32[dims]: what the first results mean on average; None without vectors."""
    by_meaning: Ids = NOTHING.ids
    tree: Ids = NOTHING.ids
    """What the summaries retell, in their order."""
    periods: Ids = NOTHING.ids
    """The summary that each of these is from, where the question is for a stretch of time alone; else
    nothing."""

    def period_of(self, ids: Ids) -> Ids:
        """Return the summary that each of n memories is from, int64[n]; 0 for none."""
        period = np.zeros(len(ids), np.int64)
        at = indexes(ids, self.tree)
        period[at[at >= 0]] = self.periods[at >= 0]
        return period

    @property
    def ids(self) -> Ids:
        return distinct(self.by_words.ids, self.by_meaning, self.tree)

    @property
    def channels(self) -> dict[str, Ids]:
        """The finds by the names that the trace gives them."""
        named = {"topic words": self.by_words.ids, "topic": self.by_meaning, "summaries": self.tree}
        return {name: ids for name, ids in named.items() if len(ids)}


def about(terms: Iterable[str], language: Language) -> list[str]:
    """Return the words of a query that say what it is about, other than that it is for an overview, and
    other than a time."""
    asks = language.overview_words | language.temporal_words
    return [term for term in terms if term not in asks]


def found_in(source: CandidateSource, spans: Sequence[tuple[int, int]]) -> Found:
    """Return what the summaries of stretches of time retell; without a stretch, of all time.

    ``spans`` are ``[since, until)`` in microseconds.
    """
    for level in LEVELS:
        told = [source.retold_in(level, *span) for span in spans or ALL_TIME]
        nodes = np.concatenate([one.nodes for one in told])
        if len(np.unique(nodes)) >= FEWEST_PERIODS or level == LEVELS[-1]:
            break
    leaves = np.concatenate([one.leaves for one in told])
    _, first = np.unique(leaves, return_index=True)
    first.sort()
    return Found(tree=leaves[first], periods=nodes[first])


def found_around(
    source: CandidateSource,
    seeds: Ids,
    worth: Floats,
    terms: Sequence[str],
    language: Language,
    vocabulary: Vocabulary | None,
    *,
    by_meaning: bool,
    by_words: bool,
) -> Found:
    """Return what is about the same as the first results.

    Args:
        source: Bound to the scope.
        seeds: int64[n], the first results.
        worth: float32[n], their scores.
        terms: Words of the query.
        language: Of the query.
        vocabulary: Tells how telling a word is.
        by_meaning: Whether there are vectors to compare with.
        by_words: Whether words are looked up.
    """
    centre, near = None, NOTHING.ids
    if by_meaning:
        centre = (source.vectors(seeds) * worth[:, None]).sum(axis=0)
        length = float(np.linalg.norm(centre))
        centre = None if length == 0 else (centre / np.float32(length)).astype(np.float32)
    if centre is not None:
        near = source.dense(centre, MEANING_DEPTH).ids
    words = NOTHING
    if by_words and vocabulary is not None:
        weights = dict(zip(seeds.tolist(), worth.tolist(), strict=True))
        value: dict[str, float] = defaultdict(float)
        for memory in source.memories(seeds):
            for word in dict.fromkeys(keyword_terms(memory.text, language)):
                value[word] += weights[memory.id] * vocabulary.rarity(word)
        telling = sorted(value, key=lambda word: (-value[word], word))[:WORDS]
        if looked_up := tuple(dict.fromkeys((*terms, *telling))):
            words = source.keyword(KeywordQuery(terms=looked_up), WORD_DEPTH)
    tree = source.retold_with(seeds).leaves
    _, first = np.unique(tree, return_index=True)
    return Found(by_words=words, centre=centre, by_meaning=near, tree=tree[np.sort(first)])


def relevance(source: CandidateSource, found: Found, ids: Ids, score: Floats) -> Floats:
    """Return how well n candidates fit into the overview, float32[n], given their scores."""
    if len(found.periods):
        return are_in(ids, found.tree).astype(np.float32)
    fit = score / max(float(score.max(initial=0)), 1e-9)
    fit = fit + np.float32(WORD_SHARE) * min_max(found.by_words.among(ids))
    if found.centre is not None:
        fit = fit + np.float32(MEANING_SHARE) * min_max(source.cosines(found.centre, ids))
    return fit.astype(np.float32)


def tells_news(
    thread: NDArray[np.int64],
    position: NDArray[np.int64],
    said_at: NDArray[np.int64],
    tokens: NDArray[np.int64],
    fact_sources: FactSources | None,
) -> Floats:
    """Return a factor for each of n candidates, 1 and more: what opens a session, as far as it is among the
    candidates, what tells much, and what was derived from either.

    ``thread``, ``position`` and ``said_at`` as in `Rows`, ``tokens`` int64[n] the length of each text.
    """
    later = np.full(len(thread), np.inf)
    turns = np.flatnonzero((thread >= 0) & (position >= 0))
    if len(turns):
        _, number = np.unique(features.sessions(thread[turns], said_at[turns]), return_inverse=True)
        begins = np.full(number.max() + 1, np.iinfo(np.int64).max)
        np.minimum.at(begins, number, position[turns])
        later[turns] = position[turns] - begins[number]
    long = np.minimum(tokens / TELLING_TOKENS, 1)
    if fact_sources is not None:
        derived, sources = fact_sources.derived, fact_sources.sources
        np.minimum.at(later, derived, later[sources])
        np.maximum.at(long, derived, long[sources])
    opening = np.power(OPENING_DECAY, later)
    long *= np.minimum(TOO_LONG_TOKENS / np.maximum(tokens, 1), 1)
    more = OPENING * opening + TELLING * long
    if fact_sources is not None:
        more[np.unique(fact_sources.derived)] *= DERIVED
    factor: Floats = (1 + more).astype(np.float32)
    return factor


def per_token(tokens: NDArray[np.int64], budget_tokens: int | None) -> Floats:
    """Return the share of its worth, float32[n], that a text of each length keeps within a budget."""
    if budget_tokens is None:
        return np.ones(len(tokens), np.float32)
    most = max(BUDGET_SHARE * budget_tokens, TELLING_TOKENS)
    return np.minimum(most / np.maximum(tokens, 1), 1).astype(np.float32)


def spread(
    order: NDArray[np.int64],
    worth: Floats,
    group: NDArray[np.int64],
    repeated: float,
    *,
    first: NDArray[np.int64],
    fact_sources: FactSources | None,
) -> NDArray[np.int64]:
    """Return an order of candidates in which each counts less for what was taken before it: of the same
    group, or derived from it, or what it was derived from.

    Args:
        order: int64[m], the candidates, by index.
        worth: float32[n].
        group: int64[n], the day or period of each.
        repeated: Share of its worth that each keeps for every one of its group taken before it.
        first: Candidates that are taken before all others, by index.
        fact_sources: Which of them tell the same.
    """
    value = np.full(len(worth), -np.inf)
    value[order] = worth[order]
    relatives: dict[int, list[int]] = defaultdict(list)
    if fact_sources is not None:
        pairs = zip(fact_sources.derived.tolist(), fact_sources.sources.tolist(), strict=True)
        for derived, source in pairs:
            relatives[derived].append(source)
            relatives[source].append(derived)
    head = [place for place in first.tolist() if value[place] > 0]
    taken: list[int] = []
    while len(taken) < min(len(order), MOST):
        best = head[len(taken)] if len(taken) < len(head) else int(np.argmax(value))
        if value[best] <= 0:
            break
        taken.append(best)
        value[best] = -np.inf
        value[group == group[best]] *= repeated
        value[relatives[best]] *= RETOLD
    rest = np.ones(len(worth), np.bool_)
    rest[taken] = False
    return np.concatenate((np.array(taken, np.int64), order[rest[order]]))


def most_within(budget_tokens: int, fewest: int) -> int:
    """Return how many results are enough for the budget to decide, and not the limit."""
    return max(fewest, min(budget_tokens // SHORT_TOKENS, MOST))
