"""Statements that are said again: one fact with all their evidence, unless something else was so between.

"I live in Kiel", "I moved to Bonn", "back in Kiel" are three facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from langmemory.formation.contradiction.comparable import ComparableFact, words_of
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.ports.facts import Claim, Fact, fingerprint
from langmemory.types import NO_LONGER


def join_repetitions(facts: Iterable[Fact]) -> list[Fact]:
    """The facts in the order of their first telling; their claims have names, not entity keys. What
    one turn says twice in the same words is one fact."""
    kept: list[Fact] = []
    latest: dict[tuple[bytes, str | None, str], int] = {}
    by_turn: dict[tuple[bytes, str | None, str, tuple[str, ...]], int] = {}
    for fact in facts:
        mark = (fingerprint(fact.text), fact.owner, fact.privacy)
        turn = fact.evidence[:1]
        at = by_turn.get((*mark, turn))
        before = latest.get(mark)
        if at is None and before is not None and not _reasserts(kept, before, fact):
            at = before
        if at is None:
            latest[mark] = by_turn[*mark, turn] = len(kept)
            kept.append(fact)
        else:
            evidence = dict.fromkeys((*kept[at].evidence, *fact.evidence))
            kept[at] = replace(kept[at], evidence=tuple(evidence))
    return kept


def _reasserts(kept: Sequence[Fact], before: int, fact: Fact) -> bool:
    return is_reassertion(
        _comparable_of(kept[before]), _comparable_of(fact), map(_comparable_of, kept[before + 1 :])
    )


def _comparable_of(fact: Fact) -> ComparableFact:
    """With what it says to be over as a claim of its own."""
    if fact.ends:
        claims = (
            claim
            if relation_named(claim.relation).ends or claim.relation.startswith(NO_LONGER)
            else replace(claim, relation=NO_LONGER + claim.relation)
            for claim in fact.claims
        )
        fact = replace(fact, claims=tuple(claims))
    return ComparableFact.of_fact(fact)


def is_reassertion(
    first: ComparableFact, last: ComparableFact, between: Iterable[ComparableFact]
) -> bool:
    """Whether one of the statements, told between two that say the same, ends what the first said,
    so that the last is no repetition of it. Claims may have names or entity keys."""
    return any(
        (first.start, first.said_at) <= (one.start, one.said_at) <= (last.start, last.said_at)
        and _ends(one, last)
        for one in between
    )


def _ends(one: ComparableFact, other: ComparableFact) -> bool:
    return any(
        _is_same_subject(mine.subject, theirs.subject) and _stands_against(mine, theirs)
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


def _is_same_subject(subject: str, other: str) -> bool:
    """Two keys are of one or of two; a name and a key are one when they read the same."""
    if "/" in subject and "/" in other:
        return subject == other
    return words_of(subject) == words_of(other)
