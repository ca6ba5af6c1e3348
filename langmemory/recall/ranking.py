"""Ranking: every signal of every candidate, in arrays, and the order that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import are_in, distinct, indexes
from langmemory.languages import compared, split_words
from langmemory.ports.candidates import CandidateSource, ClaimQuery, Floats, Ids, Rows, ScoredIds
from langmemory.recall import features, identifiers
from langmemory.recall.candidates import Candidates
from langmemory.recall.contentless import contentless
from langmemory.recall.fact_sources import FactSources
from langmemory.recall.identifiers import Identifier
from langmemory.recall.intent import Intent
from langmemory.recall.interaction import Interaction, Texts, interact, join_texts
from langmemory.recall.presets import Preset
from langmemory.recall.query import Query, possible_names
from langmemory.recall.scoring import min_max, weighted_sum
from langmemory.recall.vocabulary import ASSISTANT, QUESTION, Vocabulary, encode_item_tokens

SESSION_EVIDENCE = {"keyword": 1.0, "dense": 0.6, "overlap": 1.0}
"""Properties of a turn that count for its session; who said it does not."""


OF_WHOLE_TEXTS = {"keyword": 0.9, "dense": 0.1}
"""Shares of the relevance where a whole text asks for documents: each of its words meets something akin in
each of them, so late interaction tells nothing, and its mean vector little."""
TOKEN_BYTES = 2
"""Of a token in `Rows.tokens`."""

# Chosen on the first three dev conversations, see benchmarks/results/recall.md.
RADIUS = 4
"""Neighbouring turns on either side."""
QUESTION_SHARE = np.float32(0.3)
"""Of what a turn that only asks meets by itself, that counts: its answer meets fewer words of a query."""
CONTEXT_DECAY = 0.9
"""Weight of a neighbour per position of distance."""
SESSION_BEST = 3
"""Turns of a session that count for it."""
PERIOD_LAG_DAYS = 14.0
"""Days after a period that still count."""
DOCUMENT_TOKENS = (32.0, 128.0)
"""Mean length of the candidates from which the weight of `preceding_context` begins to go to `keyword`,
and at which all of it has, where none of them was said in a thread. In a long text every word of a query
meets something akin; BM25 knows lengths."""
DOCUMENT_TERMS = (6.0, 16.0)
"""Words of a query from which, among documents, only words and vectors begin to count, and at which
nothing else does: a whole text that asks for others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """n candidates, their facets, and their raw scores in the same order."""

    rows: Rows
    keyword: Floats
    dense: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """Everything known about n candidates when their scores stand."""

    pool: Pool
    reading: Reading
    """The words of the candidates."""
    signals: Mapping[str, Floats]
    weights: Mapping[str, float]
    relevance: Floats
    multipliers: Mapping[str, Floats]
    own: Floats
    """float32[n]: relevance times multipliers."""
    score: Floats
    """float32[n]: as ``own``, or that of the source a derived memory stands for."""
    settled: NDArray[np.int64]
    """int64: candidates by score, best first, without those that another stands for."""
    order: NDArray[np.int64]
    """int64: `settled`, the later of what is close first, sessions capped where the query asks how something
    changed."""
    outdated: NDArray[np.bool_]
    """bool[n]: turns that say nothing but what has given way since."""
    channels: Mapping[str, NDArray[np.int64]]
    fact_sources: FactSources | None
    collapsed: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    """Candidates that a fact resting on them stands for; not in the order."""

    @property
    def contentless(self) -> Ids:
        """Candidates that say nothing the query does not; not in the order."""
        return self.reading.contentless.nonzero()[0]


def first_pool(source: CandidateSource, candidates: Candidates) -> Pool:
    """The candidates with their facets."""
    rows = source.rows(candidates.ids)
    place = candidates.ids.searchsorted(rows.ids)
    return Pool(rows=rows, keyword=candidates.keyword[place], dense=candidates.dense[place])


