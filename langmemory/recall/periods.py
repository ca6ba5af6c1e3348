"""Periods: the stretch of time a query names, by the calendar or relative to now.

All words are data of `langmemory.lexicon`; this file only applies them. Days begin at midnight where
``now`` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import pairwise

from langmemory.lexicon import Language, Unit, is_unspaced

Window = tuple[datetime, datetime]

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Where "before May" begins."""

_YEAR = re.compile(r"(?<!\d)(19\d\d|20\d\d)(?!\d)")
_YEAR_BEHIND = re.compile(r"\s*(?:,|of\b|de\b|del\b|年)?\s*((?:19|20)\d\d)(?!\d)")
_ISO_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)")
_CJK_DATE = re.compile(r"(?:((?:19|20)\d\d)年)?(\d{1,2})月(?:(\d{1,2})[日号號])?|((?:19|20)\d\d)年")
_NUMERIC_DATE = re.compile(r"(?<!\d)(\d{1,2})([./])(\d{1,2})\2((?:19|20)\d\d)(?!\d)")
_LETTERS = re.compile(r"[^\W\d]+")
_DIGIT = re.compile(r"\d")
_NEAR = 8
"""At most so many characters stand between the two parts of "Friday of June"."""
_ARTICLES = r"(?:(?:the|dem|el)\s+)?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """A stretch of calendar; an open year means that month or day of any year."""

    year: int | None = None
    month: int | None = None
    months: int = 1
    day: int | None = None

    def ranges(self, years: range, zone: tzinfo | None = UTC) -> list[Window]:
        """The stretches ``[since, until)`` it means in a timezone, for the years at hand."""
        found = []
        for year in years if self.year is None else (self.year,):
            try:
                start = datetime(year, self.month or 1, self.day or 1, tzinfo=zone)
                if self.day is not None:
                    found.append((start, start + timedelta(days=1)))
                else:
                    months = 12 if self.month is None else self.months
                    found.append((start, _first_of_month(start, months)))
            except (ValueError, OverflowError):  # 30 February, the year 10000
                continue
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The time a query speaks of."""

    period: Period | None = None
    window: Window | None = None
    words: tuple[str, ...] = ()
    """The parts of the query that fix it relative to now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Named:
    """A period and where in the text it stands."""

    period: Period
    start: int
    end: int


def read_times(text: str, folded: str, language: Language, now: datetime) -> Times:
    """The time that a text names; none where it leads out of the calendar."""
    try:
        return _read_times(text, folded, language, now)
    except (ValueError, OverflowError):
        return Times()


def _read_times(text: str, folded: str, language: Language, now: datetime) -> Times:
    named = list(_named(text, folded, language))
    if not any(one.period.year and one.period.day for one in named):
        # "Last weekend before 10 April 2023" is not the last weekend.
        relative = _relative(folded, language, named, now)
        if relative is not None:
            return relative
    if not named:
        return Times()
    for first, second in pairwise(named):
        if _is_range(folded, first, second, language):
            return _range(first.period, second.period, now)
    main = min(named, key=_coarseness)
    if main.period.year is None:
        years = (one.period.year for one in named if one.period.month is None)
        main = replace(main, period=replace(main.period, year=next(years, None)))
    return Times(period=main.period, window=_window(folded, main, language, now))


def _relative(folded: str, language: Language, named: list[_Named], now: datetime) -> Times | None:
    """A time relative to now: "two weeks ago", "last Friday", "since yesterday"."""
    for pattern, kind in language.counted.items():
        if found := _counted(pattern, language).search(folded):
            count = language.numbers.get(found["n"]) or int(found["n"])
            unit = language.units[found["unit"]]
            window = _unit_window(now, unit, -count)
            if kind == "lately":
                window = _lately(now, unit, count)
            return Times(window=window)
    if weekday := _last_weekday(folded, language, named):
        back = (now.weekday() + 1 - weekday) % 7 or 7
        return Times(window=_unit_window(now, "day", -back))
    if not any_of(tuple(language.relative)).search(folded):  # most queries, in one look
        return None
    for pattern, (unit, offset) in language.relative.items():
        if found := _compiled(pattern).search(folded):
            window = _unit_window(now, unit, offset)
            # "In May last year", "上周五": a part of it.
            if unit == "year" and named and named[0].period.month and not named[0].period.year:
                part = replace(named[0].period, year=window[0].year)
                spans = part.ranges(range(0), now.tzinfo)
                return Times(period=part, window=spans[0] if spans else None, words=(found[0],))
            day = _names(language.weekdays).search(folded, found.start())
            if unit == "week" and day and day.start() < found.end():
                since = window[0] + timedelta(days=language.weekdays[day[0]] - 1)
                window = since, since + timedelta(days=1)
            # A weekend is talked about as well.
            words = () if unit == "weekend" else (found[0],)
            before, after = folded[: found.start()], folded[found.end() :]
            return Times(window=_edged(window, before, after, language, now), words=words)
    return None


def _coarseness(named: _Named) -> int:
    """Dates and months before seasons, these before bare years."""
    period = named.period
    return 2 if period.month is None else 1 if period.months > 1 else 0


def _named(text: str, folded: str, language: Language) -> Iterator[_Named]:
    """The calendar dates, months, seasons and years a text names, in its order."""
    found: list[_Named] = []

    def add(start: int, end: int, **parts: int | None) -> None:
        if all(end <= one.start or start >= one.end for one in found):
            found.append(_Named(period=Period(**parts), start=start, end=end))  # type: ignore[arg-type]

    digits = _DIGIT.search(folded) is not None
    for date in (*_ISO_DATE.finditer(folded), *_CJK_DATE.finditer(folded)) if digits else ():
        year, month, day, *alone = (int(part) if part else None for part in date.groups())
        if month is None or 1 <= month <= 12:
            add(*date.span(), year=year or next(iter(alone), None), month=month, day=day)
    for date in _NUMERIC_DATE.finditer(folded) if digits else ():
        day, month = int(date[1]), int(date[3])
        if (date[2] == "/" and not language.day_first and day <= 12) or month > 12:
            day, month = month, day
        if month <= 12:
            add(*date.span(), year=int(date[4]), month=month, day=day)
    for name in _names(language.months).finditer(folded):
        if language.code == "en" and name[0] in ("may", "march"):
            verb = name[0] in _LETTERS.findall(text)  # written small
            if verb and not _led(language.last, folded[: name.start()]):
                continue
        start, end, day = _with_day(folded, name)
        end, year = _with_year(folded, end)
        if day is year is None and _is_person(folded, name, language):
            continue
        add(start, end, year=year, month=language.months[name[0]], day=day)
    for name in _names(language.seasons).finditer(folded):
        end, year = _with_year(folded, name.end())
        month, months = language.seasons[name[0]]
        add(name.start(), end, year=year, month=month, months=months)
    for name in _YEAR.finditer(folded) if digits else ():
        add(*name.span(), year=int(name[0]))
    yield from sorted(found, key=lambda one: one.start)


def _is_person(folded: str, month: re.Match[str], language: Language) -> bool:
    """Whether a month alone is somebody's name, or another word: "Who is June?", "May I"."""
    pattern = language.persons.replace("{month}", re.escape(month[0]))
    return any(
        found.start() <= month.start() < found.end()
        for found in _compiled(pattern).finditer(folded)
    )


