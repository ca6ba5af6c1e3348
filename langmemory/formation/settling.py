"""Settle what was read against what is known: the front door from statements to a change set.

`settle` does all of it in one go. A reflection asks its models between the steps, outside of a
snapshot, and calls the same steps one by one: `dated`, `divided`, `compared` and `written`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from langmemory.changes import ChangeSet
from langmemory.formation import times
from langmemory.formation.batch import Batch
from langmemory.formation.contradiction.grouping import groups
from langmemory.formation.contradiction.pairs import Group
from langmemory.formation.duplicates import Division
from langmemory.formation.edited_turns import divide_facts, known_now
from langmemory.formation.entities.batch_entities import Similar
from langmemory.formation.entities.identity import Identities
from langmemory.formation.entities.resolution import Resolution
from langmemory.formation.entities.resolving import resolve
from langmemory.formation.judging import Judge, Verdicts
from langmemory.formation.planning.plan import plan
from langmemory.formation.procedures.instructions import read_instructions
from langmemory.formation.procedures.planning import plan_with_procedures
from langmemory.ports.facts import EXTRACTION_FAILED, Extraction, SnapshotKnowledge

__all__ = ["divide_facts", "group_pairs", "make_change_set", "resolve_times", "settle"]


def settle(
    batch: Batch,
    extraction: Extraction,
    knowledge: SnapshotKnowledge,
    judge: Judge,
    *,
    now: datetime,
    similar: Similar | None = None,
) -> ChangeSet:
    """Return all that a batch changes: facts, graph, procedures and questions, each with its reason.

    Args:
        batch: The turns that were read.
        extraction: The statements that were made of them.
        knowledge: What is known, as one snapshot shows it. Names that are unclear stay so.
        judge: Decides what structure leaves open.
        now: What ends later than this still holds.
        similar: Compares names by meaning, as `SnapshotKnowledge.similar` does; None leaves that step out.
    """
    extraction = resolve_times(extraction)
    resolution = resolve(extraction.facts, knowledge, similar=similar)
    division = divide_facts(batch, resolution.facts, knowledge)
    verdicts = [judge.judge(group) for group in group_pairs(batch, division, knowledge)]
    return make_change_set(batch, extraction, resolution, division, verdicts, knowledge, now=now)


def resolve_times(extraction: Extraction) -> Extraction:
    """Return the statements with their times, by the clock of who said them."""
    facts = tuple(times.resolve_times(fact, said_at=fact.said_at) for fact in extraction.facts)
    return replace(extraction, facts=facts)


def group_pairs(batch: Batch, division: Division, knowledge: SnapshotKnowledge) -> list[Group]:
    """Return the groups of statements that may contradict each other or what is known."""
    known = known_now(knowledge, batch, division)
    return groups(division.fresh, division.grey, known, batch=batch)


def make_change_set(
    batch: Batch,
    extraction: Extraction,
    resolution: Resolution,
    division: Division,
    verdicts: Sequence[Verdicts],
    knowledge: SnapshotKnowledge,
    *,
    identities: Identities | None = None,
    now: datetime,
) -> ChangeSet:
    """Return the change set of a batch whose groups are judged, with the procedures that its turns tell.

    Args:
        batch: The turns that were read.
        extraction: The statements that were made of them.
        resolution: Its facts with entities.
        division: Of ``resolution.facts``.
        verdicts: One for each group of `compared`.
        knowledge: What is known.
        identities: A model's decisions on unclear names; ``resolution`` has them already.
        now: What ends later than this still holds.
    """
    change_set = plan(
        batch,
        extraction,
        resolution,
        division,
        verdicts,
        known_now(knowledge, batch, division),
        identities=identities,
        now=now,
        failures=[one for one in extraction.dropped if one == EXTRACTION_FAILED],
    )
    if drafts := read_instructions(batch):
        change_set = plan_with_procedures(drafts, knowledge.procedures(), change_set, now)
    return change_set
