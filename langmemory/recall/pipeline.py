"""The pipeline: query in, ranked and explained memories out.

    spelling -> intent -> query -> candidates -> widen by neighbours -> hops -> signals -> relevance
           -> validity and multipliers -> order, diversity -> (expansion, and once more)
           -> selection (sessions, duplicates) -> rerank -> explain

Every stage is a pure function of its own file over arrays of some 150 candidates; objects are made
only for the results. Synchronous: async callers run the whole in a worker thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import are_in
from langmemory.languages import split_words
from langmemory.ports.candidates import CandidateSource, Floats, Ids, ScoredIds, WordSource
from langmemory.recall import features, scoring
from langmemory.recall.calibration import gate, predictors, probability
from langmemory.recall.candidates import EMPTY, Candidates, Flat, gather
from langmemory.recall.contentless import is_idle
from langmemory.recall.context import sessions
from langmemory.recall.diversity import mmr, spread
from langmemory.recall.entities import possible_names
from langmemory.recall.expansion import Expander, expanded
from langmemory.recall.explain import explained
from langmemory.recall.fact_sources import FactSources
from langmemory.recall.fusion import fuse
from langmemory.recall.hops import Reached, hop
from langmemory.recall.intent import Intent, read_intent, searched
from langmemory.recall.later_first import HEAD, by_time
from langmemory.recall.presets import BALANCED, MOST_CANDIDATES, Preset
from langmemory.recall.query import Query, read_query
from langmemory.recall.ranking import (
    PERIOD_LAG_DAYS,
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
from langmemory.recall.rerank import Reranker, reordered
from langmemory.recall.second_look import bridging_terms, interleaved
from langmemory.recall.selection import choose, deeper
from langmemory.recall.spelling import Spelling, respelled
from langmemory.recall.validity import stale
from langmemory.recall.vocabulary import Vocabulary
from langmemory.types import Granularity, MinScore, Recall, SearchMode, Trace

Milliseconds = dict[str, float]

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
    min_score: MinScore = None,
    mode: SearchMode = "hybrid",
    granularity: Granularity = "turn",
    degraded: tuple[str, ...] = (),
    expander: Expander | None = None,
    reranker: Reranker | None = None,
    explain: bool = False,
) -> Recall:
    """The ``limit`` memories in the source's scope that help most with a query.

    Args:
        text: The query, of any length and content.
        source: Bound to the scope.
        vector: float32[dims] of the query, L2-normalised; None searches by words alone.
        now: Timezone-aware; what "last week" and recency refer to.
        preset: Every constant of the stages.
        vocabulary: The token table the source's tokens refer to; None leaves out what needs it.
        limit: Results at most.
        min_score: Leaves out results whose score, the probability that they are evidence, is below
            this one. "auto" takes `calibration.gate`, and looks nothing up for an idle message.
        mode: "semantic" leaves the keyword channel out where there is a vector.
        granularity: "session" returns the best turn of each session, a session's score being its
            best turn's (MaxP, Dai and Callan 2019); "turn" every memory for itself.
        degraded: What went wrong before, to be told in the trace.
        expander: Is asked for other words when what was found is below ``preset.expansion_threshold``.
        reranker: Has the last word on the order of the best ``preset.rerank_depth``.
        explain: Fills the explanations and the whole trace.
    """
    clock = _Clock()
    if limit <= 0 or (min_score == "auto" and is_idle(text)):
        return Recall(query=text, results=(), trace=Trace(degraded=degraded, preset=preset.name))
    spelling, intent = _read(text, now, source, vocabulary)
    mode = mode if vector is not None else "keyword"
    query = _query(spelling.text, intent, vocabulary, mode)
    clock.lap("intent")

    def ranked(query: Query, preset: Preset) -> Ranking:
        return rank(query, intent, source, vector, now, preset, vocabulary, clock, limit)

    ranking = ranked(query, preset)
    expansions = ""
    if expander and query.terms and _signal(ranking) < preset.expansion_threshold:
        expansions, failure = expanded(text, expander)
        clock.lap("expansion")
        if failure:
            degraded = (*degraded, failure)
        elif expansions:
            query = _query(spelling.text, intent, vocabulary, mode, expansions)
            ranking = ranked(query, preset)
    wanted = max(limit, preset.rerank_depth) if reranker else limit
    estimates, lowest = _calibrated(query.text, intent, ranking, min_score)
    chosen = choose(source, ranking, estimates, preset, granularity, lowest, wanted)
    while chosen.crowded(wanted, len(ranking.contentless)) and (
        with_more := deeper(ranking, preset, limit)
    ):
        preset = with_more
        ranking = ranked(query, preset)
        estimates, lowest = _calibrated(query.text, intent, ranking, min_score)
        chosen = choose(source, ranking, estimates, preset, granularity, lowest, wanted)
    results, removed = chosen.results, chosen.removed
    bridge: list[str] = []
    if preset.second_look and vocabulary is not None and granularity == "turn" and results:
        bridge = bridging_terms(query.text, results, vocabulary, preset.second_look)
    if bridge:
        further = _query(f"{query.text} {' '.join(bridge)}", intent, vocabulary, mode)
        again = ranked(further, preset)
        likely, _ = _calibrated(query.text, intent, again, min_score)
        more = choose(source, again, likely, preset, granularity, lowest, wanted)
        results = interleaved(results, more.results, wanted)
        clock.lap("second look")
    found = [result.memory.id for result in results]
    clock.lap("results")
    if reranker and results:
        results, failure = reordered(text, results, reranker)
        results = results[:limit]
        if failure:
            degraded = (*degraded, failure)
        clock.lap("rerank")
    trace = Trace(degraded=degraded, preset=preset.name)
    recall = Recall(query=text, results=tuple(results), trace=trace)
    if not explain:
        return replace(recall, trace=replace(trace, milliseconds=clock.total()))
    ids = ranking.pool.rows.ids
    for memory in source.memories(ids[ranking.collapsed]):
        removed.append((memory, "derivation: a fact that rests on it stands for it"))
    for memory in source.memories(ids[ranking.contentless]):
        removed.append((memory, "contentless: it says nothing that the query does not"))
    stages = {
        "": np.argsort(-ranking.relevance, kind="stable"),
        "scoring": np.lexsort((ids, -ranking.own)),
        "derivation": ranking.settled,
        "later first": ranking.succession.order,
        "diversity": ranking.order,
        "session": chosen.order,
    }
    orders = {stage: ids[places].tolist() for stage, places in stages.items()}
    orders |= {"dedupe": found, "rerank": [result.memory.id for result in results]}
    return explained(
        recall,
        ranking,
        query,
        intent,
        spelling.meant,
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
) -> tuple[Ids, Floats]:
    """Only the ranking, for callers that fetch the items themselves: (ids, cosines), best first.

    Arguments as for `run`. The cosine is 0 for an item without a vector.
    """
    spelling, intent = _read(text, now, source, vocabulary)
    query = _query(spelling.text, intent, vocabulary)
    clock = _Clock()
    ranking = rank(
        query, intent, source, vector, now, preset, vocabulary, clock, limit, every_turn=True
    )
    best = ranking.order[:limit]
    return ranking.pool.rows.ids[best], ranking.pool.dense[best]


def _read(
    text: str, now: datetime, source: CandidateSource, vocabulary: Vocabulary | None
) -> tuple[Spelling, Intent]:
    """The words of the query, mistyped words mended where it can be told that they are, and asks."""
    intent = read_intent(text, now)
    whole_text = len(split_words(text)) > WHOLE_TEXT
    if whole_text or vocabulary is None or not isinstance(source, WordSource):
        return Spelling(text=text), intent
    spelling = respelled(text, intent, source, vocabulary)
    return spelling, read_intent(spelling.text, now) if spelling.meant else intent


def _query(
    text: str,
    intent: Intent,
    vocabulary: Vocabulary | None,
    mode: SearchMode = "hybrid",
    expansions: str = "",
) -> Query:
    query = read_query(text, intent, expansions=expansions, vocabulary=vocabulary)
    return replace(query, keyword=None, category_keyword=None) if mode == "semantic" else query


def rank(
    query: Query,
    intent: Intent,
    source: CandidateSource,
    vector: Floats | None,
    now: datetime,
    preset: Preset,
    vocabulary: Vocabulary | None,
    clock: _Clock,
    limit: int,
    *,
    every_turn: bool = False,
) -> Ranking:
    """Candidates with every signal and score, in order; contentless turns only with ``every_turn``."""
    at = _micros(intent.horizon or now)
    looked = _look_up(
        query, intent, source, vector, preset, vocabulary, clock, limit, every_turn, at
    )
    silent = looked.pool.rows.ids[looked.reading.contentless]
    taken = int(are_in(looked.candidates.ids, silent).sum())
    if taken >= CROWDED:
        more = preset.model_copy(update={"depth": min(preset.depth + taken, MOST_CANDIDATES)})
        looked = _look_up(
            query, intent, source, vector, more, vocabulary, clock, limit, every_turn, at, silent
        )
    candidates, pool, reading = looked.candidates, looked.pool, looked.reading
    hops, claims, fact_sources = looked.hops, looked.claims, looked.fact_sources
    origins = hops.origins(pool.rows.ids) if hops.score else None
    found = signals(pool, reading, intent, vocabulary, preset, origins, fact_sources)
    if hops.related or len(candidates.named.ids):
        found["graph"] = hops.closeness(pool.rows.ids, candidates.named)
    if len(claims.ids):
        found["claim"] = claims.among(pool.rows.ids)
    weights = weights_among(pool, intent, preset, len(query.terms))
    relevant = scoring.relevance(found, weights)
    clock.lap("signals")
    wanted = {name for name, spread in preset.multiplier_ranges.items() if spread}
    uses = source.uses(pool.rows.ids) if wanted & scoring.OF_USE else None
    properties = scoring.facets(
        pool.rows, uses, _micros(now), half_life_days=preset.half_life_days, wanted=wanted
    )
    factors = scoring.multipliers(properties, preset.multiplier_ranges)
    old = stale(pool.rows, at)
    of_now = "before" not in intent.asks and intent.horizon is None
    if preset.fact_sources and preset.stale_factor < 1 and of_now:
        old = np.maximum(old, are_in(pool.rows.ids, source.outdated(pool.rows.ids)))
    if old.any():
        factors["stale"] = 1 - old * np.float32(1 - preset.stale_factor)
    score = relevant.copy()
    for factor in factors.values():
        score *= factor
    own, collapsed = score, np.zeros(len(score), np.bool_)
    if fact_sources is not None:
        own = score.copy()
        collapsed = fact_sources.settle(score, found)
        if of_now:
            fact_sources.succeed(score, found)
    order = np.lexsort((pool.rows.ids, -score))
    settled = order[~(collapsed | reading.contentless)[order]]
    times = pool.rows.said_at if fact_sources is None else fact_sources.said_at(pool.rows.said_at)
    asks_present = preset.fact_sources and not intent.asks.isdisjoint(("present", "now"))
    succession = by_time(
        settled,
        score,
        pool.rows,
        times,
        reading,
        None if every_turn else vocabulary,
        intent.asks,
        _until(intent, times),
        intent.names,
        source.rivals(pool.rows.ids[settled[:HEAD]], at) if asks_present else None,
    )
    if succession.order is not settled:
        # Each place keeps its score.
        score = score.copy()
        score[succession.order] = score[settled]
    order = succession.order
    if preset.mmr_lambda < 1:
        order = _diverse(source, pool, score, order, preset, limit)
    if "change" in intent.asks and preset.session_share < 1:
        session = sessions(pool.rows.thread, pool.rows.said_at)
        order = spread(order, session, ceil(preset.session_share * limit))
    clock.lap("scoring")
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
        channels=candidates.channels | ({"claim": claims.ids} if len(claims.ids) else {}),
        hops=hops,
        collapsed=np.flatnonzero(collapsed),
        reading=reading,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _LookedUp:
    """Candidates before they are scored."""

    candidates: Candidates
    pool: Pool
    hops: Reached
    claims: ScoredIds
    fact_sources: FactSources | None
    reading: Reading


def _look_up(
    query: Query,
    intent: Intent,
    source: CandidateSource,
    vector: Floats | None,
    preset: Preset,
    vocabulary: Vocabulary | None,
    clock: _Clock,
    limit: int,
    every_turn: bool,
    now: int,
    without: Ids = EMPTY.ids,
) -> _LookedUp:
    """Candidates of every channel but those ``without``, what surrounds them and what was made of
    them, and their words. ``now`` is as in `ClaimQuery`."""
    window = searched(intent, PERIOD_LAG_DAYS)
    # What is out of a bound takes places of what is within it.
    bounded = intent.edge is not None and intent.edge != "around"
    candidates = gather(
        source,
        vector=vector,
        keyword=query.keyword,
        window=(_micros(window[0]), _micros(window[1])) if window else None,
        depth=max(preset.depth, limit, preset.flat_depth if bounded else 0),
        flat=Flat(depth=preset.flat_depth),
        category=query.category_keyword,
        category_depth=preset.category_depth,
        names=possible_names(query.text, intent),
        entity_depth=preset.entity_depth,
    )
    if len(without):
        candidates = candidates.without(without)
    clock.lap("candidates")
    pool, hops = _pool(source, candidates, vector, preset)
    clock.lap("context")
    claims = EMPTY
    if preset.claim_depth and (intent.period is None or "before" in intent.asks):
        pool, claims = with_claims(source, pool, query, intent, vector, preset.claim_depth, now)
    pool, fact_sources = (
        with_fact_sources(source, pool, vector) if preset.fact_sources else (pool, None)
    )
    if vocabulary is not None and not every_turn:
        pool = with_tokens(source, pool, vocabulary)
    reading = read(source, pool, query, intent, vocabulary, every_turn=every_turn)
    return _LookedUp(
        candidates=candidates,
        pool=pool,
        hops=hops,
        claims=claims,
        fact_sources=fact_sources,
        reading=reading,
    )


def _calibrated(
    text: str, intent: Intent, ranking: Ranking, min_score: MinScore
) -> tuple[Floats, float | None]:
    """The probability of each candidate, and the lowest with which one is returned."""
    properties = predictors(text, intent, ranking)
    estimates = probability(ranking.score, properties)
    if min_score == "auto":
        return estimates, gate(text, ranking, properties, estimates)
    return estimates, min_score


def _signal(ranking: Ranking) -> float:
    """Share of the query, 0..1, that the text of a single candidate meets; without a token table
    whether any word was found."""
    overlap = ranking.signals.get("overlap", ranking.pool.keyword > 0)
    return float(overlap.max(initial=0))


def _pool(
    source: CandidateSource, candidates: Candidates, vector: Floats | None, preset: Preset
) -> tuple[Pool, Reached]:
    """Candidates, the neighbours of the best, and what hops reach from the best."""
    pool = first_pool(source, candidates)
    hops = Reached()
    if len(pool.rows.ids) == 0 or not (preset.context_depth or preset.hop_depth):
        return pool, hops
    weights = preset.weights
    first = fuse(
        {"keyword": pool.keyword, "dense": pool.dense},
        {"keyword": weights.keyword, "dense": weights.dense if vector is not None else 0.0},
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


def _diverse(
    source: CandidateSource,
    pool: Pool,
    score: Floats,
    order: NDArray[np.int64],
    preset: Preset,
    limit: int,
) -> NDArray[np.int64]:
    """The order with its head (four times the limit) rearranged by MMR."""
    head = order[: 4 * limit]
    vectors = source.vectors(pool.rows.ids[head])
    picked = mmr(score[head], vectors, lambda_=preset.mmr_lambda, limit=len(head))
    return np.concatenate((head[picked], order[len(head) :]))


class _Clock:
    """Wall time by stage: a reading per stage, no arithmetic until asked."""

    def __init__(self) -> None:
        self._laps: list[tuple[str, float]] = [("", perf_counter())]

    def lap(self, stage: str) -> None:
        self._laps.append((stage, perf_counter()))

    def total(self) -> Milliseconds:
        return {"total": (perf_counter() - self._laps[0][1]) * 1000}

    def milliseconds(self) -> Milliseconds:
        spent: Milliseconds = {}
        for (_, before), (stage, after) in zip(self._laps, self._laps[1:], strict=False):
            spent[stage] = spent.get(stage, 0.0) + (after - before) * 1000
        return spent | self.total()


def _until(intent: Intent, times: NDArray[np.int64]) -> int | None:
    """End of the time a query speaks of, microseconds; None where it names none."""
    if intent.horizon is not None:
        return _micros(intent.horizon)
    spans = intent.spans(features.years_of(times)) if len(times) else []
    return max((_micros(end) for _, end in spans), default=None)


def _micros(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)
