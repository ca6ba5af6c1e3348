"""Numbers, dates and names that somebody said instead of others: "Sorry, no, it is on 16 June", "The talk is
on Friday now". Of which fact they are need not be known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from typing import Final, Literal

from langmemory.formation.rules.clauses import TakesBack, sentences, strip_openers
from langmemory.formation.rules.patterns import patterns_near
from langmemory.formation.statements import cues
from langmemory.formation.wording import (
    capitalised_words,
    language_of,
    missing_words,
    telling_words,
    wording,
)
from langmemory.languages import WORLDWIDE

FURTHER_WORDS: Final = 2
"""Telling words that a correction may add to what it corrects, beside the value itself; a "no" that may as
well answer a question, none."""
MAX_CHARACTERS: Final = 4_000
"""Longer messages are mostly pasted, and left out."""
LOOKED_BACK: Final = 12
"""Sentences of the same person among which a correction finds what it corrects."""
_ISO_DATE: Final = re.compile(r"\b\d{4}-\d\d-0?(?P<day>\d+)\b")
_HEAD: Final = re.compile(r"([^:：.!?]{1,60}): ")
"""Who said what a summary quotes."""
_CLAUSES: Final = re.compile(r"[,;:，；：、–—]\s*|\s-\s")

_Values = Callable[[str, str], frozenset[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """A value that somebody replaced."""

    said: str
    """The sentence that told it first."""
    language: str
    gone: frozenset[str]
    """Words of the value that stood there."""
    came: frozenset[str]
    """Words of the one instead of it; empty where something is over."""
    instead: str
    """The sentence that says so, behind its speaker."""
    after: frozenset[str]
    """Telling words of that sentence and of what follows in its message."""
    was_wrong: bool = False
    """The old value never was right: it is corrected, not changed."""
    place: int = -1
    """Of the message that says so."""
    first_place: int = -1
    """Of the message with the first sentence."""

    @property
    def restated(self) -> str:
        """The first sentence with the new number or name in place of the old one; empty where either is more
        than a word, or is not there once."""
        if len(self.gone) != 1 or len(self.came) != 1:
            return ""
        old, new = (
            re.compile(rf"(?<!\w){re.escape(*words)}(?!\w)", re.IGNORECASE)
            for words in (self.gone, self.came)
        )
        word = new.search(self.instead)
        if word is None or len(old.findall(self.said)) != 1:
            return ""
        return old.sub(lambda _: word[0], self.said)

    def is_missed_by(self, text: str, language: str) -> bool:
        """Whether a text tells the old value alone, of the same thing."""
        text = _ISO_DATE.sub(lambda date: date["day"], text)
        own = wording(text, language)
        words = own.words | own.numbers | own.dates | capitalised_words(text)
        if not words & self.gone or words & self.came:
            return False
        if language != self.language:
            return True
        before = telling_words(self.said, language)
        about = words - self.gone
        shared = about - missing_words(about, before - self.gone)
        tells_of_change = about - missing_words(about, self.after - before)
        return bool(shared or not before - self.gone) and not tells_of_change


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenSentence:
    """A sentence of a message."""

    place: int
    """Of its message."""
    speaker: str
    text: str
    language: str
    rest: str
    """Without openers."""
    cue: TakesBack | Literal["changes"] | None
    following: str
    """Of its message."""

    @property
    def telling(self) -> frozenset[str]:
        return telling_words(self.text, self.language)

    @property
    def quoted(self) -> str:
        """The sentence behind its speaker."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


def spoken_sentences(said: Sequence[tuple[str, str]]) -> list[SpokenSentence]:
    """Return the sentences of messages.

    Args:
        said: Speaker and words of each message; without a speaker, words that may be anybody's, as those of
            an earlier summary.
    """
    short = [place for place, (_, text) in enumerate(said) if len(text) <= MAX_CHARACTERS]
    return [one for place in short for one in _sentences(place, *said[place])]


def _sentences(place: int, speaker: str, text: str) -> Iterator[SpokenSentence]:
    """The sentences of a message. What surely takes something back reaches to the first value behind it."""
    language = language_of(text)
    pending = False
    parts = [part for part in sentences(text) if part]
    for number, part in enumerate(parts):
        who = speaker
        if not speaker and (head := _HEAD.match(part)):
            who, part = head[1], part[head.end() :]
        rest, back = _opened(part, language)
        back = "surely" if pending else back
        pending = back == "surely" and not _clause(rest, language)
        yield SpokenSentence(
            place=place,
            speaker=who,
            text=part,
            language=language,
            rest=rest,
            cue=back or ("changes" if cues().changed.search(part) else None),
            following=" ".join(parts[number:]),
        )


