"""Calibration: from a rank score to the probability that a memory is evidence for what is asked.

Rank scores are relative to one query and its candidates. A logistic regression over the rank score and
a dozen properties of the query and its candidates makes them comparable across queries, stores and
people (Platt 1999). Within one recall it keeps the order. `scripts/fit_calibration.py` fits it, and
docs/decisions/029 has its reliability diagram.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from langmemory.languages import LANGUAGES, split_words
from langmemory.languages.patterns import compiled
from langmemory.ports.candidates import Floats
from langmemory.recall.contentless import asks, is_idle
from langmemory.recall.intent import Intent
from langmemory.recall.interaction import MET

if TYPE_CHECKING:
    from langmemory.recall.ranking import Ranking

GATE: Final = 0.02
"""Probability that the best memory must have for any to be shown."""
IMPERSONAL_GATE: Final = 0.15
"""The same for a prompt that names neither the person nor anything both sides know: most of these are
questions of general knowledge."""
REMARK_GATE: Final = 0.4
"""The same for such a prompt that does not ask either."""
LOWEST: Final = 0.002
"""Probability from which a memory is shown beside the best ..."""
LOWEST_SHARE: Final = 0.015
"""... and the share of the best one's probability that it needs."""

INTERCEPT: Final = -11.203
SCORE_WEIGHT: Final = 16.292
WEIGHTS: Final[Mapping[str, float]] = {
    "best_score": -15.495,
    "margin": 9.762,
    "met_anywhere": 7.3,
    "met_anywhere_exactly": -3.22,
    "met_best": -2.23,
    "met_best_exactly": 1.439,
    "question_form": 1.349,
    "log_words": 0.68,
    "log_candidates": 0.243,
    "personal": 0.455,
    "asks_listener": 0.924,
    "idle": -1.96,
}
"""By feature; see `predictors`."""
_WEIGHTS: Final = np.array(list(WEIGHTS.values()), dtype=np.float32)

WHOLE: Final = 0.85
"""Share of a query's words, by their rarity, with which all of them count as met."""

NOTHING: Final = 2.0
"""A threshold that no probability reaches."""
BACKGROUND: Final = slice(5, 20)
"""Candidates, by rank, that are seldom evidence: what the best is compared with."""

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」')
_QUESTION_MARK = re.compile(r"[?？؟]")


def probability(score: Floats, properties: Floats) -> Floats:
    """float32[n], 0..1, from float32[n] rank scores and the `predictors` of their query."""
    logit = INTERCEPT + SCORE_WEIGHT * score + float(_WEIGHTS @ properties)
    estimate: Floats = (1 / (1 + np.exp(-logit))).astype(np.float32)
    return estimate


def predictors(query: str, intent: Intent, ranking: Ranking) -> Floats:
    """float32[len(WEIGHTS)] of a query and its ranked candidates.

    ``met_anywhere`` is the share of the query's words, by their rarity, that any candidate meets,
    ``met_best`` the share that a single one meets; ``exactly`` counts only words that are the same or
    nearly so.
    """
    reading = ranking.reading
    scores = ranking.score[ranking.order]
    best = float(scores.max(initial=0))
    background = np.sort(scores)[::-1][BACKGROUND]
    met = [0.0] * 4
    if reading.met is not None and len(reading.contentless):
        aside = reading.contentless
        if "others" in ranking.multipliers:  # what somebody else has is no answer
            aside = aside | (ranking.multipliers["others"] < 1)
        matches = np.where(aside, 0, reading.met.matches)
        exact = np.where(matches >= MET, matches, 0)
        shares = reading.met.shares
        met = [
            float(shares @ matches.max(axis=1)),
            float(shares @ exact.max(axis=1)),
            float((shares @ matches).max()),
            float((shares @ exact).max()),
        ]
    words = split_words(query)
    return np.array(
        [
            best,
            best - (float(background.mean()) if len(background) else 0.0),
            *met,
            bool(_QUESTION_MARK.search(query)),
            np.log1p(len(words)),
            np.log1p(len(ranking.score)),
            is_personal(query, intent) or bool(reading.named),
            intent.asks_listener,
            is_idle(query),
        ],
        dtype=np.float32,
    )


def is_personal(query: str, intent: Intent) -> bool:
    """Whether a prompt refers to the person ("my"), or asks for something both sides know ("that").
    Text in quotation marks does not count, nor who asks how a thing is done ("How do I …")."""
    if intent.asks_listener:
        return True
    question = bool(_QUESTION_MARK.search(query))
    bare = _about_people(query)
    words = split_words(bare)
    for language in LANGUAGES.values():
        for known in (language.first_person, language.references if question else frozenset()):
            if not language.phrases:
                if not known.isdisjoint(words):
                    return True
            elif not bare.isascii() and any(piece in bare for piece in known):
                return True
    return False


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


def gate(query: str, ranking: Ranking, properties: Floats, estimates: Floats) -> float:
    """Return the lowest probability with which a memory is shown for a prompt, where nobody chose one;
    above 1 where none is shown. ``properties`` are its `predictors`."""
    best = float(estimates[ranking.order].max(initial=0))
    named = dict(zip(WEIGHTS, properties.tolist(), strict=True))
    question, met = asks(query), ranking.reading.met
    # One memory has every word of a question of two words or more: its subject was talked about,
    # however many memories share it.
    met_whole = met is not None and len(met.shares) >= 2 and named["met_best"] >= WHOLE
    if named["personal"] or (question and met_whole):
        needed = GATE
    else:
        needed = IMPERSONAL_GATE if question else REMARK_GATE
    return max(LOWEST, LOWEST_SHARE * best) if best >= needed else NOTHING
