"""A batch as a model reads it: in one call, or in several where somebody said more at once than one call
is meant to read."""

from __future__ import annotations

from dataclasses import replace

from langmemory.context.tokens import CUT_BEFORE
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.transcript import spoken
from langmemory.formation.rules.clauses import MOST_READ
from langmemory.languages.passages import passages

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
    batch = replace(batch, before=_shown(batch.before, room))
    pieces = [_pieces(turn, room) for turn in batch.turns]
    if all(len(one) == 1 for one in pieces):
        return [batch], 0
    cut = sum(len(spoken(turn.text)) > MOST_READ for turn in batch.turns)
    found: list[Batch] = []
    for turns in pieces:
        for turn in turns:
            before = _shown(found[-1].turns, SHOWN_BEFORE) if found else batch.before
            found.append(replace(batch, turns=(turn,), before=before))
    return found, cut


def rest(batch: Batch, read_to: int) -> Batch | None:
    """What is to be asked about after an answer that broke off among the facts of a batch, the last of
    which rests on turn ``read_to`` (from 1): that turn, unless nothing else was read, and all after it."""
    begin = max(read_to - 1, 1)
    if begin >= len(batch.turns):
        return None
    before = _shown(batch.turns[max(begin - TURNS_BEFORE, 0) : begin], SHOWN_BEFORE)
    return replace(batch, turns=batch.turns[begin:], before=before)


def _pieces(turn: Turn, characters: int) -> list[Turn]:
    text = spoken(turn.text)
    half = MOST_READ // 2
    ends = [text] if len(text) <= MOST_READ else [text[:half], text[-half:]]
    found = [piece for end in ends for piece in passages(end, characters)]
    return [turn] if len(found) < 2 else [replace(turn, text=piece) for piece in found]


def _shown(turns: tuple[Turn, ...], characters: int) -> tuple[Turn, ...]:
    """Turns before a batch with so many characters in all; of a long one its end."""
    each = characters // max(len(turns), 1)
    return tuple(_end(turn, each) for turn in turns)


def _end(turn: Turn, characters: int) -> Turn:
    text = spoken(turn.text)
    if len(text) <= characters:
        return turn
    return replace(turn, text=CUT_BEFORE + text[-characters:])
