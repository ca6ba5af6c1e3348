"""Which facts become active by themselves, and which wait for a person.

A fact of a run is ``active`` at once when no objection is raised against it, and ``pending`` with
a review when one is. When a step of the run failed, nothing of it graduates: what would have been
active is kept as ``approved``, nothing that is known changes, and one review for the whole run
asks whether to go on or to drop it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langmemory.formation.contradiction.comparable import spoken_name
from langmemory.formation.entities.resolution import Resolution
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Fact, Knowledge
from langmemory.types import Status


@dataclass(frozen=True, kw_only=True, slots=True)
class Objection:
    """A rule that keeps a fact from becoming active by itself."""

    name: str
    says: str
    """For the reviewer: "this fact … "."""


MIN_CONFIDENCE = 0.6
"""Less sure facts wait, 0..1."""

UNCONFIRMED: Final = Objection(name="unconfirmed", says="is what a model alone read")
"""Until a rule, or another conversation, says the same."""
UNSURE: Final = Objection(name="unsure", says="is not sure")
HEARSAY: Final = Objection(name="hearsay", says="is what somebody else says about them")
AGAINST_CONFIRMED: Final = Objection(
    name="against_confirmed", says="contradicts what a person confirmed"
)


def status(against: Objection | None, failures: Sequence[str]) -> Status:
    """Return what a fact begins as, by the objection to it and the failures of its run."""
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
