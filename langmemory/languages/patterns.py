"""Patterns: regular expressions made from the words of a language, each compiled once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from langmemory.languages import is_unspaced


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression; `re` itself keeps fewer."""
    return re.compile(pattern)


@lru_cache(maxsize=512)
def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Finds what any of the regular expressions finds; one pass is faster than one for each."""
    return re.compile("|".join(patterns) or "(?!)")


def any_name(words: Iterable[str]) -> re.Pattern[str]:
    """Any of the words, whole where their script has spaces; matches nothing without words."""
    return _whole(tuple(words))


@lru_cache(maxsize=64)
def _whole(words: tuple[str, ...]) -> re.Pattern[str]:
    if not words:
        return re.compile(r"(?!)")
    bound = "" if is_unspaced(words[0]) else r"\b"
    return re.compile(f"{bound}(?:{alternatives(words)}){bound}")


@lru_cache(maxsize=64)
def alternatives(words: tuple[str, ...]) -> str:
    """A regular expression for any of the words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
