"""What is said again after something else was: "I live in Kiel", "I moved to Bonn", "back in Kiel"."""

from __future__ import annotations

from collections.abc import Iterable

from langmemory.formation.contradiction.statements import Statement, words_of
from langmemory.formation.relations.vocabulary import NO_LONGER, relation_named
from langmemory.ports.facts import Claim


def returns(first: Statement, last: Statement, between: Iterable[Statement]) -> bool:
    """Whether one of the statements, told between two that say the same, ends what the first said,
    so that the last is no repetition of it. Claims may have names or entity keys."""
    return any(
        (first.start, first.said_at) <= (one.start, one.said_at) <= (last.start, last.said_at)
        and _ends(one, last)
        for one in between
    )


def _ends(one: Statement, other: Statement) -> bool:
    return any(
        _one(mine.subject, theirs.subject) and _stands_against(mine, theirs)
        for mine in one.claims
        for theirs in other.claims
    )


def _stands_against(mine: Claim, theirs: Claim) -> bool:
    ours, relation = relation_named(mine.relation), relation_named(theirs.relation)
    if words_of(mine.object) != words_of(theirs.object):
        return ours.name == relation.name and relation.is_single
    return (
        ours.name == NO_LONGER + relation.name
        or relation.name == NO_LONGER + ours.name
        or relation.name in ours.ended
        or ours.name in relation.ended
        or ours.opposite == relation.name
    )


def _one(subject: str, other: str) -> bool:
    """Two keys are of one or of two; a name and a key are one when they read the same."""
    if "/" in subject and "/" in other:
        return subject == other
    return words_of(subject) == words_of(other)
