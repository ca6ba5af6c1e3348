"""Corrections: what a person changes of one memory, each in a run that can be undone; and how it fades."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from langmemory.changes import Facets
from langmemory.declaring.fields import Fields, Key, Labels, Text
from langmemory.server.access import Access
from langmemory.server.api.requests import Place, not_found
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.server.tags import tag_of
from langmemory.types import Ageing, Applied, Memory
from langmemory.wire import Deferred

routes = Routes("Corrections")

Reason = Annotated[str, Field(min_length=1, max_length=1_000)]


class MemoryPlace(Fields):
    """Which memory, and why."""

    key: Key
    namespace: Labels | None = None
    reason: Reason = "corrected over the API"


class Correction(MemoryPlace):
    """What is to be different; what is not named stays."""

    text: Annotated[Text, Field(pattern=r"\S")] | None = None
    """What it is to say. What was said word for word (episodic) cannot be made to say something else."""
    pinned: bool | None = None
    """It does not fade, and no night archives it."""
    verified: bool | None = None
    """A person confirmed it."""
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    updated_at: datetime | None = None
    """As it was when it was read; if it was changed since, this is refused."""


def _memory(access: Access, asked: MemoryPlace) -> Memory:
    place = access.place(asked.namespace, exact=True)
    found = access.store.admin.memory(place, asked.key)
    if found is None:
        raise not_found(asked.key, place)
    access.check_version(tag_of(found))
    return found


@routes("POST", "/corrections", scope="write")
def correct_memory(access: Access, *, body: Correction) -> Applied:
    """Change what a memory says, pin it, or confirm it."""
    given: dict[str, Any] = {
        name: getattr(body, name)
        for name in ("pinned", "verified", "importance")
        if getattr(body, name) is not None
    }
    if body.text is None and not given:
        raise Problem(
            422, "invalid", "Name what is to change: text, pinned, verified or importance."
        )
    found = _memory(access, body)
    return access.store.changes.correct(
        found.namespace,
        found.key,
        value=None if body.text is None else _saying(found, body.text),
        facets=Facets(**given),
        reason=body.reason,
        updated_at=found.updated_at if access.is_conditional else body.updated_at,
    )


def _saying(memory: Memory, text: str) -> dict[str, Any]:
    """Return the value of a memory with another text."""
    if memory.kind == "episodic":
        raise Problem(
            409,
            "verbatim",
            "This was said word for word, and stays so. Correct the fact that was made of it, or archive "
            "or forget this.",
        )
    named = [name for name, told in memory.value.items() if told == memory.text]
    if len(named) != 1:
        raise Problem(
            409,
            "conflict",
            "Its text is made of several fields. Write its value with PUT /semantic.",
        )
    return {**memory.value, named[0]: text}


@routes("POST", "/archive", scope="write")
def archive_memory(access: Access, *, body: MemoryPlace) -> Applied:
    """Put a memory away: it is kept, and not recalled any more."""
    found = _memory(access, body)
    return access.store.changes.archive(found.namespace, found.key, reason=body.reason)


@routes("POST", "/restore", scope="write")
def restore_memory(access: Access, *, body: MemoryPlace) -> Applied:
    """Bring back a memory that was put away."""
    found = _memory(access, body)
    return access.whole().lifecycle.restore(found.namespace, found.key, reason=body.reason)


class Fading(Deferred):
    """How far a memory has faded."""

    ageing: Ageing | None
    """Null for what does not age, such as a turn."""


class AgeingQuery(Place):
    """Which memory, and when."""

    key: Key
    now: datetime | None = None
    """By which time; without it, now."""


@routes("GET", "/ageing", scope="read")
def get_ageing(access: Access, *, query: AgeingQuery) -> Fading:
    """Return how far a memory has faded: `2^(-age / half-life)` of it is left."""
    place = access.place(query.namespace, exact=True)
    found = _memory(access, MemoryPlace(key=query.key, namespace=place))
    places = [(found.namespace, found.key)]
    return Fading(ageing=access.application.lifecycle.ageing(places, now=query.now)[0])
