"""The base of the memory nodes, which run in any LangGraph graph and know its run.

A node is a `Runnable`; `invoke` and `ainvoke` do the same steps, see `langmemory.steps`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.store.base import BaseStore

from langmemory.errors import ConfigError
from langmemory.nodes.access import StoreAccess, answers_locally, seen_by
from langmemory.nodes.conversation import longest_said
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, current_runtime, viewer_of
from langmemory.steps import Steps, arun_steps, run_steps


class MemoryNode(Runnable[Any, dict[str, Any]]):
    """Base of the nodes that touch the store.

    Args:
        namespace: template of the namespace to read and write, ``("memories", "{user_id}")``.
        store: the store; None takes the graph's.
        name: node name in traces.
    """

    asks_model = False
    """Whether it waits for more than the store."""
    viewer: str | None = None
    """Template of the person to whom the store is bound; None is the application."""

    def __init__(
        self,
        namespace: str | tuple[str, ...] | NamespaceTemplate,
        *,
        store: BaseStore | None,
        name: str,
    ) -> None:
        self.namespace = NamespaceTemplate(namespace)
        self.store = store
        self.name = name

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        return run_steps(self._steps(input, *self._run(config)))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        store, scope = self._run(config)
        steps = self._steps(input, store, scope)
        if answers_locally(store) and not self.asks_model:
            return await asyncio.to_thread(run_steps, steps)
        return await arun_steps(steps)

    def _steps(self, state: Any, store: BaseStore, scope: RunScope) -> Steps[dict[str, Any]]:
        """Return the update of the state."""
        raise NotImplementedError

    def _run(self, config: RunnableConfig | None) -> tuple[BaseStore, RunScope]:
        return run_of(config, self.store, self.get_name(), self.viewer)

    def _in_thread(
        self,
        access: StoreAccess,
        scope: RunScope,
        messages: Sequence[BaseMessage],
        viewer: str | None,
    ) -> Steps[RunScope]:
        """Return the run in the thread it goes on with, if it names none; ``viewer`` is a template."""
        if not (said := longest_said(scope, messages, access.redactor)):
            return scope
        namespace, reader = self.namespace.resolve(scope), viewer_of(viewer, scope)
        thread = yield from access.thread_of(namespace, said, reader)
        return replace(scope, thread_id=thread)


def run_of(
    config: RunnableConfig | None, store: BaseStore | None, name: str, viewer: str | None = None
) -> tuple[BaseStore, RunScope]:
    """The store and the scope of the run under way; a `store` given here wins over the graph's.

    With a `viewer`, a template, the store is as that person may see it. Whoever calls a node within
    a graph without a config means that of the run, as with any LangChain runnable.

    Raises:
        ConfigError: neither `name` (a node or tool) nor the graph has a store, or it is none.
    """
    found = store_of(store, name)
    scope = RunScope.of(current_runtime(), ensure_config(config))
    return seen_by(found, viewer_of(viewer, scope)), scope


def store_of(store: BaseStore | None, name: str) -> BaseStore:
    """The store of the run under way; a `store` given here wins over the graph's.

    Raises:
        ConfigError: neither `name` (a node or tool) nor the graph has a store, or it is none.
    """
    found = store if store is not None else getattr(current_runtime(), "store", None)
    if found is None:
        raise ConfigError(
            f"{name!r} has no store: compile the graph with store=… (create_agent takes it, too), or "
            f"give {name!r} one with store=…"
        )
    if not isinstance(found, BaseStore):
        raise ConfigError(
            f"{name!r} has no store but {found!r:.80}: pass an open one, such as "
            f'MemoryStore("memory.db"). A store of LangGraph that from_conn_string makes is opened by '
            f"``with``."
        )
    return found
