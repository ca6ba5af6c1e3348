"""Reflectors: any runnable, run for one job as a LangGraph run of its own; one that learns procedures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, ensure_config
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore
from typing_extensions import TypedDict

from langmemory.chat_models import as_chat_model
from langmemory.context.marking import is_injected
from langmemory.embeddings.adapter import wait_for
from langmemory.errors import ConfigError, JobFailedError
from langmemory.formation.procedures.learning import Learned, ProcedureReader
from langmemory.messages import as_list
from langmemory.nodes.access import seen_by
from langmemory.nodes.namespaces import NamespaceTemplate, viewer_of
from langmemory.nodes.node import run_of
from langmemory.operations.jobs import Jobs
from langmemory.procedures import Draft, Procedure
from langmemory.reflection.events import REFLECTION
from langmemory.reflection.payload import unpacked, unpacked_config
from langmemory.reflection.queue import jobs_of
from langmemory.steps import Steps, arun_steps, call, run_steps
from langmemory.stores.face import StoreFace
from langmemory.types import Job, Namespace, Privacy


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


KNOWN_SHOWN = 5
"""Known procedures that the model is shown."""


class ProcedureLearner(Runnable[Any, list[Procedure]]):
    """``invoke({"messages": […]})`` returns the procedures that a conversation taught, as they are kept.

    See `create_procedure_learner`.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        namespace: NamespaceTemplate,
        store: BaseStore | None,
        owner: str | None,
        privacy: Privacy,
        instructions: str,
    ) -> None:
        self.namespace, self.owner, self.privacy = namespace, owner, privacy
        self._store = store
        self._reader = ProcedureReader(model, instructions=instructions)

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Procedure]:
        """Read a conversation and keep what it teaches.

        Raises:
            ConfigError: The input has no messages, or the store keeps no procedures.
            ModelUnavailableError: The model could not be asked.
            ExtractionError: Its answers could not be used.
        """
        return run_steps(self._steps(input, ensure_config(config)))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Procedure]:
        """`invoke` without blocking the loop."""
        return await arun_steps(self._steps(input, ensure_config(config)))

    def _steps(self, input: Any, config: RunnableConfig) -> Steps[list[Procedure]]:
        if not isinstance(input, Mapping):
            raise ConfigError(
                f'The input is a {type(input).__name__}; pass {{"messages": […]}}, with the calls of tools.'
            )
        messages = convert_to_messages(as_list(input.get("messages") or ()))  # type: ignore[arg-type]
        store, scope = run_of(config, self._store, "procedure learner")
        owner = viewer_of(self.owner, scope) or None
        seen = seen_by(store, owner)
        if not isinstance(seen, StoreFace):
            raise ConfigError(
                f"Procedures are kept in a MemoryStore, and the store is a {type(store).__name__}."
            )
        given = input.get("namespace")
        namespace = tuple(given) if given else self.namespace.resolve(scope)
        room = seen.procedures
        asked = _asked(messages)
        found = (yield call(room, "recall", asked, namespace, limit=KNOWN_SHOWN)) if asked else ()
        known = [one.procedure for one in found if one.procedure.namespace == namespace]
        learned: Learned = yield from self._reader.read(messages, known, config)
        if not learned.drafts:
            return []
        check_claim()
        drafts = [self._owned(draft, owner) for draft in learned.drafts]
        note = {"model_calls": learned.model_calls, "dropped": len(learned.dropped)}
        kept: list[Procedure] = yield call(
            room,
            "keep",
            namespace,
            drafts,
            reason="learned from a run",
            kind="reflection",
            note=note,
        )
        return kept

    def _owned(self, draft: Draft, owner: str | None) -> Draft:
        return replace(draft, owner=owner, privacy=self.privacy)


def _asked(messages: Sequence[BaseMessage]) -> str:
    said = [one.text for one in messages if isinstance(one, HumanMessage) and not is_injected(one)]
    return " ".join(map(str, said))[:2_000]


def create_procedure_learner(
    model: str | BaseChatModel,
    /,
    *,
    namespace: str | Namespace = ("memories", "{user_id}"),
    store: BaseStore | None = None,
    owner: str | None = "{user_id|}",
    privacy: Privacy = "shared",
    instructions: str = "",
) -> ProcedureLearner:
    """Return a runnable that learns procedures from a conversation with calls of tools.

    Give it to a `ReflectionExecutor` to learn in the background. Without a model, people's corrections
    are learned by the reflection all the same, by rules.

    Args:
        model: A chat model, or its name as ``langchain`` knows it ("ollama:qwen3:8b").
        namespace: Where procedures are kept; variables in braces come from the run.
        store: Used instead of the graph's store, or outside a graph.
        owner: Template of the person whose run it is; None is nobody's.
        privacy: Who may recall what is learned.
        instructions: What the application wants besides.

    Raises:
        ConfigError: The model's package is missing, or a private procedure has nobody to own it.
    """
    if privacy == "private" and owner is None:
        raise ConfigError("Private procedures need an owner; pass owner=….")
    return ProcedureLearner(
        as_chat_model(model),
        namespace=namespace if isinstance(namespace, NamespaceTemplate) else NamespaceTemplate(namespace),
        store=store, owner=owner, privacy=privacy, instructions=instructions,
    )  # fmt: skip
