"""The pipeline: query in, ranked and explained memories out.

    spelling -> intent -> query -> candidates -> widen by neighbours -> hops -> signals -> relevance
           -> validity and multipliers -> order, diversity -> (expansion, and once more)
           -> (overview: what is about the same, from the summaries too, and once more)
           -> selection (sessions, duplicates) -> rerank -> explain

Every stage is a pure function of its own file over arrays of some 150 candidates; objects are made
only for the results. Synchronous: async callers run the whole in a worker thread.
"""

from __future__ import annotations

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
from langmemory.ports.candidates import NOTHING, CandidateSource, Floats, Ids, ScoredIds, WordSource
from langmemory.ports.sparse import Pairs
from langmemory.recall import features, overview, scoring
from langmemory.recall.calibration import gate, is_about_asker, predictors, probability
from langmemory.recall.candidates import Candidates, gather
from langmemory.recall.contentless import is_idle
from langmemory.recall.explain import explained
from langmemory.recall.fact_sources import FactSources
from langmemory.recall.features import micros, sessions
from langmemory.recall.hops import Reached, hop
from langmemory.recall.intent import Intent, read_intent, searched
from langmemory.recall.later_first import HEAD, by_time
from langmemory.recall.models import Expander, Reranker, expanded, reordered
from langmemory.recall.presets import BALANCED, MOST_CANDIDATES, Preset
from langmemory.recall.query import Query, possible_names, read_query
from langmemory.recall.ranking import (
    PERIOD_LAG_DAYS,
    TOKEN_BYTES,
    Pool,
    Ranking,
    Reading,
    extended,
    first_pool,
    read,
    signals,
    weights_among,
    widened,
    with_claims,
    with_fact_sources,
    with_tokens,
)
from langmemory.recall.second_look import bridging_terms, interleaved
from langmemory.recall.selection import Selection, deeper, mmr, select, spread
from langmemory.recall.spelling import Spelling, respelled
from langmemory.recall.vocabulary import Vocabulary
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
    now: datetime,
    preset: Preset = BALANCED,
    vocabulary: Vocabulary | None = None,
    limit: int = 10,
    budget_tokens: int | None = None,
    min_score: MinScore = None,
    mode: SearchMode = "hybrid",
    granularity: Granularity = "turn",
    degraded: tuple[str, ...] = (),
    expander: Expander | None = None,
    reranker: Reranker | None = None,
    sparse: Pairs | None = None,
    explain: bool = False,
) -> Recall:
    """Return the ``limit`` memories in the source's scope that help most with a query.

    Args:
        text: The query, of any length and content.
        source: Bound to the scope.
        vector: float32[dims] of the query, L2-normalised; None searches by words alone.
        now: Timezone-aware; what "last week" and recency refer to.
        preset: Every constant of the stages.
        vocabulary: The token table the source's tokens refer to; None leaves out what needs it.
        limit: Results at most.
        budget_tokens: What the results of an overview are chosen for; it leaves out none.
        min_score: Leaves out results whose score, the probability that they are evidence, is below
            this one. "auto" takes `calibration.gate`, and looks nothing up for an idle message.
        mode: "semantic" leaves the keyword channel out where there is a vector.
        granularity: "session" returns the best turn of each session, a session's score being its
            best turn's (MaxP, Dai and Callan 2019); "turn" every memory for itself.
        degraded: What went wrong before, to be told in the trace.
        expander: Is asked for other words when what was found is below ``preset.expansion_threshold``.
        reranker: Has the last word on the order of the best ``preset.rerank_depth``.
        sparse: The sparse vector of the query; None leaves that channel out.
        explain: Fills the explanations and the whole trace.
    """
    clock = _Clock()
    if limit <= 0 or (min_score == "auto" and is_idle(text)):
        return Recall(query=text, results=(), trace=Trace(degraded=degraded, preset=preset.name))
    meant, asked = _asked(
        text,
        source,
        vector,
        now,
        vocabulary,
        limit,
        clock,
        budget_tokens=budget_tokens,
        sparse=sparse,
    )
    intent, keywords = asked.intent, vector is None or mode != "semantic"
    query = read_query(meant.text, intent, vocabulary=vocabulary, keywords=keywords)
    wanted = max(limit, preset.rerank_depth) if reranker else limit
    whole = preset.overview and intent.asks_whole
    clock.lap("intent")

    def selected(ranking: Ranking, before: Selection | None = None) -> Selection:
        found = predictors(query.text, intent, ranking)
        scores = probability(ranking.score, found)
        if "self" in intent.asks and "claim" in ranking.signals:
            scores = np.maximum(scores, ranking.signals["claim"])  # each of them answers it
        if min_score != "auto":
            lowest = min_score
        elif before:
            lowest = before.lowest
        elif whole and not overview.about(query.terms, intent.language):
            lowest = None  # it asks for no memory in particular: no score says how likely one is
        else:
            lowest = gate(query.text, ranking, found, scores)
        return select(source, ranking, scores, preset, granularity, lowest, wanted)

    ranking = asked.rank(query, preset)
    expansions = ""
    if expander and query.terms and _signal(ranking) < preset.expansion_threshold:
        expansions, failure = expanded(text, expander)
        degraded += failure
        clock.lap("expansion")
        if expansions:
            query = read_query(
                meant.text, intent, vocabulary=vocabulary, expansions=expansions, keywords=keywords
            )
            ranking = asked.rank(query, preset)
    selection = selected(ranking)
    while selection.crowded(wanted, len(ranking.contentless)) and (
        with_more := deeper(ranking, preset, limit)
    ):
        preset = with_more
        ranking = asked.rank(query, preset)
        selection = selected(ranking)
    results, removed = selection.results, selection.removed
    bridge: list[str] = []
    if (
        preset.second_look
        and not whole
        and vocabulary is not None
        and granularity == "turn"
        and results
    ):
        bridge = bridging_terms(query.text, results, vocabulary, preset.second_look)
    if bridge:
        words = f"{query.text} {' '.join(bridge)}"
        further = read_query(words, intent, vocabulary=vocabulary, keywords=keywords)
        again = selected(asked.rank(further, preset), before=selection)
        results = interleaved(results, again.results, wanted)
        clock.lap("second look")
    found = [result.memory.id for result in results]
    clock.lap("results")
    if reranker and results:
        results, failure = reordered(text, results, reranker)
        results, degraded = results[:limit], degraded + failure
        clock.lap("rerank")
    trace = Trace(degraded=degraded, preset=preset.name, by_time=whole and "order" in intent.asks)
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
        "later first": ranking.succession.order,
        "diversity": ranking.order if ranking.narrow is None else ranking.narrow,
        "overview": ranking.order,
        "session": selection.order,
    }
    orders = {stage: ids[places].tolist() for stage, places in stages.items()}
    orders |= {"dedupe": found, "rerank": [result.memory.id for result in results]}
    return explained(
        recall,
        ranking,
        query,
        intent,
        meant.meant,
        expansions,
        orders,
        removed,
        clock.milliseconds(),
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
    meant, asked = _asked(text, source, vector, now, vocabulary, limit, _Clock(), every_turn=True)
    query = read_query(meant.text, asked.intent, vocabulary=vocabulary)
    ranking = asked.rank(query, preset)
    best = ranking.order[:limit]
    if estimated:
        estimates = probability(ranking.score, predictors(query.text, asked.intent, ranking))
        return ranking.pool.rows.ids[best], estimates[best]
    return ranking.pool.rows.ids[best], ranking.pool.dense[best]


def _asked(
    text: str,
    source: CandidateSource,
    vector: Floats | None,
    now: datetime,
    vocabulary: Vocabulary | None,
    limit: int,
    clock: _Clock,
    *,
    budget_tokens: int | None = None,
    every_turn: bool = False,
    sparse: Pairs | None = None,
) -> tuple[Spelling, _Asked]:
    """Read a query: its words, mistyped words mended where it can be told that they are, and its intent."""
    intent, spelling = read_intent(text, now), Spelling(text=text)
    whole_text = len(split_words(text)) > WHOLE_TEXT
    if not whole_text and vocabulary is not None and isinstance(source, WordSource):
        spelling = respelled(text, intent, source, vocabulary)
        if spelling.meant:
            intent = read_intent(spelling.text, now)
    return spelling, _Asked(
        intent, source, vector, now, vocabulary, limit, budget_tokens, clock, every_turn, sparse
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """One query of one scope, whose candidates may be looked up several times."""

    intent: Intent
    source: CandidateSource
    vector: Floats | None
    now: datetime
    vocabulary: Vocabulary | None
    limit: int
    budget_tokens: int | None
    clock: _Clock
    every_turn: bool
    """Whether contentless turns are ranked as well."""
    sparse: Pairs | None = None

    @property
    def at(self) -> int:
        """Microseconds: the time that the query asks about."""
        return micros(self.intent.horizon or self.now)

    def rank(self, query: Query, preset: Preset) -> Ranking:
        """Return the candidates with every signal and score, in order; where an overview is asked for, in
        the order of one."""
        ranking = self._rank(query, preset)
        if not preset.overview or not self.intent.asks_whole or self.every_turn:
            return ranking
        found = self._found_for_overview(query, ranking)
        if not len(found.ids):
            return ranking
        best = ranking.pool.rows.ids[ranking.order[: overview.FIRST]]
        ranking = self._rank(query, preset, found)
        self.clock.lap("scoring")
        rows, order = ranking.pool.rows, ranking.order
        worth = overview.relevance(self.source, found, rows.ids, ranking.score)
        lengths = np.array([len(blob or b"") // TOKEN_BYTES for blob in rows.tokens], np.int64)
        worth *= overview.tells_news(
            rows.thread, rows.position, rows.said_at, lengths, ranking.fact_sources
        )
        worth *= overview.per_token(lengths, self.budget_tokens)
        order = order[np.lexsort((rows.ids[order], -worth[order]))]
        if len(found.periods):
            group, repeated = found.period_of(rows.ids), overview.REPEATED_IN_PERIOD
            best = NOTHING.ids
        else:
            group, repeated = ranking.times // overview.DAY_US, overview.REPEATED
            best = indexes(rows.ids, best)
        order = overview.spread(
            order, worth, group, repeated, first=best[best >= 0], fact_sources=ranking.fact_sources
        )
        # Each place keeps its score.
        score = ranking.score.copy()
        score[order] = np.sort(ranking.score[order])[::-1]
        self.clock.lap("overview")
        return replace(ranking, order=order, narrow=ranking.order, score=score)

    def _found_for_overview(self, query: Query, ranking: Ranking) -> overview.Found:
        """Return what an overview may be made of, beside a first ranking."""
        rows, intent = ranking.pool.rows, self.intent
        if not overview.about(query.terms, intent.language):
            spans = intent.spans(features.years_of(rows.said_at)) if len(rows.ids) else []
            return overview.found_in(self.source, [(micros(a), micros(b)) for a, b in spans])
        best = ranking.order[: overview.SEEDS]
        return overview.found_around(
            self.source,
            rows.ids[best],
            ranking.score[best],
            query.terms,
            intent.language,
            self.vocabulary,
            by_meaning=self.vector is not None,
            by_words=query.keyword is not None,
        )

    def _rank(self, query: Query, preset: Preset, more: overview.Found | None = None) -> Ranking:
        """Return the candidates, and ``more``, with every signal and score, in order."""
        source, intent, at = self.source, self.intent, self.at
        looked = self._look_up(query, preset, more=more)
        silent = looked.pool.rows.ids[looked.reading.contentless]
        taken = int(are_in(looked.candidates.ids, silent).sum())
        if taken >= CROWDED:
            deep = preset.model_copy(update={"depth": min(preset.depth + taken, MOST_CANDIDATES)})
            looked = self._look_up(query, deep, silent, more)
        pool, reading, hops = looked.pool, looked.reading, looked.hops
        rows, ids, claims, fact_sources = (
            pool.rows,
            pool.rows.ids,
            looked.claims,
            looked.fact_sources,
        )
        origins = hops.origins(ids) if hops.score else None
        found = signals(pool, reading, intent, self.vocabulary, preset, origins, fact_sources)
        if hops.related or len(looked.candidates.named.ids):
            found["graph"] = hops.closeness(ids, looked.candidates.named)
        if len(claims.ids):
            found["claim"] = claims.among(ids)
        weights = weights_among(pool, intent, preset, len(query.terms))
        if self.sparse is not None and weights["sparse"] and len(ids):
            found["sparse"] = scoring.min_max(source.products(self.sparse, ids))
        relevant = scoring.relevance(found, weights)
        self.clock.lap("signals")
        wanted = {name for name, width in preset.multiplier_ranges.items() if width}
        uses = source.uses(ids) if wanted & scoring.OF_USE else None
        properties = scoring.facets(
            rows, uses, micros(self.now), half_life_days=preset.half_life_days, wanted=wanted
        )
        factors = scoring.multipliers(properties, preset.multiplier_ranges)
        old = scoring.stale(rows, at)
        of_now = "before" not in intent.asks and intent.horizon is None
        if preset.fact_sources and preset.stale_factor < 1 and of_now:
            old = np.maximum(old, are_in(ids, source.outdated(ids)))
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
            collapsed = fact_sources.settle(score, found)
            if of_now:
                fact_sources.succeed(score, found)
        order = np.lexsort((ids, -score))
        settled = order[~(collapsed | reading.contentless)[order]]
        times = rows.said_at if fact_sources is None else fact_sources.said_at(rows.said_at)
        asks_present = preset.fact_sources and not intent.asks.isdisjoint(("present", "now"))
        succession = by_time(
            settled,
            score,
            rows,
            times,
            reading,
            None if self.every_turn else self.vocabulary,
            intent.asks,
            _until(intent, times),
            intent.names,
            source.rivals(ids[settled[:HEAD]], at) if asks_present else None,
        )
        order = succession.order
        if order is not settled:
            # Each place keeps its score.
            score = score.copy()
            score[order] = score[settled]
        if preset.mmr_lambda < 1:
            head = order[: 4 * self.limit]
            vectors = source.vectors(ids[head])
            picked = mmr(score[head], vectors, lambda_=preset.mmr_lambda, limit=len(head))
            order = np.concatenate((head[picked], order[len(head) :]))
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
            succession=succession,
            order=order,
            channels=channels
            | ({"claim": claims.ids} if len(claims.ids) else {})
            | (more.channels if more is not None else {}),
            hops=hops,
            collapsed=np.flatnonzero(collapsed),
            fact_sources=fact_sources,
            times=times,
            reading=reading,
        )

    def _look_up(
        self,
        query: Query,
        preset: Preset,
        without: Ids = NOTHING.ids,
        more: overview.Found | None = None,
    ) -> _LookedUp:
        """Return candidates of every channel but those ``without``, what surrounds them and what was made
        of them, ``more``, and their words."""
        source, intent, vector = self.source, self.intent, self.vector
        window = searched(intent, PERIOD_LAG_DAYS)
        # What is out of a bound takes places of what is within it.
        bounded = intent.edge is not None and intent.edge != "around"
        candidates = gather(
            source,
            vector=vector,
            keyword=query.keyword,
            window=(micros(window[0]), micros(window[1])) if window else None,
            depth=max(preset.depth, self.limit, preset.flat_depth if bounded else 0),
            flat_depth=preset.flat_depth,
            category=query.category_keyword,
            category_depth=preset.category_depth,
            names=possible_names(query.text, intent),
            entity_depth=preset.entity_depth,
            sparse=self.sparse,
        )
        if len(without):
            candidates = candidates.without(without)
        self.clock.lap("candidates")
        pool, hops = self._pool(candidates, preset)
        if more is not None:
            pool = extended(source, pool, source.rows(more.ids), vector)
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
        reading = read(source, pool, query, intent, self.vocabulary, every_turn=self.every_turn)
        return _LookedUp(candidates, pool, hops, claims, fact_sources, reading)

    def _pool(self, candidates: Candidates, preset: Preset) -> tuple[Pool, Reached]:
        """Return candidates, the neighbours of the best, and what hops reach from the best."""
        source, vector, hops = self.source, self.vector, Reached()
        pool = first_pool(source, candidates)
        if len(pool.rows.ids) == 0 or not (preset.context_depth or preset.hop_depth):
            return pool, hops
        first = scoring.fuse(
            {"keyword": pool.keyword, "dense": pool.dense},
            {
                "keyword": preset.weights.keyword,
                "dense": preset.weights.dense if vector is not None else 0.0,
            },
        )
        best = np.argsort(-first, kind="stable")
        if preset.hop_depth:
            # Where the query names somebody, only what speaks of them leads on.
            named = are_in(pool.rows.ids[best], candidates.named.ids)
            start = (best[named] if named.any() else best)[: max(preset.context_depth, 10)]
            hops = hop(source, pool.rows.ids[start], first[start], depth=preset.hop_depth)
            ids = np.array(list(hops.score), dtype=np.int64)
            pool = extended(source, pool, source.rows(ids), vector)
        if preset.context_depth:
            pool = widened(source, pool, best[: preset.context_depth], vector)
        return pool, hops


class _LookedUp(NamedTuple):
    """Candidates before they are scored."""

    candidates: Candidates
    pool: Pool
    hops: Reached
    claims: ScoredIds
    fact_sources: FactSources | None
    reading: Reading


def _signal(ranking: Ranking) -> float:
    """Share of the query, 0..1, that the text of a single candidate meets; without a token table
    whether any word was found."""
    overlap = ranking.signals.get("overlap", ranking.pool.keyword > 0)
    return float(overlap.max(initial=0))


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