def _with_day(folded: str, month: re.Match[str]) -> tuple[int, int, int | None]:
    """Where a month begins and ends with the day written before or after it: "7 July", "July 7th",
    "7. Juli", "7 de julio"."""
    before = re.search(
        r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|\.)?\s*(?:of |de )?$", folded[: month.start()]
    )
    after = re.match(r"\s*(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?!\d)", folded[month.end() :])
    found = before or after
    day = int(found[1]) if found else 0
    if found is None or not 1 <= day <= 31:
        return month.start(), month.end(), None
    if found is before:
        return before.start(), month.end(), day
    return month.start(), month.end() + found.end(), day


def _with_year(folded: str, end: int) -> tuple[int, int | None]:
    """Where a month or season ends with the year behind it."""
    year = _YEAR_BEHIND.match(folded, end)
    return (year.end(), int(year[1])) if year else (end, None)


def _is_range(folded: str, first: _Named, second: _Named, language: Language) -> bool:
    """Whether two dates are the ends of a range: "between May and July"."""
    before, between = folded[: first.start], folded[first.end : second.start]
    return any(
        _compiled(rf"\s*(?:{joiner})\s*{_ARTICLES}").fullmatch(between)
        and (not opener or _compiled(rf"\b(?:{opener})\s+{_ARTICLES}$").search(before))
        for opener, joiner in language.ranges.items()
    )


def _range(first: Period, second: Period, now: datetime) -> Times:
    """From the beginning of one period to the end of another; a year that only one of them has is
    that of both."""
    turns = (second.month or 1) < (first.month or 1)
    if first.year is None and second.year is not None:
        first = replace(first, year=second.year - turns)
    elif second.year is None and first.year is not None:
        second = replace(second, year=first.year + turns)
    elif first.year is None:
        months = ((second.month or 1) - (first.month or 1)) % 12 + second.months
        return Times(period=replace(first, months=months, day=None))
    starts, ends = (one.ranges(range(0), now.tzinfo) for one in (first, second))
    if not starts or not ends or starts[0][0] >= ends[0][1]:
        return Times(period=first)
    return Times(window=(starts[0][0], ends[0][1]))


