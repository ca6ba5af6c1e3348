"""What a query asks for: when, where, who …, which time it speaks of, whether it wants a list.

All rules are data of `langmemory.lexicon`; this file only applies them. "Now" is injected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from langmemory.lexicon import Language, Question, Unit, detect_language, split_words

_YEAR = re.compile(r"(?<!\d)(19\d\d|20\d\d)(?!\d)")
_ISO_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)-(\d{1,2})(?:-(\d{1,2}))?(?!\d)")
_CJK_DATE = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(?:(\d{1,2})[日号號])?")
_PHRASE = re.compile(
    r'"([^"]{2,200})"|“([^”]{2,200})”|„([^“]{2,200})“|«([^»]{2,200})»|「([^」]{2,200})」'
)
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w’'-]*")
_MAX_LENGTH = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """A stretch of calendar; an open year means that month or day of any year."""

    year: int | None = None
    month: int | None = None
    months: int = 1
    day: int | None = None

    def ranges(self, years: range) -> list[tuple[datetime, datetime]]:
        """The stretches ``[since, until)`` it means, UTC, for the years at hand."""
        found = []
        for year in years if self.year is None else (self.year,):
            if self.month is None:
                found.append(
                    (datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC))
                )
                continue
            try:
                start = datetime(year, self.month, self.day or 1, tzinfo=UTC)
            except ValueError:  # 30 February
                continue
            if self.day is not None:
                found.append((start, start + timedelta(days=1)))
            else:
                last = self.month - 1 + self.months
                found.append((start, datetime(year + last // 12, last % 12 + 1, 1, tzinfo=UTC)))
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Intent:
    """What one query asks for."""

    language: Language
    asks: frozenset[Question] = frozenset()
    names: tuple[str, ...] = ()
    """Capitalised words that do not open the query; may be names of people or places."""
    phrases: tuple[str, ...] = ()
    """Text between quotation marks."""
    period: Period | None = None
    """The stretch of calendar the query names."""
    window: tuple[datetime, datetime] | None = None
    """``[since, until)``, where the query fixes it: "last week", "in May 2023", "since 2024"."""

    time_words: frozenset[str] = frozenset()
    """Words by which the query fixes a time relative to now. A memory that holds them means
    another time, so they are not looked up."""

    def spans(self, years: range) -> list[tuple[datetime, datetime]]:
        """The stretches of time the query speaks of, given the years at hand; often none."""
        if self.window is not None:
            return [self.window]
        return [] if self.period is None else self.period.ranges(years)


def read_intent(query: str, now: datetime) -> Intent:
    """The intent of a query; only its first 2,000 characters count. Never fails."""
    text = query[:_MAX_LENGTH]
    language = detect_language(text)
    folded = text.casefold()
    period, start = _read_period(text, folded, language)
    return Intent(
        language=language,
        asks=frozenset(
            question
            for question, patterns in language.questions.items()
            if any(_compiled(pattern).search(folded) for pattern in patterns)
        ),
        names=tuple(dict.fromkeys(m[0] for m in _NAME.finditer(text) if m.start() > 0)),
        phrases=tuple(next(filter(None, found.groups())) for found in _PHRASE.finditer(text)),
        period=period,
        window=_read_window(folded, language, period, start, now),
        time_words=frozenset(
            word
            for pattern in language.relative
            for found in _compiled(pattern).finditer(folded)
            for word in split_words(found[0])
        ),
    )


def _read_period(text: str, folded: str, language: Language) -> tuple[Period | None, int]:
    """The first calendar date, month or year a text names, and where in the text it starts."""
    if found := _ISO_DATE.search(folded) or _CJK_DATE.search(folded):
        year, month, day = (int(part) if part else None for part in found.groups())
        if month is None or 1 <= month <= 12:
            return Period(year=year, month=month, day=day), found.start()
    found_year = _YEAR.search(folded)
    year = int(found_year[0]) if found_year else None
    for found in _words(tuple(language.months)).finditer(folded) if language.months else ():
        name = found[0]
        if language.code == "en" and name in ("may", "march") and text[found.start()].islower():
            continue  # the verbs
        day = _day_near(folded, found)
        return Period(year=year, month=language.months[name], day=day), found.start()
    if language.seasons and (found := _words(tuple(language.seasons)).search(folded)):
        month, months = language.seasons[found[0]]
        return Period(year=year, month=month, months=months), found.start()
    if found_year is None:
        return None, 0
    return Period(year=year), found_year.start()


def _day_near(folded: str, month: re.Match[str]) -> int | None:
    """The day written before or after a month's name: "7 July", "July 7th", "7. Juli", "7 de julio"."""
    before = re.search(
        r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|\.)?\s*(?:of |de )?$", folded[: month.start()]
    )
    after = re.match(r"\s*(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?!\d)", folded[month.end() :])
    found = before or after
    day = int(found[1]) if found else 0
    return day if 1 <= day <= 31 else None


def _read_window(
    folded: str, language: Language, period: Period | None, start: int, now: datetime
) -> tuple[datetime, datetime] | None:
    for pattern, (unit, offset) in language.relative.items():
        if _compiled(pattern).search(folded):
            return _unit_window(now, unit, offset)
    if period is None:
        return None
    if period.year is None:
        words = set(folded.split())
        if not language.last & words:
            return None
        past = [span for span in period.ranges(range(now.year - 1, now.year + 1)) if span[1] <= now]
        return past[-1] if past else None
    spans = period.ranges(range(0))
    if not spans:
        return None
    since, until = spans[0]
    before = folded[:start]
    if any(_leads(word, before) for word in language.since):
        return since, max(now, until)
    if any(_leads(word, before) for word in language.before):
        return datetime(1970, 1, 1, tzinfo=UTC), since
    return since, until


def _leads(word: str, before: str) -> bool:
    """Whether a text ends in this preposition, up to the day of a date: "since the 7th of "."""
    pattern = rf"\b{word}\s+(?:the\s+|dem\s+|el\s+)?(?:\d{{1,2}}\w{{0,2}}\.?\s+)?(?:of\s+|de\s+)?$"
    return _compiled(pattern).search(before) is not None


def _unit_window(now: datetime, unit: Unit, offset: int) -> tuple[datetime, datetime]:
    """The day, ISO week, month or year ``offset`` away from now, ``[since, until)``."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        since = day + timedelta(days=offset)
        return since, since + timedelta(days=1)
    if unit == "week":
        since = day + timedelta(days=7 * offset - day.weekday())
        return since, since + timedelta(days=7)
    months = 1 if unit == "month" else 12
    start = day.year * 12 + (day.month - 1 if unit == "month" else 0) + months * offset
    end = start + months
    return (
        day.replace(year=start // 12, month=start % 12 + 1, day=1),
        day.replace(year=end // 12, month=end % 12 + 1, day=1),
    )


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache(maxsize=32)
def _words(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + r")\b")
