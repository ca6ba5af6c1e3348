"""Summaries without a model: the central sentences of what there is, each unlike the others; a conversation
in its own words, down to a share of its tokens.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from langmemory.context.tokens import count_text
from langmemory.languages import is_unspaced, sentence_starts
from langmemory.lifecycle.summaries.nodes import Sentence
from langmemory.ports.candidates import Floats
from langmemory.recall.contentless import states
from langmemory.recall.rerankers import mmr
from langmemory.types import Memory

LONGEST: Final = 280
"""Characters of one sentence of a summary, about."""
DIVERSITY: Final = 0.7
"""The lambda of MMR: what is central counts so much, what was not said before the rest."""
FACT: Final = 1.2
"""How much more a fact counts than a turn, which says one thing among others."""
TELLING: Final = 8
"""Words from which a turn counts whole; shorter ones say little without what they answer."""
ASSISTANT: Final = 0.7
"""How much a turn of the assistant counts: it advises more than it reports."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """One child, or one sentence of a child, that may stand in a summary."""

    sentence: Sentence
    """Of a turn as it was said, also where it says nothing: see `told`."""
    said_at: str
    """ISO 8601, by which sentences are in order."""
    weight: float
    vector: Floats | None
    """float32[dims] of its first leaf, of unit length."""
    speaker: str | None = None
    """Of a turn; None for anything else."""
    covers: frozenset[str] = frozenset()
    """Keys of turns that say the same: those of a fact."""

    def told(self) -> Sentence | None:
        """Return what it says; None where that is nothing but questions, greetings and thanks."""
        if self.speaker is None:
            return self.sentence
        text = stating_sentences(self.sentence.text)
        return replace(self.sentence, text=f"{self.speaker}: {text}") if text else None


def unit_of(memory: Memory, said_at: str, vector: Floats | None, evidence: Sequence[str]) -> Unit:
    """Return a turn or fact as something that may stand in a summary."""
    is_turn, text = memory.kind == "episodic", memory.text.strip()
    weight = FACT
    if is_turn:
        length = len(text) / 3 if is_unspaced(text) else len(text.split())
        weight = (ASSISTANT if memory.value.get("role") == "assistant" else 1.0) * min(
            length / TELLING, 1.0
        )
    return Unit(
        sentence=Sentence(text=text, sources=(memory.key,), leaves=(memory.key,)),
        said_at=said_at,
        weight=weight,
        vector=vector,
        speaker=(memory.speaker or "user") if is_turn else None,
        covers=frozenset(() if is_turn else evidence),
    )


def stating_sentences(text: str) -> str:
    """Return the sentences of a turn that say something, up to `LONGEST` characters."""
    starts = [*sentence_starts(text), len(text)]
    said = (" ".join(text[start:end].split()) for start, end in pairwise(starts))
    found = ""
    for one in said:
        if not one or not states(one):
            continue
        if found and len(found) + len(one) >= LONGEST:
            break
        found = f"{found} {one}".strip()
    return found if len(found) <= 2 * LONGEST else f"{found[: 2 * LONGEST].rsplit(' ', 1)[0]} …"


def extract(units: Sequence[Unit], limit: int) -> list[Sentence]:
    """Return the most central sentences, at most ``limit``, in the order in which they were said."""
    taken = dict(rank_sentences(units)[:limit])
    in_order = sorted(taken, key=lambda place: (units[place].said_at, taken[place].leaves))
    return [taken[place] for place in in_order]


def rank_sentences(units: Sequence[Unit]) -> list[tuple[int, Sentence]]:
    """Return sentences with the places of their units, the most central first.

    Central is what is near the mean of all; of what is alike one is taken (MMR, Carbonell and Goldstein
    1998). Turns that a taken fact was made of are left out.
    """
    known = [one.vector for one in units if one.vector is not None]
    score = np.array([one.weight for one in units], np.float32)
    vectors = np.zeros((len(units), len(known[0]) if known else 1), np.float32)
    if known:
        centre = np.mean(known, axis=0)
        centre /= max(float(np.linalg.norm(centre)), 1e-9)
        for place, one in enumerate(units):
            if one.vector is not None:
                vectors[place] = one.vector
        score *= np.maximum(vectors @ centre, np.float32(0.05))
    order = mmr(score, vectors, lambda_=DIVERSITY, limit=len(units))
    taken: list[tuple[int, Sentence]] = []
    said: set[str] = set()
    texts: set[str] = set()
    for place in order.tolist():
        sentence = units[place].told()
        if (
            sentence is None
            or sentence.text.casefold() in texts
            or not said.isdisjoint(sentence.leaves)
        ):
            continue
        taken.append((place, sentence))
        texts.add(sentence.text.casefold())
        said |= units[place].covers
    return taken


STRETCH: Final = 400
"""Sentences that are compared with each other; of longer conversations each part is shortened by itself, so
that all parts are told of, and the time grows with the length alone."""

CLOSE: Final = 0.95
"""It is as short as it should be from this share of the tokens on."""
ATTEMPTS: Final = 5

Embed = Callable[[list[str]], Sequence[Floats]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One message, as words."""

    speaker: str
    text: str
    by_assistant: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortened:
    """What is left of a conversation."""

    lines: tuple[str, ...]
    """One for each message of which something is left, ``speaker: its sentences``."""
    places: tuple[int, ...]
    """Of these messages, from 0."""
    tokens_before: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """One sentence."""

    place: int
    """Of its message."""
    text: str


