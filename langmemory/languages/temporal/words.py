"""How one human language names times, as plain data, and what its patterns are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Literal

from langmemory.languages.tables import Topic
from langmemory.languages.temporal.calendar import Prefer, SpanUnit

FEW = (2, 5)
"""What "a few" stands for."""

Role = Literal["at", "since", "until", "from_to"]
"""What a time does in its sentence: fix a moment, begin a state, end one, or both."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """One way to name a time: a regular expression with ``{placeholders}`` (see `TimeWords.parts_of`)."""

    pattern: str
    step: int | None = None
    """-1 last or ago, 0 this, 1 next or ahead; with a number of units, the sign."""
    year_step: int | None = None
    """The year is this many away from the speaker's ("May of last year" is -1)."""
    needs: Literal["", "lead", "edge", "lasting"] = ""
    """Too weak alone: it needs a preposition ("in" May), a part ("the end of" the month), or a verb of
    what lasts still ("has lived" for three years)."""
    role: Role = "at"


Unit = Literal["day", "weekend", "week", "month", "year"]

Edge = Literal["until", "since", "after", "before", "around"]
"""What a date is to a stretch of time: its last part ("by May"), its first ("since May"), what ends just
before it or begins just after, or the middle of a neighbourhood."""

Part = Literal["first", "middle", "last"]
"""A third of a stretch of time: "early May", "mid-May", "the end of May"."""

