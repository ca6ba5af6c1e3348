"""The stretch of time a query names, by the calendar or relative to now, and whether it is meant itself.

Where dates stand, the forms of a language say, as they do for statements (`scanning`). All words are data
of the language; this file only applies them. Days begin at midnight where ``now`` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import pairwise
from typing import cast, get_args

from langmemory.languages import is_unspaced
from langmemory.languages.patterns import alternatives, any_name, any_of, compiled
from langmemory.languages.temporal.calendar import Span, around, months, moved, yearly
from langmemory.languages.temporal.words import TIME_WORDS, Edge, TimeWords, Unit, forms

Window = tuple[datetime, datetime]
"""``[since, until)``."""

LETTERS = re.compile(r"[^\W\d]+")

_YEAR = re.compile(r"(?<!\d)(19\d\d|20\d\d)(?!\d)")
_ISO_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)")
_NUMERIC_DATE = re.compile(r"(?<!\d)(\d{1,2})([./])(\d{1,2})\2((?:19|20)\d\d)(?!\d)")
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Where "before May" begins."""
UPPER: frozenset[Edge] = frozenset(("until", "before"))
"""What is looked for was said before the end."""
_THIRDS = {"first": (0, 1), "middle": (1, 2), "last": (2, 3)}
_NEAR = 8
"""At most so many characters stand between the two parts of "Friday of June"."""


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
            with suppress(ValueError, OverflowError):  # 30 February, the year 10000
                if self.month is None:
                    span = months(year, 1, 12, "year")
                else:
                    count = self.months if self.day is None else 1
                    span = yearly(year, self.month, day=self.day, count=count)
                found.append(_window(span, zone))
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A period and where in the text it stands."""

    period: Period
    start: int
    end: int
    until_day: int | None = None
    """The last day of a range within a month: "3 to 7 May"."""


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
    for one in named:
        if one.until_day is not None:
            return _range(one.period, replace(one.period, day=one.until_day), now)
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
            else _counted(rf"{pattern}\s+{known.query.article}$", known).search(before)
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
        if any(one.start - _NEAR <= found.end() <= one.end for one in named):
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
    return _window(around(unit, moved(unit, now, offset)), now.tzinfo)


def _window(span: Span, zone: tzinfo | None) -> Window:
    return span.start.replace(tzinfo=zone), span.end.replace(tzinfo=zone)


def _lately(now: datetime, unit: Unit, count: int) -> Window:
    """The so many units up to the end of today."""
    today, tomorrow = _unit_window(now, "day", 0)
    days = {"day": 1, "weekend": 7, "week": 7, "month": 30, "year": 365}[unit]
    return today - timedelta(days=days * count), tomorrow


_filled_in: dict[str, tuple[TimeWords, re.Pattern[str]]] = {}


def _counted(pattern: str, known: TimeWords) -> re.Pattern[str]:
    of, filled = _filled_in.get(pattern, (None, None))
    if of is not known or filled is None:  # of a language that was read anew, or another one
        filled = _with_numbers(pattern, known)
        _filled_in[pattern] = known, filled
    return filled


def _with_numbers(pattern: str, known: TimeWords) -> re.Pattern[str]:
    number = alternatives(tuple(name for name, n in known.numbers.items() if n == int(n)))
    if known.few:
        number = f"{known.few}|{number}"
    unit = alternatives(tuple(name for name, one in known.units.items() if one in get_args(Unit)))
    return compiled(
        pattern.replace("{n}", rf"(?P<n>(?<![\d.,])\d{{1,3}}|{number})").replace(
            "{unit}", f"(?P<unit>{unit})"
        )
    )


# Dates.


def named_periods(text: str, folded: str, known: TimeWords) -> Iterator[Named]:
    """The calendar dates, months, seasons and years a text names, in its order."""
    found: list[Named] = []

    def add(match: re.Match[str], period: Period, until: int | None = None) -> None:
        start, end = match.span()
        if all(end <= one.start or start >= one.end for one in found):
            found.append(Named(period=period, start=start, end=end, until_day=until))

    for date in _ISO_DATE.finditer(folded):
        year, month, day = (int(part) if part else None for part in date.groups())
        if month is not None and 1 <= month <= 12:
            add(date, Period(year=year, month=month, day=day))
    for match, words in _longest(folded, known):
        groups = {name: value for name, value in match.groupdict().items() if value}
        period = _period(groups, words)
        if period is None:
            continue
        alone = period.year is period.day is None
        if alone and (_is_verb(text, folded, match, words) or _is_person(folded, match, words)):
            continue
        add(match, period, words.number(groups["day2"]) if "day2" in groups else None)
    for date in _NUMERIC_DATE.finditer(folded):
        day, month = int(date[1]), int(date[3])
        if (date[2] == "/" and not known.query.day_first and day <= 12) or month > 12:
            day, month = month, day
        if month <= 12:
            add(date, Period(year=int(date[4]), month=month, day=day))
    for name in _YEAR.finditer(folded):
        add(name, Period(year=int(name[0])))
    yield from sorted(found, key=lambda one: one.start)


def _longest(folded: str, known: TimeWords) -> list[tuple[re.Match[str], TimeWords]]:
    """Return what the forms of a language find, the longest first. Of a script without spaces, those of
    its languages: dates are written alike in Japanese and Chinese."""
    several = [known]
    if known.spaced and is_unspaced(folded):
        several += [words for words in TIME_WORDS.values() if not words.spaced]
    matches = [
        (match, words)
        for words in several
        if any(map(str.isdigit, folded)) or any_name((*words.months, *words.seasons)).search(folded)
        for pattern in _calendar_forms(words.code)
        for match in pattern.finditer(folded)
    ]
    return sorted(matches, key=lambda one: (one[0].start() - one[0].end(), one[0].start()))


@lru_cache(maxsize=16)
def _calendar_forms(code: str) -> tuple[re.Pattern[str], ...]:
    """Return the forms of a language for dates, months and seasons: most texts have none of the rest."""
    calendar = {"month", "monthnum", "season", "year"}
    return tuple(
        pattern
        for form, pattern in forms(code)
        if form.step is form.year_step is None and calendar & pattern.groupindex.keys()
    )


def _period(groups: Mapping[str, str], known: TimeWords) -> Period | None:
    """Return the period of the groups of a form; None where it is no calendar date, month or season."""
    if not groups or not groups.keys() <= {"year", "month", "monthnum", "season", "day", "day2"}:
        return None
    year = int(groups["year"]) if "year" in groups else None
    if "season" in groups:
        first, count = known.seasons[groups["season"]]
        return Period(year=year, month=first, months=count)
    month = known.months[groups["month"]] if "month" in groups else int(groups.get("monthnum", 0))
    day = known.number(groups["day"]) if "day" in groups else None
    return Period(year=year, month=month or None, day=day)


def _is_verb(text: str, folded: str, name: re.Match[str], known: TimeWords) -> bool:
    """Whether a month or season without a day or year is written as a verb: "Who may march?"."""
    led_by = known.query.verbs.get(name[0])
    if led_by is None or name[0] not in LETTERS.findall(text):  # not written small
        return False
    before = re.sub(rf"\b{known.query.article}$", "", folded[: name.start()])
    edges = (word for words in known.query.edges.values() for word in words)
    return not led({*led_by, *known.query.last, *edges}, before)


def _is_person(folded: str, month: re.Match[str], known: TimeWords) -> bool:
    """Whether a month alone is somebody's name, or another word: "Who is June?", "May I"."""
    pattern = known.query.persons.replace("{month}", re.escape(month[0]))
    return any(
        found.start() <= month.start() < found.end() for found in compiled(pattern).finditer(folded)
    )


