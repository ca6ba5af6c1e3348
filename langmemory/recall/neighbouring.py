"""Questions for the conversation before or after another one: "what did we talk about before that".

No memory has the words of its answer. The conversation that is meant by "that" is found by what was asked
before it, or named ("before the boiler"); else it is the one at hand. What is asked is its neighbour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from langmemory.languages import LANGUAGES, Topic, split_words
from langmemory.languages.patterns import compiled
from langmemory.languages.tables import NEVER
from langmemory.recall.contentless import ENDS_AS_QUESTION, doing
from langmemory.recall.question_extraction import without_courtesies


@dataclass(frozen=True, kw_only=True, slots=True)
class TalkWords:
    """How a language asks for a neighbouring conversation. The case of letters does not count."""

    code: str
    before: tuple[str, ...] = ()
    """Regular expressions of a whole question for the conversation before another one. What that one was
    about may be in a group ``topic`` or ``about``."""
    after: tuple[str, ...] = ()
    """And for the one after it."""
    before_that: re.Pattern[str] = NEVER
    """A question that goes one conversation further back from the one that was asked for: "and before
    that?"."""
    after_that: re.Pattern[str] = NEVER
    """And one further on."""


WORDS: Final[Topic[TalkWords]] = Topic(
    TalkWords,
    "talks",
    about="questions for the conversation before or after another one",
    without="such a question is looked up by its words",
)


class Neighbour(NamedTuple):
    """The conversation that a question asks for."""

    steps: int
    """How many conversations before (below 0) or after another one of the same person."""
    about: str
    """What finds the other one; "" is the conversation at hand."""


class _Step(NamedTuple):
    steps: int
    about: str = ""
    further: bool = False
    """Whether it goes on from such a question before it, and asks nothing alone."""


def neighbour_asked(query: str) -> Neighbour | None:
    """Return the conversation that the last line of a query asks for, after the questions before it; None
    where it asks for none."""
    steps, begun = 0, False
    for line in reversed(query.splitlines()):
        step = _step(line)
        if step is None:
            if not begun:
                return None
            asks = doing(line) == "asks" or ENDS_AS_QUESTION.search(line) is not None
            return Neighbour(steps, line if asks else "")
        steps, begun = steps + step.steps, begun or not step.further
        if step.about:
            return Neighbour(steps, step.about)
    return Neighbour(steps, "") if begun else None


def goes_back(message: str) -> bool:
    """Return whether a message asks for the neighbour of a conversation that it does not name."""
    step = _step(message)
    return step is not None and not step.about


def _step(line: str) -> _Step | None:
    text = without_courtesies(line).casefold()
    for words in WORDS.values():
        for steps, patterns in ((-1, words.before), (1, words.after)):
            for pattern in patterns:
                if (match := compiled(pattern).search(text)) is None:
                    continue
                about = next(filter(None, match.groupdict().values()), "")
                return None if _is_time(about, words.code) else _Step(steps, about)
        for steps, further in ((-1, words.before_that), (1, words.after_that)):
            if further.search(text):
                return _Step(steps, further=True)
    return None


def _is_time(about: str, code: str) -> bool:
    """Return whether what is before or after is a time rather than a conversation: "before Monday"."""
    words = split_words(about)
    return any(word.isdecimal() for word in words) or not LANGUAGES[code].temporal_words.isdisjoint(
        words
    )