Counted = Literal["ago", "lately"]
"""Whether counted units lead to a time ("two weeks ago") or fill the time until now ("the last two
weeks")."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryWords:
    """Words by which a query says which part of a time it means; every table may be empty.

    They are lower case (`str.casefold`)."""

    relative: Mapping[str, tuple[Unit, int]] = field(default_factory=dict)
    """Regular expression to (unit, offset): ``"last week"`` is ``("week", -1)``; first hit wins."""
    counted: Mapping[str, Counted] = field(default_factory=dict)
    """Regular expression with ``{n}`` for a number and ``{unit}`` for a unit to what it means."""
    last: frozenset[str] = frozenset()
    """Words that put a month, season or weekday beside them into the past ("last spring")."""
    since: tuple[str, ...] = ()
    """Regular expressions of what opens a range at the beginning of the following date ("since May");
    in a script without spaces of the date before it, as in the next ones."""
    onwards: Mapping[str, str] = field(default_factory=dict)
    """Words that do so only where something behind the date does, too, a regular expression:
    ``"from"`` to ``"on"``."""
    after: tuple[str, ...] = ()
    """What opens a range at the end of a date ("after May")."""
    before: tuple[str, ...] = ()
    """What ends a range at the beginning of a date ("before May")."""
    until: tuple[str, ...] = ()
    """What ends a range at the end of a date ("by May", "as of May")."""
    around: tuple[str, ...] = ()
    """What means the time around a date ("around May")."""
    other_side: Mapping[Edge, str] = field(default_factory=dict)
    """Edge to a regular expression of what says the same on the other side of the date: "14 May at the
    latest", in a script without spaces "截至5月14日"."""
    between: str = r"(?!)"
    """Regular expression of what may stand between these words and the date: "by noon on 14 May"."""
    articles: tuple[str, ...] = ()
    """Words that may stand between a preposition and the date."""
    parts: Mapping[Part, str] = field(default_factory=dict)
    """Regular expressions of what takes a third of the following month, season or year ("the end of");
    in a script without spaces of that before it."""
    shifted: Mapping[str, int] = field(default_factory=dict)
    """Regular expression with ``{n}`` and ``{unit}`` before a date, in a script without spaces behind it,
    to -1 or 1 for so many units before or after it: "two weeks before 11 August"."""
    coming: str = r"(?!)"
    """Regular expression of what shows that a date without a year is still to come: "must", "due"."""
    ranges: Mapping[str, str] = field(default_factory=dict)
    """Regular expression before the first of two dates to the one between them, where both are the
    ends of a range: ``"between"`` to ``"and"``."""
    persons: str = r"(?!)"
    """Regular expression of what shows that ``{month}``, alone, is somebody's name or another word:
    "who is June", "May I"."""
    verbs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Month or season that is a verb, too, to the words behind which it is none where it is written
    small; behind those for an edge or the past it is none either."""
    day_first: bool = True
    """Whether 5/7/2023 is 5 July; with points it always is."""

    @property
    def article(self) -> str:
        """Return a pattern of an article, or of none, with the white space behind it."""
        return rf"(?:(?:{'|'.join(self.articles)})\s+)?" if self.articles else ""

    @property
    def edges(self) -> Mapping[Edge, tuple[str, ...]]:
        """What makes a date each edge, in the order to look: "not later than" before "later than"."""
        return {
            "until": self.until,
            "since": self.since,
            "after": self.after,
            "before": self.before,
            "around": self.around,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenses:
    """Patterns, whatever the case, by which a statement is ahead or over. "The wedding is on 3 March" is
    ahead, "the wedding was on 3 March" is over."""

    ahead: str
    over: str
    present: str
    occasions: str
    """What takes place: of a state, "in March" may be when it began."""
    was: str = r"(?!)"
    """With it, what is ahead is over: "was going to"."""

    def of(self, text: str, *, is_event: bool) -> Prefer | None:
        """Return whether what a statement tells lies behind or ahead; None where its verbs do not say.

        Args:
            text: The statement.
            is_event: Whether it tells of something that takes place, whatever it is called.
        """

        def has(pattern: str) -> bool:
            return re.search(pattern, text, re.IGNORECASE) is not None

        if not is_event and not has(self.occasions):
            return None
        # "Was going to" is over; "is getting married" is not, though "married" may be past.
        if has(self.ahead) and not (has(self.over) and has(self.was)):
            return "future"
        if has(self.over):
            return "past"
        return "future" if has(self.present) else None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TimeWords:
    """Words are matched whatever their case; those of tables are plain, the rest are regular
    expressions without groups, but for ``clock``."""

    code: str
    """BCP 47, e.g. ``"en"``."""
    spaced: bool = True
    """Whether words have boundaries."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    ordinals: tuple[str, ...] = ()
    """Numbers that name a day of a month."""
    few: str = ""
    """An unknown small number: two to five."""
    half: str = ""
    """What adds a half to the number before it."""
    units: Mapping[str, SpanUnit] = field(default_factory=dict)
    weekend: str = "(?!)"
    weekdays: Mapping[str, int] = field(default_factory=dict)
    """0 is Monday."""
    by_week: bool = False
    """Whether "last Friday" and "next Friday" are those of last and next week."""
    months: Mapping[str, int] = field(default_factory=dict)
    seasons: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """(first month, months)."""
    decades: Mapping[str, int] = field(default_factory=dict)
    """"nineties" to 1990."""
    weeks: Mapping[str, int] = field(default_factory=dict)
    """Numbers of days that stand for weeks: "a fortnight" to 2."""
    days: Mapping[str, int] = field(default_factory=dict)
    """"yesterday" to -1."""
    nights: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """"tonight" to (days away, first hour, hour after the last)."""
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """What may follow a day: "evening" to (18, 24)."""
    holidays: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """(month, day, number of days)."""
    edges: tuple[str, str, str] = ("", "", "")
    """What leads the beginning, middle and end of a time."""
    edges_after: tuple[str, str, str] = ("", "", "")
    """The same where it follows."""
    clock: str = ""
    """Follows a day; groups ``hour``, ``minute``, ``pm``, ``am``."""
    lead: str = r"(?!)"
    """A preposition that makes a time of a weak form."""
    lasting: str = r"(?!)"
    """Before how long something is so, in its clause, what says that it is so still: "have worked"."""
    since: str = r"(?!)"
    until: str = r"(?!)"
    behind: str = r"(?!)"
    """What shows, right before a time, that it has begun: "since", where "from" does not."""
    since_after: str = ""
    until_after: str = ""
    to: str = r"(?!)"
    """What stands between the two ends of a range."""
    anchor: str = r"(?!)"
    """What puts a day or week in relation to the time that follows: ``ANCHOR`` stands for the day
    or week, groups ``back`` and ``ahead`` for "before" and "after"."""
    between: str = r"(?!)"
    """Opens a range whose two ends `and_` joins."""
    and_: str = r"(?!)"
    within: str = r"\s+"
    """What stands between two times of which one lies within the other: "Friday *of* next week"."""
    never_before: str = r"(?!)"
    """What makes a time recurring or something else when it stands before it."""
    never_after: str = r"(?!)"
    filler: str = ""
    """Words that may stand around a time without changing it."""
    capital: frozenset[str] = frozenset()
    """Words that are names of months only when written with a capital or after a preposition."""
    short: frozenset[str] = frozenset()
    """Words that are a weekday only when written with a capital."""
    dotted_days: bool = False
    """Whether a day before a month has a point: "3. März"."""
    part_of_date: str = r"\d\s*\.?\s*\Z"
    """What shows, before a month, that a day belongs to it: "the 31st of"."""
    rest_of_date: str = r"\s*\d{1,2}(?!\d|[:：]|\s*[ap]\.?m)"
    """And behind it."""
    other_words: frozenset[str] = frozenset()
    """Names of the calendar that are other words more often: "may"."""
    forms: tuple[Form, ...] = ()
    query: QueryWords = field(default_factory=QueryWords)
    tenses: Tenses | None = None

    @property
    def day_names(self) -> dict[str, int]:
        """Return the weekdays whose names are one in small letters, too: not "sun"."""
        return {name: day for name, day in self.weekdays.items() if name not in self.short}

    def number(self, word: str) -> int:
        """Return what a number in digits or words is; the most that "a few" may be for one."""
        return int(word) if word.isdecimal() else int(self.numbers.get(word, FEW[1]))

    def parts_of(self) -> dict[str, str]:
        """The placeholders of this language's forms, each a named group."""
        numbers = one_of(self.numbers)
        few = f"|(?P<few>{self.few})" if self.few else ""
        half = f"(?P<half>{self.half})?" if self.half else ""
        named_days = self.ordinals
        if not self.spaced:
            named_days = tuple(w for w, n in self.numbers.items() if n == int(n) and n < 32)
        day_words = f"|{one_of(named_days)}"
        parts = {
            "n": rf"(?:(?P<n>\d{{1,3}}(?:[.,]5)?|{numbers}){half}{few})",
            "unit": rf"(?P<unit>{one_of(self.units)})",
            "period": f"(?P<period>{one_of(self._periods())})",
            "weekend": rf"(?P<weekend>{self.weekend})",
            "weekday": rf"(?P<weekday>{one_of(self.weekdays)})",
            "month": rf"(?P<month>{one_of(self.months)})",
            "season": rf"(?P<season>{one_of(self.seasons)})" if self.seasons else "(?!)",
            "year": r"(?P<year>(?:19|20)\d\d)",
            "day": rf"(?P<day>0?[1-9]|[12]\d|3[01]{day_words})",
            "day2": rf"(?P<day2>0?[1-9]|[12]\d|3[01]{day_words})",
            "monthnum": r"(?P<monthnum>0?[1-9]|1[0-2])",
            "decade": rf"(?P<decade>(?:19|20)?\d0{'|' + one_of(self.decades) if self.decades else ''})",
            "named": rf"(?P<named>{one_of(self.days)})",
            "weeks": rf"(?P<weeks>{one_of(self.weeks)})",
            "night": rf"(?P<night>{one_of(self.nights)})" if self.nights else "(?!)",
            "holiday": rf"(?P<holiday>{one_of(self.holidays)})" if self.holidays else "(?!)",
        }
        parts["target"] = "(?:{weekend}|{weekday}|{month}|{season}|{period})".format(**parts)
        return parts

    def _periods(self) -> list[str]:
        return [w for w, unit in self.units.items() if unit in ("week", "month", "year", "decade")]


