"""Themes, the second phase: memories of a circle that speak of the same, by entity, relation, meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from langmemory.lifecycle.consolidation.gather import Gathered
from langmemory.lifecycle.consolidation.listing import Listed, SaidBy
from langmemory.ports.candidates import Floats, Ids
from langmemory.ports.lifecycle import LifecycleView, Stated

CLOSE: Final = 0.6
"""Cosine of two first vectors from which memories belong to one theme."""
NEIGHBOURS: Final = 8
"""Memories that a changed one brings with it, at most."""
ROWS: Final = 2_048
"""Vectors that are compared at a time."""
_ROLES: Final[Mapping[str, SaidBy]] = {
    "user": "person", "human": "person", "assistant": "assistant", "ai": "assistant",
    "tool": "tool", "function": "tool",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """Memories that speak of the same, for the same people to read."""

    memories: tuple[Listed, ...]
    """Oldest first; their numbers are given later."""

    @property
    def circle(self) -> tuple[str | None, str]:
        return self.memories[0].circle

    @property
    def corrected(self) -> bool:
        """Whether people corrected or confirmed one of them."""
        told = (one.memory for one in self.memories)
        return any(one.verified or one.value.get("corrects") is True for one in told)


def themes(view: LifecycleView, gathered: Gathered) -> list[Theme]:
    """Return the themes of what changed: those first in which people corrected or confirmed something,
    then those with the most memories. A memory that is like no other is a theme by itself."""
    aged, found = gathered.aged, list[Theme]()
    circle_of = list(zip(aged.owner, aged.privacy, strict=True))
    circles: dict[tuple[str | None, str], list[int]] = defaultdict(list)
    for row in gathered.changed.tolist():
        circles[circle_of[row]].append(row)
    members: dict[tuple[str | None, str], list[int]] = defaultdict(list)
    for row, circle in enumerate(circle_of):
        if circle in circles:
            members[circle].append(row)
    spoken = view.mentions(aged.ids[gathered.changed])
    for circle, changed in circles.items():
        near = _by_meaning(view, gathered, changed, members[circle])
        pairs = [*_by_relation(gathered, changed, spoken), *near]
        for rows in _joined(changed, pairs):
            found.append(_theme(view, aged.ids[rows]))
    return sorted(
        found,
        key=lambda one: (not one.corrected, -len(one.memories), one.memories[0].memory.id),
    )


def _by_relation(
    gathered: Gathered, changed: Sequence[int], spoken: Mapping[int, Sequence[str]]
) -> Iterator[tuple[int, int]]:
    """Pairs that claim the same relation of somebody."""
    first: dict[tuple[str, str], int] = {}
    for row in changed:
        relation = gathered.aged.relation[row]
        for entity in spoken.get(int(gathered.aged.ids[row]), ()) if relation else ():
            yield first.setdefault((entity, relation), row), row


def _by_meaning(
    view: LifecycleView, gathered: Gathered, changed: Sequence[int], same: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Pairs of a changed memory and each of its nearest, `CLOSE` at least."""
    ids = gathered.aged.ids
    known, vectors = view.vectors(np.sort(ids[np.array(changed, np.int64)]))
    if not len(known):
        return
    vectors = _unit(vectors)
    best = np.full((len(known), NEIGHBOURS), -1.0, np.float32)
    nearest = np.zeros((len(known), NEIGHBOURS), np.int64)
    others = ids[np.array(same, np.int64)]
    for start in range(0, len(others), ROWS):
        there, theirs = view.vectors(others[start : start + ROWS])
        likeness = vectors @ _unit(theirs).T
        likeness[known[:, None] == there[None, :]] = -1.0
        if len(there) > NEIGHBOURS:
            top = np.argpartition(-likeness, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
            likeness, names = np.take_along_axis(likeness, top, 1), there[top]
        else:
            names = np.broadcast_to(there, likeness.shape)
        scores, names = np.hstack([best, likeness]), np.hstack([nearest, names])
        order = np.lexsort((names, -scores), axis=1)[:, :NEIGHBOURS]
        best = np.take_along_axis(scores, order, 1)
        nearest = np.take_along_axis(names, order, 1)
    for one, (scores, names) in zip(known.tolist(), zip(best, nearest, strict=True), strict=True):
        for score, other in zip(scores.tolist(), names.tolist(), strict=True):
            if score >= CLOSE:
                yield int(np.searchsorted(ids, one)), int(np.searchsorted(ids, other))


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit


def _joined(changed: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Iterator[Ids]:
    """Rows that pairs connect, in ascending order; of those that did not change only what a changed
    one brought."""
    leads: dict[int, int] = {row: row for row in changed}

    def lead(row: int) -> int:
        leads.setdefault(row, row)
        while leads[row] != row:
            leads[row] = leads[leads[row]]
            row = leads[row]
        return row

    for one, other in pairs:
        first, second = sorted((lead(one), lead(other)))
        leads[second] = first
    groups: dict[int, list[int]] = defaultdict(list)
    for row in sorted(leads):
        groups[lead(row)].append(row)
    for rows in groups.values():
        yield np.array(rows, np.int64)


def _theme(view: LifecycleView, ids: Ids) -> Theme:
    stated, spoken = view.stated(ids), view.mentions(ids)
    memories = [
        Listed(
            id="",
            memory=memory,
            said_by=_said_by(stated.get(memory.id, ())),
            sessions=frozenset(one.session for one in stated.get(memory.id, ())),
            entities=spoken.get(memory.id, ()),
        )
        for memory in view.memories(ids)
    ]
    memories.sort(key=lambda one: (one.memory.at, one.memory.id))
    return Theme(memories=tuple(memories))


def _said_by(stated: Sequence[Stated]) -> SaidBy:
    """Who said a memory: the person, if one of its turns is theirs."""
    roles = [_ROLES.get(one.role) for one in stated]
    for said_by in ("person", "assistant", "tool"):
        if said_by in roles:
            return said_by
    return "application"
