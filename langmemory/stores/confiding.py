"""Confiding: turns that are private by rule, in a run of their own that can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from langmemory.changes import ChangeSet, Facets, UpdateMemory
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.records import standing
from langmemory.formation.batch import digest
from langmemory.formation.confidences import Confidence, confidence_of, means_before
from langmemory.messages import Turn
from langmemory.pluralize import counted
from langmemory.types import Namespace

WHY: Final[Mapping[Confidence, str]] = {
    "request": "the speaker asked to keep it to themselves",
    "surprise": "a surprise for somebody",
    "health": "about the speaker's health",
    "money": "about the speaker's money",
}
PERSON: Final = "user"


def confided(turns: Sequence[Turn]) -> dict[str, Confidence]:
    """Return why turns are private, by key: what was said in confidence, and what answers it."""
    found: dict[str, Confidence] = {}
    why: Confidence | None = None
    for place, turn in enumerate(turns):
        if turn.role == PERSON:
            why = confidence_of(turn.text)
            if why == "request" and means_before(turn.text):
                for before in reversed(turns[:place]):
                    found.setdefault(before.key, why)
                    if before.role == PERSON:
                        break
        if why is not None:
            found.setdefault(turn.key, why)
    return found


def privately(
    connection: Connection, namespace: Namespace, turns: Sequence[Turn], owner: str
) -> ChangeSet | None:
    """Return what makes turns private that were stored just now, what they refer to, and what rests on
    them alone; None where nothing does.

    Args:
        connection: The writer, in the transaction that stored them.
        namespace: Where.
        turns: Of one thread, in order, under the keys they have now.
        owner: Whose they are.
    """
    why = dict(confided(turns))
    first = turns[0]
    earlier = standing.said_before(connection, namespace, first.key, owner)
    if first.role != PERSON and earlier and earlier[0].privacy == "private":
        for turn in turns:
            if turn.role == PERSON:
                break
            why.setdefault(turn.key, "request")
    if first.role == PERSON and why.get(first.key) == "request" and means_before(first.text):
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