def one_of(words: Iterable[str]) -> str:
    """An alternation, the longest first; a space stands for any white space. What words begin with alike is
    looked at once: as one list, the numbers alone take most of the time of a text."""
    return _branches(sorted(set(words))) or "(?!)"


def _branches(words: Sequence[str]) -> str:
    by_letter = groupby(filter(None, words), key=itemgetter(0))
    branches = [
        (r"\s+" if letter == " " else re.escape(letter)) + _branches([word[1:] for word in some])
        for letter, some in by_letter
    ]
    ends = "?" if branches and "" in words else ""
    return f"(?:{'|'.join(branches)}){ends}" if ends or len(branches) > 1 else "".join(branches)


def _filled(pattern: str, parts: Mapping[str, str]) -> str:
    return re.sub(r"\{([a-z]\w*)\}", lambda found: parts[found[1]], pattern)


TIME_WORDS: Mapping[str, TimeWords] = Topic(
    TimeWords,
    "times",
    about="months, weekdays, how dates and periods are named, and the tenses of events",
    without="dates are not read, in talk and in queries",
)


@lru_cache(maxsize=32)
def forms(code: str) -> tuple[tuple[Form, re.Pattern[str]], ...]:
    """The forms of a language of `TIME_WORDS` as regular expressions that match at word boundaries."""
    words = TIME_WORDS[code]
    before, bodies = _bodies(words)
    patterns = (re.compile(before + body, re.IGNORECASE) for body in bodies)
    return tuple(zip(words.forms, patterns, strict=True))


