"""Where in a text times stand: every form that matches, widened by what belongs to it."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Literal

from langmemory.languages.temporal.calendar import (
    Prefer,
    Span,
    around,
    finer,
    in_year,
    moved,
    third,
)
from langmemory.languages.temporal.reading import hours, number, read
from langmemory.languages.temporal.words import Form, Role, TimeWords, anchor, matches

_YEAR = re.compile(r"(?:19|20)\d\d")

CONTEXT_CHARACTERS = 40
"""How far before a time its prepositions may reach."""


Kind = Literal["", "weekday", "named", "yearly"]
"""What may lie within another time: a day of the week, "today", a date without a year."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A time in a text."""

    start: int
    """Characters ``[start, end)`` of the text, prepositions included."""
    end: int
    span: Span
    strong: bool
    """Whether it is a time whatever the sentence; "May" alone is weak."""
    role: Role = "at"
    any_week: bool = False
    """A day of the week alone: of which week, it does not say."""
    kind: Kind = ""


def scan(
    text: str, words: TimeWords, said_at: datetime, prefer: Prefer | None = None
) -> list[Candidate]:
    """Every time of the text in order, the longest where they overlap."""
    found: list[Candidate] = []
    for form, match in matches(text, words.code):
        candidate = _candidate(match, form, words, said_at, prefer)
        if candidate is not None:
            found.append(candidate)
    found.sort(key=lambda one: (one.start - one.end, not one.strong, one.start))
    kept: list[Candidate] = []
    for one in found:
        place = bisect_left(kept, one.start, key=attrgetter("start"))
        after_one_before = place == 0 or kept[place - 1].end <= one.start
        if after_one_before and (place == len(kept) or one.end <= kept[place].start):
            kept.insert(place, one)
    return _paired(_nested(kept, text, words, said_at.replace(tzinfo=None)), text, words)


def is_all(candidate: Candidate, text: str, words: TimeWords) -> bool:
    """Whether nothing but fillers ("around", "some time") stands beside the time."""
    rest = f"{text[: candidate.start]} {text[candidate.end :]}"
    bound = r"\b" if words.spaced else ""
    rest = _regex(f"{bound}(?:{words.filler}){bound}").sub(" ", rest)
    return not any(character.isalnum() for character in rest)


def _candidate(
    match: re.Match[str], form: Form, words: TimeWords, said_at: datetime, prefer: Prefer | None
) -> Candidate | None:
    text, start, end = match.string, match.start(), match.end()
    if _after(words.never_after, text, end):
        return None
    if prefer is None and _before(words.behind, text, start, words):
        prefer = "past"
    groups = {name for name, value in match.groupdict().items() if value}
    if "month" in groups and "day" not in groups:
        rest = None if "year" in groups else _regex(words.rest_of_date).match(text, end)
        if rest or _regex(words.part_of_date).search(
            text, max(0, start - CONTEXT_CHARACTERS), start
        ):
            return None
    span = read(match, form, words, said_at, prefer)
    if span is None:
        return None
    start, end, span, edged = _edged(text, start, end, span, words)
    if form.needs == "edge" and not edged:
        return None
    if form.needs == "lasting" and not _lasts(text, start, words):
        return None
    if not edged:
        end, span = _within_day(text, end, span, words)
    start, span, anchored = _anchored(text, start, span, words)
    if not anchored and _before(words.never_before, text, start, words):
        return None
    led = _before(words.lead, text, start, words)
    led = led or _before(words.since, text, start, words)
    if _is_other_word(match, form, words, led=led is not None or edged or anchored):
        return None
    strong = (
        form.needs in ("", "lasting") or edged or anchored or led is not None or end > match.end()
    )
    start = led.start() if led else start
    any_week = groups == {"weekday"} and form.step is None and span.precision == "day"
    found = Candidate(
        start=start, end=end, span=span, strong=strong, role=form.role, any_week=any_week,
        kind="" if anchored or edged or form.year_step is not None else _kind(groups),
    )  # fmt: skip
    return _roled(text, found, words)


def _lasts(text: str, start: int, words: TimeWords) -> bool:
    """Whether the clause says, before how long, that something is so still."""
    clause = _regex(rf"(?:{words.lasting})[^.!?;,。！？；，]*\Z")
    return clause.search(text, max(0, start - 2 * CONTEXT_CHARACTERS), start) is not None


def _edged(
    text: str, start: int, end: int, span: Span, words: TimeWords
) -> tuple[int, int, Span, bool]:
    """Cut to its beginning, middle or end where the words around say so: "early", "月底"."""
    for part in range(3):
        if words.edges[part] and (found := _before(words.edges[part], text, start, words)):
            return found.start(), end, third(span, part), True
        if words.edges_after[part] and (found := _after(words.edges_after[part], text, end)):
            return start, found.end(), third(span, part), True
    return start, end, span, False


