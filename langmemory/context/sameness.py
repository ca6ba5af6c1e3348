"""Whether two lines of a memory block say the same, of which one is enough."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from langmemory.context.notes import Note
from langmemory.formation.statements import cues
from langmemory.formation.wording import Wording, wording
from langmemory.languages import detect_language

LONGEST: Final = 400
"""Characters. A longer text says more than a line that shares its words."""

SAME: Final = 0.75
"""Share of the words of the longer one from which two statements are one."""

_MARK = re.compile("[?？؟]")


def repeats(note: Note, shown: Note) -> bool:
    """Whether a note says nothing that one already shown does not say.

    A fact and the turn it was made from, a turn that was said again, the same in nearly the same words.
    Of two procedures with the same words the steps may be in another order, so only the same text is one.
    What differs in a number, a date, a name or a negation is not the same, nor is what two people say.
    """
    if note.is_procedure or shown.is_procedure or max(len(note.text), len(shown.text)) > LONGEST:
        return note.text.strip() == shown.text.strip() and note.speaker == shown.speaker
    if not (note.is_fact or shown.is_fact) and (note.speaker or "") != (shown.speaker or ""):
        return False
    if note.earlier != shown.earlier or _asks(note) != _asks(shown):
        return False
    if note.is_fact and shown.is_fact and _dated(note) and note.validity != shown.validity:
        return False
    one, other = _wording(note), _wording(shown)
    if not one.words or one.negated != other.negated:
        return False
    if one.numbers == other.numbers and one.dates == other.dates:
        if note.is_fact and one.words <= other.words:
            return True
        return not one.swaps_words(other) and one.overlap(other) >= SAME
    # The turn a fact was made from may have the date in words, which the fact has behind it.
    made_of = note.is_fact and not shown.is_fact
    return made_of and one.words <= other.words and one.numbers <= other.numbers


def _asks(note: Note) -> bool:
    """Whether it asks, and so says nothing."""
    return not note.is_fact and _MARK.search(note.text) is not None


def _dated(note: Note) -> bool:
    """Whether it is known when a fact is true, and not only when it was said."""
    return bool(note.validity) and not note.validity.startswith("said ")


def _wording(note: Note) -> Wording:
    """With who said it, whom a fact made of it names."""
    return _worded(note.text, "" if note.is_fact else note.speaker or "")


@lru_cache(maxsize=4096)
def _worded(text: str, speaker: str) -> Wording:
    found = wording(f"{speaker} {text}", detect_language(text).code)
    return replace(found, words=(found.words - cues().light) or found.words)
