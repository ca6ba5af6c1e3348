"""The reflector: any runnable, run for one job as a LangGraph run of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore
from typing_extensions import TypedDict

from langmemory.embeddings.adapter import wait_for
from langmemory.errors import ConfigError, JobFailedError
from langmemory.operations.jobs import Jobs
from langmemory.reflection.events import REFLECTION
from langmemory.reflection.payload import unpacked, unpacked_config
from langmemory.reflection.queue import jobs_of
from langmemory.types import Job


def as_runnable(reflector: Any) -> Runnable[Any, Any]:
    """The reflector as a runnable; a function becomes one.

    Raises:
        ConfigError: It is neither.
    """
    if isinstance(reflector, Runnable):
        return reflector
    if callable(reflector):
        return RunnableLambda(reflector)
    raise ConfigError(
        f"The reflector is a {type(reflector).__name__}; pass a graph, another runnable or a function."
    )


_CLAIM: ContextVar[tuple[Jobs, Job] | None] = ContextVar("langmemory_claim", default=None)


def check_claim() -> None:
    """For a reflector that is about to write what a slow model made of its payload.

    Raises:
        JobFailedError: The job it runs for is another worker's by now, or was forgotten with the person
            it was about.
    """
    claim = _CLAIM.get()
    if claim is not None and not claim[0].leases.holds(claim[1]):
        raise JobFailedError(
            f"Job {claim[1].id} was taken over or forgotten while it ran; nothing was written."
        )


class _Work(TypedDict, total=False):
    job: Job
    result: Any


def performer(
    reflector: Runnable[Any, Any], store: BaseStore, *, run_async: bool = False
) -> Callable[[Job], Any]:
    """Return the function that runs the reflector with the store, config and context of a job.

    It is the one node of a graph, so that `get_config`, `get_store` and `get_runtime` answer in it,
    whatever it is. Not an entrypoint: that would run it in a pool, which holds up the end of the
    program for as long as the reflector takes.
    """

    jobs = jobs_of(store)

    # The config reaches it through the context: given here, it would win over the reflector's own.
    def reflect(work: _Work) -> _Work:
        payload, options = prepare(work["job"])
        return {"result": reflector.invoke(payload, **options)}

    async def areflect(work: _Work) -> _Work:
        payload, options = prepare(work["job"])
        return {"result": await reflector.ainvoke(payload, **options)}

    def prepare(job: Job) -> tuple[Any, dict[str, Any]]:
        _CLAIM.set((jobs, job))  # in the node's own copy of the context
        # A graph makes its own context type of it; others find it in the runtime.
        _, context = unpacked_config(job.config)
        options = {"context": context} if context and isinstance(reflector, Pregel) else {}
        return unpacked(job.payload), options

    builder = StateGraph(_Work)
    builder.add_node("reflect", RunnableLambda(reflect, areflect))
    builder.add_edge(START, "reflect")
    builder.add_edge("reflect", END)
    graph = builder.compile(store=store, name="job")

    @REFLECTION
    def perform(job: Job) -> Any:
        config, context = unpacked_config(job.config)
        work, given = _Work(job=job), cast("None", context)  # whatever type it once had
        if run_async:
            return wait_for(graph.ainvoke(work, config, context=given))["result"]
        return graph.invoke(work, config, context=given)["result"]

    return perform
