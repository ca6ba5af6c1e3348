"""Which facts become active by themselves, and which wait for a person.

A fact of a run is ``active`` at once when no objection is raised against it, and ``pending`` with
a review when one is. When a step of the run failed, nothing of it graduates: what would have been
active is kept as ``approved``, nothing that is known changes, and one review for the whole run
asks whether to go on or to drop it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from langmemory.formation.contradiction.statements import spoken_name
from langmemory.formation.entities.resolution import Resolution
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Fact, Knowledge
from langmemory.types import Status


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A fact up for approval."""

    fact: Fact
    hearsay: bool
    """Said about somebody who speaks for themselves here, and not of the speaker too."""
    against_confirmed: bool
    """It contradicts what a person pinned or verified."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Objection:
    """A rule that keeps a fact from becoming active by itself."""

    name: str
    says: str
    """For the reviewer: "this fact … "."""
    holds: Callable[[Case], bool]


MIN_CONFIDENCE = 0.6
"""Less sure facts wait, 0..1."""

UNSURE = Objection(
    name="unsure",
    says="is not sure",
    holds=lambda case: case.fact.confidence < MIN_CONFIDENCE,
)

HEARSAY = Objection(
    name="hearsay",
    says="is what somebody else says about them",
    holds=lambda case: case.hearsay,
)

AGAINST_CONFIRMED = Objection(
    name="against_confirmed",
    says="contradicts what a person confirmed",
    holds=lambda case: case.against_confirmed,
)

OBJECTIONS: Final = (AGAINST_CONFIRMED, HEARSAY, UNSURE)
"""The rules, in order; the first that holds is the one named."""


def objection(case: Case) -> Objection | None:
    """What stands against a fact; None when nothing does."""
    return next((one for one in OBJECTIONS if one.holds(case)), None)


def status(against: Objection | None, failures: Sequence[str]) -> Status:
    """What a fact begins as, by the objection to it and the failures of its run."""
    if against is not None:
        return "pending"
    return "approved" if failures else "active"


def hearsay(fact: Fact, resolution: Resolution, knowledge: Knowledge) -> bool:
    """Whether a fact speaks of a participant other than its speaker, and not of the speaker.

    A participant is who speaks in this batch or has said something about themselves before. What
    is said of others ("my son is four") has no better source.
    """
    if not fact.claims or fact.speaker is None:
        return False
    subject = fact.claims[0].subject
    speaker = resolution.speakers.get(fact.speaker)
    parties = {claim.subject for claim in fact.claims} | {
        claim.object for claim in fact.claims if claim.object_is_entity
    }
    if speaker in parties or resolution.kinds.get(subject) != "person":
        return False
    if subject in resolution.speakers.values():
        return True
    name = name_key(resolution.names.get(subject, ""))
    return any(
        known.memory.speaker is not None
        # Who speaks may be known by another name that was linked since.
        and name_key(known.memory.speaker) in (name, spoken_name(known.own.get(subject, subject)))
        for known in knowledge.about(subject)
    )
