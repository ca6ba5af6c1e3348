"""Edges: whether a date in a query is a time to look at, or where such a time ends or begins.

All words are data of the language; this file only applies them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from langmemory.languages.patterns import any_name
from langmemory.languages.temporal.dates import ARTICLES, Window
from langmemory.languages.temporal.words import Edge, TimeWords

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Where "before May" begins."""
UPPER: frozenset[Edge] = frozenset(("until", "before"))
"""What is looked for was said before the end."""
_BESIDE_DAY = re.compile(rf"[\s,.]*{ARTICLES}")
_THIRDS = {"first": (0, 1), "middle": (1, 2), "last": (2, 3)}


def edge_of(before: str, after: str, known: TimeWords) -> Edge | None:
    """What a date is, by what stands before and after it; None where it is just that time."""
    before = _without_part(_without_weekday(before, known), known)
    if not known.spaced:
        after = _without_part(after, known)
    for edge, words in known.query.edges.items():
        if _reads(_patterns(words, known.query.between, not known.spaced), before, after, known):
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
        if _part(pattern, not known.spaced).search(text):
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
def _patterns(words: tuple[str, ...], between: str, unspaced: bool) -> re.Pattern[str]:
    """What stands before a date; in a script without spaces, behind it."""
    alternatives = "|".join(words) or "(?!)"
    if unspaced:
        return re.compile(rf"^(?:{alternatives})")
    return re.compile(
        rf"(?:^|(?<=[\s¿¡(\"“„]))(?:{alternatives})[\s,]+{ARTICLES}(?:{between}\s+)?{ARTICLES}$"
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
def _part(pattern: str, unspaced: bool) -> re.Pattern[str]:
    if unspaced:
        return re.compile(rf"^(?:{pattern})")
    return re.compile(rf"(?<!\w)(?:{pattern})[\s-]+{ARTICLES}$")


def _without_part(text: str, known: TimeWords) -> str:
    """The text beside a date without "the end of" and the like."""
    for pattern in known.query.parts.values():
        found = _part(pattern, not known.spaced).search(text)
        if found:
            return text[found.end() :] if not known.spaced else text[: found.start()]
    return text


def _without_weekday(before: str, known: TimeWords) -> str:
    """The text before a date without the name of its day: "by Friday, 14 May"."""
    if not known.spaced:
        return before
    days = list(any_name(known.day_names).finditer(before))
    if not days or not _BESIDE_DAY.fullmatch(before, days[-1].end()):
        return before
    return before[: days[-1].start()]
