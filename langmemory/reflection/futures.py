"""Futures of submitted jobs: settled by the worker of this process, or by looking into the file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from langmemory.errors import ClosedStoreError, JobFailedError
from langmemory.operations.jobs import Jobs
from langmemory.ports.jobs import Enqueued
from langmemory.reflection.payload import unpacked
from langmemory.reflection.queue import on_loop
from langmemory.reflection.worker import Worker
from langmemory.types import Job, JobState


class JobFuture(Future[Any]):
    """The future of a job. Cancelling it takes the job back, unless it was begun."""

    def __init__(self, futures: JobFutures) -> None:
        super().__init__()
        self._futures = futures
        self.job_id: int | None = None
        self.taken_back = False
        self.safe = False
        """The job's row is committed: whoever does not find it may conclude that it is gone."""
        self._telling = threading.Lock()
        self._told = False
        """That it is cancelled, to `concurrent.futures.wait`, which may be done once."""

    def noted(self, enqueued: Enqueued) -> None:
        """The job has its place in the queue."""
        self.job_id = enqueued.id
        self._futures.add(self, enqueued.id)

    def cancel(self) -> bool:
        if not self._call_off():
            return False
        self.taken_back = True
        self._futures.drop(self)
        return True

    def add_done_callback(self, fn: Callable[[Future[Any]], object]) -> None:
        self._futures.keep(self)  # though nobody else may hold it
        super().add_done_callback(fn)

    def begin(self) -> None:
        """Its job is under way."""
        with self._telling:
            if not self.running() and not self.done():
                self._told = not self.set_running_or_notify_cancel()

    def succeed(self, result: Any) -> None:
        with suppress(InvalidStateError):  # cancelled meanwhile
            self.set_result(result)

    def fail(self, error: BaseException) -> None:
        with suppress(InvalidStateError):
            self.set_exception(error)

    def give_way(self) -> None:
        """Nobody will settle it: cancelled, the job is not touched."""
        if not self._call_off():
            self.fail(CancelledError())

    def _call_off(self) -> bool:
        """Cancel and wake who waits, whoever else does so at the same time."""
        if not super().cancel():
            return False
        with self._telling:
            if not self._told:
                self._told = True
                self.set_running_or_notify_cancel()
        return True


class JobFutures:
    """The futures of one executor; the worker's `Observer`.

    Args:
        waits: Keep a future until it is settled, also when nobody else holds it. An executor that
            leaves the work to others keeps, and looks after, only those that somebody holds.
    """

    def __init__(self, *, waits: bool) -> None:
        self._waits = waits
        self._lock = threading.Lock()
        self._held: WeakValueDictionary[int, JobFuture] = WeakValueDictionary()
        self._kept: set[JobFuture] = set()
        self._jobs: Jobs | None = None
        self._worker: Worker | None = None

    def bind(self, jobs: Jobs, worker: Worker) -> None:
        self._jobs, self._worker = jobs, worker

    def new(self) -> JobFuture:
        return JobFuture(self)

    def add(self, future: JobFuture, job: int) -> None:
        with self._lock:
            self._held[job] = future
            if self._waits:
                self._kept.add(future)

    def keep(self, future: JobFuture) -> None:
        with self._lock:
            self._kept.add(future)

    def drop(self, future: JobFuture) -> None:
        """Take its job out of the queue, if it has its place."""
        dropped = self.drop_later(future)
        if dropped is not None and not on_loop():
            dropped.result()

    def drop_later(self, future: JobFuture) -> Future[list[int]] | None:
        """`drop` without waiting."""
        if future.job_id is None or self._jobs is None:
            return None
        self._take(future.job_id)
        return self._jobs.drop_later(future.job_id)

    def replaced(self, jobs: Sequence[int]) -> None:
        """Later jobs have taken the place of these."""
        for job in jobs:
            self._settle(job, "replaced", None, None)

    def give_way(self) -> None:
        """Cancel all, and leave their jobs in the queue."""
        for job in self._all():
            self._settle(job, "replaced", None, None)

    def wait_for_due(self) -> None:
        """Wait until the jobs that are due at this moment are done, or have failed once; where the
        store is closed, none is any more, and the worker says so to whoever waits."""
        jobs = self._jobs
        if jobs is None:
            return
        now = jobs.clock()
        while True:
            futures = self._all()
            try:
                due = jobs.unfinished(now) & futures.keys()
            except ClosedStoreError:
                return
            if not due:
                return
            wait([futures[job] for job in due], timeout=0.2)

    # What the worker tells.

    def began(self, job: Job) -> None:
        future = self._all().get(job.id)
        if future is not None:
            future.begin()

    def ended(self, job: Job, state: JobState, result: Any, error: BaseException | None) -> None:
        if state != "pending":  # then it is tried again
            self._settle(job.id, state, result, error)

    def looked(self) -> None:
        """Settle the futures of jobs that other processes have ended."""
        if self._jobs is None or self._worker is None:
            return
        safe = {job for job, future in self._all().items() if future.safe}
        elsewhere = safe - self._worker.running()
        over = elsewhere - self._jobs.unfinished() if elsewhere else elsewhere
        if not over:
            return
        found = {job.id: job for job in self._jobs.find(list(over))}
        for number in over:
            job = found.get(number)
            if job is None:  # dropped
                self._settle(number, "replaced", None, None)
            elif job.state not in ("pending", "running"):
                error = JobFailedError(f"Job {number} was given up: {job.error}")
                self._settle(number, job.state, unpacked(job.result), error)

    def closed(self, error: ClosedStoreError) -> None:
        for job in self._all():
            self._settle(job, "dead", None, error)

    def _all(self) -> dict[int, JobFuture]:
        with self._lock:
            return dict(self._held.items())

    def _take(self, job: int) -> JobFuture | None:
        with self._lock:
            future = self._held.pop(job, None)
            if future is not None:
                self._kept.discard(future)
            return future

    def _settle(self, job: int, state: JobState, result: Any, error: BaseException | None) -> None:
        future = self._take(job)
        if future is None:
            return
        if state == "done":
            future.succeed(result)
        elif state == "dead" and error is not None:
            future.fail(error)
        else:
            future.give_way()
