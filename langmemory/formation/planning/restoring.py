"""What had given way to a fact that never was true, and since when its correction holds. By itself, for
a store asks it when a review is decided, and more may have changed since it was opened."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from langmemory.changes import Change, Facets, Invalidate, Supersede, UpdateMemory
from langmemory.errors import EmbeddingError
from langmemory.formation.contradiction.grouping import is_named, values_of
from langmemory.formation.contradiction.statements import Statement
from langmemory.formation.duplicates import as_good_as_same
from langmemory.formation.planning.comparison import twins_over
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.ports.facts import Knowledge, KnownFact

logger = logging.getLogger("langmemory.formation")

_REASON = "what had taken its place never was true"


def restored(
    over: Statement, new: Statement, change: Supersede, knowledge: Knowledge
) -> Iterator[Supersede | UpdateMemory]:
    """What gave way to a known fact holds again where that never was true, or until the new one took
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
    key: str, start: datetime, knowledge: Knowledge, *, late: Statement | None = None
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
    old = Statement.of_known(known)
    by = _taken_back_by(old, known, knowledge)
    if by is not None:
        yield from corrected_since(by, start, knowledge, late=late)
        return
    others = [Statement.of_known(one) for one in knowledge.gave_way_to(key)]
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


def _taken_back_by(over: Statement, known: KnownFact, knowledge: Knowledge) -> str | None:
    """Key of the correction, told later, by which a known fact never was true."""
    heir = known.memory.superseded_by
    found = knowledge.by_key(heir) if heir is not None and over.past else None
    if found is None or over.end > over.start:
        return None
    new = Statement.of_known(found)
    return new.key if new.corrects and new.said_at > over.said_at else None


def _corrected_by(
    late: Statement, instead: Sequence[Statement], knowledge: Knowledge
) -> Statement | None:
    """What was so when a correction was told, if the correction names it, and it gave way since.

    Args:
        instead: what was taken back for want of the correction.
    """
    if not late.corrects:
        return None
    claim = late.claims[0]
    known = knowledge.about(claim.subject, claim.relation, past=True)
    told = [one for one in map(Statement.of_known, known) if one.said_at < late.said_at]
    keys = {one.key for one in instead}
    held = [one for one in told if not one.waiting and (one.start < one.end or one.key in keys)]
    last = max(held, key=lambda one: one.start, default=None)
    if last is None or not last.past or last.protected:
        return None
    return last if is_named(values_of(late, last), late) else None


def founded(changes: Iterable[Change], knowledge: Knowledge) -> Iterator[Change]:
    """Changes that a person decided, without those that let something give way, or give way to it,
    which was taken back since the question was opened: it would have held for a time after all."""
    for change in changes:
        keys = [change.key] if isinstance(change, Supersede | Invalidate) else []
        if isinstance(change, Supersede):
            keys.append(change.by)
        found = [known for key in keys if (known := knowledge.by_key(key)) is not None]
        if not any(Statement.of_known(one).never_held for one in found):
            yield change


def decided(changes: Iterable[Change], knowledge: Knowledge) -> Iterator[Supersede | UpdateMemory]:
    """What holds again by what a person decided, and what an application wrote that is over with it, if
    the embedder can be asked: nobody's decision is to wait for that."""
    given_way = [change for change in changes if isinstance(change, Supersede)]
    ended = {change.key for change in given_way}
    for change in given_way:
        known, heir = knowledge.by_key(change.key), knowledge.by_key(change.by)
        if known is not None and heir is not None:
            over, new = Statement.of_known(known), Statement.of_known(heir)
            yield from restored(over, new, change, knowledge)
            said_by = max(over.said_at, new.said_at)
            try:
                alike = as_good_as_same(over, knowledge)
                twins = [*twins_over(over, change, said_by, alike)]
            except EmbeddingError as error:
                cause = type(error.__cause__ or error).__name__
                logger.warning("embedder failed (%s): memories in the same words stay", cause)
                twins = []
            for twin in twins:
                if twin.key not in ended:
                    ended.add(twin.key)
                    yield twin
