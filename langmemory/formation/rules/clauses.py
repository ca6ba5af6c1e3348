"""From a text to clauses that may say something: sentences, their times, their clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from langmemory.formation.rules.grammar import TIME
from langmemory.formation.rules.patterns import Patterns
from langmemory.formation.times import Found, find
from langmemory.lexicon import LANGUAGES

MAX_SENTENCE = 300
"""Characters; longer ones are pasted text, lists or logs."""
MOST_READ = 100_000
"""Characters of one text, about 50 pages: of a longer one the first and last half of them, where people
write themselves when they paste (0.7 s)."""
TakesBack = Literal["surely", "perhaps"]
"""Whether somebody corrects what was said: "I meant", or "no", which may answer a question."""
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
_COLON = re.compile(r":(?=\s|$)|：|(?<=[\u4e00-\u9fff]):(?!//)")
_LETTER = re.compile(
    r"^\W*(?:(?:from|to|cc|bcc|subject|sent|von|an|betreff|gesendet|de|para|asunto|enviado(?: el)?)"
    r"\s*:\s|(?:发件人|發件人|寄件者|收件人|主题|主題|主旨)\s*[:：])|^\W*"
    r"(?:original message|forwarded message|begin forwarded|ursprüngliche nachricht|weitergeleitete"
    r" nachricht|mensaje (?:original|reenviado)|转发邮件|轉寄郵件|原始邮件)\b",
    re.IGNORECASE,
)
"""A line by which a letter begins that somebody else may have written, to the end of the text."""
_SENTENCE_BEGIN = re.compile(r"(?:.*[.!?…。！？；]\s)?", re.DOTALL)
_FENCED = re.compile(r"^[^\S\n]*(```|~~~).*?(?:^[^\S\n]*\1|\Z)", re.DOTALL | re.MULTILINE)
"""A block of code, to the end of the text where it is not closed. Spaces of one line only: many
empty lines would take the square of their number."""
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
    """The clauses of each sentence that says something for certain.

    Args:
        text: of the speaker's `own_words`.
        patterns: of its language.
        said_at: what times are resolved against.
    """
    for sentence in sentences(_ends(text)):
        bare = plainly_said(sentence)
        if bare is None or _QUESTION.search(bare) or patterns.unclear.search(bare):
            continue
        times = tuple(find(bare, said_at=said_at, language=patterns.grammar.code))
        masked = bare
        for number, found in reversed(list(enumerate(times))):
            masked = f"{masked[: found.start]} {chr(FIRST_TIME + number)} {masked[found.end :]}"
        parts = [part for part in patterns.breaks.split(masked) if part and part.strip()]
        yield [Clause(text=part, times=times) for part in _led_by_time(parts)]


def plainly_said(sentence: str) -> str | None:
    """A sentence without what stands in brackets; None where it quotes, or is pasted."""
    if len(sentence) > MAX_SENTENCE or _MARKUP.search(sentence):
        return None
    sentence = _ASIDE.sub(" ", sentence)
    return None if _QUOTED.search(sentence) else sentence


def opened(text: str, patterns: Patterns) -> tuple[str, TakesBack | None]:
    """Without "Well," and "No, actually"; whether it takes something back."""
    text = text.lstrip(" ,;:–—-(")
    back: TakesBack | None = None
    while True:
        text = re.sub(rf"^(?:{TIME}|[\s,;:])+", "", text)
        if found := patterns.takes_back.match(text):
            no = back is None and patterns.no.match(found[0]) is not None
            back = "perhaps" if no else "surely"
        elif not (found := patterns.openers.match(text)):
            return text, back
        if not found.end():
            return text, back
        text = text[found.end() :]


def _ends(text: str) -> str:
    """What is read of a text: of a long one its ends, without the sentences that are cut through."""
    if len(text) <= MOST_READ:
        return text
    first, last = text[: MOST_READ // 2], text[-(MOST_READ // 2) :]
    ends = [found.end() for found in _SENTENCE_END.finditer(first)]
    begins = _SENTENCE_END.search(last)
    return f"{first[: ends[-1] if ends else 0]}\n{last[begins.end() if begins else len(last) :]}"


def own_words(text: str, patterns: Patterns) -> str:
    """Without what follows a colon where that need not be the speaker's own words: "Anna: I live in
    Rome", "Please translate:". It is the rest of the paragraph; of the text, where a line ends so,
    or begins a pasted letter. Without blocks of code, too.
    """
    kept: list[str] = []
    quotes = False
    for line in _FENCED.sub("\n", text).splitlines():
        if _LETTER.match(line):
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
    rest, _ = opened(lead, patterns)
    return (
        not rest
        or patterns.i.match(rest) is not None
        or patterns.we.match(rest) is not None
        or patterns.announces.search(rest) is not None
    )


def sentences(text: str) -> Iterator[str]:
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
