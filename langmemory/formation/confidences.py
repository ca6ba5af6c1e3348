"""Confidences: what somebody says for their own ears only, by rule.

Asked for outright; else what is told of one's health or money, and
surprises for others. Where a rule errs, a memory is private that need not be; its run can be undone.
A turn is private as a whole, and of what is made of it what its other sentences say is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from langmemory.formation.statements import cues
from langmemory.formation.wording import wording
from langmemory.languages import LANGUAGES, Topic, detect_language, split_words
from langmemory.languages.patterns import compiled
from langmemory.languages.tables import NEVER

Confidence = Literal["request", "surprise", "health", "money"]
"""Why something is private: the speaker asked for it, or what it is about."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ConfidenceWords:
    """Regular expressions, whatever the case but for ``asked``."""

    asked: tuple[str, ...] = ()
    """The speaker asks that it stays between them. They say themselves where the case matters."""
    me: re.Pattern[str] = NEVER
    """A sentence with this speaks of whoever says it."""
    surprise: re.Pattern[str] = NEVER
    asks: re.Pattern[str] = NEVER
    """A question by which somebody looks for a present or plans a surprise, whoever it names."""
    health: re.Pattern[str] = NEVER
    money: re.Pattern[str] = NEVER


_CONFIDENCES = Topic(
    ConfidenceWords,
    "confidences",
    about="how people ask to keep something secret, and words for surprises, health and money",
    without="what is said in it is not private by itself",
)
_SENTENCES: Final = re.compile(r"(?<=[.!?。！？\n])\s*")
_LEAD: Final = re.compile(r"[^:：.!?。！？\n]{1,100}[:：]\s*")
_LITTLE: Final = 4
"""So many words beside a request say nothing of their own: it means what was said before."""


def confidence_of(text: str) -> Confidence | None:
    """Return why a text is its speaker's alone; None where it is not."""
    words = _CONFIDENCES.everywhere
    if any(compiled(pattern).search(text) for pattern in words.asked):
        return "request"
    return next(filter(None, map(_confided, filter(None, _SENTENCES.split(text)))), None)


def _confided(sentence: str) -> Confidence | None:
    """Return why one sentence is its speaker's alone, though nobody asked for it."""
    words = _CONFIDENCES.everywhere
    if words.asks.search(sentence):
        return "surprise"
    if not words.me.search(sentence):
        return None
    if words.surprise.search(sentence):
        return "surprise"
    if words.health.search(sentence):
        return "health"
    return "money" if words.money.search(sentence) else None


def told_openly(statement: str, text: str) -> bool:
    """Return whether a statement was made of sentences of a confidential text that say nothing in
    confidence: it has more of their words than of the others', and of those that go on with them: with
    "it", or without a word for the speaker.

    Args:
        statement: Made of the text.
        text: Of a turn.
    """
    words = _CONFIDENCES.everywhere
    if words.health.search(statement) or words.money.search(statement):
        return False
    code = detect_language(text).code
    telling, confided, shared = wording(statement, code).words, False, {True: 0, False: 0}
    leaning = cues().pronouns - LANGUAGES.everywhere.first_person
    for sentence in filter(None, _SENTENCES.split(text)):
        leans = not leaning.isdisjoint(split_words(sentence))
        goes_on = confided and (leans or not words.me.search(sentence))
        confided = goes_on or _confided(sentence) is not None
        common = len(telling & wording(sentence, code).words)
        shared[confided] = max(shared[confided], common)
    return shared[False] > shared[True]


def without_request(text: str) -> str:
    """Return a text without the request at its beginning: "Please keep this to yourself: …"."""
    lead = _LEAD.match(text)
    asks = lead and any(compiled(one).search(lead[0]) for one in _CONFIDENCES.everywhere.asked)
    return text[lead.end() :] if lead and asks else text


def own_words_of(code: str) -> re.Pattern[str]:
    """Return the words by which somebody speaks of themselves in a language."""
    return _CONFIDENCES[code].me if code in _CONFIDENCES else NEVER


def means_before(text: str) -> bool:
    """Whether a request is for what was said before it: the text says nothing beside it."""
    for pattern in _CONFIDENCES.everywhere.asked:
        text = compiled(pattern).sub(" ", text)
    return len(re.findall(r"[^\W\d_]+|\d+", text)) < _LITTLE
