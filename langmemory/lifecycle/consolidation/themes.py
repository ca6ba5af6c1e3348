"""Themes: memories of a circle that speak of the same, by entity, relation and meaning.

Without a model, rules consolidate what is stated often, said twice, or corrected again and again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np

from langmemory.changes import (
    AddMemory,
    Change,
    Facets,
    Merge,
    OpenReview,
    UpdateMemory,
    WithdrawReview,
)
from langmemory.lifecycle.consolidation.listing import Gathered, Listed, SaidBy
from langmemory.lifecycle.consolidation.validator import HABIT_SESSIONS
from langmemory.pluralize import count_noun
from langmemory.ports.candidates import Floats, Ids
from langmemory.ports.facts import digest
from langmemory.ports.lifecycle import LifecycleView, Stated
from langmemory.types import Memory, Namespace

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
        for rows in _connected_rows(changed, pairs):
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


def _connected_rows(changed: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Iterator[Ids]:
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


CORRECTIONS: Final = 3
"""Corrections of one relation from which a rule is proposed."""
_HABITUAL: Final = ("preference", "habit")
_HABITS: Final = ("likes", "dislikes", "interested_in", "has_hobby", "favourite", "uses")
"""Relations of what people do or like again and again, whatever kind of statement says so."""
ALL: Final = "add all"
"""Option of a question that several suggestions for a core block became."""


def habits(themes: Iterable[Theme]) -> Iterator[Change]:
    """Yield what becomes one habit: preferences and habits that were stated in `HABIT_SESSIONS`
    conversations, however they were worded, with how often. Copies of anything else are merged before,
    by the task ``duplicates``."""
    for theme in themes:
        for same in _claiming_the_same(theme.memories):
            keep = max(same, key=lambda one: (len(one.sessions), -one.memory.id))
            sessions = frozenset[str]().union(*(one.sessions for one in same))
            if len(sessions) < HABIT_SESSIONS:
                continue
            if keep.memory.value.get("stated") != len(sessions):
                yield UpdateMemory(
                    key=keep.memory.key,
                    value={**keep.memory.value, "fact_kind": "habit", "stated": len(sessions)},
                    reason=f"stated in {len(sessions)} conversations",
                )
            others = [
                one.memory.key
                for one in same
                if one is not keep and not (one.memory.pinned or one.memory.verified)
            ]
            if others:
                yield Merge(
                    key=keep.memory.key,
                    others=tuple(others),
                    reason=f"they say the same, in {count_noun(len(sessions), 'conversation')}",
                )


def _claiming_the_same(memories: Sequence[Listed]) -> list[list[Listed]]:
    """Preferences and habits of people that claim the same, or say it in the same words."""
    groups: dict[tuple[object, ...], list[Listed]] = defaultdict(list)
    for one in memories:
        happened = one.statement in ("event", "plan")
        habitual = one.statement in _HABITUAL or one.relation in _HABITS
        if happened or not habitual or one.said_by in ("assistant", "tool"):
            continue
        value, words = one.memory.value, one.wording
        claim = (value.get("subject"), value.get("relation"), value.get("object"))
        about = claim if all(claim) else tuple(sorted(words.words))
        kind = (one.memory.kind, one.said_by)
        said = (words.negated, words.numbers, words.dates, words.marks)
        groups[(*kind, *said, about)].append(one)
    return [part for group in groups.values() for part in _in_one_order(group)]


def _in_one_order(memories: Sequence[Listed]) -> Iterator[list[Listed]]:
    """Yield those that claim something together, and of others those whose words follow each other alike."""
    left = list(memories)
    while left:
        first = left[0]
        claims = all(first.memory.value.get(one) for one in ("subject", "relation", "object"))
        part = [one for one in left if claims or one is first or first.wording.follows(one.wording)]
        yield part
        left = [one for one in left if one not in part]


def rules(
    gathered: Gathered, memories: Iterable[Memory], asked: AbstractSet[str]
) -> Iterator[Change]:
    """Yield questions whether what was corrected `CORRECTIONS` times under one relation is to be a rule:
    the newest correction would be it.

    Args:
        gathered: Only relations of which a correction changed are looked at.
        memories: Corrections among the gathered memories.
        asked: Keys of memories that open reviews are about.
    """
    aged = gathered.aged
    changed = {int(aged.ids[row]) for row in gathered.changed if aged.corrects[row]}
    corrected: dict[tuple[str | None, str, str], list[Memory]] = defaultdict(list)
    for memory in memories:
        if relation := str(memory.value.get("relation", "")):
            corrected[memory.owner, memory.privacy, relation].append(memory)
    for (_, _, relation), found in corrected.items():
        newest = max(found, key=lambda one: (one.at, one.id))
        if (
            len(found) < CORRECTIONS
            or newest.kind == "procedural"
            or newest.key in asked
            or changed.isdisjoint(one.id for one in found)
        ):
            continue
        yield OpenReview(
            id=f"rule/{digest(*newest.namespace, newest.key, str(len(found)))}",
            about="rule",
            question=f"{len(found)} corrections of {relation.replace('_', ' ')}. Should the last one be a "
            f"rule from now on: {newest.text}",
            memories=tuple(one.key for one in found),
            options={
                "rule": (
                    UpdateMemory(
                        key=newest.key, facets=Facets(kind="procedural", priority="guardrail")
                    ),
                ),
                "leave": (),
            },
            reason=f"corrected {len(found)} times",
        )


def merge_block_suggestions(
    namespace: Namespace, asked: Iterable[OpenReview], undone: AbstractSet[str]
) -> Iterator[Change]:
    """Yield one question for each core block that several suggestions are open for, in their stead.

    Args:
        namespace: Of the questions.
        asked: Open questions about lines for core blocks.
        undone: Ids of questions that a person took back with the night that asked them.
    """
    by_block: dict[tuple[str, str | None, str | None], list[OpenReview]] = defaultdict(list)
    for one in asked:
        if lines := _lines(one):
            facets = lines[0].facets
            by_block[str(lines[0].value.get("block")), facets.owner, facets.privacy].append(one)
    for (block, _, _), found in by_block.items():
        if len(found) < 2:
            continue
        lines = list({line.key: line for one in found for line in _lines(one)}.values())
        id = f"core/{digest(*namespace, *(line.key for line in lines))}"
        if id in undone:
            continue
        yield OpenReview(
            id=id,
            about="core",
            question=f"Should the block {block!r} always say: "
            + " / ".join(str(line.value["text"]) for line in lines),
            memories=tuple(dict.fromkeys(key for one in found for key in one.memories)),
            options={ALL: tuple(lines), "leave": ()},
            reason=f"{len(found)} suggestions for one block",
        )
        for one in found:
            yield WithdrawReview(id=one.id, reason="asked together with others")


def _lines(question: OpenReview) -> list[AddMemory]:
    changes = question.options.get(ALL) or question.options.get("add") or ()
    return [one for one in changes if isinstance(one, AddMemory) and one.value.get("text")]