def _opened(text: str, language: str) -> tuple[str, TakesBack | None]:
    """A text without what leads up to it, and whether it takes something back, also in a language without
    rules. A number there belongs to it: "Wait, at 11, I misread it"."""
    rest, back = strip_openers(text, patterns_near(language))
    if _figures(text, language) - _figures(rest, language):
        rest = text
    while found := next(filter(None, (one.match(rest) for one in _worldwide_corrections())), None):
        rest, back = rest[found.end() :].lstrip(" ,.:;!–—-"), "surely"
    return rest, back


@cache
def _worldwide_corrections() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one, re.IGNORECASE) for one in WORLDWIDE.corrections)


def find_corrections(read: Sequence[SpokenSentence]) -> Iterator[Replacement]:
    """Yield what a sentence takes back or changes of an earlier one of the same person."""
    rows: dict[int, tuple[SpokenSentence, frozenset[str]]] = {}
    """Of what corrects a sentence: the first of the row, and all values that were taken back."""
    for number, one in enumerate(read):
        if not one.cue:
            continue
        clause = _clause(one.rest, one.language)
        for values in (_figures, _names):
            came = values(clause, one.language)
            at = _earlier(read, number, values, came) if came else None
            if at is None:
                continue
            old = read[at]
            there = values(old.text, old.language)
            words = telling_words(clause, one.language) - came - there
            further = missing_words(words, old.telling)
            most = 0 if one.cue == "perhaps" else FURTHER_WORDS
            if len(further) > most or (one.cue == "changes" and not words - further):
                continue
            first, gone = rows.get(at, (old, frozenset[str]()))
            there = _in_place_of(clause, old.text, there) if values is _names else there
            gone = (gone | there) - came
            if gone and came - there:
                rows[number] = first, gone
                yield Replacement(
                    said=first.text,
                    language=first.language,
                    gone=gone,
                    came=came - there,
                    instead=one.quoted,
                    after=telling_words(one.following, one.language),
                    was_wrong=one.cue != "changes",
                    place=one.place,
                    first_place=first.place,
                )


def _earlier(
    read: Sequence[SpokenSentence], number: int, values: _Values, came: frozenset[str]
) -> int | None:
    """The place of the latest sentence of the same person with a value of that kind; of a date, with one."""
    one = read[number]
    is_date = bool(wording(one.rest, one.language).dates & came)
    mine = (n for n in range(number - 1, -1, -1) if read[n].speaker in (one.speaker, ""))
    return next(
        (
            at
            for at in islice(mine, LOOKED_BACK)
            if values(read[at].text, read[at].language)
            and (not is_date or wording(read[at].text, read[at].language).dates)
        ),
        None,
    )


def _in_place_of(clause: str, text: str, names: frozenset[str]) -> frozenset[str]:
    """Of the names of a text those behind the same word as in a clause ("in Rome", "in Ulm"), or the last."""

    def by_word_before(said: str) -> list[tuple[str, frozenset[str]]]:
        pairs = pairwise(["", *said.split()])
        return [(before.casefold(), capitalised_words(f"x {one}")) for before, one in pairs]

    there = [(before, found & names) for before, found in by_word_before(text) if found & names]
    befores = {before for before, found in by_word_before(clause) if found and before}
    alike = [found for before, found in there if before in befores]
    return frozenset().union(*alike or [found for _, found in there[-1:]])


def _clause(text: str, language: str) -> str:
    """The first clause with a value, without what leads up to it."""
    opened = (_opened(one, language)[0] for one in _CLAUSES.split(text))
    return next((one for one in opened if _figures(one, language) or _names(one, language)), "")


def _figures(text: str, language: str) -> frozenset[str]:
    found = wording(text, language)
    return found.numbers | found.dates


def _names(text: str, language: str) -> frozenset[str]:
    """Names, in a language that writes all nouns so also nouns; of what begins a text, too."""
    found = wording(text, language)
    return (capitalised_words(f"x {text}") & found.words) - found.numbers - found.dates
