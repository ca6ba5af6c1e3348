"""Stretches of the calendar: the day, week or season a moment lies in, and which one is meant.

Everything here is naive local time of the speaker; `formation.times` attaches the timezone, so that a day
begins at local midnight on both sides of a change of the clocks. Weeks begin on Monday (ISO 8601).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Precision = Literal["minute", "hour", "day", "week", "month", "season", "year", "decade"]
SpanUnit = Literal["minute", "hour", "day", "week", "weekend", "month", "year", "decade"]

Prefer = Literal["past", "future"]
"""Which "on Friday" or "in May" is meant, where the words leave it open."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """``[start, end)`` in naive local time."""

    start: datetime
    end: datetime
    precision: Precision


def around(unit: SpanUnit, moment: datetime) -> Span:
    """The unit that a moment lies in; the weekend is that of its week."""
    minute = moment.replace(second=0, microsecond=0)
    hour = minute.replace(minute=0)
    midnight = hour.replace(hour=0)
    match unit:
        case "minute":
            return Span(start=minute, end=minute + timedelta(minutes=1), precision="minute")
        case "hour":
            return Span(start=hour, end=hour + timedelta(hours=1), precision="hour")
        case "day":
            return days(midnight, 1, "day")
        case "week":
            return days(midnight - timedelta(days=midnight.weekday()), 7, "week")
        case "weekend":
            return days(midnight + timedelta(days=5 - midnight.weekday()), 2, "day")
        case "month":
            return months(moment.year, moment.month, 1, "month")
        case "year":
            return months(moment.year, 1, 12, "year")
        case "decade":
            return months(moment.year // 10 * 10, 1, 120, "decade")


def days(start: datetime, count: int, precision: Precision) -> Span:
    return Span(start=start, end=start + timedelta(days=count), precision=precision)


def months(year: int, month: int, count: int, precision: Precision) -> Span:
    """So many calendar months from the first of this one."""
    return Span(start=_month(year * 12 + month - 1), end=_month(year * 12 + month - 1 + count),
                precision=precision)  # fmt: skip


def moved(unit: SpanUnit, moment: datetime, count: int) -> datetime:
    """A moment so many units away. Months and longer go to the first day of theirs.

    Raises:
        OverflowError, ValueError: It lies outside the years 1 to 9999.
    """
    match unit:
        case "minute":
            return moment + timedelta(minutes=count)
        case "hour":
            return moment + timedelta(hours=count)
        case "day":
            return moment + timedelta(days=count)
        case "week" | "weekend":
            return moment + timedelta(days=7 * count)
        case "month" | "year" | "decade":
            step = {"month": 1, "year": 12, "decade": 120}[unit]
            return _month(moment.year * 12 + moment.month - 1 + step * count)


def finer(unit: SpanUnit, count: float) -> tuple[SpanUnit, int]:
    """A half number of units as a whole number of smaller ones: 1.5 years are 18 months."""
    if count == int(count):
        return unit, int(count)
    smaller: dict[SpanUnit, tuple[SpanUnit, int]] = {
        "decade": ("year", 10), "year": ("month", 12), "month": ("week", 4), "week": ("day", 7),
        "day": ("hour", 24), "hour": ("minute", 60),
    }  # fmt: skip
    if unit not in smaller:
        return unit, int(count)
    into, factor = smaller[unit]
    return into, int(count * factor)


def third(span: Span, part: int) -> Span:
    """The beginning (0), middle (1) or end (2) of a stretch, as people cut it."""
    start, end = span.start, span.end
    match span.precision:
        case "month":
            cuts = [start, start + timedelta(days=10), start + timedelta(days=20), end]
            precision: Precision = "week"
        case "season" | "year" | "decade":
            count = (end.year - start.year) * 12 + end.month - start.month
            first = start.year * 12 + start.month - 1
            cuts = [_month(first + count * cut // 3) for cut in range(4)]
            finer_one: dict[str, Precision] = {"season": "month", "year": "season"}
            precision = finer_one.get(span.precision, "year")
        case "week":
            cuts = [start, start + timedelta(days=2), start + timedelta(days=4), end]
            precision = "day"
        case _:
            return span
    return Span(start=cuts[part], end=cuts[part + 1], precision=precision)


def yearly(year: int, month: int, *, day: int | None = None, count: int = 1) -> Span:
    """In one year: a date, a month, or a season of so many months.

    Raises:
        ValueError: There is no such day.
    """
    if day is not None:
        return days(datetime(year, month, day), count, "day")
    return months(year, month, count, "month" if count == 1 else "season")


def in_year(moment: datetime, year: int) -> datetime:
    """The same day in another year, the last of February for a leap day."""
    leap = (moment.month, moment.day) == (2, 29)
    return moment.replace(year=year, day=28 if leap else moment.day)


def chosen(candidates: Iterable[Span], now: datetime, *, step: int | None = None,
           prefer: Prefer | None = None) -> Span | None:  # fmt: skip
    """The one of the recurring stretches (every May, every Friday) that is meant.

    ``step`` -1 is the latest that is over ("last May"), 1 the first that is yet to begin ("next
    May"). Without it the preference decides, and what is going on counts as either; without a
    preference it is the one nearest in time, the earlier of two.
    """
    ordered = sorted(candidates, key=lambda span: span.start)
    over = [span for span in ordered if span.end <= now]
    ahead = [span for span in ordered if span.start > now]
    going = [span for span in ordered if span.start <= now < span.end]
    if step is not None and step < 0:
        return over[step] if len(over) >= -step else None
    if step is not None and step > 0:
        return ahead[step - 1] if len(ahead) >= step else None
    if prefer == "past":
        return next(iter(going or over[-1:]), None)
    if prefer == "future":
        return next(iter(going or ahead[:1]), None)
    near = going or sorted(over[-1:] + ahead[:1], key=lambda span: _distance(span, now))
    return next(iter(near), None)


def _distance(span: Span, now: datetime) -> timedelta:
    return now - span.end if span.end <= now else span.start - now


def _month(index: int) -> datetime:
    return datetime(index // 12, index % 12 + 1, 1)
