"""Which of two facts holds: as it was decided, or as a question. By itself, for a store asks it without
forming anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from langmemory.changes import Change, Facets, Merge, OpenReview, Supersede, UpdateMemory
from langmemory.formation.contradiction.pairs import Pair, gives_way, stays
from langmemory.formation.contradiction.statements import Statement
from langmemory.formation.duplicates import plain_twins
from langmemory.formation.planning.dependants import question_id
from langmemory.ports.facts import KnownFact
from langmemory.types import Namespace


def over(pair: Pair, now: datetime, *, by: str | None = None) -> Supersede | UpdateMemory:
    """How one of two gives way; what is over only in future holds until then.

    Args:
        pair: decided.
        now: the present.
        by: key of what takes the place; None is the other of the pair.
    """
    loser, until = gives_way(pair)
    reason = pair.reason or "contradicted"
    if until > now:
        return UpdateMemory(key=loser.key, facets=Facets(invalid_at=until), reason=reason)
    return Supersede(key=loser.key, by=by or stays(pair).key, invalid_at=until, reason=reason)


def twins_over(
    over: Statement, change: Supersede, said_by: datetime, alike: Iterable[KnownFact]
) -> Iterator[Supersede]:
    """What an application wrote in the words of a fact that gives way: it claims nothing, so that
    nothing would ever end it.

    Args:
        over: the fact.
        change: by which it gives way.
        said_by: what was written after this moment is newer, and stays.
        alike: what is known in like words.
    """
    for one in plain_twins(over, alike):
        if one.said_at <= said_by:
            yield change.model_copy(update={"key": one.key})


def which_holds(namespace: Namespace, pair: Pair, rest: Iterable[Change]) -> OpenReview:
    """What nobody decided of two facts; ``rest`` is what the known one says besides."""
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
    loser, until = gives_way(pair)
    until = pair.old.start if loser.key == pair.new.key else until
    return Supersede(key=pair.old.key, by=pair.new.key, invalid_at=until)


def _options(pair: Pair, rest: tuple[Change, ...]) -> dict[str, tuple[Change, ...]]:
    new = supersedes_known(pair)
    if pair.about == "duplicate":
        same = Merge(key=pair.old.key, others=(pair.new.key,))
        return {"same": (same,), "different": (), "new": (new,)}
    old = Supersede(key=pair.new.key, by=pair.old.key, invalid_at=pair.new.start)
    return {"new": (*rest, new), "old": (old,), "both": ()}
