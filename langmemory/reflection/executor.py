"""ReflectionExecutor: LangMem's executor, whose queue is a table in the store's file or is kept by a server.

Swap the import line and nothing is lost any more: what was submitted is done by this process, or
after its end by the next one that has an executor (or `langmemory worker`) on the file. Every job
is done at least once. What the reflection graph changes, exactly once: its runs are named after the
turns they read. A memory manager whose process dies after it wrote and before it said so writes again.

With the name of a graph on a LangGraph server, `RemoteReflectionExecutor` submits there, and the server
keeps the queue.
"""

from __future__ import annotations

import contextvars
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Final, overload

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.store.base import BaseStore

from langmemory.errors import ConfigError
from langmemory.nodes.namespaces import RunScope
from langmemory.reflection.local import LocalReflectionExecutor
from langmemory.reflection.payload import (
    FROM_CONFIG,
    Debounce,
    SearchingExecutor,
    WorkOptions,
    labels_of,
    packed_config,
)
from langmemory.reflection.queue import config_of_run
from langmemory.steps import Steps, Wait
from langmemory.types import Namespace

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

THREADS: Final = uuid.UUID("6e1c0f0b-7a0f-5f0e-9d58-3c1f7d0f6f0a")
"""Namespace of the server threads that reflections run in."""


class RemoteReflectionExecutor(SearchingExecutor):
    """Schedules runs of a graph on a LangGraph server, which survive this process.

    The reflections of a conversation have a server thread of their own (`reflection_thread`), so that
    replacing a scheduled one (``multitask_strategy="rollback"``) never touches the conversation.

    Args:
        namespace: What it reflects; the graph finds it in ``configurable``.
        reflector: Name of the graph, or id of an assistant.
        url: The server; None finds it as `langgraph_sdk` does.
        client: A client to use instead, for `asearch`.
        sync_client: A client to use instead, for the rest.
        debounce: When turns that `RememberNode` hands over are reflected. Of it a server knows the
            quiet time alone.
    """

    def __init__(
        self,
        namespace: str | tuple[str, ...],
        reflector: str,
        *,
        url: str | None = None,
        client: LangGraphClient | None = None,
        sync_client: SyncLangGraphClient | None = None,
        debounce: Debounce | None = None,
    ) -> None:
        from langgraph_sdk import get_client, get_sync_client

        self.namespace: Namespace = labels_of(namespace)
        self._assistant = reflector
        self._async = client or get_client(url=url)
        self._sync = sync_client or get_sync_client(url=url)
        self._debounce = debounce or Debounce()
        self._threads = ThreadPoolExecutor(thread_name_prefix="langmemory-remote")
        self._last: dict[str, Future[Any]] = {}
        """By server thread: what is being sent, which the next must not overtake and be replaced by."""
        self._lock = threading.Lock()  # guards it

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
        """Schedule a run. A scheduled one of the same conversation is replaced.

        Args:
            payload: The graph's input. Or a namespace, as `RememberNode` submits: then the graph
                gets ``{"namespace", "thread_id"}``.
            config: None takes that of the run under way.
            after_seconds: How long to wait.
            thread_id: The conversation; without it, the config's. None makes a thread of its own.
            keys: The turns that are new; the graph finds them by itself.

        Returns:
            A future of the scheduled run, not of its end.
        """
        config = config_of_run(config)
        if thread_id is FROM_CONFIG:
            thread_id = RunScope.of(None, config).thread_id
        namespace = self.namespace
        if isinstance(payload, tuple):
            namespace, after_seconds = payload, self._debounce.debounce_seconds
            payload = {"namespace": list(payload)}
            if thread_id is not None:
                payload["thread_id"] = str(thread_id)
        sent: Any = payload  # messages, too: the SDK has a form for them
        kept = packed_config(config, None).get("configurable", {})
        kept.pop("thread_id", None)
        thread = reflection_thread(self._assistant, namespace, thread_id)

        def send(before: Future[Any] | None) -> Any:
            if before is not None:
                wait([before])
            return self._sync.runs.create(
                thread_id=thread,
                assistant_id=self._assistant,
                input=sent,
                config={"configurable": {**kept, "namespace": list(namespace)}},
                multitask_strategy="rollback",
                after_seconds=round(after_seconds),
                if_not_exists="create",
            )

        run = contextvars.copy_context().run  # the tracing of the caller
        with self._lock:
            future = self._threads.submit(run, send, self._last.get(thread))
            self._last[thread] = future
        future.add_done_callback(lambda done: self._sent(thread, done))
        return future

    def _sent(self, thread: str, done: Future[Any]) -> None:
        with self._lock:
            if self._last.get(thread) is done:
                del self._last[thread]

    def _searched(
        self, namespace: str | tuple[str, ...] | None, **options: Any
    ) -> Steps[list[dict[str, Any]]]:
        place = self.namespace if namespace is None else labels_of(namespace)
        sync, on_loop = self._sync.store.search_items, self._async.store.search_items
        found = yield Wait(lambda: sync(place, **options), lambda: on_loop(place, **options))
        return [{**item, "namespace": tuple(item["namespace"])} for item in found["items"]]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Send what is to be sent. What is scheduled is the server's."""
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)


def reflection_thread(assistant: str, namespace: Namespace, thread_id: Any) -> str:
    """The server thread in which an assistant reflects a conversation: always the same one. Threads
    of two namespaces may have the same name."""
    if not thread_id:
        return str(uuid.uuid4())
    return str(uuid.uuid5(THREADS, "\n".join((assistant, ".".join(namespace), str(thread_id)))))


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