def is_range(folded: str, first: Named, second: Named, known: TimeWords) -> bool:
    """Whether two dates are the ends of a range: "between May and July"."""
    before, between = folded[: first.start], folded[first.end : second.start]
    return any(
        compiled(rf"\s*(?:{joiner})\s*{known.query.article}").fullmatch(between)
        and (not opener or compiled(rf"\b(?:{opener})\s+{known.query.article}$").search(before))
        for opener, joiner in known.query.ranges.items()
    )


def led(words: Iterable[str], before: str) -> bool:
    """Whether a text ends with one of the words."""
    last = before.split()[-1:]
    return bool(last) and last[0] in words


# Edges.


def edge_of(before: str, after: str, known: TimeWords) -> Edge | None:
    """What a date is, by what stands before and after it; None where it is just that time."""
    before = _without_part(_without_weekday(before, known), known)
    if not known.spaced:
        after = _without_part(after, known)
    for edge, words in known.query.edges.items():
        if _reads(_patterns(words, known), before, after, known):
            return edge
    for edge in known.query.edges:
        if _reads(_far_side(edge, known), after, before, known):
            return edge
    led = before.rstrip().rpartition(" ")[2]
    if led in known.query.onwards and re.match(rf"\s+(?:{known.query.onwards[led]})\b", after):
        return "since"
    return None


