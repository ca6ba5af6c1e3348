"""Dates: the days, months, seasons and years of the calendar that a text names, and where.

All words are data of the language; this file only applies them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

from langmemory.languages.patterns import any_name, compiled
from langmemory.languages.temporal.words import TimeWords

Window = tuple[datetime, datetime]
"""``[since, until)``."""

ARTICLES = r"(?:(?:the|dem|den|der|zum|el|la)\s+)?"
"""Of what may stand between a preposition and a date."""
LETTERS = re.compile(r"[^\W\d]+")

_YEAR = re.compile(r"(?<!\d)(19\d\d|20\d\d)(?!\d)")
_YEAR_BEHIND = re.compile(r"\s*(?:,|of\b|de\b|del\b|年)?\s*((?:19|20)\d\d)(?!\d)")
_ISO_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)")
_CJK_DIGITS = "〇一二三四五六七八九"
_CJK_NUMBER = rf"\d{{1,2}}|[二三]?十[{_CJK_DIGITS[1:]}]?|[{_CJK_DIGITS[1:]}]"
_CJK_DATE = re.compile(
    rf"(?:((?:19|20)\d\d)年)?({_CJK_NUMBER})月(?:({_CJK_NUMBER})[日号號])?|((?:19|20)\d\d)年"
)
_NUMERIC_DATE = re.compile(r"(?<!\d)(\d{1,2})([./])(\d{1,2})\2((?:19|20)\d\d)(?!\d)")
_DIGIT = re.compile(r"\d")
_ORDINAL = r"(?:st|nd|rd|th|[.日号號])?"
_DAY_BEFORE = re.compile(rf"(?<![\d.,:/-])(\d{{1,2}}){_ORDINAL}(?=\D{{1,12}}$)")
_DAY_BEHIND = re.compile(rf"(?<!\d)(\d{{1,2}}){_ORDINAL}(?!\d|[:.,/]\d|\s*(?:am|pm|uhr|h)\b)")


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
                    found.append((start, first_of_month(start, months)))
            except (ValueError, OverflowError):  # 30 February, the year 10000
                continue
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A period and where in the text it stands."""

    period: Period
    start: int
    end: int


def named_periods(text: str, folded: str, known: TimeWords) -> Iterator[Named]:
    """The calendar dates, months, seasons and years a text names, in its order."""
    found: list[Named] = []

    def add(start: int, end: int, **parts: int | None) -> None:
        if all(end <= one.start or start >= one.end for one in found):
            found.append(Named(period=Period(**parts), start=start, end=end))  # type: ignore[arg-type]

    digits = _DIGIT.search(folded) is not None
    dated = digits or "月" in folded
    for date in (*_ISO_DATE.finditer(folded), *_CJK_DATE.finditer(folded)) if dated else ():
        year, month, day, *alone = (_number(part) if part else None for part in date.groups())
        if month is None or 1 <= month <= 12:
            add(*date.span(), year=year or next(iter(alone), None), month=month, day=day)
    for date in _NUMERIC_DATE.finditer(folded) if digits else ():
        day, month = int(date[1]), int(date[3])
        if (date[2] == "/" and not known.query.day_first and day <= 12) or month > 12:
            day, month = month, day
        if month <= 12:
            add(*date.span(), year=int(date[4]), month=month, day=day)
    for name in any_name(known.months).finditer(folded):
        start, end, day = _with_day(folded, name)
        end, year = _with_year(folded, end)
        if day is year is None and (
            _is_verb(text, folded, name, known) or _is_person(folded, name, known)
        ):
            continue
        add(start, end, year=year, month=known.months[name[0]], day=day)
    for name in any_name(known.seasons).finditer(folded):
        end, year = _with_year(folded, name.end())
        if year is None and _is_verb(text, folded, name, known):
            continue
        month, months = known.seasons[name[0]]
        add(name.start(), end, year=year, month=month, months=months)
    for one in [one for one in found if one.period.day is not None]:
        if other := _other_day(folded, one, known):
            add(other.start, other.end, **asdict(other.period))
    for name in _YEAR.finditer(folded) if digits else ():
        add(*name.span(), year=int(name[0]))
    yield from sorted(found, key=lambda one: one.start)


def _number(text: str) -> int:
    """ "12" and "十二"."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return 10 * _CJK_DIGITS.index(tens or "一") * bool(ten) + _CJK_DIGITS.index(ones or "〇")


def _is_verb(text: str, folded: str, name: re.Match[str], known: TimeWords) -> bool:
    """Whether a month or season without a day or year is written as a verb: "Who may march?"."""
    led_by = known.query.verbs.get(name[0])
    if led_by is None or name[0] not in LETTERS.findall(text):  # not written small
        return False
    before = re.sub(rf"\b{ARTICLES}$", "", folded[: name.start()])
    edges = (word for words in known.query.edges.values() for word in words)
    return not led({*led_by, *known.query.last, *edges}, before)


def _other_day(folded: str, one: Named, known: TimeWords) -> Named | None:
    """The other end of a range within a month, which has only one of them: "3 to 7 May", "May 3-7"."""
    if before := _DAY_BEFORE.search(folded, 0, one.start):
        other = replace(
            one,
            period=replace(one.period, day=int(before[1])),
            start=before.start(),
            end=before.end(),
        )
        if _ascend(other, one) and is_range(folded, other, one, known):
            return other
    if behind := _DAY_BEHIND.search(folded, one.end):
        end, year = _with_year(folded, behind.end())
        other = Named(
            period=replace(one.period, day=int(behind[1]), year=one.period.year or year),
            start=behind.start(),
            end=end,
        )
        if _ascend(one, other) and is_range(folded, one, other, known):
            return other
    return None


def _ascend(first: Named, second: Named) -> bool:
    return 0 < (first.period.day or 0) < (second.period.day or 0) <= 31


def _is_person(folded: str, month: re.Match[str], known: TimeWords) -> bool:
    """Whether a month alone is somebody's name, or another word: "Who is June?", "May I"."""
    pattern = known.query.persons.replace("{month}", re.escape(month[0]))
    return any(
        found.start() <= month.start() < found.end() for found in compiled(pattern).finditer(folded)
    )


def _with_day(folded: str, month: re.Match[str]) -> tuple[int, int, int | None]:
    """Where a month begins and ends with the day written before or after it: "7 July", "July 7th",
    "7. Juli", "7 de julio"."""
    before = re.search(
        r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|\.)?\s*(?:of |de )?$", folded[: month.start()]
    )
    after = re.match(r"\.?\s*(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?!\d)", folded[month.end() :])
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


def is_range(folded: str, first: Named, second: Named, known: TimeWords) -> bool:
    """Whether two dates are the ends of a range: "between May and July"."""
    before, between = folded[: first.start], folded[first.end : second.start]
    return any(
        compiled(rf"\s*(?:{joiner})\s*{ARTICLES}").fullmatch(between)
        and (not opener or compiled(rf"\b(?:{opener})\s+{ARTICLES}$").search(before))
        for opener, joiner in known.query.ranges.items()
    )


def led(words: Iterable[str], before: str) -> bool:
    """Whether a text ends with one of the words."""
    last = before.split()[-1:]
    return bool(last) and last[0] in words


def first_of_month(moment: datetime, offset: int) -> datetime:
    """The first day of the month that is ``offset`` months away from a moment's, at its time of day."""
    month = moment.year * 12 + moment.month - 1 + offset
    return moment.replace(year=month // 12, month=month % 12 + 1, day=1)