def add_neighbours(source: CandidateSource, pool: Pool, best: Ids, vector: Floats | None) -> Pool:
    """The pool and the neighbours of some of it, given by index."""
    place = features.places(pool.rows.thread, pool.rows.position)
    best = best[place[best] >= 0]
    if len(best) == 0:
        return pool
    around = distinct((place[best, None] + np.arange(-RADIUS, RADIUS + 1)).ravel())
    new = around[~are_in(around, place)]
    return extend_pool(source, pool, source.at(*features.taken_apart(new)), vector)


def extend_pool(source: CandidateSource, pool: Pool, rows: Rows, vector: Floats | None) -> Pool:
    """The pool and those of the rows that it does not have; no word has found these."""
    new = (~are_in(rows.ids, pool.rows.ids)).nonzero()[0]
    if len(new) == 0:
        return pool
    if len(new) < len(rows.ids):
        rows = take_rows(rows, new)
    none = np.zeros(len(new), dtype=np.float32)
    dense = none if vector is None else source.cosines(vector, rows.ids)
    return Pool(
        rows=join_rows(pool.rows, rows),
        keyword=np.concatenate((pool.keyword, none)),
        dense=np.concatenate((pool.dense, dense)),
    )


def with_fact_sources(
    source: CandidateSource, pool: Pool, vector: Floats | None
) -> tuple[Pool, FactSources | None]:
    """The pool together with what was derived from its turns, the turns its other items were derived
    from, and what has taken the place of what was; None where nothing was."""
    derived, sources = source.fact_sources(pool.rows.ids)
    superseded, successors = source.successors(pool.rows.ids)
    both = distinct(derived, sources, successors)
    if not len(both):
        return pool, None
    missing = both[~are_in(both, pool.rows.ids)]
    if len(missing):
        pool = extend_pool(source, pool, source.rows(missing), vector)
    first = indexes(pool.rows.ids, derived)
    second = indexes(pool.rows.ids, sources)
    known = (first >= 0) & (second >= 0)
    known &= pool.rows.position[second] >= 0  # a fact says no less than what was concluded from it
    before = indexes(pool.rows.ids, superseded)
    after = indexes(pool.rows.ids, successors)
    there = (before >= 0) & (after >= 0)
    return pool, FactSources(
        derived=first[known],
        sources=second[known],
        superseded=before[there],
        successors=after[there],
    )


def with_tokens(source: CandidateSource, pool: Pool, vocabulary: Vocabulary) -> Pool:
    """The pool with token ids for every candidate. What was put into a store with another embedder, or
    with none, has none stored: its text is read and split, some 30 µs each."""
    tokens = list(pool.rows.tokens)
    missing = [place for place, blob in enumerate(tokens) if blob is None]
    if not missing:
        return pool
    texts = {one.id: one.text for one in source.memories(pool.rows.ids[missing])}
    places = [place for place in missing if int(pool.rows.ids[place]) in texts]
    split = [texts[int(pool.rows.ids[place])] for place in places]
    for place, text, ids in zip(places, split, vocabulary.embedder.tokenize(split), strict=True):
        tokens[place] = encode_item_tokens(ids, text)
    return replace(pool, rows=replace(pool.rows, tokens=tokens))


def with_claims(
    source: CandidateSource,
    pool: Pool,
    query: Query,
    intent: Intent,
    vector: Floats | None,
    limit: int,
    now: int,
) -> tuple[Pool, ScoredIds]:
    """The pool together with what claims what the query asks, and that; where it asks what was before,
    with the turns that told it."""
    asked = ClaimQuery(
        text=query.text,
        terms=query.terms,
        names=possible_names(query.text, intent),
        speakers={name for name in pool.rows.speaker if name},
        asks=intent.asks,
        now=now,
    )
    found = source.claims(asked, limit)
    missing = found.ids[~are_in(found.ids, pool.rows.ids)]
    if len(missing):
        pool = extend_pool(source, pool, source.rows(missing), vector)
    return pool, found