def _within_day(text: str, end: int, span: Span, words: TimeWords) -> tuple[int, Span]:
    """Narrowed to the part and the hour of the day that follow: "evening", "at 7:30 pm"."""
    if span.end - span.start > timedelta(days=1):
        return end, span
    for name, (first, last) in words.parts.items():
        bound = r"\b" if words.spaced else ""
        if span.precision == "day" and (found := _after(rf"\s*{name}{bound}", text, end)):
            end, span = found.end(), hours(span.start, first, last)
    if words.clock and (found := _after(words.clock, text, end)):
        at = _at_clock(found, span)
        if at is not None:
            return found.end(), at
        if not text[found.end() :].strip(" .,;!?"):
            return found.end(), span
    return end, span


def _at_clock(found: re.Match[str], span: Span) -> Span | None:
    """The hour or minute of a day; None where nothing tells morning from evening ("at 5")."""
    groups = found.groupdict()
    hour, minute = int(groups["hour"]), groups["minute"]
    before_noon, after_noon = bool(groups.get("am")), bool(groups.get("pm"))
    if span.precision == "hour":
        before_noon, after_noon = span.start.hour < 12, span.start.hour >= 12
    into_night = span.precision == "hour" and span.end.hour == 0 and (hour < 5 or hour == 12)
    if into_night and not (groups.get("am") or groups.get("pm")):  # "last night at 3"
        moment = span.end + timedelta(hours=hour % 12, minutes=int(minute or 0))
        return around("minute" if minute else "hour", moment)
    if hour > 24 or not (before_noon or after_noon or hour > 12):
        return None
    if after_noon and hour < 12:
        hour += 12
    elif before_noon and hour == 12 and groups.get("am", "").lower().startswith("a"):
        hour = 0
    moment = around("day", span.start).start + timedelta(hours=hour, minutes=int(minute or 0))
    return around("minute" if minute else "hour", moment)


def _anchored(text: str, start: int, span: Span, words: TimeWords) -> tuple[int, Span, bool]:
    """What lies before, in or after the time: "the week before Christmas"."""
    found = _before(anchor(words.code), text, start, words)
    if found is None:
        return start, span, False
    name, groups = " ".join(found["anchor"].lower().split()), found.groupdict()
    step = -1 if groups.get("back") else 1 if groups.get("ahead") else 0
    unit = words.units.get(name, "weekend")
    if groups["n"]:  # "two days before Christmas"
        if not step or name not in words.units:
            return start, span, False
        unit, count = finer(unit, number(groups["n"], words))
        edge = span.start if step < 0 else span.end - timedelta(days=1)
        return found.start(), around(unit, moved(unit, edge, step * count)), True
    if name in words.units and any(name != one and name.startswith(one) for one in words.units):
        return start, span, False  # "the days before Christmas"
    a_unit = around("day" if name in words.weekdays else unit, span.start)
    if not step and a_unit.end - a_unit.start < span.end - span.start and span.precision != "week":
        return start, span, False  # "the last day of March"
    if name in words.weekdays:
        edge = span.end if step > 0 else span.start
        days = words.weekdays[name] - edge.weekday()
        days += 7 if step > 0 and days < 0 else -7 if step < 0 and days >= 0 else 0
        return found.start(), around("day", edge + timedelta(days=days)), True
    return found.start(), around(unit, moved(unit, span.start, step)), True


def _roled(text: str, found: Candidate, words: TimeWords) -> Candidate:
    """With its role, read off the words that lead or follow it."""
    if found.role != "at":
        return found
    marks: tuple[tuple[Role, str, str], ...] = (
        ("since", words.since, words.since_after),
        ("until", words.until, words.until_after),
    )
    for role, lead, follows in marks:
        start = end = None
        if led := _before(lead, text, found.start, words):
            start = led.start()
        elif _regex(lead).match(text, found.start, found.end):
            start = found.start
        if follows and (after := _after(follows, text, found.end)):
            end = after.end()
        if start is not None or end is not None:
            return replace(
                found,
                start=found.start if start is None else start,
                end=end or found.end,
                role=role,
                strong=found.strong or role == "since",
            )
    return found


def _kind(groups: set[str]) -> Kind:
    if "weekday" in groups:
        return "weekday"
    if "named" in groups:
        return "named"
    named = groups & {"month", "monthnum", "season", "holiday"}
    return "yearly" if named and "year" not in groups else ""


