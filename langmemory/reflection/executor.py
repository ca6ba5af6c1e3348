"""ReflectionExecutor: LangMem's executor whose queue is a table in the store's file.

Swap the import line and nothing is lost any more: what was submitted is done by this process, or
after its end by the next one that has an executor (or `langmemory worker`) on the file. Every job
is done at least once. What the reflection graph changes, exactly once: its runs are named after the
turns they read. A memory manager whose process dies after it wrote and before it said so writes again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from langchain_core.runnables import Runnable
from langgraph.store.base import BaseStore

from langmemory.errors import ConfigError
from langmemory.reflection.local import LocalReflectionExecutor
from langmemory.reflection.payload import Debounce, WorkOptions
from langmemory.reflection.remote import RemoteReflectionExecutor

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient


@overload
def ReflectionExecutor(
    reflector: str,
    namespace: str | tuple[str, ...],
    /,
    *,
    url: str | None = None,
    client: LangGraphClient | None = None,
    sync_client: SyncLangGraphClient | None = None,
    debounce: Debounce | None = None,
) -> RemoteReflectionExecutor: ...


@overload
def ReflectionExecutor(
    reflector: Runnable[Any, Any] | Callable[[Any], Any],
    /,
    *,
    store: BaseStore | None = None,
    name: str | None = None,
    lanes: int = 1,
    run_async: bool = False,
    debounce: Debounce | None = None,
    options: WorkOptions | None = None,
) -> LocalReflectionExecutor: ...


def ReflectionExecutor(
    reflector: Runnable[Any, Any] | Callable[[Any], Any] | str,
    namespace: str | tuple[str, ...] | None = None,
    /,
    *,
    url: str | None = None,
    client: LangGraphClient | None = None,
    sync_client: SyncLangGraphClient | None = None,
    store: BaseStore | None = None,
    debounce: Debounce | None = None,
    **local: Any,
) -> LocalReflectionExecutor | RemoteReflectionExecutor:
    """Reflect in the background: here, or on a LangGraph server.

    Args:
        reflector: What is run with each payload: a graph or another runnable. Or the name of a
            graph on a server.
        namespace: With a server: the namespace it reflects.
        url: With a server: where it is.
        client: With a server: its client.
        sync_client: With a server: its synchronous client.
        store: The `MemoryStore` to reflect in, whose file keeps the queue. None takes the
            reflector's own, else that of the graph run which submits.
        debounce: When turns that `RememberNode` hands over are reflected; None is what the
            configuration of the store says, or with a server the default.
        local: Further options of `LocalReflectionExecutor`.

    Raises:
        ConfigError: The arguments do not go together.
    """
    if isinstance(reflector, str):
        if namespace is None:
            raise ConfigError(f"namespace is required to reflect with {reflector!r} on a server.")
        if store is not None or local:
            raise ConfigError(f"A server has its own store and workers; {reflector!r} takes none.")
        return RemoteReflectionExecutor(
            namespace, reflector, url=url, client=client, sync_client=sync_client, debounce=debounce
        )
    return LocalReflectionExecutor(reflector, store, debounce=debounce, **local)
