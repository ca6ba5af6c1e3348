"""Facts that hold again: because what took their place never was true, or speaks of somebody else.

The engine asks for it when a review is decided or an application takes a change back, too.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, cast

from langmemory.changes import Change, Facets, Invalidate, Supersede, UpdateMemory
from langmemory.errors import EmbeddingError
from langmemory.formation.contradiction.comparable import END, ComparableFact
from langmemory.formation.contradiction.comparing import compare_facts
from langmemory.formation.contradiction.grouping import is_named, values_of
from langmemory.formation.duplicates import as_good_as_same
from langmemory.formation.planning.comparison import follow_from, known_over
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.ports.facts import FullKnowledge, Knowledge, KnownFact

logger = logging.getLogger("langmemory.formation")

_REASON = "what had taken its place never was true"


def restore_superseded(
    over: ComparableFact, new: ComparableFact, change: Supersede, knowledge: Knowledge
) -> Iterator[Supersede | UpdateMemory]:
    """Reinstate what a known fact had superseded where that never was true, or until the new one took
    its place; one told for the same time has taken it all along.

    Args:
        over: the fact that never was true, if ``change`` ends it at its beginning.
        new: what it gives way to.
    """
    if change.invalid_at > over.start or over.past or over.waiting or over.new:
        return
    told = {(claim.subject, claim.relation) for claim in new.claims}
    since = over.start if new.corrects and not new.dated else new.start
    for claim in over.claims:
        instead = (claim.subject, claim.relation) in told
        if not relation_named(claim.relation).is_single or (instead and since <= over.start):
            continue
        for known in knowledge.about(claim.subject, claim.relation, past=True):
            one = known.memory
            if one.status == "superseded" and one.superseded_by == over.key:
                if instead:
                    yield Supersede(key=one.key, by=change.by, invalid_at=since, reason=_REASON)
                else:
                    active = Facets(status="active")
                    yield UpdateMemory(key=one.key, facets=active, reason=_REASON)
            # What was to end when the other began, unless its own words say so.
            elif (
                one.status == "active"
                and one.key != over.key
                and one.invalid_at == over.start
                and "when" not in one.value
            ):
                end = Facets(invalid_at=since if instead else None)
                yield UpdateMemory(key=one.key, facets=end, reason=_REASON)


def corrected_since(
    key: str, start: datetime, knowledge: Knowledge, *, late: ComparableFact | None = None
) -> Iterator[UpdateMemory]:
    """A known correction holds since what it takes back was said, of which one hears only now; what it
    had taken back for want of that held until then.

    Args:
        key: of the correction.
        start: of what it takes back.
        late: what that is, where it is news: if it corrects something in its turn, that never was
            true either.
    """
    known = knowledge.by_key(key)
    if known is None or "when" in known.memory.value:
        return
    old = ComparableFact.of_known(known)
    by = _taken_back_by(old, known, knowledge)
    if by is not None:
        yield from corrected_since(by, start, knowledge, late=late)
        return
    others = [ComparableFact.of_known(one) for one in knowledge.gave_way_to(key)]
    instead = [
        one for one in others if one.end <= one.start and not is_named(values_of(old, one), old)
    ]
    before = None if late is None else _corrected_by(late, instead, knowledge)
    if before is not None:
        start = before.start
        others = [one for one in others if one.key != before.key]
        instead = [one for one in instead if one.key != before.key]
    moves = old.start > start or old.start in [one.start for one in instead]
    if old.protected or not moves or any(start <= one.start < one.end for one in others):
        return
    reason = "it was so since that was said"
    yield UpdateMemory(key=key, facets=Facets(valid_at=start), reason=reason)
    if before is not None:
        facets = Facets(invalid_at=before.start)
        yield UpdateMemory(key=before.key, facets=facets, reason="corrected: never was true")
    begins = sorted((start, *(one.start for one in instead)))
    for one in others:
        if one.start < start and (one.end > start or one in instead):
            until = next(at for at in begins if at > one.start)
            reason = "what took its place began then"
            yield UpdateMemory(key=one.key, facets=Facets(invalid_at=until), reason=reason)


def _taken_back_by(over: ComparableFact, known: KnownFact, knowledge: Knowledge) -> str | None:
    """Key of the correction, told later, by which a known fact never was true."""
    heir = known.memory.superseded_by
    found = knowledge.by_key(heir) if heir is not None and over.past else None
    if found is None or over.end > over.start:
        return None
    new = ComparableFact.of_known(found)
    return new.key if new.corrects and new.said_at > over.said_at else None


def _corrected_by(
    late: ComparableFact, instead: Sequence[ComparableFact], knowledge: Knowledge
) -> ComparableFact | None:
    """The fact that was so when a correction was told, if the correction names it, and it gave way since.

    Args:
        instead: what was taken back for want of the correction.
    """
    if not late.corrects:
        return None
    claim = late.claims[0]
    known = knowledge.about(claim.subject, claim.relation, past=True)
    told = [one for one in map(ComparableFact.of_known, known) if one.said_at < late.said_at]
    keys = {one.key for one in instead}
    held = [one for one in told if not one.waiting and (one.start < one.end or one.key in keys)]
    last = max(held, key=lambda one: one.start, default=None)
    if last is None or not last.past or last.protected:
        return None
    return last if is_named(values_of(late, last), late) else None


def drop_unfounded(changes: Iterable[Change], knowledge: Knowledge) -> Iterator[Change]:
    """Changes that a person decided, without those that let something give way, or give way to it,
    which was taken back since the question was opened: it would have held for a time after all."""
    for change in changes:
        keys = [change.key] if isinstance(change, Supersede | Invalidate) else []
        if isinstance(change, Supersede):
            keys.append(change.by)
        found = [known for key in keys if (known := knowledge.by_key(key)) is not None]
        if not any(ComparableFact.of_known(one).never_held for one in found):
            yield change


def changes_of_decision(changes: Sequence[Change], knowledge: FullKnowledge) -> Iterator[Change]:
    """Yield what holds again by what a person decided, and what follows from it, if the embedder can be
    asked: nobody's decision is to wait for that."""

    def alike(over: ComparableFact) -> Iterable[KnownFact]:
        try:
            return [*as_good_as_same(over, knowledge)]
        except EmbeddingError as error:
            cause = type(error.__cause__ or error).__name__
            logger.warning("embedder failed (%s): memories in the same words stay", cause)
            return ()

    for over, new, change in known_over(changes, knowledge):
        yield from restore_superseded(over, new, change, knowledge)
    yield from follow_from(changes, knowledge, alike)


