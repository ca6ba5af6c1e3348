"""create_memory_store_manager: memories of an application's schemas, kept up to date in a store; what one
pass of it finds and changes there."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.store.base import NOT_PROVIDED, BaseStore, Item, NotProvided, SearchItem
from pydantic import BaseModel

from langmemory.changes import AddMemory, Change, ChangeSet, RemoveMemory, UpdateMemory
from langmemory.chat_models import as_chat_model
from langmemory.errors import ConfigError, ExtractionError, StalePlanError
from langmemory.formation.asking.asker import Asker
from langmemory.nodes.access import delete_steps
from langmemory.nodes.namespaces import NamespaceTemplate, current_runtime
from langmemory.nodes.node import run_of
from langmemory.operations.gathering import Gathering
from langmemory.parts.langmem import searcher
from langmemory.parts.langmem.memory_manager import (
    INSTRUCTIONS,
    MemoryManager,
    check_input,
)
from langmemory.parts.langmem.proposals import Permits
from langmemory.parts.langmem.schemas import (
    UNTYPED,
    Default,
    ExtractedMemory,
    Given,
    RemoveDoc,
    Schema,
    as_memory,
    checked_schemas,
    kind_of,
    typed,
)
from langmemory.reflection.reflector import check_claim
from langmemory.reflection.tokens import Usage, counting, noted
from langmemory.steps import Steps, arun_steps, awaiting, blocking, call, run_steps, thread_call
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

Fields: TypeAlias = dict[str, Any]
"""An item as a dict. (In the classes below ``dict`` is the method.)"""


class MemoryItem(Item):
    """An item whose value may be an instance of a schema; as a dict it is plain JSON, as LangMem's."""

    __slots__ = ()

    def dict(self) -> Fields:
        return _plain(super().dict())


class FoundMemoryItem(SearchItem):
    """A `MemoryItem` that a search found."""

    __slots__ = ()

    def dict(self) -> Fields:
        return _plain(super().dict())


class StoredMemories:
    """Reading and writing them by hand, as LangMem's manager offers it: also after a run, and outside
    it, in the store of that run.

    Args:
        schemas: Pydantic classes.
        namespace: Where they are; its variables come from the run.
        store: Used instead of the graph's store.
        default_factory: Makes the memory to begin with where there is none.
    """

    def __init__(
        self,
        schemas: Sequence[Schema],
        *,
        namespace: NamespaceTemplate,
        store: BaseStore | None,
        default_factory: Callable[[RunnableConfig], Default] | None,
    ) -> None:
        self.schemas = tuple(schemas)
        self.schema_name_map: Mapping[str, Schema] = {one.__name__: one for one in schemas}
        self.namespace = namespace
        self.default_factory = default_factory
        self._store = store
        self._last_store: BaseStore | None = None

    @property
    def store(self) -> BaseStore | None:
        """The store it was given, else that of the run under way or of the last; None before any."""
        if self._store is not None:
            return self._store
        runtime = current_runtime()
        return self._last_store if runtime is None else runtime.store

    def get_namespace(self, config: RunnableConfig | None = None) -> Namespace:
        """The namespace of the run under way, or of ``config``."""
        return self.namespace(config)

    def get_steps(
        self, key: str, *, refresh_ttl: bool | None = None, config: RunnableConfig | None = None
    ) -> Steps[Item | None]:
        """Return a memory, its value an instance of its schema; the default under the key ``default``."""
        config = ensure_config(config)
        store, namespace = self._place(config)
        item = yield call(store, "get", namespace, key, refresh_ttl=refresh_ttl)
        if item is None and key == "default":
            item = self._default(namespace, config)
        if item is None:
            return None
        return MemoryItem(
            value=typed(item.value, self.schema_name_map),
            key=item.key,
            namespace=item.namespace,
            created_at=item.created_at,
            updated_at=item.updated_at,
        )

    get, aget = blocking(get_steps), awaiting(get_steps)

    def search_steps(
        self, *, config: RunnableConfig | None = None, **options: Any
    ) -> Steps[list[SearchItem]]:
        """Return memories, their values instances of their schemas; the default where there are none.

        Takes the options of `BaseStore.search`: ``query``, ``filter``, ``limit``, ``offset``.
        """
        config = ensure_config(config)
        store, namespace = self._place(config)
        found = yield call(store, "search", namespace, **options)
        default = None if found else self._default(namespace, config)
        return [
            FoundMemoryItem(
                item.namespace,
                item.key,
                typed(item.value, self.schema_name_map),
                item.created_at,
                item.updated_at,
                item.score,
            )
            for item in (found if default is None else [default])
        ]

    search, asearch = blocking(search_steps), awaiting(search_steps)

    def put_steps(
        self,
        key: str,
        value: dict[str, Any],
        index: Any = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
        config: RunnableConfig | None = None,
    ) -> Steps[None]:
        """Write a memory, as `BaseStore.put` does."""
        store, namespace = self._place(ensure_config(config))
        yield call(store, "put", namespace, key, value, index=index, ttl=ttl)

    put, aput = blocking(put_steps), awaiting(put_steps)

    def delete_steps(self, key: str, config: RunnableConfig | None = None) -> Steps[None]:
        """Delete a memory, as `BaseStore.delete` does."""
        store, namespace = self._place(ensure_config(config))
        yield call(store, "delete", namespace, key)

    delete, adelete = blocking(delete_steps), awaiting(delete_steps)

    def _place(
        self, config: RunnableConfig, *, by_hand: bool = True
    ) -> tuple[BaseStore, Namespace]:
        """Store and namespace of the run. By hand, outside of one, the store is that of the last."""
        given = self.store if by_hand else self._store
        store, scope = run_of(config, given, "memory manager")
        self._last_store = store
        return store, self.namespace.resolve(scope)

    def _default(self, namespace: Namespace, config: RunnableConfig) -> SearchItem | None:
        if self.default_factory is None:
            return None
        content = as_memory(self.default_factory(config), self.schemas)
        now = datetime.now(UTC)
        return SearchItem(
            namespace,
            "default",
            {"kind": type(content).__name__, "content": content.model_dump(mode="json")},
            created_at=now,
            updated_at=now,
        )


