"""Calibration: from a rank score to the probability that a memory is evidence for what is asked.

Rank scores are relative to one query and its candidates. A logistic regression over the rank score and
some properties of the query and its candidates makes them comparable across queries, stores and
people (Platt 1999). Within one recall it keeps the order. A second one, over the same properties, is the
gate: does anything in memory answer this prompt? `scripts/fit_calibration.py` fits both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from langmemory.embeddings.foreign import LATIN
from langmemory.languages import LANGUAGES, Language, split_words
from langmemory.languages.patterns import compiled
from langmemory.ports.candidates import CandidateSource, Floats
from langmemory.recall.contentless import is_idle
from langmemory.recall.foreign_words import is_foreign
from langmemory.recall.intent import Intent
from langmemory.recall.interaction import MET, SAME
from langmemory.recall.vocabulary import TABLE_LANGUAGE, UNKNOWN_RARITY, Vocabulary
from langmemory.types import RecallResult

if TYPE_CHECKING:
    from langmemory.recall.ranking import Ranking

GATE: Final = 0.25
"""Probability that any memory answers a prompt, from which the best ones are shown."""
LOWEST_SHARE: Final = 0.005
"""Share of the best one's score that another memory needs to be shown beside it."""

INTERCEPT: Final = -7.061
SCORE_WEIGHT: Final = 13.924
GATE_INTERCEPT: Final = -7.624
WEIGHTS: Final[Mapping[str, tuple[float, float]]] = {
    "best_score": (-11.730, 4.100),
    "margin": (6.781, 3.615),
    "met_anywhere": (4.412, 4.325),
    "met_anywhere_exactly": (-1.270, 0.038),
    "met_best": (-1.557, 0.478),
    "met_best_exactly": (0.266, -0.284),
    "rarest_met": (1.074, 2.093),
    "best_cosine": (1.321, 6.806),
    "has_vectors": (-0.390, -2.474),
    "personal": (0.387, 3.803),
    "references": (0.786, -1.031),
    "indefinite": (-3.696, -10.847),
    "asks_listener": (0.089, 3.289),
}
"""By property of a prompt (see `predictors`): what it adds to the log odds that a result is evidence, and to
those that any memory answers the prompt."""
_WEIGHTS: Final = np.array(list(WEIGHTS.values()), dtype=np.float32)

GUARDRAIL: Final = 0.4
"""Sum of the cosine and of the share of the prompt's words met, from which a guardrail is shown."""
GUARDRAILS: Final = 3
"""Guardrails that are shown for a prompt, beside those that answer it."""

MEANT: Final[Mapping[str, tuple[float, float]]] = {
    "langmemory/static-256@3": (0.25, 0.12),
    "langmemory/multilingual-e5-small-q4@1": (0.28, 0.03),
}
"""By embedding model: cosines from which a memory may be what a prompt asks, where the gate cannot compare
words. The first is for memories in the language of the prompt, the second for those in another: there even
an answer has a low one. `scripts/fit_calibration.py` prints those of answered and of other prompts."""
MEANT_ELSEWHERE: Final = (0.25, 0.0)
"""The same of any other model."""
FOREIGN: Final = (
    "gate: it compares words, and the prompt is in another language than the memories: they are shown "
    "unjudged"
)
UNREAD: Final = (
    "gate: it cannot compare words of the prompt's language: the memories are shown since they mean "
    "something near"
)
FAR: Final = (
    "gate: it compares words, and the prompt is in another language than the memories: none is shown, since "
    "the prompt is not about the person and none means anything near"
)
NOTHING: Final = 2.0
"""A threshold that no probability reaches."""
BACKGROUND: Final = slice(5, 20)
"""Candidates, by rank, that are seldom evidence: what the best is compared with."""

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」')


def probability(score: Floats, properties: Floats) -> Floats:
    """float32[n], 0..1, from float32[n] rank scores and the `predictors` of their query."""
    logit = INTERCEPT + SCORE_WEIGHT * score + float(_WEIGHTS[:, 0] @ properties)
    estimate: Floats = (1 / (1 + np.exp(-logit))).astype(np.float32)
    return estimate


