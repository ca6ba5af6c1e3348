"""Statements of one batch in the same words: one fact with all their evidence, unless something
else was so in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from langmemory.formation.contradiction.returning import returns
from langmemory.formation.contradiction.statements import Statement
from langmemory.formation.relations.vocabulary import NO_LONGER, relation_named
from langmemory.ports.facts import Fact, fingerprint


def joined(facts: Iterable[Fact]) -> list[Fact]:
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
        if at is None and before is not None and not _returns(kept, before, fact):
            at = before
        if at is None:
            latest[mark] = by_turn[*mark, turn] = len(kept)
            kept.append(fact)
        else:
            evidence = dict.fromkeys((*kept[at].evidence, *fact.evidence))
            kept[at] = replace(kept[at], evidence=tuple(evidence))
    return kept


def _returns(kept: Sequence[Fact], before: int, fact: Fact) -> bool:
    return returns(_told(kept[before]), _told(fact), map(_told, kept[before + 1 :]))


def _told(fact: Fact) -> Statement:
    """With what it says to be over as a claim of its own."""
    if fact.ends:
        claims = (
            claim
            if relation_named(claim.relation).ends or claim.relation.startswith(NO_LONGER)
            else replace(claim, relation=NO_LONGER + claim.relation)
            for claim in fact.claims
        )
        fact = replace(fact, claims=tuple(claims))
    return Statement.of_fact(fact)
