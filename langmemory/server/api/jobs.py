"""The queue of reflections, without what its jobs are about."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from langmemory.server.access import Access
from langmemory.server.api.requests import Paging
from langmemory.server.routes import Routes
from langmemory.types import Job, JobState, Page
from langmemory.wire import Deferred

routes = Routes("Jobs")

WAITING: Final[tuple[JobState, ...]] = ("running", "pending", "dead")


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
    found = pages.jobs(states, cursor=query.cursor, limit=query.limit)
    return Page(items=tuple(map(QueuedJob.of, found.items)), next=found.next)
