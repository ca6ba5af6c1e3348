"""The pipeline: query in, ranked and explained memories out.

    spelling -> intent -> query -> candidates -> widen by neighbours -> claims and evidence -> signals
           -> relevance -> validity and multipliers -> order -> selection (sessions, duplicates) -> explain

Every stage is a pure function of its own file over arrays of some 150 candidates; objects are made
only for the results. Synchronous: async callers run the whole in a worker thread. What asks a model, or looks
further from the first results, is done around it (`further`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from math import ceil
from time import perf_counter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import are_in, indexes
from langmemory.languages import split_words
from langmemory.ports.candidates import (
    NOTHING,
    CandidateSource,
    Floats,
    Ids,
    Rows,
    ScoredIds,
    WordSource,
)
from langmemory.recall import features, scoring
from langmemory.recall.calibration import (
    FAR,
    LOWEST_SHARE,
    gate,
    is_about_asker,
    predictors,
    probability,
    shared,
    unjudged,
)
from langmemory.recall.candidates import Candidates, gather
from langmemory.recall.contentless import is_idle
from langmemory.recall.explain import explain_recall
from langmemory.recall.fact_sources import FactSources, says_no_more
from langmemory.recall.features import micros, sessions
from langmemory.recall.intent import Intent, read_intent, searched_window, starts_after
from langmemory.recall.later_first import EXACT, HEAD, LONGEST_ALIKE, by_time
from langmemory.recall.presets import BALANCED, MOST_CANDIDATES, Preset
from langmemory.recall.query import Query, read_query
from langmemory.recall.ranking import (
    PERIOD_LAG_DAYS,
    Pool,
    Ranking,
    Reading,
    add_neighbours,
    first_pool,
    identifier_scores,
    read,
    signals,
    weights_among,
    with_claims,
    with_fact_sources,
    with_tokens,
)
from langmemory.recall.selection import Selection, deeper, select, spread
from langmemory.recall.spelling import Spelling, correct_spelling
from langmemory.recall.vocabulary import Vocabulary, words_of
from langmemory.types import Granularity, MinScore, Recall, SearchMode, Trace

WHOLE_TEXT: Final = 64
"""Words from which a query is a text of its own: a mistyped word of it costs little, and a rare word
taken for a mistyped one more."""
CROWDED: Final = 4
"""Contentless candidates from which others are looked up in their place."""


def run(
    text: str,
    source: CandidateSource,
    *,
    vector: Floats | None,
    model_id: str | None = None,
    now: datetime,
    preset: Preset = BALANCED,
    vocabulary: Vocabulary | None = None,
    limit: int = 10,
    min_score: MinScore = None,
    mode: SearchMode = "hybrid",
    granularity: Granularity = "turn",
    further: Mapping[str, ScoredIds] | None = None,
    degraded: tuple[str, ...] = (),
    explain: bool = False,
) -> Recall:
    """Return the ``limit`` memories in the source's scope that help most with a query.

    Args:
        text: The query, of any length and content.
        source: Bound to the scope.
        vector: float32[dims] of the query, L2-normalised; None searches by words alone.
        model_id: The embedding model of the vectors.
        now: Timezone-aware; what "last week" and recency refer to.
        preset: Every constant of the stages.
        vocabulary: The token table the source's tokens refer to; None leaves out what needs it.
        limit: Results at most.
        min_score: Leaves out results whose score, the probability that they are evidence, is below
            this one. "auto" takes `calibration.gate`, and looks nothing up for an idle message.
        mode: "semantic" leaves the keyword channel out where there is a vector.
        granularity: "session" returns the best turn of each session, a session's score being its
            best turn's (MaxP, Dai and Callan 2019); "turn" every memory for itself.
        further: What channels beside words and vectors found, by the name of the channel. Its scores count
            as the signal of that name, where the preset gives it a weight.
        degraded: What went wrong before, to be told in the trace.
        explain: Fills the explanations and the whole trace.
    """
    clock = _Clock()
    if limit <= 0 or (min_score == "auto" and is_idle(text)):
        return Recall(query=text, results=(), trace=Trace(degraded=degraded, preset=preset.name))
    keywords = vector is None or mode != "semantic"
    meant, asked = _read_query(
        text, source, vector, now, vocabulary, limit, clock, further=further, keywords=keywords
    )
    intent, query = asked.intent, asked.query
    clock.lap("intent")

    reasons = set[str]()

    def selected(ranking: Ranking) -> Selection:
        found = predictors(query.text, intent, ranking)
        scores = probability(ranking.score, found)
        lowest: float | None
        if min_score != "auto":
            lowest = min_score
        else:
            lowest = gate(scores[ranking.order], found)
            if lowest > 1 and (
                why := unjudged(query.text, intent, ranking, source, vocabulary, model_id)
            ):
                lowest = lowest if why == FAR else shared(scores[ranking.order])
                reasons.add(why)
        if "self" in intent.asks and "claim" in ranking.signals:  # each of them answers it
            scores = np.maximum(scores, ranking.signals["claim"])
            lowest = LOWEST_SHARE if min_score == "auto" else min_score
        return select(source, ranking, scores, preset, granularity, lowest, limit)

    ranking = asked.rank(preset)
    selection = selected(ranking)
    while selection.crowded(limit, len(ranking.contentless)) and (
        with_more := deeper(ranking, preset, limit)
    ):
        preset = with_more
        ranking = asked.rank(preset)
        selection = selected(ranking)
    results, removed = selection.results, selection.removed
    clock.lap("results")
    trace = Trace(degraded=(*degraded, *reasons), preset=preset.name)
    recall = Recall(query=text, results=tuple(results), trace=trace)
    if not explain:
        return replace(recall, trace=replace(trace, milliseconds=clock.total()))
    ids = ranking.pool.rows.ids
    for places, why in (
        (ranking.collapsed, "derivation: a fact that rests on it stands for it"),
        (ranking.contentless, "contentless: it says nothing that the query does not"),
    ):
        removed += [(memory, why) for memory in source.memories(ids[places])]
    stages = {
        "": np.argsort(-ranking.relevance, kind="stable"),
        "scoring": np.lexsort((ids, -ranking.own)),
        "derivation": ranking.settled,
        "later first": ranking.order,
        "session": selection.order,
    }
    orders = {stage: ids[places].tolist() for stage, places in stages.items()}
    orders["dedupe"] = [result.memory.id for result in results]
    return explain_recall(
        recall, ranking, query, intent, meant.meant, orders, removed, clock.milliseconds()
    )


def order(
    text: str,
    source: CandidateSource,
    *,
    vector: Floats | None,
    now: datetime,
    preset: Preset,
    vocabulary: Vocabulary | None = None,
    limit: int = 10,
    estimated: bool = False,
) -> tuple[Ids, Floats]:
    """Return only the ranking, for callers that fetch the items themselves: (ids, cosines), best first.

    Arguments as for `run`. The cosine is 0 for an item without a vector. ``estimated``: in its place, the
    probability that the item is evidence.
    """
    _, asked = _read_query(text, source, vector, now, vocabulary, limit, _Clock(), every_turn=True)
    ranking = asked.rank(preset)
    best = ranking.order[:limit]
    if estimated:
        estimates = probability(ranking.score, predictors(asked.query.text, asked.intent, ranking))
        return ranking.pool.rows.ids[best], estimates[best]
    return ranking.pool.rows.ids[best], ranking.pool.dense[best]


def _read_query(
    text: str,
    source: CandidateSource,
    vector: Floats | None,
    now: datetime,
    vocabulary: Vocabulary | None,
    limit: int,
    clock: _Clock,
    *,
    further: Mapping[str, ScoredIds] | None = None,
    keywords: bool = True,
    every_turn: bool = False,
) -> tuple[Spelling, _Asked]:
    """Read a query: its words, mistyped words mended where it can be told that they are, and its intent."""
    intent, spelling = read_intent(text, now), Spelling(text=text)
    whole_text = len(split_words(text)) > WHOLE_TEXT
    if not whole_text and vocabulary is not None and isinstance(source, WordSource):
        spelling = correct_spelling(text, intent, source, vocabulary)
        if spelling.meant:
            intent = read_intent(spelling.text, now)
    query = read_query(spelling.text, intent, vocabulary=vocabulary, keywords=keywords)
    return spelling, _Asked(
        intent=intent,
        query=query,
        source=source,
        vector=vector,
        now=now,
        vocabulary=vocabulary,
        limit=limit,
        clock=clock,
        every_turn=every_turn,
        further=further or {},
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """One query of one scope, whose candidates may be looked up several times."""

    intent: Intent
    query: Query
    source: CandidateSource
    vector: Floats | None
    now: datetime
    vocabulary: Vocabulary | None
    limit: int
    clock: _Clock
    every_turn: bool
    """Whether contentless turns are ranked as well."""
    further: Mapping[str, ScoredIds]

    @property
    def at(self) -> int:
        """Microseconds: the time that the query asks about."""
        return micros(self.intent.horizon or self.now)

    def rank(self, preset: Preset) -> Ranking:
        """Return the candidates with every signal and score, in order."""
        source, intent, query, at = self.source, self.intent, self.query, self.at
        looked = self._look_up(preset)
        silent = looked.pool.rows.ids[looked.reading.contentless]
        taken = int(are_in(looked.candidates.ids, silent).sum())
        if taken >= CROWDED:
            deep = preset.model_copy(update={"depth": min(preset.depth + taken, MOST_CANDIDATES)})
            looked = self._look_up(deep, silent)
        pool, reading, fact_sources = looked.pool, looked.reading, looked.fact_sources
        rows, ids, claims = pool.rows, pool.rows.ids, looked.claims
        found = signals(pool, reading, intent, self.vocabulary, preset, fact_sources)
        if len(claims.ids):
            found["claim"] = claims.among(ids)
        if query.identifiers:
            found["identifier"] = identifier_scores(source, pool, query.identifiers)
        for name, one in looked.candidates.further.items():
            found[name] = scoring.min_max(one.among(ids))
        weights = weights_among(pool, reading, preset, len(query.terms))
        relevant = scoring.relevance(found, weights)
        self.clock.lap("signals")
        wanted = {name for name, width in preset.multiplier_ranges.items() if width}
        uses = source.uses(ids) if wanted & scoring.OF_USE else None
        properties = scoring.facets(
            rows, uses, micros(self.now), half_life_days=preset.half_life_days, wanted=wanted
        )
        factors = scoring.multipliers(properties, preset.multiplier_ranges)
        old = scoring.stale(rows, at)
        # What is true only later does not answer what holds now, and is no later word on it.
        asks_present = not intent.asks.isdisjoint(("present", "now"))
        coming = (rows.said_at > at) & (asks_present and not intent.ahead)
        old = np.maximum(old, coming)
        of_now = "before" not in intent.asks and intent.horizon is None
        outdated = np.zeros(len(ids), np.bool_)
        if preset.fact_sources and preset.stale_factor < 1 and of_now:
            outdated = self._outdated_turns(pool, reading)
            old = np.maximum(old, outdated)
        if old.any():
            factors["stale"] = 1 - old * np.float32(1 - preset.stale_factor)
        if preset.others_factor < 1 and not reading.named and is_about_asker(query.text):
            others = are_in(ids, source.of_others(ids))
            if others.any():
                factors["others"] = 1 - others * np.float32(1 - preset.others_factor)
        score = relevant.copy()
        for factor in factors.values():
            score *= factor
        own, collapsed = score, np.zeros(len(score), np.bool_)
        if fact_sources is not None:
            own = score.copy()
            if reading.texts is not None and self.vocabulary is not None:
                facts = zip(
                    fact_sources.sources.tolist(), fact_sources.derived.tolist(), strict=True
                )
                pairs = ((turn, words_of(rows.tokens[fact])) for turn, fact in facts)
                no_more = says_no_more(reading.texts, self.vocabulary, pairs)
                collapsed = fact_sources.settle(score, found, no_more)
            if of_now:
                fact_sources.succeed(score, found)
        order = np.lexsort((ids, -score))
        settled = order[~(collapsed | reading.contentless)[order]]
        times = rows.said_at if fact_sources is None else fact_sources.said_at(rows.said_at)
        times = np.where(coming, 0, times)
        order = settled
        if not self.every_turn and self.vocabulary is not None:
            order = by_time(
                settled,
                score,
                rows,
                times,
                reading,
                self.vocabulary,
                intent.asks,
                _until(intent, times),
                foreign=intent.language.stop_words.isdisjoint(split_words(query.text)),
                exact=[found[name] for name in EXACT if name in found],
                starts_later=lambda places: self._starts_later(rows, places),
                rivals=source.rivals(ids[settled[:HEAD]], at)
                if preset.fact_sources and asks_present
                else None,
            )
        if order is not settled:
            # Each place keeps its score.
            score = score.copy()
            score[order] = score[settled]
        if "change" in intent.asks and preset.session_share < 1:
            session = sessions(rows.thread, rows.said_at)
            order = spread(order, session, ceil(preset.session_share * self.limit))
        self.clock.lap("scoring")
        channels = looked.candidates.channels
        return Ranking(
            pool=pool,
            signals=found,
            weights=weights,
            relevance=relevant,
            multipliers=factors,
            own=own,
            score=score,
            settled=settled,
            outdated=outdated,
            order=order,
            channels=channels | ({"claim": claims.ids} if len(claims.ids) else {}),
            collapsed=collapsed.nonzero()[0],
            fact_sources=fact_sources,
            reading=reading,
        )

    def _outdated_turns(self, pool: Pool, reading: Reading) -> NDArray[np.bool_]:
        """bool[n]: turns that say nothing but what has given way since."""
        rows = pool.rows
        found = np.zeros(len(rows.ids), np.bool_)
        given_way = self.source.outdated(rows.ids)
        if not given_way or reading.texts is None or self.vocabulary is None:
            return found
        facts: dict[int, bytes] = {}
        for item, tokens in given_way:
            facts[item] = facts.get(item, b"") + tokens
        places = indexes(rows.ids, np.array(list(facts)))
        pairs = zip(places.tolist(), map(words_of, facts.values()), strict=True)
        found[places[says_no_more(reading.texts, self.vocabulary, pairs)]] = True
        return found

    def _starts_later(self, rows: Rows, places: Sequence[int]) -> list[bool]:
        """Whether candidates tell what begins after the time that is asked about: "from January"."""
        assert self.vocabulary is not None
        temporal, at = self.vocabulary.temporal, self.at
        words = ((place, words_of(rows.tokens[place])) for place in places)
        timed = [place for place, of in words if len(of) <= LONGEST_ALIKE and temporal[of].any()]
        found = self.source.memories(rows.ids[timed])
        later = {one.id for one in found if starts_after(one.text, one.at, at)}
        return [int(rows.ids[place]) in later for place in places]

    def _look_up(self, preset: Preset, without: Ids = NOTHING.ids) -> _LookedUp:
        """Return candidates of every channel but those ``without``, what surrounds them and what was made
        of them, and their words."""
        source, intent, query, vector = self.source, self.intent, self.query, self.vector
        window = searched_window(intent, PERIOD_LAG_DAYS)
        candidates = gather(
            source,
            vector=vector,
            keyword=query.keyword,
            window=(micros(window[0]), micros(window[1])) if window else None,
            depth=max(preset.depth, self.limit),
            further=self.further,
        )
        if len(without):
            candidates = candidates.without(without)
        self.clock.lap("candidates")
        pool = first_pool(source, candidates)
        if len(pool.rows.ids) and preset.context_depth:
            first = scoring.fuse(
                {"keyword": pool.keyword, "dense": pool.dense},
                {
                    "keyword": preset.weights.keyword,
                    "dense": preset.weights.dense if vector is not None else 0.0,
                },
            )
            best = np.argsort(-first, kind="stable")
            pool = add_neighbours(source, pool, best[: preset.context_depth], vector)
        self.clock.lap("context")
        claims, fact_sources = NOTHING, None
        if preset.claim_depth and (intent.period is None or "before" in intent.asks):
            pool, claims = with_claims(
                source, pool, query, intent, vector, preset.claim_depth, self.at
            )
        if preset.fact_sources:
            pool, fact_sources = with_fact_sources(source, pool, vector)
        if self.vocabulary is not None and not self.every_turn:
            pool = with_tokens(source, pool, self.vocabulary)
        reading = read(pool, query, intent, self.vocabulary, every_turn=self.every_turn)
        return _LookedUp(candidates, pool, claims, fact_sources, reading)


class _LookedUp(NamedTuple):
    """Candidates before they are scored."""

    candidates: Candidates
    pool: Pool
    claims: ScoredIds
    fact_sources: FactSources | None
    reading: Reading


def _until(intent: Intent, times: NDArray[np.int64]) -> int | None:
    """End of the time a query speaks of, microseconds; None where it names none."""
    if intent.horizon is not None:
        return micros(intent.horizon)
    spans = intent.spans(features.years_of(times)) if len(times) else []
    return max((micros(end) for _, end in spans), default=None)


class _Clock:
    """Wall time by stage: a reading per stage, no arithmetic until asked."""

    def __init__(self) -> None:
        self._laps: list[tuple[str, float]] = [("", perf_counter())]

    def lap(self, stage: str) -> None:
        self._laps.append((stage, perf_counter()))

    def total(self) -> dict[str, float]:
        return {"total": (perf_counter() - self._laps[0][1]) * 1000}

    def milliseconds(self) -> dict[str, float]:
        spent: dict[str, float] = {}
        for (_, before), (stage, after) in pairwise(self._laps):
            spent[stage] = spent.get(stage, 0.0) + (after - before) * 1000
        return spent | self.total()
