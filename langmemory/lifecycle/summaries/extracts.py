"""Summaries without a model: the central sentences of what there is, each unlike the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

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
        text = stated(self.sentence.text)
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


def stated(text: str) -> str:
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
    taken = dict(ranked(units)[:limit])
    in_order = sorted(taken, key=lambda place: (units[place].said_at, taken[place].leaves))
    return [taken[place] for place in in_order]


def ranked(units: Sequence[Unit]) -> list[tuple[int, Sentence]]:
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