def predictors(query: str, intent: Intent, ranking: Ranking) -> Floats:
    """float32[len(WEIGHTS)] of a query and its ranked candidates.

    ``met_anywhere`` is the share of the query's words, by their rarity, that any candidate meets,
    ``met_best`` the share that a single one meets; ``exactly`` counts only words that are the same or
    nearly so. ``rarest_met`` is how rare the rarest word is that one has exactly, 1 for a word of middling
    rarity. Questions and what says nothing meet no word: how a query is put decides nothing.
    """
    reading, pool = ranking.reading, ranking.pool
    aside = reading.contentless | reading.questions
    if "others" in ranking.multipliers:  # what somebody else has is no answer
        aside = aside | (ranking.multipliers["others"] < 1)
    scores = np.sort(ranking.score[ranking.order])[::-1]
    best, others = float(scores[0]) if len(scores) else 0.0, scores[BACKGROUND]
    has_vectors = bool(pool.dense.any())
    met = [0.0] * 5
    if reading.met is not None and len(aside):
        matches = np.where(aside, 0, reading.met.matches)
        exact = np.where(matches >= MET, matches, 0)
        shares = reading.met.shares
        rarest = np.where(matches.max(axis=1) >= SAME, reading.met.rarities, 0).max()
        met = [
            float(shares @ matches.max(axis=1)),
            float(shares @ exact.max(axis=1)),
            float((shares @ matches).max()),
            float((shares @ exact).max()),
            float(rarest) / UNKNOWN_RARITY,
        ]
    return np.array(
        [
            best,
            best - (float(others.mean()) if len(others) else 0.0),
            *met,
            has_vectors * float(pool.dense[~aside].max(initial=0)),
            has_vectors,
            is_personal(query, intent) or bool(reading.named),
            *_references(query, intent.language),
            intent.asks_listener,
        ],
        dtype=np.float32,
    )


def _references(query: str, language: Language) -> tuple[float, float]:
    """The share of the words of a query that refer to what both sides know, and of those that mean anything
    of a kind: "the boat", "a boat"."""
    words = split_words(query)
    count = max(len(words), 1)
    if language.phrases:  # it writes no spaces between words
        return sum(one in query for one in language.references) / count, 0.0
    known = sum(map(language.references.__contains__, words))
    return known / count, sum(map(language.indefinite.__contains__, words)) / count


def is_personal(query: str, intent: Intent) -> bool:
    """Whether a prompt refers to the person ("my"), or to what both sides said. Text in quotation marks does
    not count, nor who asks how a thing is done ("How do I …") or wants it done ("give me")."""
    if intent.asks_listener:
        return True
    bare = _about_people(query)
    words = split_words(bare)
    return any(
        not language.first_person.isdisjoint(words)
        if not language.phrases
        else not bare.isascii() and any(piece in bare for piece in language.first_person)
        for language in LANGUAGES.values()
    )


def is_about_asker(query: str) -> bool:
    """Whether a question refers to who asks alone: "What am I allergic to?", not "my wife" nor "we"."""
    words = frozenset(split_words(_about_people(query)))
    return any(
        not words.isdisjoint(one.speaker_alone)
        and words.isdisjoint(one.first_person - one.speaker_alone)
        for one in LANGUAGES.values()
    )


def _about_people(query: str) -> str:
    """The words of a prompt, case-folded, without quotations and what anybody might ask ("how do I")."""
    bare = _QUOTED.sub(" ", query).casefold()
    for language in LANGUAGES.values():
        for pattern in language.impersonal:
            bare = compiled(pattern).sub(" ", bare)
    return bare


def gate(estimates: Floats, properties: Floats) -> float:
    """Return the lowest probability with which a memory is shown for a prompt, where nobody chose one;
    above 1 where none is shown. ``estimates`` are those of its candidates, ``properties`` its
    `predictors`."""
    answered = 1 / (1 + np.exp(-(GATE_INTERCEPT + float(_WEIGHTS[:, 1] @ properties))))
    return shared(estimates) if answered >= GATE else NOTHING


def shared(estimates: Floats) -> float:
    """Return the lowest probability with which a memory is shown beside the best one."""
    return LOWEST_SHARE * float(estimates.max(initial=0))


def unjudged(
    query: str,
    intent: Intent,
    ranking: Ranking,
    source: CandidateSource,
    vocabulary: Vocabulary | None,
    model_id: str | None,
) -> str | None:
    """Return why the `gate`, which compares words, cannot judge a prompt for which it shows nothing; None
    where it can. `FAR`: nothing is to be shown all the same. ``model_id`` is that of the vectors."""
    nearest = float(ranking.pool.dense.max(initial=0))
    near, near_elsewhere = MEANT.get(model_id or "", MEANT_ELSEWHERE)
    if vocabulary is None or nearest <= 0:
        return None
    embedder = vocabulary.embedder
    # Who asked or thanked in a language has not told memory anything in it.
    saying = ~(ranking.reading.asking | ranking.reading.contentless)
    found = source.memories(ranking.pool.rows.ids[saying if saying.any() else ...])
    texts = [one.text for one in found if not is_idle(one.text)]
    if is_foreign(query, texts, embedder.is_english):
        # Of few memories even the one that answers may be far. Who asks about themselves asks memory.
        return FOREIGN if nearest > near_elsewhere or is_personal(query, intent) else FAR
    asked_in = embedder.language(query)
    unread = asked_in != LATIN or intent.language.code == TABLE_LANGUAGE
    return UNREAD if asked_in and unread and nearest >= near else None


def applies(result: RecallResult) -> bool:
    """Return whether a guardrail is for a prompt that it was looked up for. A task seldom has the words of
    the rule that holds for it, so its threshold is lower than that of what answers a question."""
    return result.parts["dense"] + result.parts["overlap"] >= GUARDRAIL
