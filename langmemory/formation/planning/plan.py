"""From what was read, resolved, compared and judged to one change set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from langmemory.changes import (
    AddMemory,
    Change,
    ChangeSet,
    Facets,
    Invalidate,
    LinkEntities,
    MarkReflected,
    OpenReview,
    Supersede,
    UpdateMemory,
)
from langmemory.formation.batch import Batch
from langmemory.formation.duplicates import Division
from langmemory.formation.edited_turns import EditedTurns, as_update
from langmemory.formation.entities.identity import Identities
from langmemory.formation.entities.resolution import Resolution
from langmemory.formation.judging import Verdicts
from langmemory.formation.planning import questions
from langmemory.formation.planning.approval import status
from langmemory.formation.planning.consequences import consequences, dependants
from langmemory.formation.planning.outcome import Outcome
from langmemory.formation.planning.writing import (
    edges,
    fact_memory,
    summary_memory,
)
from langmemory.pluralize import count_noun
from langmemory.ports.facts import EXTRACTION_FAILED, READ_IN_PART, Extraction, Knowledge


def plan(
    batch: Batch,
    extraction: Extraction,
    resolution: Resolution,
    division: Division,
    verdicts: Sequence[Verdicts],
    knowledge: Knowledge,
    *,
    identities: Identities | None = None,
    now: datetime,
    failures: Sequence[str] = (),
) -> ChangeSet:
    """Everything the run changes, in the order in which it can be applied.

    Args:
        batch: what was read.
        extraction: what was made of it.
        resolution: its facts with entities.
        division: of ``resolution.facts``.
        verdicts: one for each group of `contradiction.groups`.
        knowledge: what is known.
        identities: what a model made of unclear names; `resolution` has it already.
        now: what is over only after it holds until then.
        failures: steps of the run that failed, in a few words each without text of memories. A
            judge that could not be asked is one by itself. With any, nothing graduates (`approval`).
    """
    identities = identities or Identities()
    failed = (*failures, *(f"judge: {one.failure}" for one in verdicts if one.failure))
    # Not one of those that keep facts waiting: a person is asked then, as without a model.
    told = (*failed, *([EXTRACTION_FAILED] if extraction.problem else []))
    if identities.failure:
        told = (*told, f"names: {identities.failure}")
    outcome = Outcome(batch, resolution, division, verdicts, knowledge, now)
    changes = (
        *_changes(outcome, extraction, failed),
        MarkReflected(keys=tuple(turn.key for turn in batch.turns), read_at=batch.read_at),
    )
    dropped = Counter(one for one in extraction.dropped if one != READ_IN_PART)
    note = {
        "thread_id": batch.thread_id,
        "at": now.isoformat(),
        "turns": len(batch.turns),
        "extracted": len(extraction.facts),
        "dropped": sum(dropped.values()),
        "dropped_for": dict(dropped.most_common()),
        "repeated": division.within + len(division.repeated),
        "groups": len(verdicts),
        "verdicts": dict(Counter(one.verdict for one in outcome.decisions)),
        "names": dict(Counter(one.verdict for one in identities.decisions)),
        "model_calls": extraction.model_calls
        + identities.model_calls
        + sum(one.model_calls for one in verdicts),
        "unreadable_verdicts": sum(one.problem is not None for one in verdicts),
        "failures": list(told),
    }
    if in_part := extraction.dropped.count(READ_IN_PART):
        note["read_in_part"] = in_part
    return ChangeSet(
        namespace=batch.namespace,
        run_id=batch.run_id,
        kind="reflection",
        reason=f"reflection of {count_noun(len(batch.turns), 'turn')} of {batch.thread_id}",
        changes=changes,
        note=note | _report_of_changes(changes),
        planned_at=knowledge.seq,
    )


def _changes(outcome: Outcome, extraction: Extraction, failures: Sequence[str]) -> Iterator[Change]:
    found = (*outcome.repeated(), *outcome.superseded())
    before = outcome.knowledge if isinstance(outcome.knowledge, EditedTurns) else None
    # What the turns say now is not known.
    unread = extraction.problem is not None or EXTRACTION_FAILED in failures
    less = tuple(before.changes(found, outcome.facts)) if before and not unread else ()
    effects = (*less, *found)
    yield from _entities(outcome, effects)
    for key, fact in outcome.facts.items():
        against = outcome.against[key]
        add = fact_memory(
            key,
            fact,
            status=status(against, failures),
            mentions=outcome.mentions(key),
            names=outcome.names(key),
            reason=f"waits: {against.name}" if against else "said",
        )
        yield as_update(add) if before and before.known_before(key) else add
        yield from edges(key, fact.claims, outcome.own(key))
    confided = tuple(_make_turns_private(outcome))
    yield from confided
    private = {one.key for one in confided}  # what retells these turns is private, too
    turns = (
        replace(turn, privacy="private") if turn.key in private else turn
        for turn in outcome.batch.turns
    )
    outcome.batch = replace(outcome.batch, turns=tuple(turns))
    rest = tuple(outcome.rest_memories(dict(outcome.remaining())))
    if not failures:
        yield from rest
        yield from effects
        yield from questions.confirmed(outcome)
        yield from dependants(outcome.knowledge, outcome.batch.namespace, effects)
        yield from consequences(
            outcome.knowledge, outcome.batch.namespace, effects, outcome.begun(), outcome.now
        )
    yield from questions.undecided_reviews(outcome)
    yield from questions.approvals(outcome)
    yield from questions.names(outcome)
    for suggestion in extraction.core:
        yield questions.core(outcome, suggestion)
    if failures and (review := questions.whole_run(outcome, failures, (*rest, *effects))):
        yield review
    renewing: set[str] = set()
    if extraction.summary is not None:
        became = status(None, failures)
        summary = summary_memory(extraction.summary, outcome.batch, status=became)
        if summary is not None and before and before.retells(summary.key):
            renewing.add(summary.key)
            yield as_update(summary)
        elif summary is not None:
            yield summary
    if before and not failures and not unread:
        yield from before.questions(renewing)


def _make_turns_private(outcome: Outcome) -> Iterator[UpdateMemory]:
    """Make the turns of a private fact private, too, to the one whose turn it is."""
    owners = {
        key: fact.owner
        for fact in outcome.facts.values()
        if fact.privacy == "private" and fact.owner is not None
        for key in fact.evidence
    }
    for turn in outcome.batch.turns:
        owner = owners.get(turn.key)
        if owner is not None and turn.owner == owner and turn.privacy != "private":
            yield UpdateMemory(
                key=turn.key,
                facets=Facets(privacy="private"),
                reason="a private fact was made of it",
            )


def _entities(outcome: Outcome, effects: Sequence[Change]) -> Iterator[Change]:
    """New entities and names as far as something that comes about speaks of them."""
    used = {entity for key in outcome.facts for entity in outcome.mentions(key)}
    used |= {key for one in effects if isinstance(one, UpdateMemory) for key in one.mentions}
    used |= {entity.key for one in outcome.resolution.unclear for entity in one.candidates}
    return outcome.resolution.changes_for(used)


def _report_of_changes(changes: Sequence[Change]) -> dict[str, Any]:
    """The part of the note that the journal tells, as keys: its text is that of the memories."""
    added = [one.key for one in changes if isinstance(one, AddMemory)]
    return {
        "changes": dict(Counter(change.op for change in changes)),
        "learned": [key for key in added if key.startswith("fact/")],
        "superseded": [one.key for one in changes if isinstance(one, Supersede | Invalidate)],
        "reviews": [one.id for one in changes if isinstance(one, OpenReview)],
        "linked": [
            {"key": one.key, "same_as": one.same_as, "reason": one.reason}
            for one in changes
            if isinstance(one, LinkEntities)
        ],
        "summary": next((key for key in added if key.startswith("summary/")), None),
    }
