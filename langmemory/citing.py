"""The label of a memory, by which lines of a block and answers refer to it: ``R:1a2b3c4d``."""

from __future__ import annotations

import hashlib
from typing import Final, Literal, TypeVar

P = TypeVar("P", bound=str)

Letter = Literal["M", "G", "R"]
"""Mandate, guardrail, reference (and all else)."""

ID_CHARS: Final = 8
"""Hex digits of a note's id: 32 bits, so two of 100 notes collide once in 870,000 blocks."""

VITAL: Final = 0.9
"""Importance from which a reference is shown as a guardrail."""

_LETTERS: Final[dict[str, Letter]] = {"mandate": "M", "guardrail": "G"}


def digest(namespace: tuple[str, ...], key: str) -> str:
    """64 hex digits: SHA-256 over the labels and the key, NUL between them. Whoever is shown two
    notes of one id tells them apart by more of them."""
    return hashlib.sha256("\0".join((*namespace, key)).encode()).hexdigest()


def note_id(namespace: tuple[str, ...], key: str) -> str:
    """The first `ID_CHARS` digits of the `digest`."""
    return digest(namespace, key)[:ID_CHARS]


def letter_of(priority: str) -> Letter:
    """Return the letter of a priority as it is shown."""
    return _LETTERS.get(priority, "R")


FOLLOWED: Final = ("person", "agent")
"""Sources of what a prompt may follow without a person who decides on it, see `langmemory.trust`."""


def shown_priority(
    priority: P, importance: float, kind: str, trust: str
) -> P | Literal["guardrail"]:
    """Return how a memory is shown: what is vital is followed where it applies. How somebody wants something
    done (procedural) is followed for that person alone, however vital. Other sources than
    `FOLLOWED` are background."""
    vital = importance >= VITAL and kind != "procedural" and trust in FOLLOWED
    return "guardrail" if priority == "reference" and vital else priority
