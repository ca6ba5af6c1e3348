"""LocalReflectionExecutor: submits to the queue of a store's file, and works on it.

Futures of submitted jobs are settled by the worker of this process, or by looking into the file.
"""

from __future__ import annotations

import inspect
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from contextlib import suppress
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.store.base import BaseStore

from langmemory.config import CENTURY_SECONDS
from langmemory.errors import ClosedStoreError, ConfigError, JobFailedError
from langmemory.nodes.conversation import speaker_of
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, current_runtime
from langmemory.operations.jobs import Jobs
from langmemory.ports.jobs import Enqueued, NewJob, lock_of
from langmemory.reflection.payload import (
    FROM_CONFIG,
    Debounce,
    SearchingExecutor,
    WorkOptions,
    labels_of,
    packed,
    packed_config,
    unpacked,
)
from langmemory.reflection.queue import (
    config_of_run,
    jobs_of,
    note_loss,
    on_loop,
    store_of_run,
    turns_job,
)
from langmemory.reflection.reflector import as_runnable, performer
from langmemory.reflection.worker import Worker
from langmemory.steps import Steps, call
from langmemory.types import Job, JobState, Namespace


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


logger = logging.getLogger("langmemory.reflection")

_AT_WORK: Final[WeakKeyDictionary[Worker, tuple[Any, Runnable[Any, Any]]]] = WeakKeyDictionary()
"""Store and reflector of every worker that executors of this process have begun."""


