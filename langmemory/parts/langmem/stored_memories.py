"""The memories of an application's schemas that a store holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig, ensure_config
from langgraph.store.base import NOT_PROVIDED, BaseStore, Item, NotProvided, SearchItem
from pydantic import BaseModel

from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.nodes.node import current_runtime, run_of
from langmemory.parts.langmem.schemas import Default, Schema, as_memory, typed
from langmemory.steps import Steps, awaiting, blocking, call
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
