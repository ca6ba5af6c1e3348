"""Residual claims of a fact that is superseded: "Lena's sister Katrin lives in Bremen" is over when Katrin
moves, and she is Lena's sister still.

A fact holds or is over as a whole, and its edges with it. So what it claims under other relations
than the one that changed becomes a fact of its own, of the same evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from langmemory.formation.contradiction.comparable import BEGINNING, ComparableFact, fact_key
from langmemory.formation.relations.vocabulary import BY_NAME, relation_named
from langmemory.ports.facts import Claim, Fact, Knowledge
from langmemory.types import NO_LONGER


def residual_claims(
    over: ComparableFact,
    claims: Sequence[Claim],
    told: Collection[Claim],
    knowledge: Knowledge,
    met: Mapping[str, str],
    *,
    own: Mapping[str, str],
    gone: Collection[str] = (),
) -> Iterator[tuple[str, Fact]]:
    """Claims of a fact between entities that nothing touches, each as a fact of its own that nobody
    made yet, by key.

    Args:
        over: the fact that gives way.
        claims: its own, with entity keys.
        told: what the batch claims.
        met: names of entities of the batch, by key.
        own: see `KnownFact.own`; the facts claim it of whom the one that gives way was told.
        gone: keys of other facts that give way with it: they say nothing any more.
    """
    changed = {
        theirs.relation
        for theirs in claims
        for mine in told
        if mine.subject in (theirs.subject, theirs.object)
        and theirs.relation in _affected_relations(mine.relation)
    }
    if not changed or not over.evidence:
        return
    kept: list[Claim] = []
    for claim in claims:
        turned = Claim(subject=claim.object, relation=claim.relation, object=claim.subject)
        said = phrase(claim.relation) if claim.object_is_entity else ""
        if not said or claim.relation in changed or turned in kept:
            continue
        if _known_otherwise(claim, {over.key, *gone}, knowledge):
            continue
        kept.append(claim)
        subject, about = (own.get(key, key) for key in (claim.subject, claim.object))
        names = names_of(replace(claim, subject=subject, object=about), knowledge, met)
        ends = [names.get(key, "") for key in (subject, about)]
        if all(ends):
            text = f"{ends[0]} {said} {ends[1]}."
            fact = _fact(over, replace(claim, subject=subject, object=about), text)
            if knowledge.by_key(fact_key(fact)) is None:
                yield fact_key(fact), fact


def names_of(claim: Claim, knowledge: Knowledge, met: Mapping[str, str]) -> dict[str, str]:
    """The names of whom a claim is about, by key; ``met`` are those of the batch."""
    keys = [claim.subject, *((claim.object,) if claim.object_is_entity else ())]
    known = {key: one.name for key in keys if (one := knowledge.entity(key)) is not None}
    return {**known, **met}


def phrase(relation: str) -> str:
    """The relation between two names in a sentence; empty where its name does not make one."""
    words = relation.split("_")
    if relation not in BY_NAME or BY_NAME[relation].ends is not None:
        return ""
    if words[0].endswith("s"):
        return " ".join(words)  # lives in, has pet
    return " ".join(("is", *words)) if words[-1] in ("of", "to") else ""


def _affected_relations(name: str) -> tuple[str | None, ...]:
    relation = relation_named(name)
    return name.removeprefix(NO_LONGER), relation.ends, relation.opposite


def _known_otherwise(claim: Claim, gone: Collection[str], knowledge: Knowledge) -> bool:
    """Whether another fact says so, or has another value where there is one."""
    others = (
        one for one in knowledge.about(claim.subject, claim.relation) if one.memory.key not in gone
    )
    if relation_named(claim.relation).is_single:
        return any(True for _ in others)
    return any(
        {claim.subject, claim.object} == {each.subject, each.object}
        for one in others
        for each in one.claims
        if each.relation == claim.relation
    )


def _fact(over: ComparableFact, claim: Claim, text: str) -> Fact:
    timeless = relation_named(claim.relation).timeless or over.start == BEGINNING
    start: datetime | None = None if timeless else over.start
    return Fact(
        text=text,
        speaker=over.speaker,
        owner=over.owner,
        privacy=over.privacy,
        confidence=over.confidence,
        evidence=over.evidence,
        said_at=over.said_at,
        valid_at=start,
        claims=(claim,),
    )