def identifier_scores(source: CandidateSource, pool: Pool, asked: Sequence[Identifier]) -> Floats:
    """float32[n], 0..1: how well each candidate has the identifiers of a query, less where many have them."""
    found = np.zeros(len(pool.rows.ids), np.float32)
    some = (pool.keyword > 0).nonzero()[0]
    texts = {one.id: one.text for one in source.memories(pool.rows.ids[some])}
    for place in some.tolist():
        if text := texts.get(int(pool.rows.ids[place])):
            found[place] = identifiers.met(asked, text)
    best = np.count_nonzero(found >= found.max(initial=0)) if found.any() else 1
    return found / np.float32(1 + np.log2(best))


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The words of n candidates, beside those of the query."""

    named: set[str]
    """Speakers whom the query names."""
    texts: Texts | None
    """None where no token ids are stored."""
    met: Interaction | None
    """None where the query has no words to look for, too."""
    contentless: NDArray[np.bool_]
    """bool[n]: see `contentless`."""
    questions: NDArray[np.bool_]
    """bool[n]: turns that ask and state nothing."""
    asking: NDArray[np.bool_]
    """bool[n]: whether the last sentence is a question."""
    by_assistant: NDArray[np.bool_]
    """bool[n]: turns of an assistant."""
    around: dict[int, Ids]
    """See `features.neighbour_index`."""


def read(
    pool: Pool,
    query: Query,
    intent: Intent,
    vocabulary: Vocabulary | None,
    *,
    every_turn: bool,
) -> Reading:
    """Compare the words of a query with those of the candidates. ``every_turn`` finds none of them
    contentless."""
    rows = pool.rows
    named = features.named_speakers(rows.speaker, query.terms)
    around = features.neighbour_index(rows.thread, rows.position, RADIUS)
    nothing = np.zeros(len(rows.ids), dtype=np.bool_)
    if vocabulary is None or not any(rows.tokens):
        return Reading(
            named=named,
            texts=None,
            met=None,
            contentless=nothing,
            questions=nothing,
            asking=nothing,
            by_assistant=nothing,
            around=around,
        )
    texts = join_texts(rows.tokens)
    names = {compared(word) for name in named for word in split_words(name)}
    words = [term for term in query.terms if compared(term) not in names] or list(query.terms)
    tokens = vocabulary.encode(" ".join(words))
    questions, asking = texts.having(QUESTION), features.questions(texts, vocabulary)
    met = None
    if len(tokens):
        others = set(vocabulary.encode(query.text).tolist()).difference(tokens.tolist())
        further = np.array(sorted(others), np.uint16)
        met = interact(tokens, texts, vocabulary, asking=questions, further=further)
    if not every_turn:
        times = texts.any(vocabulary.temporal) if "when" in intent.asks else None
        nothing = contentless(rows, texts, met, around[-1], questions, asking, times)
    return Reading(
        named=named,
        texts=texts,
        met=met,
        contentless=nothing,
        questions=questions,
        asking=asking,
        by_assistant=texts.having(ASSISTANT),
        around=around,
    )


def signals(
    pool: Pool,
    reading: Reading,
    intent: Intent,
    vocabulary: Vocabulary | None,
    preset: Preset,
    fact_sources: FactSources | None = None,
) -> dict[str, Floats]:
    """Every signal there is evidence for, float32[n], 0..1, by the name of its weight. A contentless turn
    has none of them by itself; it still tells what the turns around it are about."""
    rows, texts, silent = pool.rows, reading.texts, reading.contentless
    if silent.any():
        lowest = pool.dense[~silent].min(initial=1.0) if pool.dense.any() else 0.0
        pool = replace(
            pool,
            keyword=np.where(silent, 0, pool.keyword).astype(np.float32),
            dense=np.where(silent, lowest, pool.dense).astype(np.float32),
        )
    named = reading.named
    states = np.where(reading.questions, QUESTION_SHARE, np.float32(1))
    found = {
        "keyword": min_max(pool.keyword * states),
        "speaker": features.spoken_by(
            rows.speaker, named, reading.by_assistant, asks_listener=intent.asks_listener
        ),
    }
    if pool.dense.any():
        found["dense"] = min_max(pool.dense) * states
    if len(rows.ids) and (spans := intent.spans(features.years_of(rows.said_at))):
        found["period"] = features.within(
            rows.said_at, spans, lag_days=PERIOD_LAG_DAYS, edge=intent.edge
        )
    if len(rows.ids) and ("now" in intent.asks or intent.asks_state):
        said_at = rows.said_at if fact_sources is None else fact_sources.said_at(rows.said_at)
        found["recency"] = features.recency(
            said_at, half_life_days=preset.half_life_days, horizon=intent.horizon
        )
    if vocabulary is not None and texts is not None:
        facts = None if fact_sources is None else (fact_sources.derived, fact_sources.sources)
        found |= _text_signals(texts, rows, reading, intent, vocabulary, facts)
    session = features.sessions(rows.thread, rows.said_at)
    evidence = weighted_sum(found, SESSION_EVIDENCE)
    found["session"] = features.session_evidence(evidence, session, best=SESSION_BEST)
    return found


def weights_among(pool: Pool, reading: Reading, preset: Preset, terms: int = 0) -> dict[str, float]:
    """The signal weights of a query with so many terms among these candidates: those of the preset, and of
    documents as far as the candidates are some (see `DOCUMENT_TOKENS`)."""
    weights = preset.weights_for(with_assistant=bool(reading.by_assistant.any()))
    rows = pool.rows
    if (rows.thread >= 0).any() or not any(rows.tokens) or not pool.keyword.any():
        return weights
    if not weights["keyword"]:
        return weights
    mean = sum(len(blob or b"") for blob in rows.tokens) / len(rows.tokens) / TOKEN_BYTES
    long = _share(mean, DOCUMENT_TOKENS)
    moved = weights["preceding_context"] * long
    weights["preceding_context"] -= moved
    weights["keyword"] += moved
    whole = _share(terms, DOCUMENT_TERMS) if long else 0.0
    if not whole:
        return weights
    total = sum(weights.values())
    return {
        name: (1 - whole) * weight + whole * total * OF_WHOLE_TEXTS.get(name, 0.0) * (weight > 0)
        for name, weight in weights.items()
    }


def _share(size: float, bounds: tuple[float, float]) -> float:
    """0 up to the lower bound, 1 from the upper one on, by the logarithm between them."""
    return float(np.interp(np.log(max(size, 1)), np.log(bounds), (0, 1)))


def _text_signals(
    texts: Texts,
    rows: Rows,
    reading: Reading,
    intent: Intent,
    vocabulary: Vocabulary,
    facts: tuple[Ids, Ids] | None,
) -> dict[str, Floats]:
    """The signals that come from token ids."""
    found: dict[str, Floats] = {}
    if "when" in intent.asks:
        found["temporal"] = texts.any(vocabulary.temporal).astype(np.float32)
    met = reading.met
    if met is None:
        return found
    around = reading.around
    found["declarative"] = 1 - reading.asking.astype(np.float32)
    overlap = met.shares @ met.matches
    states = np.where(reading.questions, QUESTION_SHARE, np.float32(1))
    found["overlap"] = np.where(reading.contentless, 0, overlap * states).astype(np.float32)
    found["related"] = met.related * states
    found["preceding_context"], found["context_match"] = features.context_match(
        met.matches,
        met.shares,
        around,
        decay=CONTEXT_DECAY,
        states=states,
        muted=reading.questions,
        facts=facts,
    )
    found["answers_previous"] = features.answers_previous(overlap, reading.asking, around[-1])
    return found


def take_rows(rows: Rows, index: Ids) -> Rows:
    """Some of the rows."""
    columns: dict[str, Any] = {}
    for name in Rows.__slots__:
        column = getattr(rows, name)
        columns[name] = (
            column[index] if isinstance(column, np.ndarray) else [column[i] for i in index]
        )
    return Rows(**columns)


def join_rows(first: Rows, second: Rows) -> Rows:
    """The rows of both."""
    columns: dict[str, Any] = {}
    for name in Rows.__slots__:
        one, other = getattr(first, name), getattr(second, name)
        columns[name] = (
            np.concatenate((one, other)) if isinstance(one, np.ndarray) else [*one, *other]
        )
    return Rows(**columns)
