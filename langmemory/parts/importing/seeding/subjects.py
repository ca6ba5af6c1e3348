"""What the folders of a repository are about, by the words of the commits that change them.

A folder is called `cli`, and people ask for the command line. The commits say both.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from math import log
from typing import Final

from langmemory.languages import LANGUAGES, is_unspaced

MOST_WORDS: Final = 8
"""That are named with a folder."""
FEWEST: Final = 2
"""Commits of a folder that have a word."""
LEAST_LIFT: Final = 1.5
"""How many times as often commits of the folder have it as all commits."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")


class Subjects:
    """Counts the words of first lines of commits, by folder."""

    def __init__(self) -> None:
        self._commits = 0
        self._all = Counter[str]()
        self._of = Counter[str]()
        """Commits of a folder."""
        self._by: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, subject: str, areas: Iterable[str]) -> None:
        """Count a commit that changes these folders."""
        words = {
            word
            for word in map(str.lower, _WORD.findall(subject))
            if word not in _stop_words() and not is_unspaced(word)
        }
        self._commits += 1
        self._all.update(words)
        for area in areas:
            self._of[area] += 1
            self._by[area].update(words)

    def telling(self, area: str, called: str) -> list[str]:
        """Return the words that commits of a folder have more often than others, the most telling first, but
        for those that it is ``called`` by and other endings of a word ("positions")."""
        known = set(called.lower().split())
        scored = {
            word: count * log(lift)
            for word, count in self._by[area].items()
            if count >= FEWEST
            and word not in known
            and (lift := count / self._of[area] * self._commits / self._all[word]) >= LEAST_LIFT
        }
        chosen: list[str] = []
        for word in sorted(scored, key=lambda word: (-scored[word], word)):
            if not any(word.startswith(one) or one.startswith(word) for one in chosen):
                chosen.append(word)
        return chosen[:MOST_WORDS]


def names(areas: Mapping[str, int]) -> dict[str, str]:
    """Return what folders are called in a sentence: by the last part of their path, where no folder with more
    commits has it, else by their whole path.

    Args:
        areas: How many commits each has.
    """
    names_by_area: dict[str, str] = {}
    for area in sorted(areas, key=lambda one: (-areas[one], one)):
        short = _readable_name(area.rsplit("/", 1)[-1])
        names_by_area[area] = short if short not in names_by_area.values() else _readable_name(area)
    return names_by_area


def _readable_name(path: str) -> str:
    return re.sub(r"[_/-]", " ", path).strip(". ")


@cache
def _stop_words() -> frozenset[str]:
    """Of all languages: commits have several, and a first line is too short to tell its own."""
    return frozenset().union(*(one.stop_words for one in LANGUAGES.values()))