def _window(folded: str, named: _Named, language: Language, now: datetime) -> Window | None:
    """The stretch that a period with its preposition fixes, if it does."""
    before, after = folded[: named.start], folded[named.end :]
    spans = named.period.ranges(range(now.year - 2, now.year + 1), now.tzinfo)
    if named.period.year is None:
        begun = [span for span in spans if span[0] <= now]
        edges = (*language.since, *language.after, *language.before)
        if any(_leads(word, before, after) for word in edges):
            spans = begun[-1:]
        elif language.last & set(_LETTERS.findall(folded)):
            spans = [span for span in begun if span[1] <= now][-1:]
        else:
            return None
    return _edged(spans[0], before, after, language, now) if spans else None


def _edged(window: Window, before: str, after: str, language: Language, now: datetime) -> Window:
    """From or up to a stretch of time, where a preposition before it says so, or that itself."""
    since, until = window
    if any(_leads(word, before, after) for word in language.since):
        return since, max(now, until)
    if any(_leads(word, before, after) for word in language.after):
        return until, max(now, until)
    if any(_leads(word, before, after) for word in language.before):
        return EARLIEST, since
    return window


def _leads(word: str, before: str, after: str) -> bool:
    """Whether a preposition stands by a date: before it, or behind in a script without spaces."""
    if is_unspaced(word):
        return after.startswith(word)
    return _compiled(rf"\b{word}\s+{_ARTICLES}$").search(before) is not None


def _led(words: Iterable[str], before: str) -> bool:
    last = before.split()[-1:]
    return bool(last) and last[0] in words


def _last_weekday(folded: str, language: Language, named: list[_Named]) -> int | None:
    """The number of a weekday with a word for the past before or behind it."""
    for found in _names(language.weekdays).finditer(folded):
        if any(0 <= one.start - found.end() <= _NEAR for one in named):
            continue  # "the last Friday of June"
        before, behind = folded[: found.start()].split()[-1:], folded[found.end() :].split()[:1]
        for word in (*before, *behind):
            if word.strip("¿?!.,;") in language.last:
                return language.weekdays[found[0]]
    return None


def _unit_window(now: datetime, unit: Unit, offset: int) -> Window:
    """The day, weekend, ISO week, month or year ``offset`` away from now, ``[since, until)``."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        since = day + timedelta(days=offset)
        return since, since + timedelta(days=1)
    if unit in ("week", "weekend"):
        since = day + timedelta(days=7 * offset - day.weekday())
        return since + timedelta(days=5 if unit == "weekend" else 0), since + timedelta(days=7)
    months = 1 if unit == "month" else 12
    start = day.replace(month=day.month if unit == "month" else 1)
    since = _first_of_month(start, months * offset)
    return since, _first_of_month(since, months)


def _lately(now: datetime, unit: Unit, count: int) -> Window:
    """The so many units up to the end of today."""
    today, tomorrow = _unit_window(now, "day", 0)
    days = {"day": 1, "weekend": 7, "week": 7, "month": 30, "year": 365}[unit]
    return today - timedelta(days=days * count), tomorrow


def _first_of_month(moment: datetime, offset: int) -> datetime:
    month = moment.year * 12 + moment.month - 1 + offset
    return moment.replace(year=month // 12, month=month % 12 + 1, day=1)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache(maxsize=512)
def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Finds what any of the regular expressions finds; one pass is faster than one for each."""
    return re.compile("|".join(patterns) or "(?!)")


def _counted(pattern: str, language: Language) -> re.Pattern[str]:
    number = _alternatives(tuple(language.numbers))
    unit = _alternatives(tuple(language.units))
    return _compiled(
        pattern.replace("{n}", rf"(?P<n>(?<![\d.,])\d{{1,3}}|{number})").replace(
            "{unit}", f"(?P<unit>{unit})"
        )
    )


def _names(words: Iterable[str]) -> re.Pattern[str]:
    return _whole(tuple(words))


@lru_cache(maxsize=64)
def _whole(words: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the words, whole where their script has spaces; matches nothing without words."""
    if not words:
        return re.compile(r"(?!)")
    bound = "" if is_unspaced(words[0]) else r"\b"
    return re.compile(f"{bound}(?:{_alternatives(words)}){bound}")


@lru_cache(maxsize=64)
def _alternatives(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
