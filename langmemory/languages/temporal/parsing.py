"""Times our own patterns do not know: one whole expression, any language, by dateparser."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from langmemory.languages.temporal.calendar import Prefer, Span, SpanUnit, around

_UNITS: dict[str, SpanUnit] = {
    "time": "minute", "day": "day", "week": "week", "month": "month", "year": "year",
}  # fmt: skip
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def parse(
    words: str, now: datetime, language: str | None, prefer: Prefer | None, *, dated: bool
) -> Span | None:
    """What dateparser reads the words as; None unless it is clearly a time.

    Args:
        now: Naive local time of the speaker.
        language: BCP 47 code; None, or one dateparser does not know, lets it guess.
        dated: Whether only a date with its year is taken.
    """
    one_word = len(words.split()) < 2
    if one_word and (language is None or not words.isalpha()):
        return None  # a number, a version, a word of some language
    if dated and not _YEAR.search(words):
        return None
    back, ahead = (_guess(words, now, language, way) for way in ("past", "future"))
    if back is None or ahead is None:
        return None
    if dated and not _has_numbers(words, back[0]):
        return None  # "Q3 2026"
    if back[0] != ahead[0] and abs((back[0] - now) + (ahead[0] - now)) < timedelta(days=8):
        return None  # "trois ans": a duration, which dateparser counts back or ahead
    return ahead[1] if prefer == "future" else back[1]


def _has_numbers(words: str, moment: datetime) -> bool:
    """Whether a date has every number of the words somewhere."""
    parts = {moment.year, moment.month, moment.day, moment.hour, moment.hour % 12, moment.minute,
             moment.second, moment.microsecond}  # fmt: skip
    return parts.issuperset(map(int, _NUMBER.findall(words)))


def _guess(
    words: str, now: datetime, language: str | None, way: str
) -> tuple[datetime, Span] | None:
    # Slow to import, and most conversations never need it.
    from dateparser.date import DateDataParser

    settings: dict[str, Any] = {
        "RELATIVE_BASE": now,
        "PREFER_DATES_FROM": way,
        "RETURN_TIME_AS_PERIOD": True,
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    known = [language] if language in _languages() else None
    try:
        found = DateDataParser(languages=known, settings=settings).get_date_data(words)
        if found.date_obj is None:
            return None
        moment = found.date_obj.replace(tzinfo=None)
        return moment, around(_UNITS.get(found.period, "day"), moment)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=1)
def _languages() -> frozenset[str]:
    from dateparser.data.languages_info import language_order

    return frozenset(language_order)
