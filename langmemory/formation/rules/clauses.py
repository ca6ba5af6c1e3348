"""From a text to clauses that may say something: sentences, their times, their clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from langmemory.formation.batch import MOST_READ
from langmemory.formation.rules.grammar import REASON, TIME
from langmemory.formation.rules.patterns import Patterns
from langmemory.formation.times import TimeInText, find
from langmemory.languages import LANGUAGES, Language, is_unspaced
from langmemory.languages.temporal.words import TIME_WORDS, TimeWords

MAX_SENTENCE = 300
"""Characters; longer ones are pasted text, lists or logs."""
TakesBack = Literal["surely", "perhaps"]
"""Whether somebody corrects what was said: "I meant", or "no", which may answer a question."""
FIRST_TIME = 0xE000
"""Times are written as characters of the private use area from this one on."""

_QUOTED = re.compile(r"[\"“”„«»「『].*?[\"“”«»」』]|(?<!\w)'.*?'(?!\w)")
_QUOTATION = re.compile(
    r"\"[^\"\n]{0,600}\"|“[^”\n]{0,600}”|„[^“”\n]{0,600}[“”]|«[^»\n]{0,600}»|「[^」\n]{0,600}」"
)
"""Within a line, maybe of several sentences."""
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]")
_QUESTION = re.compile(r"[?？]")
_COLON = re.compile(r":(?=\s|$)|：|(?<=[\u4e00-\u9fff]):(?!//)")
_SENTENCE_BEGIN = re.compile(r"(?:.*[.!?…。！？；]\s)?", re.DOTALL)
_FENCED = re.compile(r"^[^\S\n]*(```|~~~).*?(?:^[^\S\n]*\1|\Z)", re.DOTALL | re.MULTILINE)
"""A block of code, to the end of the text where it is not closed. Spaces of one line only: many
empty lines would take the square of their number."""
_LED_BY_TIME = re.compile(rf"^(?:{TIME}|[\s,;:])+")
_MARKUP = re.compile(r"^\s*(?:>|```|\||#)|https?://")


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """One clause of a sentence, its times written as single characters."""

    text: str
    times: tuple[TimeInText, ...]
    """Of the whole sentence, in order."""
    certain: bool
    """Whether what it says holds; who it names is named in any case."""
    reason: str = ""
    """Of what it decides."""

    def time(self, character: str) -> TimeInText:
        return self.times[ord(character) - FIRST_TIME]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """One sentence of a turn."""

    said: str
    clauses: tuple[Clause, ...]
    """Those of its statement; none where it only asks, supposes, jokes or quotes."""


def read_sentences(text: str, patterns: Patterns, said_at: datetime) -> Iterator[Sentence]:
    """The sentences of a text, to where it begins to tell of what is not: "Imagine …".

    Args:
        text: of the speaker's `own_words`.
        patterns: of its language.
        said_at: what times are resolved against.
    """
    text = _QUOTATION.sub('""', read_part(text))
    for written, following in pairwise((*sentences(text), "")):
        sentence = patterns.places.sub(lambda place: place[0].title(), written)
        if patterns.frames.search(sentence):
            return
        bare = plainly_said(sentence)
        told = "" if bare is None else without_question(bare, patterns)
        if not told or patterns.void.search(told) or patterns.withdraws.search(following):
            told = ""
        yield Sentence(said=sentence, clauses=tuple(_clauses(told, patterns, said_at)))


def _clauses(stated: str, patterns: Patterns, said_at: datetime) -> Iterator[Clause]:
    times = tuple(find(stated, said_at=said_at, language=patterns.grammar.code)) if stated else ()
    masked = stated
    for number, found in reversed(list(enumerate(times))):
        masked = f"{masked[: found.start]} {chr(FIRST_TIME + number)} {masked[found.end :]}"
    reason = ""
    if reasoned := patterns.reasoned.search(masked):
        start, end = reasoned.span("reason")
        reason, masked = masked[start:end], f"{masked[:start]}{REASON}{masked[end:]}"
    holds = True
    for text in filter(None, (masked, reason)):
        parts, joints = _parts(text, patterns)
        sure = [holds and one for one in _certain(parts, joints, patterns)]
        for part, certain in zip(parts, sure, strict=True):
            told = _with_times(reason, times) if REASON in part else ""
            yield Clause(text=part, times=times, certain=certain, reason=told)
        holds = sure[-1:] != [False]


def _with_times(masked: str, times: tuple[TimeInText, ...]) -> str:
    """A part of a sentence with its times in words again."""
    words = re.sub(TIME, lambda found: times[ord(found[0]) - FIRST_TIME].when.words, masked)
    return " ".join(words.split())


def _parts(masked: str, patterns: Patterns) -> tuple[list[str], list[str]]:
    """The clauses of a sentence, and what stands before each: ", but". "In 2019, I moved" is one."""
    parts: list[str] = []
    joints: list[str] = []
    start, joint, waiting = 0, "", ""
    for end, next_start in (*((m.start(), m.end()) for m in patterns.breaks.finditer(masked)),
                            (len(masked), len(masked))):  # fmt: skip
        part = masked[start:end]
        if patterns.half.fullmatch(
            strip_openers(part, patterns)[0].strip() + masked[end:next_start]
        ):
            continue  # "my husband and I"
        if re.search(TIME, part) and not any(character.isalnum() for character in part):
            waiting += part
        elif part.strip():
            parts.append(waiting + part)
            joints.append(joint)
            waiting = ""
        start, joint = next_start, masked[end:next_start]
    return parts, joints


def _certain(parts: list[str], joints: list[str], patterns: Patterns) -> list[bool]:
    """Which clauses hold for certain. A doubt, a wish or a report reaches to the end of the sentence or
    the next "but", and back to the last "and": "I live in Rome, she said", and not "I live in Rome
    and she said no"."""
    certain = [True] * len(parts)
    doubted = False
    for number, part in enumerate(parts):
        doubted = doubted and not patterns.but.search(joints[number])
        if patterns.unclear.search(part):
            first = number
            while first > 0 and not patterns.anew.search(joints[first]):
                first -= 1
            certain[first:number] = [False] * (number - first)
            doubted = True
        certain[number] = not doubted
    return certain


