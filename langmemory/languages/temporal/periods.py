"""Periods: the stretch of time a query names, by the calendar or relative to now.

All words are data of the language; this file only applies them. Days begin at midnight where
``now`` is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import cast, get_args

from langmemory.languages.patterns import alternatives, any_name, any_of, compiled
from langmemory.languages.temporal.dates import (
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
from langmemory.languages.temporal.edges import UPPER, edge_of, edged, part_of
from langmemory.languages.temporal.words import Edge, TimeWords, Unit

_NEAR = 8
"""At most so many characters stand between the two parts of "Friday of June"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The time a query speaks of."""

    period: Period | None = None
    window: Window | None = None
    edge: Edge | None = None
    """Whether the time ends or begins there; None where it is meant itself."""
    words: tuple[str, ...] = ()
    """The parts of the query that fix it relative to now."""


def read_times(text: str, folded: str, known: TimeWords, now: datetime) -> Times:
    """The time that a text names; none where it leads out of the calendar."""
    try:
        return _read_times(text, folded, known, now)
    except (ValueError, OverflowError):
        return Times()


def _read_times(text: str, folded: str, known: TimeWords, now: datetime) -> Times:
    named = list(named_periods(text, folded, known))
    if not any(one.period.year and one.period.day for one in named):
        # "Last weekend before 10 April 2023" is not the last weekend.
        relative = _relative(folded, known, named, now)
        if relative is not None:
            return relative
    if not named:
        return Times()
    for first, second in pairwise(named):
        if is_range(folded, first, second, known):
            return _range(first.period, second.period, now)
    main = min(named, key=_coarseness)
    if main.period.year is None:
        years = (one.period.year for one in named if one.period.month is None)
        main = replace(main, period=replace(main.period, year=next(years, None)))
    if (near := _shifted(folded, main, known, now)) is not None:
        return Times(period=main.period, window=near)
    return _enclosed(folded, named, known, now) or _fixed(folded, main, known, now)


def _enclosed(folded: str, named: list[Named], known: TimeWords, now: datetime) -> Times | None:
    """From one date to another that are not written as a range: "after 3 May but before 9 May"."""
    if len(named) < 2:
        return None
    year = next((one.period.year for one in reversed(named) if one.period.year), None)
    dated = [
        one
        if one.period.year or one.period.month is None
        else replace(one, period=replace(one.period, year=year))
        for one in named
    ]
    read = [_fixed(folded, one, known, now) for one in dated]
    begins = [one.window[0] for one in read if one.window and one.edge in ("since", "after")]
    ends = [one.window[1] for one in read if one.window and one.edge in UPPER]
    if begins and ends and begins[0] < ends[0]:
        return Times(period=read[0].period, window=(begins[0], ends[0]))
    return None


def _shifted(folded: str, named: Named, known: TimeWords, now: datetime) -> Window | None:
    """So long before or after a date: "two weeks before 11 August 2023", "the week after"."""
    spans = named.period.ranges(range(now.year - 2, now.year + 1), now.tzinfo)
    begun = [span for span in spans if span[0] <= now]
    if not begun:
        return None
    before, after = folded[: named.start], folded[named.end :]
    for pattern, direction in known.query.shifted.items():
        found = (
            _counted(pattern, known).match(after)
            if not known.spaced
            else _counted(rf"{pattern}\s+{ARTICLES}$", known).search(before)
        )
        if found:
            number = found["n"]
            count = 1 if number is None else known.number(number)
            since, until = begun[-1]
            start = since if direction < 0 else until - timedelta(days=1)
            unit = cast(Unit, known.units[found["unit"]])
            if count == 1 and unit == "week":  # the seven days beside it
                week = timedelta(days=7)
                return (since - week, since) if direction < 0 else (until, until + week)
            return _unit_window(start, unit, direction * count)
    return None


def _relative(folded: str, known: TimeWords, named: list[Named], now: datetime) -> Times | None:
    """A time relative to now: "two weeks ago", "last Friday", "since yesterday"."""
    for pattern, kind in known.query.counted.items():
        if found := _counted(pattern, known).search(folded):
            count = known.number(found["n"])
            unit = cast(Unit, known.units[found["unit"]])
            if kind == "lately":
                return Times(window=_lately(now, unit, count))
            return _beside(_unit_window(now, unit, -count), folded, *found.span(), known, now)
    if weekday := _last_weekday(folded, known, named):
        back = (now.weekday() - known.day_names[weekday[0]]) % 7 or 7
        return _beside(_unit_window(now, "day", -back), folded, *weekday.span(), known, now)
    if not any_of(tuple(known.query.relative)).search(folded):  # most queries, in one look
        return None
    for pattern, (unit, offset) in known.query.relative.items():
        if found := compiled(pattern).search(folded):
            window = _unit_window(now, unit, offset)
            # "In May last year", "上周五": a part of it.
            if unit == "year" and named and named[0].period.month and not named[0].period.year:
                part = replace(named[0].period, year=window[0].year)
                spans = part.ranges(range(0), now.tzinfo)
                return Times(period=part, window=spans[0] if spans else None, words=(found[0],))
            day = any_name(known.day_names).search(folded, found.start())
            if unit == "week" and day and day.start() < found.end():
                since = window[0] + timedelta(days=known.day_names[day[0]])
                window = since, since + timedelta(days=1)
            # A weekend is talked about as well.
            words = () if unit == "weekend" else (found[0],)
            divided = unit not in ("day", "weekend")
            return _beside(window, folded, *found.span(), known, now, words, divided=divided)
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


def _fixed(folded: str, named: Named, known: TimeWords, now: datetime) -> Times:
    """A period, with the stretch that it and what stands beside it fix, if they do."""
    before, last = _last_before(folded[: named.start], known)
    after = folded[named.end :]
    edge = edge_of(before, after, known)
    last = last or not known.query.last.isdisjoint(LETTERS.findall(after)[:1])
    spans = named.period.ranges(range(now.year - 2, now.year + 2), now.tzinfo)
    if named.period.year is None:
        begun = [span for span in spans if span[0] <= now]
        if edge in UPPER and not last and _is_coming(folded, known):
            spans = [span for span in spans if span[1] > now][:1]
        elif edge and edge != "around" and not last:
            spans = begun[-1:]
        elif last or known.query.last & set(LETTERS.findall(folded)):
            spans = [span for span in begun if span[1] <= now][-1:]
        else:
            return Times(period=named.period, edge=edge)
    if not spans:
        return Times(period=named.period)
    window = spans[0]
    if named.period.day is None:
        window = part_of(window, before, after, edge, known)
    return Times(period=named.period, window=edged(window, edge, now), edge=edge)


def _is_coming(folded: str, known: TimeWords) -> bool:
    return compiled(known.query.coming).search(folded) is not None


def _beside(
    window: Window,
    text: str,
    start: int,
    end: int,
    known: TimeWords,
    now: datetime,
    words: tuple[str, ...] = (),
    *,
    divided: bool = False,
) -> Times:
    """A stretch of time relative to now with what stands beside it in a text."""
    before, _ = _last_before(text[:start], known)
    edge = edge_of(before, text[end:], known)
    if divided:
        window = part_of(window, before, text[end:], edge, known)
    return Times(window=edged(window, edge, now), edge=edge, words=words)


def _last_before(before: str, known: TimeWords) -> tuple[str, bool]:
    """What stands before a date, without a word for the past at its end, and whether there was one:
    a preposition leads "last summer" as it leads "summer"."""
    if not led(known.query.last, before):
        return before, False
    return before.rstrip().removesuffix(before.split()[-1]), True


def _last_weekday(folded: str, known: TimeWords, named: list[Named]) -> re.Match[str] | None:
    """A weekday with a word for the past before or behind it, or one that it is led by: "since Monday"."""
    for found in any_name(known.day_names).finditer(folded):
        if any(0 <= one.start - found.end() <= _NEAR for one in named):
            continue  # "the last Friday of June"
        before, behind = folded[: found.start()].split()[-1:], folded[found.end() :].split()[:1]
        for word in (*before, *behind):
            if word.strip("¿?!.,;") in known.query.last:
                return found
        edge = edge_of(folded[: found.start()], folded[found.end() :], known)
        if edge and not (edge in UPPER and _is_coming(folded, known)):
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


def _counted(pattern: str, known: TimeWords) -> re.Pattern[str]:
    number = alternatives(tuple(name for name, n in known.numbers.items() if n == int(n)))
    if known.few:
        number = f"{known.few}|{number}"
    unit = alternatives(tuple(name for name, one in known.units.items() if one in get_args(Unit)))
    return compiled(
        pattern.replace("{n}", rf"(?P<n>(?<![\d.,])\d{{1,3}}|{number})").replace(
            "{unit}", f"(?P<unit>{unit})"
        )
    )
