"""What formation knows about one relation, as plain data."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

Values = Literal["one", "usually one", "many", "unknown"]
"""How many objects a subject has under a relation at one time. ``usually one`` gives way to a newer
value only with a cue that something changed, or by a judge's word; ``unknown``, by a judge's word
alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """A kind of claim. Unknown ones have a name and otherwise these defaults."""

    name: str
    """snake_case, read from subject to object: ``lives_in``."""
    values: Values = "many"
    inverse_of: str | None = None
    """Relation that says the same with subject and object exchanged; claims are kept as that one."""
    symmetric: bool = False
    """Subject and object may be exchanged."""
    opposite: str | None = None
    """Relation that cannot hold of the same subject and object at the same time."""
    ends: str | None = None
    """Relation to the same object that is over when this one holds."""
    also_ends: tuple[str, ...] = ()
    """Further relations to the same object that are over then; this one may say more than an end."""
    holds: bool = True
    """Says how things are, and not only what somebody means to do: of a plan it is no claim."""
    timeless: bool = False
    """Holds at any time when it holds at all: without a time of its own it has no beginning."""
    temporal_class: Literal["timeless", "habitual", "episodic"] | None = None
    """How facts of it age, see `lifecycle.retention`; None is as other facts of their kind do."""
    to_assistant: bool = False
    """Says how the assistant is to answer its subject: shown to them whatever they talk about."""
    subject: str = "person"
    """Kind of entity its subject is."""
    object: str = "person"
    """Kind of entity its object is, or ``literal``."""
    phrases: frozenset[str] = frozenset()
    """Other names, as `snake` writes them."""

    @property
    def ended(self) -> tuple[str, ...]:
        """Every relation to the same object that is over when this one holds."""
        return (*((self.ends,) if self.ends else ()), *self.also_ends)

    @property
    def is_single(self) -> bool:
        """Whether a subject has one object at a time, always or usually."""
        return self.values in ("one", "usually one")


def snake(text: str) -> str:
    """A phrase as one lower-case word: "is married to" → ``is_married_to``.

    Diacritics of Latin script are left out, so that ``fiancé`` and ``fiance`` are one.
    """
    folded = unicodedata.normalize("NFKD", text.replace("'", "").replace("’", "")).casefold()
    plain = "".join(c for c in folded if not "\u0300" <= c <= "\u036f")
    spaced = "".join(c if c.isalnum() else " " for c in unicodedata.normalize("NFC", plain))
    return "_".join(spaced.split())