def shorten_conversation(said: Sequence[Said], ratio: float, embed: Embed | None) -> Shortened:
    """Return the most central sentences of a conversation, as many as fit, in the order in which they were
    said. Questions, greetings and thanks are left out, unless there is nothing else.

    Args:
        said: Messages.
        ratio: The share of the tokens that is to be left, 0 to 1.
        embed: Returns float32[dims] of unit length for each text; without it, what is long counts most.
    """
    whole = count_text("\n".join(f"{one.speaker}: {one.text}" for one in said))
    pieces = [piece for place, one in enumerate(said) for piece in _pieces(place, one.text)]
    telling = [one for one in pieces if states(one.text)]
    pieces = telling or pieces
    vectors: Sequence[Floats | None] = [None] * len(pieces)
    if embed is not None and pieces:
        vectors = embed([one.text for one in pieces])
    budget = math.floor(whole * ratio)
    parts = [
        range(first, min(first + STRETCH, len(pieces))) for first in range(0, len(pieces), STRETCH)
    ]
    worth = [_by_worth(said, pieces, vectors, part) for part in parts]
    lines: dict[int, str] = {}
    aim, most = float(budget), 0
    for _ in range(ATTEMPTS):  # sentences by themselves have more tokens than together
        found = _lines(said, pieces, _fitting(said, pieces, worth, aim))
        tokens = count_text("\n".join(found.values())) if found else 0
        if most < tokens <= budget:
            lines, most = found, tokens
        if CLOSE * budget <= tokens <= budget:
            break
        part = budget / tokens if tokens else 1.5
        aim *= part if tokens < budget else 0.98 * part
    return Shortened(
        lines=tuple(lines.values()), places=tuple(lines), tokens_before=whole, tokens=most
    )


def _fitting(
    said: Sequence[Said], pieces: Sequence[_Piece], worth: Sequence[Sequence[int]], aim: float
) -> list[int]:
    """Return the numbers of the sentences that fit into about so many tokens, of each part its share."""
    costs = [count_text(one.text) for one in pieces]
    every, left = max(sum(costs), 1), 0.0
    taken: list[int] = []
    for ranking in worth:
        left += aim * sum(costs[number] for number in ranking) / every
        begun: set[int] = set()
        for number in ranking:
            place = pieces[number].place
            cost = costs[number]
            if place not in begun:
                cost += count_text(f"{said[place].speaker}: ")
            if cost <= left:
                left -= cost
                begun.add(place)
                taken.append(number)
    return taken


def _pieces(place: int, text: str) -> Iterator[_Piece]:
    """Yield the sentences of a message; one without an end, such as a log, in pieces."""
    for start, end in pairwise([*sentence_starts(text), len(text)]):
        rest = " ".join(text[start:end].split())
        while len(rest) > 2 * LONGEST:
            cut = rest.rfind(" ", 1, LONGEST)
            cut = LONGEST if cut < 0 else cut
            yield _Piece(place=place, text=rest[:cut])
            rest = rest[cut:].lstrip()
        if rest:
            yield _Piece(place=place, text=rest)


def _by_worth(
    said: Sequence[Said],
    pieces: Sequence[_Piece],
    vectors: Sequence[Floats | None],
    part: range,
) -> list[int]:
    """Return the numbers of the sentences of a part, the most telling first."""
    units = []
    for number in part:
        piece = pieces[number]
        length = len(piece.text) / 3 if is_unspaced(piece.text) else len(piece.text.split())
        whose = ASSISTANT if said[piece.place].by_assistant else 1.0
        name = str(number)
        units.append(
            Unit(
                sentence=Sentence(text=piece.text, sources=(name,), leaves=(name,)),
                said_at="",
                weight=whose * min(length / TELLING, 1.0),
                vector=vectors[number],
            )
        )
    return [part[place] for place, _ in rank_sentences(units)]


def _lines(said: Sequence[Said], pieces: Sequence[_Piece], taken: Sequence[int]) -> dict[int, str]:
    """Return the line of each message, in order."""
    sentences: dict[int, list[str]] = defaultdict(list)
    for number in sorted(taken):
        sentences[pieces[number].place].append(pieces[number].text)
    return {
        place: f"{said[place].speaker}: {' '.join(texts)}" for place, texts in sentences.items()
    }
