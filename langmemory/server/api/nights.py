"""Nights of maintenance: what they changed, what one would do now, doing it, and taking it back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from langmemory.declaring.fields import Fields, Id, Labels
from langmemory.maintenance.task_report import TaskReport
from langmemory.operations.lifecycle import MaintenanceNight
from langmemory.server.access import Access
from langmemory.server.api.requests import Listing
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.types import Applied, Namespace, Page, Run
from langmemory.wire import Deferred

routes = Routes("Nights")


class NightView(Deferred):
    """One night of maintenance."""

    id: str
    at: datetime
    """When its first run was applied."""
    changes: int
    """Memories it changed."""
    undone: bool
    """Whether all of it was taken back."""
    runs: list[Run]
    """In the order in which they were applied; `note` names the task and the memories."""


def _within(night: MaintenanceNight, place: Namespace) -> MaintenanceNight:
    """Return the part of a night that concerns a namespace."""
    runs = tuple(one for one in night.runs if one.namespace[: len(place)] == place)
    return MaintenanceNight(id=night.id, at=runs[0].at, runs=runs)


@routes("GET", "/nights", scope="read")
def list_nights(access: Access, *, query: Listing) -> Page[NightView]:
    """List nights that changed memory, newest first."""
    place, store = access.place(query.namespace), access.whole()
    found = store.lifecycle.some_nights(place, cursor=query.cursor, limit=query.limit)
    nights = (_within(one, place) for one in found.items)
    return Page(
        items=tuple(
            NightView(
                id=one.id, at=one.at, changes=one.changes, undone=one.undone, runs=list(one.runs)
            )
            for one in nights
        ),
        next=found.next,
    )


class NightRequest(Fields):
    """What to maintain."""

    namespace: Labels | None = None
    """Prefix by whole labels; without it, what the token reaches."""
    tasks: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=50)] | None = (
        None
    )
    """Only these; without it, all."""
    dry_run: bool = True
    """Say what would happen, and change nothing."""


class NightReport(Deferred):
    """What a night did, or would do."""

    night: str
    """Its id, by which it is undone."""
    dry_run: bool
    reports: list[TaskReport]
    """Of each task."""


@routes("POST", "/nights", scope="admin")
def maintain(access: Access, *, body: NightRequest) -> NightReport:
    """Do one night of maintenance now, or say what it would do. It answers when the night is over."""
    from langmemory.graphs.maintenance import build_maintenance_graph

    place, store = access.place(body.namespace), access.whole()
    graph = build_maintenance_graph(store, tasks=body.tasks)
    found: dict[str, Any] = graph.invoke({"namespace": list(place), "dry_run": body.dry_run})
    return NightReport(night=found["night"], dry_run=body.dry_run, reports=found["reports"])


class UndoNightRequest(Fields):
    """Which night."""

    night: Id
    dry_run: bool = False
    """Say what would happen, and change nothing."""


class UndoneNightView(Deferred):
    """The result of taking back a night."""

    id: str
    applied: list[Applied]
    """Of each run that stood, the last one first."""


@routes("POST", "/nights/undo", scope="admin")
def undo_night(access: Access, *, body: UndoNightRequest) -> UndoneNightView:
    """Take back all that a night changed, its last run first, each in a run of its own.

    Where later changes stand on one of its runs this is refused; the runs after it are taken back then."""
    store = access.whole()
    reached = access.grant.namespaces
    night = store.lifecycle.night(body.night)
    missing = Problem(404, "not-found", f"There is no night {body.night!r}.")
    if night is None:
        raise missing
    inside = [any(one.namespace[: len(at)] == at for at in reached) for one in night.runs]
    if reached and not all(inside):
        if not any(inside):
            raise missing
        raise Problem(
            403,
            "namespace",
            "This night also changed namespaces that your token does not reach. Take back its runs "
            "one by one.",
        )
    done = store.lifecycle.undo(night.id, dry_run=body.dry_run)
    return UndoneNightView(id=done.id, applied=list(done.applied))
