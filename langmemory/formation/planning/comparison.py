"""Which of two facts holds: as it was decided, or as a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from langmemory.changes import Change, Facets, Merge, OpenReview, Supersede, UpdateMemory
from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.contradiction.pairs import Pair
from langmemory.formation.duplicates import plain_twins
from langmemory.formation.planning.consequences import dependants, question_id
from langmemory.formation.planning.residual_claims import residual_claims
from langmemory.formation.planning.writing import rest_memories
from langmemory.ports.facts import FullKnowledge, Knowledge, KnownFact
from langmemory.types import Namespace


def over(pair: Pair, now: datetime, *, by: str | None = None) -> Supersede | UpdateMemory:
    """How one of two gives way; what is over only in future holds until then.

    Args:
        pair: decided.
        now: the present.
        by: key of what takes the place; None is the other of the pair.
    """
    loser, until = pair.loser, pair.over_since
    reason = pair.reason or "contradicted"
    if until > now:
        return UpdateMemory(key=loser.key, facets=Facets(invalid_at=until), reason=reason)
    return Supersede(key=loser.key, by=by or pair.winner.key, invalid_at=until, reason=reason)


def twins_over(
    given_way: Sequence[tuple[ComparableFact, Supersede, datetime]],
    alike: Callable[[ComparableFact], Iterable[KnownFact]],
) -> Iterator[Supersede]:
    """Yield, once, what an application wrote in the words of a fact that gives way: it claims nothing,
    so that nothing would ever end it.

    Args:
        given_way: facts, by which change each gives way, and until when: what was written after this
            moment is newer, and stays.
        alike: returns what is known in the words of a fact.
    """
    ended = {change.key for _, change, _ in given_way}
    for over, change, said_by in given_way:
        for one in plain_twins(over, alike(over)):
            if one.said_at <= said_by and one.key not in ended:
                ended.add(one.key)
                yield change.model_copy(update={"key": one.key})


def follow_from(
    changes: Sequence[Change],
    knowledge: FullKnowledge,
    alike: Callable[[ComparableFact], Iterable[KnownFact]] | None = None,
) -> Iterator[Change]:
    """Yield what follows where known facts give way to others: what an application wrote in their words is
    over with them (`twins_over`), and what was derived from any of these is asked about. ``alike`` finds
    just these words, if it is not given."""
    given_way = [
        (loser, change, max(loser.said_at, heir.said_at))
        for loser, heir, change in known_over(changes, knowledge)
    ]
    twins = [*twins_over(given_way, alike or (lambda loser: knowledge.worded(loser.text)))]
    yield from twins
    yield from dependants(knowledge, knowledge.namespace, (*changes, *twins))


def residual_memories(
    over: ComparableFact, by: ComparableFact, knowledge: Knowledge
) -> Iterator[Change]:
    """Yield memories for what a known fact says besides, where it gives way to another."""
    known = knowledge.by_key(over.key)
    if known is not None and not over.past:
        rest = residual_claims(over, known.claims, {*by.claims}, knowledge, {}, own=known.own)
        yield from rest_memories(dict(rest), knowledge, {})


def known_over(
    changes: Iterable[Change], knowledge: Knowledge
) -> Iterator[tuple[ComparableFact, ComparableFact, Supersede]]:
    """Yield the known facts that changes supersede, each with what takes its place and the change."""
    for change in {one.key: one for one in changes if isinstance(one, Supersede)}.values():
        known, heir = knowledge.by_key(change.key), knowledge.by_key(change.by)
        if known is not None and heir is not None:
            yield ComparableFact.of_known(known), ComparableFact.of_known(heir), change


def which_holds(namespace: Namespace, pair: Pair, rest: Iterable[Change]) -> OpenReview:
    """Ask which of two facts holds; ``rest`` are the residual claims of the known one."""
    asked = "Do these say the same?" if pair.about == "duplicate" else "Which of these holds?"
    return OpenReview(
        id=question_id(pair.about, namespace, pair.new.key, pair.old.key),
        about=pair.about,
        question=f"{asked} ({pair.reason})" if pair.reason else asked,
        memories=(pair.new.key, pair.old.key),
        options=_options(pair, tuple(rest)),
    )


def supersedes_known(pair: Pair) -> Supersede:
    """The known fact of a pair gives way to the new one."""
    loser, until = pair.loser, pair.over_since
    until = pair.old.start if loser.key == pair.new.key else until
    return Supersede(key=pair.old.key, by=pair.new.key, invalid_at=until)


def _options(pair: Pair, rest: tuple[Change, ...]) -> dict[str, tuple[Change, ...]]:
    new = supersedes_known(pair)
    if pair.about == "duplicate":
        same = Merge(key=pair.old.key, others=(pair.new.key,))
        return {"same": (same,), "different": (), "new": (new,)}
    old = Supersede(key=pair.new.key, by=pair.old.key, invalid_at=pair.new.start)
    return {"new": (*rest, new), "old": (old,), "both": ()}
