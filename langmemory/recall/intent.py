"""The intent of a query: when, where, who …, which time it speaks of, whether it wants a list.

All rules are data of `langmemory.languages`; this file only applies them. "Now" is injected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from langmemory.languages import Edge, Language, Question, detect_language, split_words
from langmemory.languages.patterns import any_of, compiled
from langmemory.languages.temporal.query import UPPER, Period, Times, Window, read_times
from langmemory.languages.temporal.scanning import scan

_PHRASE = re.compile(
    r'"([^"]{2,200})"|“([^”]{2,200})”|„([^“]{2,200})“|«([^»]{2,200})»|「([^」]{2,200})」'
)
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w’'-]*")
_MAX_LENGTH = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Intent:
    """The request of one query."""

    language: Language
    asks: frozenset[Question] = frozenset()
    asks_listener: bool = False
    """Whether it asks what the assistant said before."""
    names: tuple[str, ...] = ()
    """Capitalised words that do not open the query; may be names of people or places."""
    phrases: tuple[str, ...] = ()
    """Text between quotation marks."""
    period: Period | None = None
    """The stretch of calendar the query names."""
    window: Window | None = None
    """``[since, until)``, where the query fixes it: "last week", "in May 2023", "since 2024"."""
    edge: Edge | None = None
    """Whether that time ends ("by May"), begins ("since May") or lies around where the query says; None
    where it is meant itself."""
    horizon: datetime | None = None
    """End, in the past, of what the query asks about: "as of 14 May" is not answered by what was said
    later."""
    ahead: bool = False
    """Whether it asks about what is still to come: "Where will she live?"."""
    time_words: frozenset[str] = frozenset()
    """Words by which the query fixes a time relative to now. A memory that holds them means
    another time, so they are not looked up."""

    zone: tzinfo | None = UTC
    """Where days begin at midnight."""

    @property
    def asks_state(self) -> bool:
        """Whether it asks what held at a time: "as of 14 May", "by 14 May"."""
        return self.horizon is not None and self.edge == "until"

    def spans(self, years: range) -> list[Window]:
        """The stretches of time the query speaks of, given the years at hand; often none."""
        if self.window is not None:
            return [self.window]
        return [] if self.period is None else self.period.ranges(years, self.zone)


def searched_window(intent: Intent, lag_days: float) -> Window | None:
    """The stretch of time whose items are looked at too: the one the query fixes, with the days on either
    side where it asks for its neighbourhood."""
    if intent.window is None or intent.edge != "around":
        return intent.window
    try:
        lag = timedelta(days=lag_days)
        return intent.window[0] - lag, intent.window[1] + lag
    except OverflowError:  # the year 1, or 9999
        return intent.window


def starts_after(text: str, said_at: datetime, moment_us: int) -> bool:
    """Whether a text, said at a time, tells what begins after another one (microseconds since 1970): "from
    January"."""
    return any(start > moment_us for start in _starts(text, said_at))


@lru_cache(maxsize=1024)
def _starts(text: str, said_at: datetime) -> tuple[float, ...]:
    """When what a text tells begins, microseconds since 1970: a text is a candidate of many queries."""
    words = detect_language(text).times
    if not compiled(f"(?i){words.since}").search(text):
        return ()
    times = scan(text, words, said_at, "future")
    starts = (one.span.start.replace(tzinfo=said_at.tzinfo) for one in times if one.role == "since")
    return tuple(start.timestamp() * 1e6 for start in starts)


def read_intent(query: str, now: datetime) -> Intent:
    """The intent of a query; only its first 2,000 characters count. Never fails."""
    text = query[:_MAX_LENGTH]
    language = detect_language(text)
    folded = text.casefold()
    times = read_times(text, folded, language.times, now)
    tenses = language.times.tenses
    ahead = tenses is not None and compiled(f"(?i){tenses.ahead}").search(text) is not None
    ahead |= times.window is not None and times.window[1] > now
    over = times.window is not None and times.window[1] <= now
    if times.edge is None and not over and not any_of(language.looks_back).search(folded):
        times = Times()  # "tonight" says when something will be, not when it was said
    bounded = times.edge in UPPER and times.window is not None and times.window[1] <= now
    asks = frozenset(
        question
        for question, patterns in language.questions.items()
        if any_of(patterns).search(folded)
    )
    return Intent(
        language=language,
        asks=asks,
        asks_listener=any_of(language.asks_listener).search(folded) is not None,
        names=tuple(dict.fromkeys(m[0] for m in _NAME.finditer(text) if m.start() > 0)),
        phrases=tuple(next(filter(None, found.groups())) for found in _PHRASE.finditer(text)),
        period=times.period,
        window=times.window,
        edge=times.edge,
        ahead=ahead,
        horizon=times.window[1] if bounded and times.window else None,
        time_words=frozenset(word for words in times.words for word in split_words(words)),
        zone=now.tzinfo,
    )
