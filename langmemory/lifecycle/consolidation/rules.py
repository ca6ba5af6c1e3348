"""Consolidation without a model: what is stated often, said twice, or corrected again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from langmemory.changes import (
    AddMemory,
    Change,
    Facets,
    Merge,
    OpenReview,
    UpdateMemory,
    WithdrawReview,
)
from langmemory.lifecycle.consolidation.gather import Gathered
from langmemory.lifecycle.consolidation.listing import Listed
from langmemory.lifecycle.consolidation.themes import Theme
from langmemory.lifecycle.consolidation.validator import HABIT_SESSIONS
from langmemory.pluralize import counted
from langmemory.ports.facts import digest
from langmemory.types import Memory, Namespace

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
                    reason=f"they say the same, in {counted(len(sessions), 'conversation')}",
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
        groups[(*kind, words.negated, words.numbers, words.dates, about)].append(one)
    return list(groups.values())


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


def folded(
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
