"""Words of sentences that are no facts, in one human language.

Regular expressions over text in its own case, matched without regard to case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from langmemory.languages import Topic


@dataclass(frozen=True, kw_only=True, slots=True)
class JunkWords:
    """Patterns of one language."""

    spaced: bool = True
    """Whether words have boundaries."""
    small_talk: tuple[str, ...]
    """Phrases; a text made of nothing else says nothing."""
    dangling: tuple[str, ...]
    """Beginnings that leave open who or what is meant."""
    clock: tuple[str, ...]
    """Beginnings of "it is …" before a time or date of the moment."""
    clock_words: frozenset[str]
    """Words that times of the moment are made of, besides numbers, months and weekdays."""
    meta: tuple[str, ...]
    """Beginnings of sentences about the conversation instead of the world."""
    assistant: str
    """Words for an assistant that has no name."""


JUNK_WORDS: Mapping[str, JunkWords] = Topic(JunkWords, "junk")
"""By language code, as in `langmemory.languages`."""
