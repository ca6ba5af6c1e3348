"""Confiding: turns that are private by rule, in a run of their own that can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from langmemory.changes import ChangeSet, Facets, UpdateMemory
from langmemory.formation.confidences import Confidence, confidence_of, means_before
from langmemory.ledger import standing
from langmemory.ledger.connection import Connection
from langmemory.messages import Turn
from langmemory.pluralize import counted
from langmemory.ports.facts import digest
from langmemory.types import Namespace

WHY: Final[Mapping[Confidence, str]] = {
    "request": "the speaker asked to keep it to themselves",
    "surprise": "a surprise for somebody",
    "health": "about the speaker's health",
    "money": "about the speaker's money",
}
PERSON: Final = "user"


class Heard(NamedTuple):
    """One turn, and what its words ask for."""

    turn: Turn
    why: Confidence | None
    """Why it is its speaker's alone."""
    means_before: bool
    """Whether it asks this for what was said before it."""

    @classmethod
    def of(cls, turn: Turn) -> Heard:
        """Read the words of a turn."""
        why = confidence_of(turn.text) if turn.role == PERSON else None
        return cls(turn, why, why == "request" and means_before(turn.text))


def confided(heard: Sequence[Heard]) -> dict[str, Confidence]:
    """Return why turns are private, by key: what was said in confidence, and what answers it."""
    found: dict[str, Confidence] = {}
    why: Confidence | None = None
    for place, (turn, reason, is_about_before) in enumerate(heard):
        if turn.role == PERSON:
            why = reason
            if why is not None and is_about_before:
                for before, *_ in reversed(heard[:place]):
                    found.setdefault(before.key, why)
                    if before.role == PERSON:
                        break
        if why is not None:
            found.setdefault(turn.key, why)
    return found


def privately(
    connection: Connection, namespace: Namespace, heard: Sequence[Heard], owner: str
) -> ChangeSet | None:
    """Return what makes turns private that were stored just now, what they refer to, and what rests on
    them alone; None where nothing does.

    Args:
        connection: The writer, in the transaction that stored them.
        namespace: Where.
        heard: Of one thread, in order, under the keys they have now.
        owner: Whose they are.
    """
    why = confided(heard)
    first = heard[0].turn
    earlier = standing.said_before(connection, namespace, first.key, owner)
    if first.role != PERSON and earlier and earlier[0].privacy == "private":
        for turn, *_ in heard:
            if turn.role == PERSON:
                break
            why.setdefault(turn.key, "request")
    if heard[0].means_before:
        for one in earlier:
            if one.privacy != "private":
                why[one.key] = "request"
            if one.role == PERSON:
                break
    if not why:
        return None
    derived = standing.resting_on(connection, namespace, list(why), owner)
    changes = tuple(
        UpdateMemory(
            key=key,
            facets=Facets(privacy="private", owner=owner),
            reason=WHY[why[key]] if key in why else "made of what is private",
        )
        for key in (*why, *derived)
    )
    kinds = ", ".join(dict.fromkeys(WHY[one] for one in why.values()))
    return ChangeSet(
        namespace=namespace,
        run_id=f"private/{digest(*namespace, *why)}",
        kind="maintenance",
        reason=f"{counted(len(changes), 'memory', 'memories')} made private: {kinds}",
        changes=changes,
        note={"private": len(changes)},
    )