def edged(window: Window, edge: Edge | None, now: datetime) -> Window:
    """The stretch of time that an edge makes of a date; a neighbourhood is that of its middle."""
    since, until = window
    match edge:
        case "until":
            return EARLIEST, until
        case "before":
            return EARLIEST, since
        case "since":
            return since, max(now, until)
        case "after":
            return until, max(now, until)
    return window


def part_of(window: Window, before: str, after: str, edge: Edge | None, known: TimeWords) -> Window:
    """The third of a stretch of time that a query means by "early", "mid-" or "the end of"; the moment
    itself in "before the end of" and "after the beginning of"."""
    since, until = window
    text = after if not known.spaced else before
    for part, pattern in known.query.parts.items():
        if _part(pattern, known).search(text):
            if (edge, part) == ("before", "last"):
                return until, until
            if (edge, part) == ("after", "first"):
                return since, since
            first, last = _THIRDS[part]
            third = (until - since) / 3
            return since + first * third, until if last == 3 else since + last * third
    return window


def _reads(pattern: re.Pattern[str], side: str, other: str, known: TimeWords) -> bool:
    """Whether a pattern stands by a date: on the usual side of it, or the other where spaces are not
    written."""
    if not known.spaced:
        return pattern.search(other) is not None
    return pattern.search(side) is not None


@lru_cache(maxsize=64)
def _patterns(words: tuple[str, ...], known: TimeWords) -> re.Pattern[str]:
    """What stands before a date; in a script without spaces, behind it."""
    alternatives = "|".join(words) or "(?!)"
    if not known.spaced:
        return re.compile(rf"^(?:{alternatives})")
    between, article = known.query.between, known.query.article
    return re.compile(
        rf"(?:^|(?<=[\s¿¡(\"“„]))(?:{alternatives})[\s,]+{article}(?:{between}\s+)?{article}$"
    )


def _far_side(edge: Edge, known: TimeWords) -> re.Pattern[str]:
    return _other(known.query.other_side.get(edge, "(?!)"), known.query.between, not known.spaced)


@lru_cache(maxsize=64)
def _other(pattern: str, between: str, unspaced: bool) -> re.Pattern[str]:
    """What stands behind a date; in a script without spaces, before it."""
    if unspaced:
        return re.compile(rf"(?:{pattern})(?:{between})?$")
    return re.compile(rf"^[\s,(]+(?:{pattern})(?![^\W\d_])")


@lru_cache(maxsize=64)
def _part(pattern: str, known: TimeWords) -> re.Pattern[str]:
    if not known.spaced:
        return re.compile(rf"^(?:{pattern})")
    return re.compile(rf"(?<!\w)(?:{pattern})[\s-]+{known.query.article}$")


def _without_part(text: str, known: TimeWords) -> str:
    """The text beside a date without "the end of" and the like."""
    for pattern in known.query.parts.values():
        found = _part(pattern, known).search(text)
        if found:
            return text[found.end() :] if not known.spaced else text[: found.start()]
    return text


def _without_weekday(before: str, known: TimeWords) -> str:
    """The text before a date without the name of its day: "by Friday, 14 May"."""
    if not known.spaced:
        return before
    days = list(any_name(known.day_names).finditer(before))
    if not days or not compiled(rf"[\s,.]*{known.query.article}").fullmatch(before, days[-1].end()):
        return before
    return before[: days[-1].start()]
