"""A conversation as a model reads it: quoted data with short ids, unable to pose as anything else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from langmemory.context.escape import one_line, quoted_lines
from langmemory.context.marking import CLOSE_TAG, OPEN_TAG
from langmemory.formation.batch import Turn

NAME_CHARS = 60
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NO_PERSON = frozenset({"assistant", "tool", "function", "system", "developer"})
"""Roles whose words are no evidence for what is true of a person."""

_INJECTED = re.compile(f"{re.escape(OPEN_TAG)}.*?(?:{re.escape(CLOSE_TAG)}|\\Z)", re.DOTALL)
_ID = re.compile(r"[\[［【]\s*(t\s*\d+)\s*[\]］】]", re.IGNORECASE)


def is_person(turn: Turn) -> bool:
    """Whether a person said it."""
    return turn.role.casefold() not in NO_PERSON


def spoken(text: str) -> str:
    """A turn's text without memories that were recalled into it."""
    return _INJECTED.sub(" ", text).strip()


def transcript(turns: Iterable[Turn], *, ids: Sequence[str] | None = None) -> str:
    """Turns with id, speaker, role and time, each line of what was said behind a bar.

    Args:
        turns: In order.
        ids: One for each turn; None: turns that cannot be referred to.
    """
    blocks = []
    for number, turn in enumerate(turns):
        head = f"[{ids[number]}] " if ids is not None else ""
        name, role = label(turn.speaker), label(turn.role)
        who = name if name.casefold() == role.casefold() else f"{name} ({role})"
        at = f"{WEEKDAYS[turn.said_at.weekday()]} {turn.said_at:%Y-%m-%d %H:%M}"
        lines = [_ID.sub(r"(\1)", line) for line in quoted_lines(spoken(turn.text))]
        blocks.append("\n".join([f"{head}{who}, {at}:", *lines]))
    return "\n\n".join(blocks)


def label(text: str) -> str:
    """A name on one line that cannot be mistaken for an id or a heading."""
    bare = re.sub(r"[\[\]#:|]", " ", one_line(text))
    return " ".join(bare.split())[:NAME_CHARS] or "somebody"
