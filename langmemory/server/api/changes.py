"""What changed memory, taking it back, open questions, and the queue of reflections."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from langmemory.server.access import Access
from langmemory.server.api.requests import Fields, Id, Listing, Page, page, with_ties
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.timestamps import EPOCH
from langmemory.types import Applied, HistoryEntry, Job, JobState, Review, Run
from langmemory.wire import Deferred

routes = Routes("Changes")


class IdPath(Fields):
    """Which one."""

    id: Id


def _seconds(at: datetime) -> float:
    return (at - EPOCH).total_seconds()


@routes("GET", "/runs", scope="read")
def list_runs(access: Access, *, query: Listing) -> Page[Run]:
    """List what changed memory on its own, newest first."""
    place, store = access.place(query.namespace), access.whole()

    def order(one: Run) -> tuple[object, ...]:
        return _seconds(one.at), one.id

    def fetch(size: int) -> list[Run]:
        return store.changes.runs(place, limit=size)

    return page(query, with_ties(fetch, lambda one: one.at, order), order, falling=True)


def _run(access: Access, id: str) -> Run:
    found = access.whole().changes.run(id)
    if found is None:
        raise Problem(404, "not-found", f"There is no run {id!r}.")
    access.within(found.namespace, f"run {id!r}")
    return found


@routes("GET", "/runs/{id:path}", scope="read")
def get_run(access: Access, *, path: IdPath) -> Run:
    """Return one run."""
    return _run(access, path.id)


class RunChanges(Fields):
    """Which run."""

    run_id: Id
    limit: Annotated[int, Field(ge=1, le=1_000)] = 200
    """Memories at most."""


class Changed(Deferred):
    """What a run changed."""

    items: list[HistoryEntry]


@routes("GET", "/changes", scope="read")
def list_changes(access: Access, *, query: RunChanges) -> Changed:
    """List what a run changed, with what each memory said before and after."""
    found = _run(access, query.run_id)
    changed = access.whole().changes.changed_by(found.id, limit=query.limit)
    return Changed(items=changed)


class UndoRequest(Fields):
    """What to take back."""

    run_id: Id
    dry_run: bool = False
    """Say what would happen, and change nothing."""


@routes("POST", "/undo", scope="admin")
def undo(access: Access, *, body: UndoRequest) -> Applied:
    """Bring back what was before a run, in a run of its own."""
    found = _run(access, body.run_id)
    return access.whole().changes.undo(found.id, dry_run=body.dry_run)


class ReviewListing(Listing):
    """Which questions."""

    open_only: bool = True


@routes("GET", "/reviews", scope="read")
def list_reviews(access: Access, *, query: ReviewListing) -> Page[Review]:
    """List questions for a person or a deep model, oldest first."""
    place, changes = access.place(query.namespace), access.store.changes

    def order(one: Review) -> tuple[object, ...]:
        return _seconds(one.opened_at), one.id

    found = sorted(changes.reviews(place, open_only=query.open_only), key=order)
    return page(query, lambda _: found, order)


def _review(access: Access, id: str) -> Review:
    found = access.store.changes.review(id)
    if found is None:
        raise Problem(404, "not-found", f"There is no review {id!r}.")
    access.within(found.namespace, f"review {id!r}")
    return found


@routes("GET", "/reviews/{id:path}", scope="read")
def get_review(access: Access, *, path: IdPath) -> Review:
    """Return one question."""
    return _review(access, path.id)


class Decision(Fields):
    """The answer to a question."""

    option: Annotated[str, Field(min_length=1, max_length=400)]
    """One of its options."""
    by: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    """Who decided, for the record."""


@routes("POST", "/reviews/{id:path}", scope="write")
def decide_review(access: Access, *, path: IdPath, body: Decision) -> Applied:
    """Answer a question: the changes of the option are made."""
    store = access.whole()
    return store.changes.decide(_review(access, path.id).id, body.option, by=body.by)


class QueuedJob(Deferred):
    """Work for later, without what it is about, which may quote what somebody said."""

    id: int
    kind: str
    lock: str
    thread: str | None
    state: JobState
    created_at: datetime
    due_at: datetime
    attempts: int
    worker: str | None
    lease_until: datetime | None
    finished_at: datetime | None
    error: str | None

    @classmethod
    def of(cls, job: Job) -> QueuedJob:
        """Return a job as it may be shown."""
        return cls(**{name: getattr(job, name) for name in cls.model_fields})


class JobListing(Fields):
    """Which jobs."""

    state: list[JobState] | None = None
    """May be repeated; without it, those that are not over."""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: str | None = Field(default=None, max_length=2_000)


@routes("GET", "/jobs", scope="admin")
def list_jobs(access: Access, *, query: JobListing) -> Page[QueuedJob]:
    """List the queue of reflections, by number."""
    jobs = access.whole(anywhere=True).jobs
    states: tuple[JobState, ...] = tuple(query.state or ("running", "pending", "dead"))
    found = sorted(map(QueuedJob.of, jobs.listed(states)), key=lambda one: one.id)
    asked = Listing(limit=query.limit, cursor=query.cursor)
    return page(asked, lambda _: found, lambda one: (one.id,))


JobId = Annotated[int, Field(ge=1, le=2**53)]


class JobIds(Fields):
    """Which jobs."""

    ids: Annotated[list[JobId], Field(min_length=1, max_length=1_000)]


class ConcernedJobs(Deferred):
    """Which jobs it concerned."""

    ids: list[int]


@routes("POST", "/jobs/retry", scope="admin")
def retry_jobs(access: Access, *, body: JobIds) -> ConcernedJobs:
    """Try jobs again that were given up; others stay as they are."""
    return ConcernedJobs(ids=access.whole(anywhere=True).jobs.retry(body.ids))


@routes("POST", "/jobs/drop", scope="admin")
def drop_jobs(access: Access, *, body: JobIds) -> ConcernedJobs:
    """Delete jobs that wait or were given up."""
    return ConcernedJobs(ids=access.whole(anywhere=True).jobs.drop(body.ids))
