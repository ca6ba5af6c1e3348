"""From a text to clauses that may say something: sentences, their times, their clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from langmemory.formation.rules.grammar import TIME
from langmemory.formation.rules.patterns import Patterns
from langmemory.formation.times import Found, find
from langmemory.lexicon import LANGUAGES

MAX_SENTENCE = 300
"""Characters; longer ones are pasted text, lists or logs."""
FIRST_TIME = 0xE000
"""Times are written as characters of the private use area from this one on."""

_MONTHS = "|".join(month.capitalize() for month in LANGUAGES["de"].months)
_SENTENCE_END = re.compile(
    r"(?<!\b[A-Z])(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\bProf)(?<!\bSr)(?<!\bDra)"
    r"(?<!\be\.g)(?<!\bz\.B)(?<!\d)\.(?=\s|$)"
    rf"|(?<=\d)\.(?=\s+(?!(?:{_MONTHS})\b)[A-ZÄÖÜ]|$)|[!?…]+|[。！？；]|\n+"
)
_QUOTED = re.compile(r"[\"“”„«»「『].*?[\"“”«»」』]|(?<!\w)'.*?'(?!\w)")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）")
_QUESTION = re.compile(r"[?？]")
_MARKUP = re.compile(r"^\s*(?:>|```|\||#)|https?://")


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """One clause of a sentence, its times written as single characters."""

    text: str
    times: tuple[Found, ...]
    """Of the whole sentence, in order."""

    def time(self, character: str) -> Found:
        return self.times[ord(character) - FIRST_TIME]


def clauses(text: str, patterns: Patterns, said_at: datetime) -> Iterator[list[Clause]]:
    """The clauses of each sentence that says something for certain."""
    plain = re.sub(TIME, " ", text.replace("’", "'"))
    for sentence in _sentences(plain):
        if len(sentence) > MAX_SENTENCE or _MARKUP.search(sentence):
            continue
        sentence = _ASIDE.sub(" ", sentence)
        bare = _QUOTED.sub(" ", sentence)
        if bare != sentence or _QUESTION.search(sentence) or patterns.unclear.search(bare):
            continue
        times = tuple(find(sentence, said_at=said_at, language=patterns.grammar.code))
        masked = sentence
        for number, found in reversed(list(enumerate(times))):
            masked = f"{masked[: found.start]} {chr(FIRST_TIME + number)} {masked[found.end :]}"
        parts = [part for part in patterns.breaks.split(masked) if part and part.strip()]
        yield [Clause(text=part, times=times) for part in _led_by_time(parts)]


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[start : end.end()].strip()
        start = end.end()
    yield text[start:].strip()


def _led_by_time(parts: list[str]) -> Iterator[str]:
    """ "In 2019, I moved" is one clause."""
    waiting = ""
    for part in parts:
        if re.search(TIME, part) and not any(character.isalnum() for character in part):
            waiting += part
        else:
            yield waiting + part
            waiting = ""
