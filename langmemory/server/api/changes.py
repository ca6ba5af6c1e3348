"""What changed memory, taking it back, open questions, and the queue of reflections."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from langmemory.server.access import Access
from langmemory.server.api.requests import Fields, Id, Listing, Paging
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.types import Applied, HistoryEntry, Job, JobState, Page, Review, Run
from langmemory.wire import Deferred

routes = Routes("Changes")

WAITING: Final[tuple[JobState, ...]] = ("running", "pending", "dead")


class IdPath(Fields):
    """Which one."""

    id: Id


@routes("GET", "/runs", scope="read")
def list_runs(access: Access, *, query: Listing) -> Page[Run]:
    """List what changed memory on its own, newest first."""
    pages, place = access.whole().pages, access.place(query.namespace)
    return pages.runs(place, after=query.cursor, limit=query.limit)


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


class RunChanges(Paging):
    """Of which run."""

    run_id: Id


@routes("GET", "/changes", scope="read")
def list_changes(access: Access, *, query: RunChanges) -> Page[HistoryEntry]:
    """List what a run changed, with what each memory said before and after."""
    found = _run(access, query.run_id)
    return access.whole().pages.changed_by(found.id, after=query.cursor, limit=query.limit)


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
    return access.store.pages.reviews(
        access.place(query.namespace),
        open_only=query.open_only,
        after=query.cursor,
        limit=query.limit,
    )


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


class JobListing(Paging):
    """Which jobs."""

    state: list[JobState] | None = None
    """May be repeated; without it, those that are not over."""


@routes("GET", "/jobs", scope="admin")
def list_jobs(access: Access, *, query: JobListing) -> Page[QueuedJob]:
    """List the queue of reflections, by number."""
    pages = access.whole(anywhere=True).pages
    states = tuple(query.state or WAITING)
    found = pages.jobs(states, after=query.cursor, limit=query.limit)
    return Page(items=tuple(map(QueuedJob.of, found.items)), next=found.next)


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