class LocalReflectionExecutor(SearchingExecutor):
    """Runs a reflector in threads of this process, from a queue in the store's file.

    Several executors, in several processes, may share a file: jobs go to those whose ``name`` is
    the same, and those of one namespace run one after the other (where the reflector does not say
    which: those of one ``user_id``). A failed job is tried again with growing delays, and is kept
    with its reason when it is given up (`langmemory jobs`). With
    ``MemoryStore(":memory:")`` all works, and nothing survives the process.

    Args:
        reflector: A graph, another runnable, or a function of the payload. It runs as a LangGraph
            run of its own: with the config and context of the run that submitted, and the store.
        store: See `ReflectionExecutor`.
        name: Which jobs it takes; None is the reflector's own name, to which a memory manager adds
            its schemas and namespace. Two reflectors of one name do each other's jobs.
        lanes: How many namespaces are reflected at a time; 0 leaves the work to other processes.
        run_async: Call ``ainvoke``, on an event loop of its own: for reflectors that are only async. An
            async function needs no telling.
        debounce: When turns that `RememberNode` hands over are reflected; None is what the store's
            configuration says under ``reflection``.
        options: How jobs are retried, leased and kept; None likewise.
        clock: Microseconds since the epoch; None is the time.

    Raises:
        ConfigError: The store has no queue, or an option is out of range.
    """

    def __init__(
        self,
        reflector: Runnable[Any, Any] | Callable[[Any], Any],
        store: BaseStore | None = None,
        *,
        name: str | None = None,
        lanes: int = 1,
        run_async: bool = False,
        debounce: Debounce | None = None,
        options: WorkOptions | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._reflector = as_runnable(reflector)
        self._namespace = getattr(reflector, "namespace", None)
        self._variables = _variables(self._namespace)
        self.name = name or getattr(reflector, "jobs_name", None) or self._reflector.get_name()
        self._lanes = lanes
        self._run_async = run_async or inspect.iscoroutinefunction(reflector)
        self._debounce = debounce
        self._options = options
        self._clock = clock
        self._futures = JobFutures(waits=lanes > 0)
        self._binding = threading.Lock()
        self._jobs: Jobs | None = None
        self._worker: Worker | None = None
        self._shut = False
        self._store = store
        if store is None:  # a graph's, or a manager's
            self._store = getattr(self._reflector, "store", None)
        if self._store is not None:
            self._bind(self._store)

    # Submitting.

    def submit(
        self,
        payload: Mapping[str, Any] | Namespace,
        /,
        config: RunnableConfig | None = None,
        *,
        after_seconds: float = 0,
        thread_id: Any = FROM_CONFIG,
        keys: Sequence[str] = (),
    ) -> Future[Any]:
        """Run the reflector with a payload, later. A pending job of the same thread is replaced,
        its future cancelled.

        Outside an event loop it returns when the job is safely in the file; on one, at once.

        Args:
            payload: What the reflector is invoked with; JSON types and LangChain messages. Or a
                namespace, as `RememberNode` submits: then the reflector gets ``{"namespace",
                "thread_id"}`` when the conversation is quiet; without a thread, the namespace.
            config: None takes that of the run under way. Its ``configurable`` and the run's context
                are kept with the job, but no callbacks and no secrets.
            after_seconds: How long to wait.
            thread_id: The conversation; without it, the config's. None replaces nothing.
            keys: The turns that are new; the reflector finds them by itself.

        Returns:
            A future of what the reflector returns (as JSON where another process ran it), or of the
            error it was given up with (a `JobFailedError` where another process did). Cancelling
            it takes the job back.

        Raises:
            InvalidValueError: The payload has no JSON form.
            ConfigError: No store, another payload, the reflector's namespace cannot be filled in, or no
                time at which it would be due.
        """
        jobs = self._bind(self._store)
        if not isinstance(payload, tuple | Mapping):
            raise ConfigError(
                f"The payload is a {type(payload).__name__}; pass a dict such as "
                '{"messages": […]}, or a namespace.'
            )
        if isinstance(payload, tuple):
            assert self._debounce is not None  # bound
            if thread_id is FROM_CONFIG:
                thread_id = RunScope.of(None, config_of_run(config)).thread_id
            name = None if thread_id is None else str(thread_id)
            job = turns_job(self.name, payload, name, self._debounce)
        else:
            job = self._job(payload, config, after_seconds, thread_id)
        future = self._futures.new()
        enqueued = jobs.enqueue(job, future.noted)
        if on_loop():
            enqueued.add_done_callback(lambda written: self._written(future, written))
            enqueued.add_done_callback(note_loss)
        else:
            self._futures.replaced(enqueued.result().replaced)
            self._written(future, enqueued)
        if self._shut:
            future.give_way()
        return future

    def _written(self, future: JobFuture, written: Future[Enqueued]) -> None:
        """On a loop, this runs in the store's writer thread, and the worker sees what was replaced:
        what waits for futures must not hold up the writer."""
        error = written.exception()
        if error is not None:
            future.fail(error)
            return
        future.safe = True
        if future.taken_back:  # before it had its place
            self._futures.drop_later(future)
        if self._worker is not None:
            self._worker.wake()

    def _job(
        self,
        payload: Mapping[str, Any],
        config: RunnableConfig | None,
        after_seconds: float,
        thread_id: Any,
    ) -> NewJob:
        if not after_seconds <= CENTURY_SECONDS:
            raise ConfigError(
                f"after_seconds is {after_seconds!r}; pass at most {CENTURY_SECONDS} (a century)."
            )
        config = config_of_run(config)
        scope = RunScope.of(current_runtime(), config)
        thread = scope.thread_id if thread_id is FROM_CONFIG else thread_id
        namespace = self._namespace_of(payload, config, scope)
        return NewJob(
            kind=self.name,
            # Threads of the same name may be those of two people, whom the reflector alone tells apart.
            lock=lock_of(self.name, namespace, speaker_of(scope)),
            thread=str(thread) if thread else None,
            payload=packed(payload),
            config=packed_config(config, scope.context, needed=self._variables),
            wait_seconds=after_seconds,
        )

    def _namespace_of(
        self, payload: Mapping[str, Any], config: RunnableConfig, scope: RunScope
    ) -> Namespace:
        """Whose memory is reflected: the payload says it, or the reflector's ``namespace`` (ours, or
        LangMem's, which is called); ``()`` when nobody does."""
        given = payload.get("namespace", self._namespace)
        if given is None:
            return ()
        if callable(given):
            return tuple(given(config))
        if isinstance(given, list):
            return tuple(given)
        return NamespaceTemplate(given).resolve(scope)

    def _bind(self, store: Any) -> Jobs:
        """The queue, and a worker on it, once a store is known."""
        with self._binding:
            if self._jobs is None:
                self._store = store = store_of_run() if store is None else store
                self._jobs = jobs_of(store)
                self._debounce = self._debounce or Debounce.of(store.config.reflection)
                if self._clock is not None:
                    self._jobs.clock = self._clock
                self._worker = Worker(
                    self._jobs,
                    performer(self._reflector, store, run_async=self._run_async),
                    kind=self.name,
                    lanes=self._lanes,
                    options=self._options or WorkOptions.of(store.config.reflection),
                    observer=self._futures,
                )
                self._futures.bind(self._jobs, self._worker)
                if self._lanes:
                    _note_at_work(self._worker, self._store, self._reflector)
                self._worker.start()
            return self._jobs

    def _searched(
        self, namespace: str | tuple[str, ...] | None, **options: Any
    ) -> Steps[list[dict[str, Any]]]:
        store = self._store if self._store is not None else store_of_run()
        if namespace is not None:
            place = labels_of(namespace)
        else:
            config = config_of_run(None)
            place = self._namespace_of({}, config, RunScope.of(current_runtime(), config))
        found = yield call(store, "search", place, **options)
        return [item.dict() for item in found]

    # Ending.

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop working. Jobs that are not due stay in the file, for the next process.

        Args:
            wait: Until the jobs submitted here that are due are done, or have failed once.
            cancel_futures: Only finish those under way. No job is lost by it.
        """
        if wait and not cancel_futures and self._lanes:
            self._futures.wait_for_due()
        self._shut = True
        if self._worker is not None:
            self._worker.stop(wait=wait)
        self._futures.give_way()


def _variables(namespace: Any) -> frozenset[str]:
    """Return the variables of a namespace, be it ours or LangMem's. They are kept with a job whatever
    they are called: ``{customer_key}`` is no secret, its value is a label in the file."""
    labels = getattr(namespace, "labels", None) or getattr(namespace, "template", None)
    if isinstance(namespace, str | tuple | list):
        labels = namespace
    return frozenset(re.findall(r"\{([^{}|]+)", " ".join(labels_of(labels or ()))))


def _note_at_work(worker: Worker, store: Any, reflector: Runnable[Any, Any]) -> None:
    """Two that do each other's jobs, as where a cell is run again, are nothing to fail for, but somebody
    has to know."""
    for other, (its_store, its_reflector) in list(_AT_WORK.items()):
        same_file = its_store is store or its_store.path == store.path != ":memory:"
        rival = other.kind == worker.kind and its_reflector != reflector and not other.stopping
        if same_file and rival:
            logger.warning(
                "Two executors of this process do the jobs of %r in %s, each with a reflector of its "
                "own: shut one down, or tell them apart by name=…", worker.kind, store.path,
            )  # fmt: skip
            break
    _AT_WORK[worker] = (store, reflector)