def matches(text: str, code: str) -> Iterator[tuple[Form, re.Match[str]]]:
    """Every match of every form of a language, form by form, as `re.Pattern.finditer` finds them."""
    # One look at the text for all forms takes a quarter of the time of a look for each.
    lowered = text.replace(
        "İ", "I"
    ).lower()  # of the same length; letters of one case are found faster
    places = [match.start() for match in _beginnings(code).finditer(lowered)]
    for form, pattern in forms(code) if places else ():
        end = 0
        for place in places:
            if place >= end and (match := pattern.match(text, place)):
                end = match.end()
                yield form, match


@lru_cache(maxsize=32)
def _beginnings(code: str) -> re.Pattern[str]:
    """Matches the empty string wherever a form of a language begins in a text in small letters."""
    before, bodies = _bodies(TIME_WORDS[code])
    unnamed = (re.sub(r"\(\?P<\w+>", "(?:", body) for body in bodies)
    return re.compile(f"{before}(?={'|'.join(unnamed)})")


def _bodies(words: TimeWords) -> tuple[str, list[str]]:
    """What stands before every form, and each with what must follow it."""
    # Not the 80 of "8-80", but the one of "mid-80s".
    before = r"(?:(?<![\w.,:/$€£-])|(?<=\bmid-)|(?<=\bearly-)|(?<=\blate-))" if words.spaced else ""
    after = r"(?![\w/])(?![.,:]\d)" if words.spaced else ""
    parts = words.parts_of()
    return before, [f"(?:{_filled(form.pattern, parts)}){after}" for form in words.forms]


@lru_cache(maxsize=32)
def anchor(code: str) -> str:
    """What puts a day or a week in relation to the time that follows, with its names filled in."""
    words = TIME_WORDS[code]
    units = [name for name, unit in words.units.items() if unit in ("day", "week", "month", "year")]
    number = rf"(?:(?P<n>\d{{1,3}}|{one_of(words.numbers)})\s+)?"
    names = f"{number}(?P<anchor>{one_of([*units, *words.weekdays])}|{words.weekend})"
    return words.anchor.replace("ANCHOR", names)


def begins_then(words: str) -> bool:
    """Return whether the words for a time say, in any language, that something begins then: "since May"."""
    return (
        _since(tuple(f"{one.since}|{one.behind}" for one in TIME_WORDS.values())).match(words)
        is not None
    )


@lru_cache(maxsize=4)
def _since(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{'|'.join(patterns)})", re.IGNORECASE)
