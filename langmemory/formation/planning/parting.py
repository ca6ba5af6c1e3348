"""What gave way to a fact about somebody else, while the two were taken for one. By itself, for a store
asks it when the link between them is undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from langmemory.formation.contradiction.statements import END, Statement
from langmemory.ports.facts import Knowledge, KnownFact

PARTED: Final = "what took its place is about somebody else"
"""Why they hold again."""


def parted(
    was: Mapping[str, str], now: Mapping[str, str], since: datetime, knowledge: Knowledge
) -> Iterator[KnownFact]:
    """Facts that gave way to one that spoke of the same entity then, and speaks of another now.

    Args:
        was: as `Knowledge.links`, of those concerned, before some links were taken back.
        now: the same after.
        since: when those were made; what gave way before did so for other reasons.
        knowledge: what is known, with the links that are left.
    """
    moved = {key for key in was.keys() | now.keys() if was.get(key) != now.get(key)}
    concerned = moved | {was[key] for key in moved if key in was}
    for entity in sorted({now.get(key, key) for key in concerned}):
        for known in knowledge.about(entity, past=True):
            memory = known.memory
            if memory.status != "superseded" or memory.superseded_by is None:
                continue
            heir = knowledge.by_key(memory.superseded_by)
            given_up_since = memory.expired_at is not None and memory.expired_at >= since
            if heir is not None and given_up_since and _are_others(known, heir, was):
                yield known


def again(known: KnownFact) -> Statement:
    """A fact that gave way, as it is to stand once it holds again."""
    return replace(Statement.of_known(known), past=False, end=END)


def _are_others(one: KnownFact, other: KnownFact, was: Mapping[str, str]) -> bool:
    """Whether two facts have nobody they are about in common, and had while there were more links."""
    ours, theirs = _about(one), _about(other)
    then = [{was.get(key, key) for key in keys} for keys in (ours, theirs)]
    return ours.isdisjoint(theirs) and not then[0].isdisjoint(then[1])


def _about(known: KnownFact) -> set[str]:
    return {claim.subject for claim in Statement.of_known(known).claims}