def _plain(item: Fields) -> Fields:
    value = item["value"]
    return (
        {**item, "value": value.model_dump(mode="json")} if isinstance(value, BaseModel) else item
    )


REASON: Final = "memory manager"
"""Of its runs."""


@dataclass(kw_only=True, slots=True)
class Pass:
    """One run of the manager on its way: where, what is there, what becomes of it."""

    store: BaseStore
    namespace: Namespace
    schemas: Sequence[Schema]
    found: dict[str, Item] = field(default_factory=dict)
    """Stored memories, by the id the model's changes come back with."""
    current: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """Kind and content of each memory as it is to be."""
    before: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """The same as it was found."""
    removed: dict[str, None] = field(default_factory=dict)
    seen: int | None = None
    """`ChangeSet.planned_at` of what becomes of it."""

    def look(self) -> None:
        """Note the newest change there is: later ones the model will not have seen."""
        if isinstance(self.store, MemoryStore):
            with Gathering(self.store).knowledge(self.namespace) as knowledge:
                self.seen = knowledge.seq

    def take(self, results: Iterable[Sequence[SearchItem]], limit: int) -> None:
        """The best of what was found; the same item once, as the earlier search found it."""
        items: dict[tuple[Namespace, str], SearchItem] = {}
        for item in (item for each in results for item in each):
            if kind_of(item.value, self.schemas):  # others call what they keep by such kinds, too
                items.setdefault((tuple(item.namespace), item.key), item)

        def score(item: SearchItem) -> float:
            return -1.0 if item.score is None else item.score

        for item in sorted(items.values(), key=score, reverse=True)[:limit]:
            self.add(item)

    def add(self, item: Item) -> None:
        id = "/".join((*item.namespace, item.key))
        self.found[id] = item
        kind = kind_of(item.value, self.schemas) or self.schemas[0].__name__
        self.current[id] = self.before[id] = (kind, item.value["content"])

    def existing(self) -> list[tuple[str, str, Any]]:
        return [(id, kind, content) for id, (kind, content) in self.current.items()]

    def change(self, memories: Sequence[ExtractedMemory]) -> None:
        for id, content in memories:
            if isinstance(content, RemoveDoc):
                self.current.pop(id, None)
                self.removed[id] = None
            elif isinstance(content, BaseModel):
                self.current[id] = (type(content).__name__, content.model_dump(mode="json"))

    def puts(self) -> list[dict[str, Any]]:
        """Memories that are new or otherwise than before, in LangMem's form."""
        puts = []
        for id, (kind, content) in self.current.items():
            if self.before.get(id) == (kind, content):
                continue
            value = {"kind": kind, "content": content}
            old = self.found.get(id)
            if old is not None:
                value = {**old.value, **value}  # what the application keeps beside them stays
            if old is None:
                puts.append({"namespace": self.namespace, "key": id, "value": value})
            else:
                puts.append({"namespace": tuple(old.namespace), "key": old.key, "value": value})
        return puts

    def deletes(self) -> list[tuple[Namespace, str]]:
        gone = [self.found[id] for id in self.removed if id in self.found]
        return [(tuple(item.namespace), item.key) for item in gone]

    def change_sets(self, puts: Sequence[Mapping[str, Any]], usage: Usage) -> list[ChangeSet]:
        """The puts and deletions as change sets, one a namespace, each a run that can be undone. What
        the models took for all of them stands with the first."""
        prices = self.store.config.models.prices if isinstance(self.store, MemoryStore) else {}
        tokens = noted(usage, prices)
        stored = {(tuple(item.namespace), item.key) for item in self.found.values()}
        changes: dict[Namespace, list[Change]] = {}
        for put in puts:
            there = (put["namespace"], put["key"]) in stored
            change = UpdateMemory if there else AddMemory
            changes.setdefault(put["namespace"], []).append(
                change(key=put["key"], value=put["value"])
            )
        for namespace, key in self.deletes():
            changes.setdefault(namespace, []).append(RemoveMemory(key=key))
        return [
            ChangeSet(
                namespace=namespace,
                run_id=f"memories/{uuid.uuid4().hex}",
                kind="reflection",
                reason=REASON,
                changes=tuple(each),
                note={"changes": len(each), **({} if place else tokens)},
                planned_at=self.seen,
            )
            for place, (namespace, each) in enumerate(changes.items())
        ]


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
        self._asker = None if query_model is None else Asker(query_model, searcher.SCHEMA)
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
        yield thread_call(check_claim)
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
        yield thread_call(run.look)
        # The conversation's own words, and anything at all to fill up with.
        asked: Sequence[str | None] = [*searcher.message_texts(input), None]
        if self._asker is not None:
            try:
                question = searcher.query_question(input, limit=self.query_limit)
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
                yield thread_call(run.look)
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
