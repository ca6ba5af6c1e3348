"""Procedures over REST: how things are done, step by step, and how it went."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from langmemory.errors import ConfigError
from langmemory.procedures import Outcome, Procedure, Source, Step
from langmemory.server.access import Access
from langmemory.server.api.requests import Fields, Key, KeyPath, Labels, Listing, Place
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.types import Namespace, Page, Privacy
from langmemory.wire import Deferred

routes = Routes("Procedures")

Line = Annotated[str, Field(min_length=1, max_length=400, pattern=r"\S")]


class ProcedureListing(Listing):
    """Which procedures."""

    past: bool = False
    """Also those that were superseded or put away."""


class TaskQuery(Place):
    """What is to be done."""

    task: Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S")]
    limit: Annotated[int, Field(ge=1, le=50)] = 5


class NewStep(Fields):
    """One step."""

    text: Line
    tool: Annotated[str, Field(max_length=200)] | None = None
    """The tool it is done with, where that is known."""


class NewProcedure(Fields):
    """How something is done."""

    namespace: Labels | None = None
    task: Line
    """The thing that is done: `deploy the website`."""
    steps: Annotated[tuple[Line | NewStep, ...], Field(min_length=1, max_length=30)]
    """In their order; each a text, or a text with the tool it is done with."""
    preconditions: Annotated[tuple[Line, ...], Field(max_length=30)] = ()
    source: Source = "person"
    """Whom it is from: what an agent notes is background until it has worked once."""
    privacy: Privacy = "shared"
    reason: Annotated[str, Field(max_length=1_000)] = ""


class NewOutcome(Fields):
    """What came of following a procedure."""

    namespace: Labels | None = None
    key: Key
    outcome: Outcome
    why: Annotated[str, Field(max_length=400)] = ""
    """Why it failed, in a few words."""
    revises: Outcome | None = None
    """The outcome that was recorded of the same use, and proved wrong."""
    at: datetime | None = None
    """When it was followed; without it, now."""


class ProcedureView(Deferred):
    """One procedure with its versions."""

    procedure: Procedure
    why: str
    """Why it is shown as it is."""
    versions: list[Procedure]
    """All of them, the oldest first."""


class FittingProcedure(Deferred):
    """A procedure that fits a task."""

    procedure: Procedure
    score: float
    why: str
    """Why it is shown as it is."""


class FittingProcedures(Deferred):
    """The procedures that fit a task, the best first."""

    items: list[FittingProcedure]


@routes("GET", "/procedures", scope="read")
def list_procedures(access: Access, *, query: ProcedureListing) -> Page[Procedure]:
    """List the procedures of a namespace and those below it, by task."""
    found = access.store.procedures.list(access.place(query.namespace), past=query.past)
    start = _start(query.cursor)
    page = tuple(found[start : start + query.limit])
    after = start + len(page)
    return Page(items=page, next=str(after) if after < len(found) else None)


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or len(cursor) > 9:
        raise Problem(
            422, "invalid", "query/cursor is of another list; pass `next` of the page before."
        )
    return int(cursor)


@routes("GET", "/procedures/for-task", scope="read")
def recall_procedures(access: Access, *, query: TaskQuery) -> FittingProcedures:
    """Return the procedures that fit a task. Those that failed more often than they succeeded come last."""
    found = access.store.procedures.recall(
        query.task, access.place(query.namespace), limit=query.limit
    )
    return FittingProcedures(
        items=[
            FittingProcedure(procedure=one.procedure, score=one.score, why=one.why) for one in found
        ]
    )


@routes("GET", "/procedures/{key:path}", scope="read")
def get_procedure(access: Access, *, path: KeyPath, query: Place) -> ProcedureView:
    """Return one procedure, whatever its status, with all its versions."""
    place = access.place(query.namespace, exact=True)
    found = _procedure(access, place, path.key)
    return ProcedureView(
        procedure=found,
        why=found.standing[1],
        versions=list(access.store.procedures.versions(place, path.key)),
    )


def _procedure(
    access: Access, place: Namespace, key: str, *, error: str | None = None
) -> Procedure:
    try:
        found = access.store.procedures.get(place, key)
    except ConfigError:  # it is no procedure
        found = None
    if found is None:
        raise Problem(
            404,
            "not-found",
            f"There is no procedure {key!r} in {'/'.join(place)}; /procedures lists them.",
            error=error,
        )
    return found


@routes("POST", "/procedures", scope="write")
def add_procedure(access: Access, *, body: NewProcedure) -> Procedure:
    """Keep how something is done. The same again is not kept twice; other steps are a new version."""
    return access.store.procedures.add(
        access.place(body.namespace, exact=True),
        body.task,
        [one if isinstance(one, str) else Step(text=one.text, tool=one.tool) for one in body.steps],
        preconditions=body.preconditions,
        source=body.source,
        privacy=body.privacy,
        reason=body.reason,
    )


@routes("POST", "/procedures/outcome", scope="write")
def record_procedure_outcome(access: Access, *, body: NewOutcome) -> Procedure:
    """Record what came of following a procedure."""
    place = access.place(body.namespace, exact=True)
    _procedure(access, place, body.key, error=ConfigError.__name__)
    return access.store.procedures.record_outcome(
        place, body.key, body.outcome, why=body.why, revises=body.revises, at=body.at
    )