def _nested(
    candidates: list[Candidate], text: str, words: TimeWords, now: datetime
) -> list[Candidate]:
    """Two times of which one lies within the other as one: "Friday of next week", "a week ago
    today", "two years ago in May". Of those that do not go together, like "the last Friday of
    June", the longer."""
    joined: list[Candidate] = []
    for one in candidates:
        before = joined[-1] if joined else None
        if (
            before is None
            or one.role != "at"
            or not _regex(words.within).fullmatch(text, before.end, one.start)
        ):
            joined.append(one)
            continue
        inner, outer = (before, one) if before.kind else (one, before)
        if not inner.kind or outer.kind == inner.kind or _days(inner) >= _days(outer):
            joined.append(one)
            continue
        span = _within(inner, outer, now) if outer.strong else None
        if span is not None:
            outer = replace(
                outer, start=before.start, end=one.end, span=span, strong=True, kind="",
                role=outer.role if before.role == "at" else before.role,
            )  # fmt: skip
        elif inner.kind != "weekday" and (outer.span.precision, inner.kind) != ("year", "yearly"):
            joined.append(one)
            continue
        joined[-1] = outer
    return joined


def _days(candidate: Candidate) -> float:
    return (candidate.span.end - candidate.span.start) / timedelta(days=1)


def _within(inner: Candidate, outer: Candidate, now: datetime) -> Span | None:
    """The inner time moved into the outer; None where nobody knows which is meant."""
    start, end, into = inner.span.start, inner.span.end, outer.span.start
    precision, long = outer.span.precision, _days(outer)
    if precision == "week" and long == 7:
        if inner.kind == "weekday":
            begins = into + timedelta(days=start.weekday(), hours=start.hour)
        elif inner.kind == "named":
            begins = start + (into - around("week", now).start)
        else:
            return None
        return replace(inner.span, start=begins, end=begins + (end - start))
    try:
        if inner.kind == "named" and not outer.kind and precision == "month" and long <= 31:
            begins = start.replace(year=into.year, month=into.month)
            return replace(inner.span, start=begins, end=begins + (end - start))
        if inner.kind in ("named", "yearly") and precision == "year" and long <= 366:
            years = into.year - start.year
            begins, ends = start.replace(year=into.year), in_year(end, end.year + years)
            return replace(inner.span, start=begins, end=ends)
    except ValueError:  # no 29 February in that year, no 31st in that month
        return None
    return None


def _paired(candidates: list[Candidate], text: str, words: TimeWords) -> list[Candidate]:
    """Two times with "to" between them as one."""
    joined: list[Candidate] = []
    for one in candidates:
        before = joined[-1] if joined else None
        if (
            before is None
            or before.role not in ("at", "since")
            or not _joins(before, one, text, words)
        ):
            joined.append(one)
            continue
        opened = _before(words.between, text, before.start, words)
        start, end = before.span.start, one.span.end
        if before.any_week and one.any_week:  # "from Friday to Monday"
            end = start + timedelta(days=(one.span.start - start).days % 7 + 1)
        if start >= end:  # "from May to July 2021", "28 December to 4 January"
            of_year = _YEAR.search(text, one.start, one.end)
            start = in_year(start, one.span.start.year) if of_year else start
            end = end if of_year else in_year(end, end.year + 1)
        if start < end:
            joined[-1] = Candidate(
                start=opened.start() if opened else before.start,
                end=one.end,
                span=replace(before.span, start=start, end=end),
                strong=before.strong or one.strong or opened is not None or before.role == "since",
                role="from_to",
            )
    return joined


def _joins(before: Candidate, one: Candidate, text: str, words: TimeWords) -> bool:
    between = text[before.end : one.start]
    if one.role == "until":
        return not between.strip()
    opened = _before(words.between, text, before.start, words)
    return _regex(words.and_ if opened else words.to).fullmatch(between) is not None


def _is_other_word(match: re.Match[str], form: Form, words: TimeWords, *, led: bool) -> bool:
    """Whether it is a verb or another word: "may" and "march" in small letters without a
    preposition or a year, "sun" and "sat" in small letters."""
    groups = match.groupdict()
    name = groups.get("month") or groups.get("weekday") or ""
    if name in words.short:
        return True
    steps = form.step is not None or form.year_step is not None
    return name in words.capital and not (led or steps or groups.get("year") or groups.get("day"))


def _before(pattern: str, text: str, start: int, words: TimeWords) -> re.Match[str] | None:
    """The pattern right before a place, from a word boundary on."""
    bound = r"(?<!\w)" if words.spaced else ""
    whole = _regex(rf"{bound}(?:{pattern})\Z")
    return whole.search(text, max(0, start - CONTEXT_CHARACTERS), start)


def _after(pattern: str, text: str, end: int) -> re.Match[str] | None:
    return _regex(pattern).match(text, end)


@lru_cache(maxsize=512)
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
