"""RemoteReflectionExecutor: the same on a LangGraph server, which keeps the queue itself."""

from __future__ import annotations

import contextvars
import threading
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Final

from langchain_core.runnables import RunnableConfig

from langmemory.nodes.namespaces import RunScope
from langmemory.reflection.payload import (
    FROM_CONFIG,
    Debounce,
    SearchingExecutor,
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
