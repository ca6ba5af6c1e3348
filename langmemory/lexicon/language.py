"""What recall knows about one human language, as plain data.

A new language is one module with one `Language` value and a call of `register`; nothing else in
langmemory has to change. All words are lower case (`str.casefold`), without punctuation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Question = Literal["when", "where", "who", "why", "how", "count", "preference", "relation"]
"""What a question asks for. A statement or an unrecognised question asks for none of them."""

Unit = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """Words of one language that steer a query; every table may be empty."""

    code: str
    """BCP 47, e.g. ``"en"``."""
    stop_words: frozenset[str] = frozenset()
    """Words too common to search for. They also decide which language a query is in."""
    questions: Mapping[Question, tuple[str, ...]] = field(default_factory=dict)
    """Regular expressions (over case-folded text) by what the question asks for; first hit wins."""
    months: Mapping[str, int] = field(default_factory=dict)
    """Month name to 1..12."""
    weekdays: frozenset[str] = frozenset()
    seasons: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Season name to (first month, number of months), northern hemisphere."""
    relative: Mapping[str, tuple[Unit, int]] = field(default_factory=dict)
    """Regular expression to (unit, offset): ``"last week"`` is ``("week", -1)``."""
    last: frozenset[str] = frozenset()
    """Words that put the following month or season into the past ("last spring")."""
    since: tuple[str, ...] = ()
    """Words that open a range at the following date ("since May")."""
    before: tuple[str, ...] = ()
    """Words that end a range at the following date ("before May")."""
    temporal_words: frozenset[str] = frozenset()
    """Words by which a text says when something happens ("yesterday", "weekend")."""
    corrections: tuple[str, ...] = ()
    """Regular expressions by which somebody rejects or corrects what they were just told."""
    phrases: tuple[str, ...] = ()
    """For languages without spaces: function phrases cut out of a query, longest first."""
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Word for a kind of thing to things of that kind: ``"city"`` to ``"rome"`` and others."""


def word_set(text: str) -> frozenset[str]:
    """The words of a space-separated list."""
    return frozenset(text.split())


def ordered(text: str) -> tuple[str, ...]:
    """The words of a space-separated list, in order."""
    return tuple(text.split())


def numbered(*names: str) -> dict[str, int]:
    """Each name to its 1-based place; names of one place are separated by spaces."""
    return {name: place for place, group in enumerate(names, start=1) for name in group.split()}


def kinds(*groups: tuple[str, str]) -> dict[str, frozenset[str]]:
    """Each word of a group's first part to the words of its second; a word may stand in several."""
    members: dict[str, frozenset[str]] = {}
    for names, things in groups:
        for name in names.split():
            members[name] = members.get(name, frozenset()) | word_set(things)
    return members
