"""A conversation as a model reads it: quoted data with short ids, unable to pose as anything else.

Where somebody said more at once than one call is meant to read, it is read in parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from langmemory.context.marking import CLOSE_TAG, OPEN_TAG, one_line, quoted_lines
from langmemory.context.tokens import CUT_BEFORE
from langmemory.formation.batch import MOST_READ, NO_PERSON, Batch, Turn
from langmemory.languages.passages import passages

NAME_CHARS = 60
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

HEAD = re.compile(rf"(?:{'|'.join(WEEKDAYS)}) \d{{4}}-\d\d-\d\d \d\d:\d\d")
"""When a turn was said, as its head in a transcript has it."""

_INJECTED = re.compile(f"{re.escape(OPEN_TAG)}.*?(?:{re.escape(CLOSE_TAG)}|\\Z)", re.DOTALL)
_ID = re.compile(r"[\[［【]\s*(t\s*\d+)\s*[\]］】]", re.IGNORECASE)


def is_person(turn: Turn) -> bool:
    """Whether a person said it."""
    return turn.role.casefold() not in NO_PERSON


def without_injected_text(text: str) -> str:
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
        lines = [_ID.sub(r"(\1)", line) for line in quoted_lines(without_injected_text(turn.text))]
        blocks.append("\n".join([f"{head}{who}, {at}:", *lines]))
    return "\n\n".join(blocks)


def label(text: str) -> str:
    """A name on one line that cannot be mistaken for an id or a heading."""
    bare = re.sub(r"[\[\]#:|]", " ", one_line(text))
    return " ".join(bare.split())[:NAME_CHARS] or "somebody"


CHARACTERS_A_TOKEN = 4
"""As the approximate counter has it, by which batches are gathered."""
SHOWN_BEFORE = 500
"""Characters of one part that are shown before the next."""
TURNS_BEFORE = 2
"""Turns of a batch that are shown before its rest."""


def parts(batch: Batch) -> tuple[list[Batch], int]:
    """The batches to ask about one after the other, and how many turns are not read whole: of one
    with more than `MOST_READ` characters, only the first and last half of them."""
    if batch.tokens is None:
        return [batch], 0
    room = batch.tokens * CHARACTERS_A_TOKEN
    batch = replace(batch, before=_shorten_turns(batch.before, room))
    pieces = [_pieces(turn, room) for turn in batch.turns]
    if all(len(one) == 1 for one in pieces):
        return [batch], 0
    cut = sum(len(without_injected_text(turn.text)) > MOST_READ for turn in batch.turns)
    found: list[Batch] = []
    for turns in pieces:
        for turn in turns:
            before = _shorten_turns(found[-1].turns, SHOWN_BEFORE) if found else batch.before
            found.append(replace(batch, turns=(turn,), before=before))
    return found, cut


def unread_batch(batch: Batch, read_to: int) -> Batch | None:
    """Return the turns to ask about after an answer that broke off among the facts of a batch, the last of
    which rests on turn ``read_to`` (from 1): that turn, unless nothing else was read, and all after it."""
    begin = max(read_to - 1, 1)
    if begin >= len(batch.turns):
        return None
    before = _shorten_turns(batch.turns[max(begin - TURNS_BEFORE, 0) : begin], SHOWN_BEFORE)
    return replace(batch, turns=batch.turns[begin:], before=before)


def _pieces(turn: Turn, characters: int) -> list[Turn]:
    text = without_injected_text(turn.text)
    half = MOST_READ // 2
    ends = [text] if len(text) <= MOST_READ else [text[:half], text[-half:]]
    found = [piece for end in ends for piece in passages(end, characters)]
    return [turn] if len(found) < 2 else [replace(turn, text=piece) for piece in found]


def _shorten_turns(turns: tuple[Turn, ...], characters: int) -> tuple[Turn, ...]:
    """Turns before a batch with so many characters in all; of a long one its end."""
    each = characters // max(len(turns), 1)
    texts = [without_injected_text(turn.text) for turn in turns]
    return tuple(
        turn if len(text) <= each else replace(turn, text=CUT_BEFORE + text[-each:])
        for turn, text in zip(turns, texts, strict=True)
    )
