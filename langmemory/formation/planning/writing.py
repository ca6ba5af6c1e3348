"""Facts and summaries as memories and edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langmemory.changes import AddEdge, AddMemory, Change, Facets
from langmemory.formation.batch import Batch, owner_of
from langmemory.formation.planning.residual_claims import names_of
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.temporal_class import class_of, temporal_class
from langmemory.ports.facts import Claim, Fact, Knowledge, SessionSummary, digest
from langmemory.types import Status

SUMMARY_CONFIDENCE = 0.8
"""Of a model's account of a conversation, each sentence of which somebody said: what it leaves out may
change what it says."""


def fact_memory(
    key: str,
    fact: Fact,
    *,
    status: Status,
    mentions: tuple[str, ...],
    names: Mapping[str, str],
    reason: str,
) -> AddMemory:
    """A fact as a new memory; ``names`` gives the name for each entity key of its claims."""
    return AddMemory(
        key=key,
        value=_value(fact, names),
        facets=Facets(
            kind="procedural" if fact.kind == "procedure" else "semantic",
            speaker=fact.speaker,
            owner=fact.owner,
            privacy=fact.privacy,
            status=status,
            confidence=fact.confidence,
            importance=fact.importance,
            valid_at=fact.valid_at,
            invalid_at=fact.invalid_at,
        ),
        evidence=fact.evidence,
        mentions=mentions,
        reason=reason,
    )


def edges(key: str, claims: tuple[Claim, ...], own: Mapping[str, str]) -> Iterator[AddEdge]:
    """Yield the edges of a fact; ``own`` is as in `Resolution.own`. A partner's partner is said once."""
    told: set[tuple[str, str, str]] = set()
    for claim in claims:
        if relation_named(claim.relation).symmetric:
            if (claim.object, claim.relation, claim.subject) in told:
                continue
            told.add((claim.subject, claim.relation, claim.object))
        entity = own.get(claim.object, claim.object) if claim.object_is_entity else None
        yield AddEdge(
            fact=key,
            subject=own.get(claim.subject, claim.subject),
            relation=claim.relation,
            object=entity,
            literal=None if claim.object_is_entity else claim.object,
        )


def rest_memories(
    facts: Mapping[str, Fact], knowledge: Knowledge, met: Mapping[str, str]
) -> Iterator[Change]:
    """Yield memories for the `residual_claims` of facts, by key; ``met`` as there."""
    for key, fact in facts.items():
        [claim] = fact.claims
        yield fact_memory(
            key,
            fact,
            status="active",
            mentions=(claim.subject, claim.object),
            names=names_of(claim, knowledge, met),
            reason="still so",
        )
        yield from edges(key, fact.claims, {})


def summary_memory(summary: SessionSummary, batch: Batch, *, status: Status) -> AddMemory | None:
    """Return the summary of a batch as a memory; None for an empty one, or where nobody may read it."""
    turns = batch.turns
    whose = owner_of(turns)
    if not summary.text.strip() or not turns or whose is None:
        return None
    owner, private = whose
    value: dict[str, Any] = {
        "text": summary.text,
        "decisions": list(summary.decisions),
        "open_points": list(summary.open_points),
        "thread_id": batch.thread_id,
        "said_at": turns[0].said_at.isoformat(),
    }
    if private:
        value |= {"owner": owner, "privacy": "private"}
    return AddMemory(
        key=f"summary/{batch.thread_id}/{digest(turns[0].key)}",
        value=value,
        facets=Facets(
            kind="archival",
            priority="archive",
            status=status,
            confidence=SUMMARY_CONFIDENCE,
            owner=owner,
            privacy="private" if private else "shared",
            valid_at=turns[0].said_at,
        ),
        evidence=tuple(turn.key for turn in turns),
        reason="summary",
    )


def _value(fact: Fact, names: Mapping[str, str]) -> dict[str, Any]:
    value: dict[str, Any] = {"text": fact.text, "fact_kind": fact.kind}
    if fact.speaker is not None:
        value["speaker"] = fact.speaker
    value["language"] = fact.language
    if fact.claims:
        claim = fact.claims[0]
        value["subject"] = names.get(claim.subject, claim.subject)
        value["relation"] = claim.relation
        value["object"] = (
            names.get(claim.object, claim.object) if claim.object_is_entity else claim.object
        )
    ages = class_of(fact)
    if ages != temporal_class(value.get("relation", ""), fact.kind):
        value["temporal_class"] = ages
    if fact.when is not None:
        value["when"] = {
            "words": fact.when.words,
            "start": fact.when.start.isoformat(),
            "end": fact.when.end.isoformat(),
            "precision": fact.when.precision,
        }
    value["said_at"] = fact.said_at.isoformat()
    if fact.corrects:
        value["corrects"] = True
    if fact.unconfirmed:
        value["read_by"] = "model"
    if fact.privacy != "shared":
        value |= {"owner": fact.owner, "privacy": fact.privacy}
    return value
