"""What a matched form means: from its named groups to a stretch of the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from langmemory.languages.temporal.calendar import (
    Prefer,
    Span,
    SpanUnit,
    around,
    chosen,
    days,
    finer,
    months,
    moved,
    yearly,
)
from langmemory.languages.temporal.words import FEW, Form, TimeWords

CLOSE_YEARS = 3
"""How far a date without a year is looked for."""
NEAR_YEARS = 9
"""How far 29 February is looked for, which may be eight years away."""

Value = TypeVar("Value")


def read(
    match: re.Match[str], form: Form, words: TimeWords, said_at: datetime, prefer: Prefer | None
) -> Span | None:
    """The stretch a match means, in naive local time of ``said_at``; None for 31 February and
    whatever lies outside the years 1 to 9999."""
    try:
        span = _span(match, form, words, said_at, prefer)
    except (ValueError, OverflowError):
        return None
    # A margin, so that neither a timezone nor "the week before" leads out of the calendar.
    return span if span and span.start.year > 1 and span.end.year < 9999 else None


def _span(
    match: re.Match[str], form: Form, words: TimeWords, said_at: datetime, prefer: Prefer | None
) -> Span | None:
    groups = {name: value for name, value in match.groupdict().items() if value is not None}
    now = said_at.replace(tzinfo=None)
    midnight = around("day", now).start
    if "unit" in groups and groups.keys() & {"weekday", "named"}:
        return _away_from(groups, words, midnight) if "n" in groups else None
    if "unit" in groups:
        return _away(groups, words, said_at, form.step or 0)
    if "weeks" in groups:
        count = _value(words.weeks, groups["weeks"])
        return around("week", moved("week", now, (form.step or 0) * count))
    if "named" in groups:
        return around("day", midnight + timedelta(days=_value(words.days, groups["named"])))
    if "night" in groups:
        away, first, last = _value(words.nights, groups["night"])
        return hours(midnight + timedelta(days=away), first, last)
    if "period" in groups:
        unit = _value(words.units, groups["period"])
        return around(unit, moved(unit, now, form.step or 0))
    if "weekend" in groups:
        return _weekend(now, form.step, prefer)
    if "weekday" in groups:
        day = _value(words.weekdays, groups["weekday"])
        return _weekday(day, midnight, form.step, prefer, by_week=words.by_week)
    if "decade" in groups:
        return _decade(groups["decade"], words)
    return _calendar(groups, form, words, now, prefer)


def hours(midnight: datetime, first: int, last: int) -> Span:
    """Part of a day, from one hour to another; 24 is the next midnight."""
    return Span(
        start=midnight + timedelta(hours=first),
        end=midnight + timedelta(hours=last),
        precision="hour",
    )


def _away(groups: Mapping[str, str], words: TimeWords, said_at: datetime, sign: int) -> Span:
    """So many units ago or ahead: the calendar unit that lies there."""
    unit = _value(words.units, groups["unit"])
    if "few" in groups:
        first, last = sorted(_moment(said_at, unit, sign * count) for count in FEW)
        start, end = around(unit, first), around(unit, last)
        return Span(start=start.start, end=end.end, precision=start.precision)
    unit, count = finer(unit, number(groups["n"], words) + (0.5 if "half" in groups else 0))
    return around(unit, _moment(said_at, unit, sign * count))


def _away_from(groups: Mapping[str, str], words: TimeWords, midnight: datetime) -> Span | None:
    """ "A week from Friday", "a year from tomorrow": the day; None for "a month from Friday"."""
    unit, count = finer(_value(words.units, groups["unit"]), number(groups["n"], words))
    if "named" in groups:
        day = midnight + timedelta(days=_value(words.days, groups["named"]))
    else:
        ahead = (_value(words.weekdays, groups["weekday"]) - midnight.weekday()) % 7 or 7
        day = midnight + timedelta(days=ahead)
    if unit in ("day", "week"):
        return around("day", moved(unit, day, count))
    if unit == "year" and "named" in groups:
        return around("day", day.replace(year=day.year + count))
    return None


def _moment(said_at: datetime, unit: SpanUnit, count: int) -> datetime:
    if unit in ("minute", "hour"):  # elapsed time, whatever the clocks did in between
        moment = moved(unit, said_at.astimezone(UTC), count)
        return moment.astimezone(said_at.tzinfo).replace(tzinfo=None)
    return moved(unit, said_at.replace(tzinfo=None), count)


def _weekend(now: datetime, step: int | None, prefer: Prefer | None) -> Span | None:
    if step is not None:
        return around("weekend", moved("week", now, step))
    near = (around("weekend", moved("week", now, count)) for count in (-1, 0, 1))
    return chosen(near, now, prefer=prefer)


def _weekday(
    day: int, midnight: datetime, step: int | None, prefer: Prefer | None, *, by_week: bool
) -> Span | None:
    this_week = midnight + timedelta(days=day - midnight.weekday())
    if step == 0:
        return around("day", this_week)
    if step is not None and by_week:
        return around("day", this_week + timedelta(days=7 * step))
    # "On Friday" and "next Friday", said on a Friday, are not today.
    near = (this_week + timedelta(days=7 * count) for count in range(-2, 3))
    spans = [around("day", other) for other in near if other != midnight]
    return chosen(spans, midnight, step=step, prefer=prefer)


def _decade(name: str, words: TimeWords) -> Span:
    if not name.isdigit():
        year = _value(words.decades, name)
    elif len(name) == 4:
        year = int(name)
    else:
        year = int(name) + (1900 if int(name) >= 30 else 2000)
    return months(year, 1, 120, "decade")


def _calendar(
    groups: Mapping[str, str], form: Form, words: TimeWords, now: datetime, prefer: Prefer | None
) -> Span | None:
    """Dates, months, seasons, holidays and years."""
    make = _maker(groups, words)
    year = int(groups["year"]) if "year" in groups else None
    if form.year_step is not None:
        year = now.year + form.year_step
    if make is None:
        return None if year is None else months(year, 1, 12, "year")
    if year is not None:
        return make(year)
    years = _possible(make, now.year)
    if form.step == 0:
        return next((span for span in years if span.start.year == now.year), None)
    return chosen(years, now, step=form.step, prefer=prefer)


def _maker(groups: Mapping[str, str], words: TimeWords) -> Callable[[int], Span] | None:
    """From a year to the date, month, season or holiday of it; None when only a year is named."""
    if "season" in groups:
        first, count = _value(words.seasons, groups["season"])
        return lambda year: yearly(year, first, count=count)
    if "holiday" in groups:
        its_month, its_day, its_days = _value(words.holidays, groups["holiday"])
        return lambda year: days(datetime(year, its_month, its_day), its_days, "day")
    if "month" in groups:
        month = _value(words.months, groups["month"])
    elif "monthnum" in groups:
        month = int(groups["monthnum"])
    else:
        return None
    if "day" not in groups:
        return lambda year: yearly(year, month)
    day = int(number(groups["day"], words))
    last = int(number(groups["day2"], words)) if "day2" in groups else day
    return lambda year: Span(
        start=yearly(year, month, day=day).start,
        end=yearly(year, month, day=last).end,
        precision="day",
    )


def _possible(make: Callable[[int], Span], year: int) -> list[Span]:
    try:
        return [
            make(near)
            for near in range(max(1, year - CLOSE_YEARS), min(9998, year + CLOSE_YEARS) + 1)
        ]
    except ValueError:  # no 29 February in one of them
        spans = list[Span]()
        for near in range(max(1, year - NEAR_YEARS), min(9998, year + NEAR_YEARS) + 1):
            with suppress(ValueError):
                spans.append(make(near))
        return spans


def _value(table: Mapping[str, Value], word: str) -> Value:
    return table[" ".join(word.lower().split())]


def number(word: str, words: TimeWords) -> float:
    """What a number in digits or words is."""
    digits = word.replace(",", ".")
    return float(digits) if digits[0] in "0123456789" else _value(words.numbers, word)
