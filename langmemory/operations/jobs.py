"""The queue in a store's file: what `langmemory.reflection` works on, from any thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Annotated

from pydantic import Field

from langmemory.arguments import whole_number
from langmemory.declaring import operation, room
from langmemory.ledger import jobs
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine, run_in_write
from langmemory.operations.workers import Workers
from langmemory.ports.jobs import Enqueued, NewJob
from langmemory.search.searching import now_us
from langmemory.types import Job, JobState

WAITING: tuple[JobState, ...] = ("running", "pending", "dead")
"""Jobs that are not over, or wait for somebody to look at them."""


JobId = Annotated[int, Field(ge=1, le=2**53)]
JobIds = Annotated[Sequence[JobId], Field(min_length=1, max_length=1_000)]


@room("jobs", tag="Jobs")
class Jobs:
    """Jobs of one file. Blocks for as long as SQLite does, except `enqueue`."""

    __slots__ = ("_engine", "_workers", "clock")

    def __init__(self, engine: Engine, workers: Workers) -> None:
        self._engine = engine
        self._workers = workers
        self.clock: Callable[[], int] = lambda: now_us() + engine.ahead_us
        """Microseconds since the epoch, by the clock that all workers share."""

    def enqueue(self, job: NewJob, noted: Callable[[Enqueued], object]) -> Future[Enqueued]:
        """Put a job into the queue in the background; the future tells when it is safe.

        ``noted`` is called before anybody can claim the job.
        """

        def apply(connection: Connection) -> Enqueued:
            enqueued = jobs.enqueue(connection, job, self.clock())
            noted(enqueued)
            return enqueued

        return self._workers.later(apply)

    def run_now(self, kind: str) -> None:
        """See `jobs.run_now`."""
        run_in_write(self._engine, lambda connection: jobs.run_now(connection, kind, self.clock()))

    @operation("admin", "POST /jobs/retry", whole="file")
    def retry(self, ids: JobIds | None = None) -> list[int]:
        """Make dead jobs pending again, as if new; None means all. Return which they were."""
        return run_in_write(self._engine, lambda there: jobs.requeue(there, ids, self.clock()))

    @operation("admin", "POST /jobs/drop", whole="file")
    def drop(self, ids: JobIds) -> list[int]:
        """Delete pending and dead jobs; those it was."""
        return run_in_write(self._engine, lambda connection: jobs.drop(connection, ids))

    def drop_later(self, job: int) -> Future[list[int]]:
        """`drop` in the background."""
        return self._workers.later(lambda connection: jobs.drop(connection, [job]))

    def unfinished(self, due_by_us: int | None = None) -> set[int]:
        """See `jobs.unfinished`."""
        with self._engine.glance() as snapshot:
            return jobs.unfinished_jobs(snapshot.connection, due_by_us)

    def find(self, ids: Sequence[int]) -> list[Job]:
        """Return those of the jobs that are there."""
        with self._engine.glance() as snapshot:
            return jobs.find(snapshot.connection, ids)

    def listed(self, states: Sequence[JobState] = WAITING, *, limit: int = 1_000) -> list[Job]:
        """Return jobs in these states, the next due first within each."""
        with self._engine.read() as snapshot:
            return jobs.list_jobs(snapshot.connection, states, whole_number("limit", limit))

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs there are in each state."""
        with self._engine.glance() as snapshot:
            return jobs.counts(snapshot.connection)

    def listen(self, wake: Callable[[], object]) -> Callable[[], None]:
        """Call ``wake`` when another process may have changed the queue; see `Engine.listen`."""
        return self._engine.listen(wake)

    @property
    def leases(self) -> Leases:
        """For workers, which take jobs for a time."""
        return Leases(self)


class Leases:
    """Jobs as workers take them: each for a time, in which nobody else has it."""

    __slots__ = ("_jobs",)

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def claim(
        self,
        kind: str,
        worker: str,
        *,
        due_by_us: int | None = None,
        lease_us: int,
        max_attempts: int,
    ) -> Job | None:
        """Take the next job of a kind that is due by then (now), for so long."""
        now = self._jobs.clock()
        due_by = now if due_by_us is None else due_by_us
        with self._jobs._engine.glance() as snapshot:  # an idle worker takes no write lock
            if not jobs.claimable(snapshot.connection, kind, now, due_by):
                return None

        def claim(connection: Connection) -> Job | None:
            now = self._jobs.clock()  # the lease begins now, not before a wait for the lock
            return jobs.claim(
                connection,
                kind=kind,
                worker=worker,
                now_us=now,
                due_by_us=now if due_by_us is None else due_by_us,
                lease_us=lease_us,
                max_attempts=max_attempts,
            )

        return run_in_write(self._jobs._engine, claim)

    def next_due(self, kind: str) -> int | None:
        """See `jobs.next_due`."""
        with self._jobs._engine.glance() as snapshot:
            return jobs.next_due(snapshot.connection, kind)

    def renew(self, claims: Sequence[Job], lease_us: int) -> list[Job]:
        """Prolong claims; those that are lost."""

        def renew(connection: Connection) -> list[Job]:
            now = self._jobs.clock()
            return [job for job in claims if not jobs.renew(connection, job, now, lease_us)]

        return run_in_write(self._jobs._engine, renew)

    def holds(self, job: Job) -> bool:
        """See `jobs.holds`."""
        with self._jobs._engine.glance() as snapshot:
            return jobs.holds(snapshot.connection, job)

    def finish(self, job: Job, result: str) -> bool:
        """See `jobs.finish`."""
        clock = self._jobs.clock
        return run_in_write(
            self._jobs._engine, lambda connection: jobs.finish(connection, job, clock(), result)
        )

    def fail(self, job: Job, error: str, retry_at_us: int | None) -> JobState | None:
        """See `jobs.fail`."""
        clock = self._jobs.clock
        return run_in_write(
            self._jobs._engine,
            lambda connection: jobs.fail(connection, job, clock(), error, retry_at_us),
        )

    def release(self, claims: Sequence[Job]) -> None:
        """See `jobs.release`."""

        def release(connection: Connection) -> None:
            for job in claims:
                jobs.release(connection, job, self._jobs.clock())

        run_in_write(self._jobs._engine, release)

    def tidy(self, keep_us: int) -> int:
        """Delete done and replaced jobs that ended longer ago; how many; and mend what a wrong
        clock put off."""

        def tidy(connection: Connection) -> int:
            now = self._jobs.clock()
            jobs.after_clock_change(connection, now)
            return jobs.prune(connection, max(now - keep_us, 0))

        return run_in_write(self._jobs._engine, tidy)
