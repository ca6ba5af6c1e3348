"""The seam between lifecycle and an engine: derived memories of a namespace by age and use, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from langmemory.changes import OpenReview
from langmemory.ports.candidates import UNKNOWN_TIME, Floats, Ids
from langmemory.types import Memory, Namespace

Times = NDArray[np.int64]
"""Microseconds since 1970 UTC; `UNKNOWN_TIME` where there is none."""
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class Aged:
    """Derived memories of one namespace as columns of equal length n, in the order of their ids.

    Derived are all kinds but ``episodic``, ``core`` and ``working``, and what an application put is
    among them: it has no evidence.
    """

    ids: Ids
    keys: Sequence[str]
    kind: Sequence[str]
    status: Sequence[str]
    priority: Sequence[str]
    trust: Sequence[str]
    owner: Sequence[str | None]
    privacy: Sequence[str]
    relation: Sequence[str]
    """Of the fact's first claim, ``""`` where it has none."""
    fact_kind: Sequence[str]
    """``preference``, ``plan`` and others; ``""`` where the value does not say."""
    temporal_class: Sequence[str]
    """As the value says, ``""`` where it does not; see `lifecycle.retention.classes`."""
    pinned: Flags
    verified: Flags
    corrects: Flags
    """Whether the person corrected something with it."""
    replaces: Flags
    """Whether it took the place of another: what holds now of what was otherwise."""
    importance: Floats
    confidence: Floats
    created_at: Times
    told_at: Times
    """When the latest of its evidence was said, else ``valid_at``, else ``created_at``."""
    ends_at: Times
    """When what it speaks of is over: ``invalid_at``, or the end of the time that it names."""
    archived_at: Times
    """When its status became ``archived``."""
    used_at: Times
    """When an answer cited it last."""
    shown_at: Times
    """When a search or a prompt returned it last."""
    loaded: Counts
    """Times it stood in a prompt."""
    cited: Counts
    """Times an answer cited it."""
    right: Counts
    """Times such an answer was not corrected."""
    relevance: Floats
    """Mean relevance of its citations, 0..1; 0 where none is known."""
    evidence: Counts
    """How many memories it was derived from."""
    degree: Counts
    """How many other memories of the namespace speak of the people and things it speaks of, at most of
    the one spoken of most."""
    supports: Flags
    """Whether an active memory was derived from it."""

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, wanted: NDArray[Any]) -> Self:
        """Return some rows: by bool[n], or by int64[m] places."""
        places = np.flatnonzero(wanted) if wanted.dtype == bool else wanted
        columns: dict[str, Any] = {}
        for column in fields(self):
            values = getattr(self, column.name)
            columns[column.name] = (
                values[places]
                if isinstance(values, np.ndarray)
                else [values[place] for place in places]
            )
        return type(self)(**columns)

    def begins(self, *beginnings: str) -> Flags:
        """bool[n]: whether the key begins with one of these."""
        return np.fromiter((key.startswith(beginnings) for key in self.keys), np.bool_, len(self))

    def one_of(self, column: Sequence[str], *values: str) -> Flags:
        """bool[n]: whether a column of texts has one of these values."""
        wanted = frozenset(values)
        return np.fromiter((one in wanted for one in column), np.bool_, len(column))


@dataclass(frozen=True, kw_only=True, slots=True)
class News:
    """Derived memories that changed after a place in the history, in the order of their last changes."""

    ids: Ids
    formed: frozenset[int]
    """Those that only reflections changed: they compared them with what was known."""
    reached: int
    """The place in the history up to which these are all."""
    later: frozenset[int]
    """Those that changed after that place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedEntity:
    """A person or thing, with all that is linked to it, as far as anybody in the namespace may know."""

    key: str
    name: str
    kind: str
    norms: frozenset[str]
    """Its normalised names and aliases."""
    facts: tuple[str, ...]
    """Keys of active memories that speak of it and are not private, oldest first."""
    claims: frozenset[tuple[str, str]]
    """Their claims of it, each as a relation and the other end: the key of an entity, or a literal.
    A relation in which it is the object has ``<-`` before it."""
    parted: bool
    """Whether somebody took a link of it away."""


class Stated(NamedTuple):
    """One occasion on which a memory was stated, from its evidence."""

    session: str
    """Thread and day."""
    role: str
    """``user``, ``assistant`` or another role of a turn; ``""`` of what is no turn."""


class LifecycleView(Protocol):
    """One namespace as lifecycle reads it, on one snapshot. All calls are synchronous."""

    @property
    def namespace(self) -> Namespace: ...

    @property
    def seq(self) -> int:
        """The newest `HistoryEntry.seq`: what `ChangeSet.planned_at` is to hold."""
        ...

    def aged(self) -> Aged:
        """Return every derived memory, whatever its status."""
        ...

    def moved(self) -> int:
        """Return how many memories of the namespace are in the archive file."""
        ...

    def memories(self, ids: Ids) -> list[Memory]:
        """Return memories in the order of the ids; those that are gone are left out."""
        ...

    def vectors(self, ids: Ids) -> tuple[Ids, Floats]:
        """Return the first vector of each memory that has one: int64[m] ids, float32[m, dims]."""
        ...

    def evidence(self, ids: Ids) -> Mapping[int, tuple[str, ...]]:
        """Return the keys of what each memory was derived from, oldest first."""
        ...

    def nodes(self, *levels: str) -> list[Memory]:
        """Return the summaries of some levels of the tree, in the order of their ids. `aged` has none of
        them."""
        ...

    def days(self, among: Ids | None = None) -> set[int]:
        """Return the days, since 1970 UTC, on which turns were said; ``among`` are those that count."""
        ...

    def keys(self, ids: Ids) -> set[str]:
        """Return the keys of memories; those that are gone are left out."""
        ...

    def find(self, keys: Sequence[str]) -> Mapping[str, int]:
        """Return the ids of those of the keys that are there."""
        ...

    def turns(self, since: int = UNKNOWN_TIME, until: int | None = None) -> Ids:
        """Return the turns said in ``[since, until)``, microseconds, in the order they were said."""
        ...

    def changed(self, since_seq: int) -> Ids:
        """Return the memories and turns that changed after a place in the history, but for what runs of
        maintenance changed themselves. Deleted ones are not among them."""
        ...

    def news(self, since_seq: int, most: int) -> News:
        """Return the first derived memories that changed after a place in the history, `most` at most; what
        maintenance changed itself is not among them."""
        ...

    def same_words(self, ids: Ids) -> Sequence[Sequence[int]]:
        """Return groups of active facts whose normalised text is the same, and of what an application wrote
        with the same value, as far as one of these is among them."""
        ...

    def same_claims(self, ids: Ids) -> Sequence[Sequence[int]]:
        """Return groups of active memories that claim the same, links followed, as far as one of these is
        among them."""
        ...

    def named_entities(self) -> Sequence[NamedEntity]:
        """Return the entities of the namespace that stand for themselves, oldest first."""
        ...

    def progress(self, task: str) -> int:
        """Return the place in the history up to which a task has taken changes into account; 0 at first."""
        ...

    def people_asked(self) -> frozenset[str]:
        """Return the keys of memories that open reviews are about."""
        ...

    def stated(self, ids: Ids) -> Mapping[int, tuple[Stated, ...]]:
        """Return the occasions on which each memory was stated, oldest first."""
        ...

    def mentions(self, ids: Ids) -> Mapping[int, tuple[str, ...]]:
        """Return the keys of the people and things that each memory speaks of, links followed."""
        ...

    def open_reviews(self, about: str) -> list[OpenReview]:
        """Return the open questions about something, with the changes behind their options."""
        ...
