"""Worker: claims jobs, runs each in a thread, keeps their leases, and records what became of them."""

from __future__ import annotations

import atexit
import logging
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from langmemory.errors import ClosedStoreError, ConfigError, LangMemoryError
from langmemory.operations.jobs import Jobs
from langmemory.reflection.events import JOB, reason, retryable
from langmemory.reflection.payload import WorkOptions, json_or_null
from langmemory.types import Job, JobState

logger = logging.getLogger("langmemory.reflection")

TIDY_EVERY_US: Final = 3_600_000_000


class Observer(Protocol):
    """Who wants to know what the worker does."""

    def began(self, job: Job) -> None:
        """A claimed job is about to run."""

    def ended(self, job: Job, state: JobState, result: Any, error: BaseException | None) -> None:
        """An attempt is over and recorded."""

    def looked(self) -> None:
        """The worker has looked for jobs, as it does every ``poll_seconds``."""

    def closed(self, error: ClosedStoreError) -> None:
        """The store was closed: the worker looks no more."""


class Worker:
    """Runs the jobs of one kind, several at a time. Threads are daemons: the lease of a job
    that an exiting process leaves behind is given back, or runs out.

    Args:
        jobs: The queue.
        perform: Does a job; its result is kept as JSON.
        kind: Which jobs.
        lanes: How many jobs run at a time, never two of one lock; 0 runs none.
        options: See `WorkOptions`.
        observer: Told of every job.
        chance: Uniform random numbers in 0–1, for the jitter.
    """

    def __init__(
        self,
        jobs: Jobs,
        perform: Callable[[Job], Any],
        *,
        kind: str,
        lanes: int = 1,
        options: WorkOptions | None = None,
        observer: Observer | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        if lanes < 0:
            raise ConfigError(f"lanes is {lanes}; it must be 0 or more.")
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.kind = kind
        self._jobs = jobs
        self._perform = perform
        self._lanes = lanes
        self._options = options or WorkOptions()
        self._observer = observer
        self._chance = chance
        self._running: dict[int, Job] = {}
        self._leased: dict[
            int, tuple[Job, float]
        ] = {}  # not yet at its end; `time.monotonic` of its start
        self._lock = threading.Lock()  # guards the two, and the count of failures
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self.failed = 0
        """Attempts that failed so far."""
        self._renewed = 0.0
        self._tidied_us = 0

    @property
    def stopping(self) -> bool:
        """Whether it takes no further jobs."""
        return self._stopping

    def running(self) -> set[int]:
        """Jobs it has claimed and not recorded yet."""
        with self._lock:
            return set(self._running)

    def wake(self) -> None:
        """Look for jobs now."""
        self._wake.set()

    def start(self, *, until_idle: bool = False) -> None:
        """Work in the background until stopped.

        With ``until_idle``: do everything that is pending, due or not, once, and end. What fails
        is left for later, and so are locks where another process is at work.
        """
        due_by = None
        if until_idle:
            self._jobs.run_now(self.kind)
            due_by = self._jobs.clock()
        self._thread = threading.Thread(
            target=self._work, args=(due_by,), name=f"langmemory-{self.kind}", daemon=True
        )
        self._thread.start()
        atexit.register(self._leave)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; whether it has after so many seconds."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)
            return not self._thread.is_alive()
        return True

    def run_due(self) -> int:
        """Do what is due, one job after the other, in this thread; how many attempts it took."""
        attempts = 0
        while (job := self._claim(self._jobs.clock())) is not None:
            self._do(job)
            attempts += 1
        return attempts

    def stop(self, *, wait: bool = True, grace_seconds: float | None = None) -> bool:
        """Take no further jobs, and wait for those under way; whether they were finished.

        Args:
            wait: False returns at once; what is under way is finished or, if the process ends
                first, given back.
            grace_seconds: Give back what is not finished after so long; None waits.
        """
        self._stopping = True
        self._wake.set()
        if not wait:
            return not self.running()
        finished = self.join(grace_seconds)
        self._leave()
        return finished

    def _leave(self) -> None:
        """Give back what is under way, so that nobody has to wait for the leases to run out."""
        self._stopping = True
        with self._lock:
            left = [job for job, _ in self._leased.values()]
            self._leased.clear()
        if left:
            with suppress(LangMemoryError):
                self._jobs.leases.release(left)
                logger.info("%d jobs given back unfinished", len(left))

    def _work(self, due_by_us: int | None) -> None:
        """The thread: look, wait, until stopped (or idle) and nothing is under way."""
        end_listening = self._jobs.listen(self.wake)
        try:
            while True:
                pause = self._options.poll_seconds
                try:
                    begun = self._look(due_by_us)
                    idle = due_by_us is not None and not begun
                    if (idle or self._stopping) and not self.running():
                        return
                    pause = self._pause()
                except ClosedStoreError as error:
                    if self._observer is not None:
                        self._observer.closed(error)
                    return
                except Exception as error:  # locked, full: the next look may find it better
                    logger.warning("%s: no jobs for now: %s", self.kind, reason(error))
                self._wake.wait(pause)
                self._wake.clear()
        finally:
            end_listening()
            self._stopping = True
            atexit.unregister(self._leave)

    def _look(self, due_by_us: int | None) -> bool:
        """Renew leases, begin jobs, tidy up; whether any was begun."""
        self._renew()
        begun = False
        while len(self.running()) < self._lanes and not self._stopping:
            job = self._claim(due_by_us)
            if job is None:
                break
            name = f"langmemory-job-{job.id}"
            try:
                threading.Thread(target=self._do, args=(job,), name=name, daemon=True).start()
            except RuntimeError:  # no more threads: another process, or a later look, may have one
                self._let_go(job)
                self._forget(job)
                self._jobs.leases.release([job])
                raise
            begun = True
        now = self._jobs.clock()
        if abs(now - self._tidied_us) > TIDY_EVERY_US:  # also when the clock was put back
            self._tidied_us = now
            self._jobs.leases.tidy(round(self._options.retention_days * 86_400_000_000))
        if self._observer is not None:
            self._observer.looked()
        return begun

    def _pause(self) -> float:
        """Seconds until the next look."""
        poll = self._options.poll_seconds
        running = len(self.running())
        if running:
            poll = min(poll, self._options.lease_seconds / 3)
        due = self._jobs.leases.next_due(self.kind) if running < self._lanes else None
        left = 0 if due is None else (due - self._jobs.clock()) / 1_000_000
        # The lock of what is due and was not claimed is taken; the end of a job of ours wakes.
        return min(poll, left) if left > 0 else poll

    def _claim(self, due_by_us: int | None) -> Job | None:
        job = self._jobs.leases.claim(
            self.kind,
            self.name,
            due_by_us=due_by_us,
            lease_us=self._options.lease_us,
            max_attempts=self._options.max_attempts,
        )
        if job is not None:
            with self._lock:
                self._running[job.id] = job
                self._leased[job.id] = (job, time.monotonic())
        return job

    def _renew(self) -> None:
        now = time.monotonic()
        if now - self._renewed < self._options.lease_seconds / 3:
            return
        self._renewed = now
        with self._lock:
            claims = list(self._leased.values())
        hung = {job.id for job, since in claims if now - since > self._options.job_timeout_seconds}
        lost = [job for job, _ in claims if job.id in hung]
        if len(claims) > len(lost):
            kept = [job for job, _ in claims if job.id not in hung]
            lost += self._jobs.leases.renew(kept, self._options.lease_us)
        for job in lost:
            if self._let_go(job):
                logger.warning("job %d runs too long or lost its lease: it is given up", job.id)
                self._forget(job)

    def _let_go(self, job: Job) -> bool:
        """Its lease is not renewed any more; False when it was not this long ago."""
        with self._lock:
            held = self._leased.get(job.id)
            if held is None or held[0] is not job:
                return False
            del self._leased[job.id]
            return True

    def _forget(self, job: Job) -> None:
        with self._lock:
            if self._running.get(job.id) is job:
                del self._running[job.id]

    def _do(self, job: Job) -> None:
        """One attempt: the boundary where whatever a reflector raises is recorded."""
        started = time.monotonic()
        try:
            if self._observer is not None:
                self._observer.began(job)
            state, result, error = self._attempt(job)
            self._tell(job, state, error, time.monotonic() - started)
            if state is not None and self._observer is not None:
                self._observer.ended(job, state, result, error)
        except LangMemoryError as failure:  # it could not be recorded: the lease runs out
            logger.warning("job %d: the outcome could not be written: %s", job.id, reason(failure))
        finally:
            self._let_go(job)
            self._forget(job)
            self._wake.set()

    def _attempt(self, job: Job) -> tuple[JobState | None, Any, BaseException | None]:
        try:
            result = self._perform(job)
        except ClosedStoreError:
            raise
        except BaseException as error:  # the boundary: what is not recorded is tried for ever
            with self._lock:
                self.failed += 1
            delay = None
            if retryable(error):
                delay = self._options.retry_delay_us(job.attempts, self._chance())
            retry_at = None if delay is None else self._jobs.clock() + delay
            self._let_go(job)
            state = self._jobs.leases.fail(job, reason(error), retry_at)
            if isinstance(error, KeyboardInterrupt):  # Ctrl-C in `run_due`
                raise
            return state, None, error
        self._let_go(job)  # neither renewed nor given back from here on
        return (
            ("done" if self._jobs.leases.finish(job, json_or_null(result)) else None),
            result,
            None,
        )

    def _tell(
        self, job: Job, state: JobState | None, error: BaseException | None, seconds: float
    ) -> None:
        fields = {"id": job.id, "lock": job.lock, "thread": job.thread, "attempt": job.attempts,
                  "state": state or "lost", "error": error and type(error).__name__}  # fmt: skip
        JOB.log({key: value for key, value in fields.items() if value is not None}, seconds * 1_000)
        where = f"job {job.id} ({job.lock}{f', {job.thread}' if job.thread else ''})"
        if state is None:
            logger.warning("%s: its lease was lost, the outcome is the other worker's", where)
        elif error is not None and state == "pending":
            logger.warning("%s failed, attempt %d: %s", where, job.attempts, reason(error))
        elif error is not None:
            logger.error(
                "%s is %s after %d attempts: %s", where, state, job.attempts, reason(error)
            )
