"""The result of resolving names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from langmemory.changes import Change, LinkEntities
from langmemory.ports.facts import Claim, Fact
from langmemory.types import Entity


@dataclass(frozen=True, kw_only=True, slots=True)
class AmbiguousName:
    """A name that may mean somebody known."""

    name: str
    fact: int
    """Index of the fact that says it, in `Resolution.facts`."""
    candidates: tuple[Entity, ...]
    key: str | None = None
    """The entity it stands for, when the question is whether that is the candidate."""
    was_known: bool = False
    """Whether that entity was there before; else it was made for the name."""
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    """When the question is which candidate it is: what the fact claims, by candidate's key."""
    who: Mapping[str, str] = field(default_factory=dict)
    """Who those of one name are, by key: "Lena's sibling"."""
    because: tuple[str, ...] = ()
    """Keys of the facts that say so, known or new."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """Facts whose claims carry entity keys, and what has to be added for it."""

    facts: tuple[Fact, ...]
    """In the order given; claims with canonical relations and entity keys, links followed."""
    changes: tuple[Change, ...] = ()
    """`AddEntity` and `LinkEntities`."""
    mentions: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Index of a fact to keys of the entities it speaks of."""
    unclear: tuple[AmbiguousName, ...] = ()
    own: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """Index of a fact, key in its claims → key its edges are written with, where they differ: that
    of an entity linked to the one in the claim."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Entity key to its name, for all keys in claims."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Entity key to its kind."""
    speakers: Mapping[str, str] = field(default_factory=dict)
    """Speaker to entity key."""

    def changes_for(self, entities: Collection[str]) -> Iterator[Change]:
        """Those of the changes that bring about these entities (keys), and whom they are linked to."""
        used = set(entities)
        for one in self.changes:  # a link may lead on to the next
            if isinstance(one, LinkEntities) and one.key in used:
                used.add(one.same_as)
        for change in self.changes:
            if getattr(change, "key", None) in used:
                yield change
