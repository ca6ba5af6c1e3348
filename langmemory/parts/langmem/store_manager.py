"""create_memory_store_manager: memories of an application's schemas, kept up to date in a store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.store.base import BaseStore

from langmemory.chat_models import as_chat_model
from langmemory.errors import ConfigError, ExtractionError, StalePlanError
from langmemory.formation.asking.asker import Asker
from langmemory.nodes.access import delete_steps
from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.parts.langmem import queries
from langmemory.parts.langmem.memory_manager import (
    INSTRUCTIONS,
    MemoryManager,
    check_input,
)
from langmemory.parts.langmem.passes import REASON, Pass
from langmemory.parts.langmem.proposals import Permits
from langmemory.parts.langmem.schemas import (
    UNTYPED,
    Default,
    Given,
    Schema,
    as_memory,
    checked_schemas,
)
from langmemory.parts.langmem.stored_memories import StoredMemories
from langmemory.reflection.reflector import check_claim
from langmemory.reflection.tokens import counting
from langmemory.steps import Steps, arun_steps, call, run_steps, threaded
from langmemory.stores import MemoryStore

MAX_PASSES = 3
"""So often a conversation is read when the memories it changes are changed meanwhile."""

logger = logging.getLogger("langmemory.reflection")


class MemoryPhase(TypedDict, total=False):
    """A further pass over the memories, after the conversation was read."""

    instructions: str
    include_messages: bool
    """Whether it reads the conversation again; the memories only, if not."""
    enable_inserts: bool
    enable_deletes: bool


class MemoryStoreManager(StoredMemories, Runnable[Any, list[dict[str, Any]]]):
    """Finds the memories a conversation concerns, has a model change them, and stores the changes.

    ``invoke({"messages": […], "max_steps": 1}, config)`` returns what was put:
    ``{"namespace", "key", "value": {"kind", "content"}}``. In a `MemoryStore` every pass is a run
    that ``store.changes.undo`` takes back, deletions too. See `create_memory_store_manager`.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        schemas: Sequence[Schema],
        instructions: str,
        permits: Permits,
        namespace: NamespaceTemplate,
        store: BaseStore | None,
        query_model: BaseChatModel | None,
        query_limit: int,
        default_factory: Callable[[RunnableConfig], Default] | None,
        phases: Sequence[MemoryPhase],
    ) -> None:
        def manager(instructions: str, permits: Permits) -> MemoryManager:
            return MemoryManager(model, schemas=schemas, instructions=instructions, permits=permits)

        super().__init__(
            schemas,
            namespace=namespace,
            store=store,
            default_factory=default_factory,
        )
        self.model = model
        self.query_model = query_model
        self.query_limit = query_limit
        self.instructions = instructions
        self.enable_inserts = permits.insert
        self.enable_deletes = permits.delete
        self.phases = list(phases)
        self.memory_manager = manager(instructions, permits)
        self._asker = None if query_model is None else Asker(query_model, queries.SCHEMA)
        self._managers = [(self.memory_manager, True)]
        for phase in phases:
            phase_permits = Permits(
                insert=phase.get("enable_inserts", True), delete=phase.get("enable_deletes", True)
            )
            self._managers.append(
                (
                    manager(phase.get("instructions", INSTRUCTIONS), phase_permits),
                    phase.get("include_messages", False),
                )
            )

    @property
    def jobs_name(self) -> str:
        """Name of the jobs that are this manager's and no other's: by its schemas and namespace. Not
        by its instructions, which change: what waits would then wait for ever."""
        return (
            f"{self.get_name()} {','.join(self.schema_name_map)} {'/'.join(self.namespace.labels)}"
        )

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[dict[str, Any]]:
        """Return the items put into the store, changed memories first.

        Raises:
            ConfigError: There is no store, a variable of the namespace is missing, or the input is
                no dict.
            ModelUnavailableError: A model could not be asked; nothing was changed.
            ExtractionError: The model's answers could not be used; nothing was changed. Where those
                of the query model cannot, the conversation's last words are the query.
            StalePlanError: In a `MemoryStore`, others changed the same memories while the model was
                asked, `MAX_PASSES` times; what they wrote stands.
        """
        return run_steps(self._steps(input, ensure_config(config)))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[dict[str, Any]]:
        """`invoke` without blocking the loop."""
        return await arun_steps(self._steps(input, ensure_config(config)))

    async def __call__(self, messages: Sequence[Any]) -> list[dict[str, Any]]:
        """LangMem's short form."""
        return await self.ainvoke({"messages": messages})

    def _steps(self, input: Any, config: RunnableConfig) -> Steps[list[dict[str, Any]]]:
        check_input(input)
        for _ in range(MAX_PASSES - 1):
            try:
                return (yield from self._pass(input, config))
            except StalePlanError as error:
                logger.info("memories changed meanwhile, read again: %s", error)
        return (yield from self._pass(input, config))

    def _pass(
        self, input: Mapping[str, Any], config: RunnableConfig
    ) -> Steps[list[dict[str, Any]]]:
        """Return what was put. Raises StalePlanError where a memory it changes was changed meanwhile."""
        with counting() as tokens:
            run = yield from self._changed(input, config)
        puts = run.puts()
        yield threaded(check_claim)
        if isinstance(run.store, MemoryStore):
            for change_set in run.change_sets(puts, tokens.usage):
                yield call(run.store.changes, "apply", change_set)
        else:
            for put in puts:
                yield call(run.store, "put", **put)
            for namespace, key in run.deletes():
                yield from delete_steps(run.store, namespace, key, reason=REASON)
        return puts

    def _changed(self, input: Mapping[str, Any], config: RunnableConfig) -> Steps[Pass]:
        """Find the memories, and have the model say what becomes of them."""
        store, namespace = self._place(config, by_hand=False)
        run = Pass(store=store, namespace=namespace, schemas=self.schemas)
        yield threaded(run.look)
        # The conversation's own words, and anything at all to fill up with.
        asked: Sequence[str | None] = [*queries.message_texts(input), None]
        if self._asker is not None:
            try:
                question = queries.query_question(input, limit=self.query_limit)
                asked = (yield call(self._asker, "ask", question, config)).value or asked
            except ExtractionError as error:
                logger.warning("queries_failed error=%s", type(error).__name__)
        found = []
        for each in self._searches(asked):
            found.append((yield call(store, "search", namespace, **each)))
        run.take(found, self.query_limit)
        if not run.found and (default := self._default(namespace, config)) is not None:
            begun = yield call(store, "get", default.namespace, default.key)
            if begun is None:
                yield call(store, "put", default.namespace, default.key, default.value)
                yield threaded(run.look)
            run.add(begun or default)
        for manager, with_messages in self._managers:
            given = {
                "messages": (input.get("messages") or ()) if with_messages else (),
                "existing": run.existing(),
                "max_steps": input.get("max_steps") if with_messages else 1,
            }
            run.change((yield call(manager, "invoke", given, config)))
        return run

    def _searches(self, asked: Sequence[str | None]) -> list[dict[str, Any]]:
        """Arguments of searches for memories of our kinds, and for those without one, as the tool
        `manage_memory` writes them: other items may lie beside them."""
        return [
            {"query": query, "filter": filter, "limit": self.query_limit}
            for query in asked
            for filter in (*({"kind": kind} for kind in self.schema_name_map), UNTYPED)
        ]


