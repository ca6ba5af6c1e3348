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

from langmemory.lexicon import LANGUAGES, split_words
from langmemory.recall.contentless import is_idle
from langmemory.recall.intent import Intent
from langmemory.recall.interaction import MET
from langmemory.recall.source import Floats

if TYPE_CHECKING:
    from langmemory.recall.ranking import Ranking, Reading

GATE: Final = 0.02
"""Probability from which a memory is worth its place in a prompt."""
IMPERSONAL_GATE: Final = 0.1
"""The same for a prompt that names neither the person nor anything both sides know: most of these are
questions of general knowledge."""

INTERCEPT: Final = -11.002
SCORE_WEIGHT: Final = 17.026
WEIGHTS: Final[Mapping[str, float]] = {
    "best_score": -15.775,
    "lead": 9.125,
    "met_anywhere": 7.266,
    "met_anywhere_exactly": -3.257,
    "met_best": -2.702,
    "met_best_exactly": 1.997,
    "question_form": 1.299,
    "log_words": 0.599,
    "log_candidates": 0.234,
    "personal": 0.436,
    "asks_listener": 1.084,
    "idle": -5.895,
}
"""By feature; see `features`."""
_WEIGHTS: Final = np.array(list(WEIGHTS.values()), dtype=np.float32)

BACKGROUND: Final = slice(5, 20)
"""Candidates, by rank, that are seldom evidence: what the best is compared with."""

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」')
_QUESTION_MARK = re.compile(r"[?？؟]")


def probability(score: Floats, properties: Floats) -> Floats:
    """float32[n], 0..1, from float32[n] rank scores and the `features` of their query."""
    logit = INTERCEPT + SCORE_WEIGHT * score + float(_WEIGHTS @ properties)
    estimate: Floats = (1 / (1 + np.exp(-logit))).astype(np.float32)
    return estimate


def features(query: str, intent: Intent, ranking: Ranking) -> Floats:
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
        matches = np.where(reading.contentless, 0, reading.met.matches)
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
    """Whether a prompt refers to the person, or to something both sides know: "my", "that". Text in
    quotation marks does not count, nor who asks how a thing is done ("How do I …")."""
    if intent.asks_listener:
        return True
    bare = _QUOTED.sub(" ", query).casefold()
    for language in LANGUAGES.values():
        for pattern in language.impersonal:
            bare = re.sub(pattern, " ", bare)
    words = split_words(bare)
    return any(
        any(piece in bare for piece in language.first_person | language.references)
        if language.phrases
        else not (language.first_person | language.references).isdisjoint(words)
        for language in LANGUAGES.values()
    )


def gate(query: str, intent: Intent, reading: Reading) -> float:
    """The lowest probability with which a memory is shown for a prompt, where nobody chose one."""
    personal = bool(reading.named) or is_personal(query, intent)
    return GATE if personal else IMPERSONAL_GATE
