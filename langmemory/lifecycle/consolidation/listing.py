"""A listing: the memories of one owner and privacy that a night looks at together, numbered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from langmemory.context.escape import quoted_lines
from langmemory.formation.wording import Wording, wording
from langmemory.languages import detect_language
from langmemory.types import Memory

SaidBy = Literal["person", "assistant", "tool", "application"]

MAX_CHARACTERS: Final = 400
"""Of a memory, shown to a model."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One memory of a listing."""

    id: str
    """``m1``, ``m2`` and so on: all that a model sees of its identity."""
    memory: Memory
    said_by: SaidBy = "person"
    sessions: frozenset[str] = frozenset()
    """Conversations it was stated in, each a thread and a day."""
    entities: tuple[str, ...] = ()
    """Keys of the people and things that it speaks of."""

    @cached_property
    def language(self) -> str:
        """BCP 47, as the memory says, else as its words do."""
        return str(self.memory.value.get("language") or detect_language(self.memory.text).code)

    @cached_property
    def wording(self) -> Wording:
        return wording(self.memory.text, self.language)

    @property
    def circle(self) -> tuple[str | None, str]:
        """Whose it is and who may read it: what is not the same is never put together."""
        return self.memory.owner, self.memory.privacy

    @property
    def statement(self) -> str:
        """The kind of statement: ``preference``, ``event`` and others; ``""`` where nobody said."""
        return str(self.memory.value.get("fact_kind", ""))

    @property
    def relation(self) -> str:
        return str(self.memory.value.get("relation", ""))


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Memories in the order of their numbers, and what is concluded from such already."""

    memories: tuple[Listed, ...]
    concluded: tuple[str, ...] = ()
    """Texts of earlier insights of the same circle."""
    blocks: Mapping[str, str] = field(default_factory=dict)
    """Core blocks by label, ``""`` for one that nobody wrote; none where they are not to be changed."""
    limit: int = 2_000
    """Characters of a core block."""

    @cached_property
    def by_id(self) -> Mapping[str, Listed]:
        return {one.id: one for one in self.memories}

    def shown(self) -> str:
        """Return the listing as a model reads it; texts are quoted and cannot pose as anything else."""
        return "\n".join(_lines(self))


def _lines(listing: Listing) -> Iterator[str]:
    yield "# Memories"
    for one in listing.memories:
        kind = one.statement or one.memory.kind
        sessions = f", {len(one.sessions)} conversations" if len(one.sessions) > 1 else ""
        yield f"{one.id} ({one.memory.at:%Y-%m-%d}, {kind}, said_by {one.said_by}{sessions})"
        yield from quoted_lines(one.memory.text[:MAX_CHARACTERS])
    if listing.concluded:
        yield "# Concluded already"
        for text in listing.concluded:
            yield from quoted_lines(text[:MAX_CHARACTERS])
    if listing.blocks:
        yield "# Core blocks"
        for label, text in listing.blocks.items():
            yield f"{label}:"
            yield from quoted_lines(text)