REASON: Final = "what had taken its place is gone"


def reinstate_facts(
    gone: Collection[str], knowledge: Knowledge
) -> Iterator[Supersede | UpdateMemory]:
    """Yield changes to facts superseded by some that go: they hold again, or another supersedes them.
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
        begun, said_at = over.memory.valid_at, ComparableFact.of_known(over).said_at
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
    mine = ComparableFact.of_known(known)
    about = {(claim.subject, claim.relation) for claim in mine.claims}
    if following is not None:
        next_one = ComparableFact.of_known(following)
        if about & {(claim.subject, claim.relation) for claim in next_one.claims}:
            return _as_superseded(known, following, next_one.start)
    ends: list[tuple[datetime, KnownFact]] = []
    for subject, _ in about:
        for other in knowledge.about(subject, past=True):
            if other.memory.key in taken:
                continue
            theirs = ComparableFact.of_known(other)
            pair = None if theirs.waiting else compare_facts(replace(mine, new=True), theirs)
            if pair is not None and pair.verdict == "supersedes":
                loser, until = pair.loser, pair.over_since
                if loser.key == mine.key and until > mine.start:
                    ends.append((until, other))
    if not ends:
        return known
    until, other = min(ends, key=lambda one: one[0])
    return _as_superseded(known, other, until)


def again(known: KnownFact) -> KnownFact:
    """Return a fact as if it held again, without an end."""
    return known.as_if(status="active", superseded_by=None, invalid_at=None)


def as_it_is(known: KnownFact, reason: str) -> Supersede | UpdateMemory:
    """The change by which a fact stands as this one says."""
    one = known.memory
    if one.status != "superseded":
        facets = Facets(status="active", invalid_at=one.invalid_at)
        return UpdateMemory(key=one.key, facets=facets, reason=reason)
    by, until = cast("str", one.superseded_by), cast("datetime", one.invalid_at)
    return Supersede(key=one.key, by=by, invalid_at=until, reason=reason)


def _as_superseded(known: KnownFact, by: KnownFact, until: datetime) -> KnownFact:
    return known.as_if(status="superseded", superseded_by=by.memory.key, invalid_at=until)


UNLINKED: Final = "what took its place is about somebody else"
"""Why they hold again."""


def facts_after_unlinking(
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
            if heir is None or memory.expired_at is None or memory.expired_at < since:
                continue
            ours, theirs = (
                {claim.subject for claim in ComparableFact.of_known(one).claims}
                for one in (known, heir)
            )
            then = [{was.get(key, key) for key in keys} for keys in (ours, theirs)]
            if ours.isdisjoint(theirs) and not then[0].isdisjoint(then[1]):
                yield known


def holding(known: KnownFact) -> ComparableFact:
    """Return a fact that gave way, as it is to stand once it holds again."""
    return replace(ComparableFact.of_known(known), past=False, end=END)
