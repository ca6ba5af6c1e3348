"""The memories of an application's schemas that a store holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig, ensure_config
from langgraph.store.base import NOT_PROVIDED, BaseStore, Item, NotProvided, SearchItem
from pydantic import BaseModel

from langmemory.compat.langmem.schemas import Default, Schema, as_memory, typed
from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.nodes.node import current_runtime, run_of
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

    def get(
        self, key: str, *, refresh_ttl: bool | None = None, config: RunnableConfig | None = None
    ) -> Item | None:
        """A memory, its value an instance of its schema; the default under the key ``default``."""
        config = ensure_config(config)
        store, namespace = self._place(config)
        item = store.get(namespace, key, refresh_ttl=refresh_ttl)
        return self._got(item, key, namespace, config)

    async def aget(
        self, key: str, *, refresh_ttl: bool | None = None, config: RunnableConfig | None = None
    ) -> Item | None:
        """`get` without blocking the loop."""
        config = ensure_config(config)
        store, namespace = self._place(config)
        item = await store.aget(namespace, key, refresh_ttl=refresh_ttl)
        return self._got(item, key, namespace, config)

    def search(self, *, config: RunnableConfig | None = None, **options: Any) -> list[SearchItem]:
        """Memories, their values instances of their schemas; the default where there are none.

        Takes the options of `BaseStore.search`: ``query``, ``filter``, ``limit``, ``offset``.
        """
        config = ensure_config(config)
        store, namespace = self._place(config)
        return self._searched(store.search(namespace, **options), namespace, config)

    async def asearch(
        self, *, config: RunnableConfig | None = None, **options: Any
    ) -> list[SearchItem]:
        """`search` without blocking the loop."""
        config = ensure_config(config)
        store, namespace = self._place(config)
        return self._searched(await store.asearch(namespace, **options), namespace, config)

    def put(
        self,
        key: str,
        value: dict[str, Any],
        index: Any = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
        config: RunnableConfig | None = None,
    ) -> None:
        """As `BaseStore.put`."""
        store, namespace = self._place(ensure_config(config))
        store.put(namespace, key, value, index=index, ttl=ttl)

    async def aput(
        self,
        key: str,
        value: dict[str, Any],
        index: Any = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
        config: RunnableConfig | None = None,
    ) -> None:
        """As `BaseStore.aput`."""
        store, namespace = self._place(ensure_config(config))
        await store.aput(namespace, key, value, index=index, ttl=ttl)

    def delete(self, key: str, config: RunnableConfig | None = None) -> None:
        """As `BaseStore.delete`."""
        store, namespace = self._place(ensure_config(config))
        store.delete(namespace, key)

    async def adelete(self, key: str, config: RunnableConfig | None = None) -> None:
        """As `BaseStore.adelete`."""
        store, namespace = self._place(ensure_config(config))
        await store.adelete(namespace, key)

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

    def _got(
        self, item: Item | None, key: str, namespace: Namespace, config: RunnableConfig
    ) -> Item | None:
        if item is None and key == "default":
            item = self._default(namespace, config)
        if item is None:
            return None
        return MemoryItem(
            value=self._value(item),
            key=item.key,
            namespace=item.namespace,
            created_at=item.created_at,
            updated_at=item.updated_at,
        )

    def _searched(
        self, found: Sequence[SearchItem], namespace: Namespace, config: RunnableConfig
    ) -> list[SearchItem]:
        default = None if found else self._default(namespace, config)
        return [
            FoundMemoryItem(
                item.namespace,
                item.key,
                self._value(item),
                item.created_at,
                item.updated_at,
                item.score,
            )
            for item in (found if default is None else [default])
        ]

    def _value(self, item: Item) -> Any:
        return typed(item.value, self.schema_name_map)


def _plain(item: Fields) -> Fields:
    value = item["value"]
    return (
        {**item, "value": value.model_dump(mode="json")} if isinstance(value, BaseModel) else item
    )
