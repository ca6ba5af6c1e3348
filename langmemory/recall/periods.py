"""Periods: the stretch of time a query names, by the calendar or relative to now.

All words are data of `langmemory.lexicon`; this file only applies them. Days begin at midnight where
``now`` is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from langmemory.lexicon import Language, Unit, is_unspaced
from langmemory.recall.dates import (
    ARTICLES,
    LETTERS,
    Named,
    Period,
    Window,
    first_of_month,
    is_range,
    led,
    named_periods,
)
from langmemory.recall.patterns import alternatives, any_name, any_of, compiled

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Where "before May" begins."""
_NEAR = 8
"""At most so many characters stand between the two parts of "Friday of June"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The time a query speaks of."""

    period: Period | None = None
    window: Window | None = None
    words: tuple[str, ...] = ()
    """The parts of the query that fix it relative to now."""


def read_times(text: str, folded: str, language: Language, now: datetime) -> Times:
    """The time that a text names; none where it leads out of the calendar."""
    try:
        return _read_times(text, folded, language, now)
    except (ValueError, OverflowError):
        return Times()


def _read_times(text: str, folded: str, language: Language, now: datetime) -> Times:
    named = list(named_periods(text, folded, language))
    if not any(one.period.year and one.period.day for one in named):
        # "Last weekend before 10 April 2023" is not the last weekend.
        relative = _relative(folded, language, named, now)
        if relative is not None:
            return relative
    if not named:
        return Times()
    for first, second in pairwise(named):
        if is_range(folded, first, second, language):
            return _range(first.period, second.period, now)
    main = min(named, key=_coarseness)
    if main.period.year is None:
        years = (one.period.year for one in named if one.period.month is None)
        main = replace(main, period=replace(main.period, year=next(years, None)))
    return Times(period=main.period, window=_window(folded, main, language, now))


def _relative(folded: str, language: Language, named: list[Named], now: datetime) -> Times | None:
    """A time relative to now: "two weeks ago", "last Friday", "since yesterday"."""
    for pattern, kind in language.counted.items():
        if found := _counted(pattern, language).search(folded):
            count = language.numbers.get(found["n"]) or int(found["n"])
            unit = language.units[found["unit"]]
            if kind == "lately":
                return Times(window=_lately(now, unit, count))
            window = _unit_window(now, unit, -count)
            before, after = folded[: found.start()], folded[found.end() :]
            return Times(window=_edged(window, before, after, language, now))
    if weekday := _last_weekday(folded, language, named):
        back = (now.weekday() + 1 - language.weekdays[weekday[0]]) % 7 or 7
        before, _ = _last_before(folded[: weekday.start()], language)
        window, after = _unit_window(now, "day", -back), folded[weekday.end() :]
        return Times(window=_edged(window, before, after, language, now))
    if not any_of(tuple(language.relative)).search(folded):  # most queries, in one look
        return None
    for pattern, (unit, offset) in language.relative.items():
        if found := compiled(pattern).search(folded):
            window = _unit_window(now, unit, offset)
            # "In May last year", "上周五": a part of it.
            if unit == "year" and named and named[0].period.month and not named[0].period.year:
                part = replace(named[0].period, year=window[0].year)
                spans = part.ranges(range(0), now.tzinfo)
                return Times(period=part, window=spans[0] if spans else None, words=(found[0],))
            day = any_name(language.weekdays).search(folded, found.start())
            if unit == "week" and day and day.start() < found.end():
                since = window[0] + timedelta(days=language.weekdays[day[0]] - 1)
                window = since, since + timedelta(days=1)
            # A weekend is talked about as well.
            words = () if unit == "weekend" else (found[0],)
            before, after = folded[: found.start()], folded[found.end() :]
            return Times(window=_edged(window, before, after, language, now), words=words)
    return None


def _coarseness(named: Named) -> int:
    """Dates and months before seasons, these before bare years."""
    period = named.period
    return 2 if period.month is None else 1 if period.months > 1 else 0


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


def _window(folded: str, named: Named, language: Language, now: datetime) -> Window | None:
    """The stretch that a period with its preposition fixes, if it does."""
    before, last = _last_before(folded[: named.start], language)
    after = folded[named.end :]
    last = last or not language.last.isdisjoint(LETTERS.findall(after)[:1])
    spans = named.period.ranges(range(now.year - 2, now.year + 1), now.tzinfo)
    if named.period.year is None:
        begun = [span for span in spans if span[0] <= now]
        edges = (*language.after, *language.before)
        is_edge = any(_leads(word, before, after) for word in edges)
        if not last and (is_edge or _opens(before, after, language)):
            spans = begun[-1:]
        elif last or language.last & set(LETTERS.findall(folded)):
            spans = [span for span in begun if span[1] <= now][-1:]
        else:
            return None
    return _edged(spans[0], before, after, language, now) if spans else None


def _edged(window: Window, before: str, after: str, language: Language, now: datetime) -> Window:
    """From or up to a stretch of time, where a preposition before it says so, or that itself."""
    since, until = window
    if _opens(before, after, language):
        return since, max(now, until)
    if any(_leads(word, before, after) for word in language.after):
        return until, max(now, until)
    if any(_leads(word, before, after) for word in language.before):
        return EARLIEST, since
    return window


def _opens(before: str, after: str, language: Language) -> bool:
    """Whether a date is where a stretch begins: "since May", "from May on"."""
    return any(_leads(word, before, after) for word in language.since) or any(
        _leads(word, before, after) and compiled(rf"\s+(?:{more})\b").match(after)
        for word, more in language.onwards.items()
    )


def _leads(word: str, before: str, after: str) -> bool:
    """Whether a preposition stands by a date: before it, or behind in a script without spaces."""
    if is_unspaced(word):
        return after.startswith(word)
    return compiled(rf"\b{word}\s+{ARTICLES}$").search(before) is not None


def _last_before(before: str, language: Language) -> tuple[str, bool]:
    """What stands before a date, without a word for the past at its end, and whether there was one:
    a preposition leads "last summer" as it leads "summer"."""
    if not led(language.last, before):
        return before, False
    return before.rstrip().removesuffix(before.split()[-1]), True


def _last_weekday(folded: str, language: Language, named: list[Named]) -> re.Match[str] | None:
    """A weekday with a word for the past before or behind it."""
    for found in any_name(language.weekdays).finditer(folded):
        if any(0 <= one.start - found.end() <= _NEAR for one in named):
            continue  # "the last Friday of June"
        before, behind = folded[: found.start()].split()[-1:], folded[found.end() :].split()[:1]
        for word in (*before, *behind):
            if word.strip("¿?!.,;") in language.last:
                return found
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
    since = first_of_month(start, months * offset)
    return since, first_of_month(since, months)


def _lately(now: datetime, unit: Unit, count: int) -> Window:
    """The so many units up to the end of today."""
    today, tomorrow = _unit_window(now, "day", 0)
    days = {"day": 1, "weekend": 7, "week": 7, "month": 30, "year": 365}[unit]
    return today - timedelta(days=days * count), tomorrow


def _counted(pattern: str, language: Language) -> re.Pattern[str]:
    number = alternatives(tuple(language.numbers))
    unit = alternatives(tuple(language.units))
    return compiled(
        pattern.replace("{n}", rf"(?P<n>(?<![\d.,])\d{{1,3}}|{number})").replace(
            "{unit}", f"(?P<unit>{unit})"
        )
    )