def without_question(sentence: str, patterns: Patterns) -> str:
    """What a sentence states: of "I'm vegan, so what can I eat?" the beginning, of a question nothing."""
    if not _QUESTION.search(sentence):
        return sentence
    asks = patterns.asks.search(sentence)
    return sentence[: asks.start()] if asks else ""


def plainly_said(sentence: str) -> str | None:
    """A sentence without what stands in brackets; None where it quotes, or is pasted."""
    if len(sentence) > MAX_SENTENCE or _MARKUP.search(sentence):
        return None
    sentence = _ASIDE.sub(" ", sentence)
    return None if _QUOTED.search(sentence) else sentence


def strip_openers(text: str, patterns: Patterns) -> tuple[str, TakesBack | None]:
    """Without "Well," and "No, actually", and "btw" at its end; whether it takes something back."""
    text = patterns.closers.sub("", text.lstrip(" ,;:–—-("))
    back: TakesBack | None = None
    while True:
        text = _LED_BY_TIME.sub("", text)
        if found := patterns.takes_back.match(text):
            no = back is None and patterns.no.match(found[0]) is not None
            back = "perhaps" if no else "surely"
        elif not (found := patterns.openers.match(text)):
            return text, back
        if not found.end():
            return text, back
        text = text[found.end() :]


def read_part(text: str) -> str:
    """What is read of a text: of a long one its ends, without the sentences that are cut through."""
    if len(text) <= MOST_READ:
        return text
    first, last = text[: MOST_READ // 2], text[-(MOST_READ // 2) :]
    ends = [found.end() for found in sentence_end().finditer(first)]
    begins = sentence_end().search(last)
    return f"{first[: ends[-1] if ends else 0]}\n{last[begins.end() if begins else len(last) :]}"


def own_words(text: str, patterns: Patterns) -> str:
    """Without what follows a colon where that need not be the speaker's own words: "Anna: I live in
    Rome", "Please translate:". It is the rest of the paragraph; of the text, where a line ends so,
    or begins a pasted letter. Without blocks of code, too.
    """
    kept: list[str] = []
    quotes = False
    for line in _FENCED.sub("\n", text).splitlines():
        if _letter(LANGUAGES.everywhere).match(line):
            break
        start, quotes = 0, quotes and bool(line.strip())
        if quotes:
            continue
        for colon in _COLON.finditer(line):
            lead = _SENTENCE_BEGIN.sub("", line[start : colon.start()], count=1)
            if not _announces(f"{lead}:", patterns):
                kept.append(line[: colon.start()])
                if not line[colon.end() :].strip():
                    return "\n".join(kept)
                quotes = True
                break
            start = colon.end()
        else:
            kept.append(line)
    return "\n".join(kept)


def _announces(lead: str, patterns: Patterns) -> bool:
    rest, _ = strip_openers(lead, patterns)
    return (
        not rest
        or patterns.i.match(rest) is not None
        or patterns.we.match(rest) is not None
        or patterns.announces.search(rest) is not None
    )


def sentence_end() -> re.Pattern[str]:
    """Return what ends a sentence, in any language."""
    return _sentence_end(LANGUAGES.everywhere, *TIME_WORDS.values())


@lru_cache(maxsize=4)
def _sentence_end(everywhere: Language, *times: TimeWords) -> re.Pattern[str]:
    dotted = (words for words in times if words.dotted_days)
    months = [month.capitalize() for words in dotted for month in words.months]
    short = "".join(
        rf"(?<!\b{re.escape(one)}\.)" for one in dict.fromkeys(everywhere.abbreviations)
    )
    # The character first, and what stands before it then: `re` skips to it.
    return re.compile(
        rf"[.!?…。！？；\n](?:(?<=\.)(?<!\b[A-Z]\.){short}(?<!\d\.)(?=\s|$)"
        rf"|(?<=\d\.)(?=\s+(?!(?:{'|'.join(months)})\b)[A-ZÀ-ÖØ-Þ]|$)"
        r"|(?<=[!?…])[!?…]*|(?<=[。！？；])|(?<=\n)\n*)"
    )


@lru_cache(maxsize=4)
def _letter(words: Language) -> re.Pattern[str]:
    """A line by which a letter begins that somebody else may have written, to the end of the text."""
    headers = [one for one in words.letter_headers if not is_unspaced(one)]
    within = [one for one in words.letter_headers if is_unspaced(one)]
    return re.compile(
        rf"^\W*(?:(?:{'|'.join(headers)})\s*:\s|(?:{'|'.join(within) or '(?!)'})\s*[:：])"
        rf"|^\W*(?:{'|'.join(words.letter_openings)})\b",
        re.IGNORECASE,
    )


def own_sentences(text: str, patterns: Patterns) -> Iterator[str]:
    """The sentences of a text that are plainly its speaker's own: neither quoted nor pasted."""
    return plain_sentences(own_words(text, patterns))


def plain_sentences(own: str) -> Iterator[str]:
    """Those of a speaker's `own_words`."""
    return filter(None, map(plainly_said, sentences(own)))


def sentences(text: str) -> Iterator[str]:
    start = 0
    for end in sentence_end().finditer(text):
        yield text[start : end.end()].strip()
        start = end.end()
    yield text[start:].strip()
