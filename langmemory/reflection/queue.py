"""TurnQueue: new turns wait here until their conversation is quiet; then a worker reflects them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from langmemory.errors import ConfigError
from langmemory.nodes.namespaces import current_runtime
from langmemory.operations.jobs import Jobs
from langmemory.ports.jobs import Enqueued, NewJob, lock_of
from langmemory.reflection.payload import Debounce
from langmemory.types import Namespace

logger = logging.getLogger("langmemory.reflection")

REFLECTION: Final = "reflection"
"""Kind of the jobs of `build_reflection_graph`, which `langmemory worker` runs."""


class TurnQueue:
    """Where `RememberNode` hands new turns to when another process reflects them, such as
    `langmemory worker`. A `ReflectionExecutor` is such a queue, too, and does the work itself.

    Args:
        store: The `MemoryStore` in whose file the queue is; None takes that of the run under way.
        kind: Which workers take the jobs.
        debounce: None is what the store's configuration says under ``reflection``.
    """

    def __init__(
        self,
        store: Any = None,
        *,
        kind: str = REFLECTION,
        debounce: Debounce | None = None,
    ) -> None:
        self._store = store
        self._jobs = None if store is None else jobs_of(store)
        self._kind = kind
        self._debounce = debounce

    def submit(self, namespace: Namespace, /, *, thread_id: str, keys: Sequence[str] = ()) -> None:
        """Reflect a conversation once it is quiet. What was added is read from the store then, so
        ``keys`` are not kept, and a later call takes the place of this one.

        Outside an event loop it returns when the job is safely in the file; on one, at once.
        """
        store = store_of_run() if self._store is None else self._store
        jobs = self._jobs or jobs_of(store)
        debounce = self._debounce or Debounce.of(store.config.reflection)
        job = turns_job(self._kind, namespace, thread_id, debounce)
        written = jobs.enqueue(job, lambda _: None)
        if on_loop():
            written.add_done_callback(note_loss)
        else:
            written.result()


def note_loss(written: Future[Enqueued]) -> None:
    """On a loop nobody waits to hear that turns could not be queued: the thread's next ones take them
    along, or `langmemory reflect`."""
    error = written.exception()
    if error is not None:
        logger.warning("turns_not_queued error=%s", type(error.__cause__ or error).__name__)


def turns_job(kind: str, namespace: Namespace, thread_id: str | None, debounce: Debounce) -> NewJob:
    """The reflection of a thread's new turns; without one, of all that is new in the namespace."""
    payload: dict[str, Any] = {"namespace": list(namespace)}
    if thread_id is not None:
        payload["thread_id"] = thread_id
    return NewJob(
        kind=kind,
        lock=lock_of(kind, namespace),
        thread=thread_id,
        payload=payload,
        config={},
        wait_seconds=debounce.debounce_seconds,
        max_debounce_seconds=debounce.max_debounce_seconds,
    )


def jobs_of(store: Any) -> Jobs:
    """The queue in the store's file.

    Raises:
        ConfigError: The store has none.
    """
    jobs = getattr(store, "jobs", None)
    if not isinstance(jobs, Jobs):
        raise ConfigError(
            f"The queue of reflections is kept in a MemoryStore's file, and the store is a "
            f"{type(store).__name__}: pass store=MemoryStore(…)."
        )
    return jobs


def store_of_run() -> Any:
    """The store of the graph run under way.

    Raises:
        ConfigError: No run is under way, or its graph has no store.
    """
    store = getattr(current_runtime(), "store", None)
    if store is None:
        raise ConfigError(
            "No store for the queue of reflections: pass store=MemoryStore(…), or submit from a "
            "graph that was compiled with one."
        )
    return store


def config_of_run(config: RunnableConfig | None) -> RunnableConfig:
    """The config given, else that of the run under way; an empty one outside."""
    try:
        return config or get_config()
    except RuntimeError:  # outside a run
        return RunnableConfig()


def on_loop() -> bool:
    """Whether this thread runs an event loop, which nobody may block."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