def create_memory_store_manager(
    model: str | BaseChatModel,
    /,
    *,
    schemas: Sequence[Given] | None = None,
    instructions: str = INSTRUCTIONS,
    default: Default | None = None,
    default_factory: Callable[[RunnableConfig], Default] | None = None,
    enable_inserts: bool = True,
    enable_deletes: bool = False,
    query_model: str | BaseChatModel | None = None,
    query_limit: int = 5,
    namespace: tuple[str, ...] = ("memories", "{langgraph_user_id}"),
    store: BaseStore | None = None,
    phases: Sequence[MemoryPhase] | None = None,
) -> MemoryStoreManager:
    """A runnable that keeps memories in the graph's store up to date; LangMem's signature.

    Args:
        model: A chat model, or its name as ``langchain`` knows it ("ollama:qwen3:8b").
        schemas: Pydantic classes, TypedDicts or JSON schemas with a title; each memory is an instance
            of one, of the class made of it where it is none. None: sentences.
        instructions: What is worth a memory.
        default: The memory to begin with where there is none, under the key ``default``.
        default_factory: Makes it from the run's config.
        enable_inserts: False: only the first memory is new, then it is updated (a profile).
        enable_deletes: Whether memories that became wrong are deleted.
        query_model: Writes the queries by which existing memories are found; None: the
            conversation's last words are the query.
        query_limit: Existing memories shown to the model.
        namespace: Where memories are kept; variables in braces come from the run, see
            `langmemory.nodes.NamespaceTemplate`.
        store: Used instead of the graph's store, or outside a graph.
        phases: Further passes over the memories.

    Raises:
        ConfigError: Two defaults, a default that fits no schema, a schema that is none of these,
            two schemas of one name, or a model whose package is missing.
    """
    checked = checked_schemas(schemas)
    if default is not None:
        if default_factory is not None:
            raise ConfigError("default and default_factory are both given; pass one of them.")
        memory = as_memory(default, checked)

        def default_factory(config: RunnableConfig) -> Default:
            return memory

    return MemoryStoreManager(
        as_chat_model(model),
        schemas=checked,
        instructions=instructions,
        permits=Permits(insert=enable_inserts, delete=enable_deletes),
        namespace=NamespaceTemplate(namespace),
        store=store,
        query_model=None if query_model is None else as_chat_model(query_model),
        query_limit=query_limit,
        default_factory=default_factory,
        phases=phases or (),
    )
