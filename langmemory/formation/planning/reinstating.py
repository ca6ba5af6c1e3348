"""How facts stand without one they gave way to: it was deleted, forgotten, put away, or never said. By
itself, for a store asks it without forming anything."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, cast

from langmemory.changes import Facets, Supersede, UpdateMemory
from langmemory.formation.contradiction.comparing import compared
from langmemory.formation.contradiction.pairs import gives_way
from langmemory.formation.contradiction.statements import Statement
from langmemory.ports.facts import Knowledge, KnownFact

REASON: Final = "what had taken its place is gone"


def reinstated(gone: Collection[str], knowledge: Knowledge) -> Iterator[Supersede | UpdateMemory]:
    """What becomes of facts that gave way to some that go: they hold again, or gave way to another.
    Whose they are, and who may read them, stays as it was.

    Args:
        gone: keys of what goes.
        knowledge: what is known before it does.
    """
    taken = {key: known for key in gone if (known := knowledge.by_key(key)) is not None}
    for key, over in taken.items():
        for known in knowledge.gave_way_to(key):
            if known.memory.key not in taken:
                stands = standing(again(known), over, taken, knowledge)
                yield as_it_is(stands, REASON)
        begun, said_at = over.memory.valid_at, Statement.of_known(over).said_at
        if begun is None or begun <= said_at:
            continue
        for claim in over.claims:  # what was only to end when this one would begin
            for known in knowledge.about(claim.subject, claim.relation):
                one = known.memory
                if one.invalid_at == begun and "when" not in one.value and one.key not in taken:
                    yield as_it_is(again(known), REASON)


def standing(
    known: KnownFact, over: KnownFact, taken: Mapping[str, KnownFact], knowledge: Knowledge
) -> KnownFact:
    """A fact as it is without the one it gave way to: that may itself have given way.

    Args:
        known: as if it held again.
        over: the fact it gave way to.
        taken: those that are not there any more, by key.
        knowledge: what is known; of those that are taken nothing is read.
    """
    heir = over.memory.superseded_by
    while heir is not None and heir in taken:
        heir = taken[heir].memory.superseded_by
    following = knowledge.by_key(heir) if heir is not None else None
    mine = Statement.of_known(known)
    about = {(claim.subject, claim.relation) for claim in mine.claims}
    if following is not None:
        next_one = Statement.of_known(following)
        if about & {(claim.subject, claim.relation) for claim in next_one.claims}:
            return _ended(known, following, next_one.start)
    ends: list[tuple[datetime, KnownFact]] = []
    for subject, _ in about:
        for other in knowledge.about(subject, past=True):
            if other.memory.key in taken:
                continue
            theirs = Statement.of_known(other)
            pair = None if theirs.waiting else compared(replace(mine, new=True), theirs)
            if pair is not None and pair.verdict == "supersedes":
                loser, until = gives_way(pair)
                if loser.key == mine.key and until > mine.start:
                    ends.append((until, other))
    if not ends:
        return known
    until, other = min(ends, key=lambda one: one[0])
    return _ended(known, other, until)


def again(known: KnownFact) -> KnownFact:
    """A fact as if it held again, without an end."""
    return replace(
        known,
        memory=replace(known.memory, status="active", superseded_by=None, invalid_at=None),
    )


def as_it_is(known: KnownFact, reason: str) -> Supersede | UpdateMemory:
    """The change by which a fact stands as this one says."""
    one = known.memory
    if one.status != "superseded":
        facets = Facets(status="active", invalid_at=one.invalid_at)
        return UpdateMemory(key=one.key, facets=facets, reason=reason)
    by, until = cast("str", one.superseded_by), cast("datetime", one.invalid_at)
    return Supersede(key=one.key, by=by, invalid_at=until, reason=reason)


def _ended(known: KnownFact, by: KnownFact, until: datetime) -> KnownFact:
    memory = replace(
        known.memory, status="superseded", superseded_by=by.memory.key, invalid_at=until
    )
    return replace(known, memory=memory)
