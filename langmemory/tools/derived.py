"""LangChain tools that derive from the declared operations: those that say that models may call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore

from langmemory.declaring import Operation, find_room, operations_of
from langmemory.errors import ConfigError
from langmemory.nodes.namespaces import NamespaceTemplate, fill, viewer_of
from langmemory.nodes.node import run_of
from langmemory.stores.face import bound
from langmemory.tools.answering import memory_tool
from langmemory.types import Namespace
from langmemory.wire import plain


def create_operation_tools(
    namespace: tuple[str, ...] | str,
    *,
    rooms: Sequence[str] = (),
    agent: str | None = None,
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
) -> list[BaseTool]:
    """Return the operations of a store that models may call, as tools.

    Args:
        namespace: template of the namespace that they work in, see `langmemory.nodes.NamespaceTemplate`.
        rooms: the rooms of the store whose operations are meant; none is all.
        agent: name of the agent that gets the tools, or a template of it; the model cannot choose it.
        viewer: template of the person on whose behalf the agent acts; None is the application.
        store: a `MemoryStore` or `RemoteMemoryStore`, used instead of the graph's.

    Raises:
        ConfigError: There is no such room.
    """
    if unknown := [one for one in rooms if find_room(one) is None]:
        raise ConfigError(f"A store has no room {unknown[0]!r}.")
    chosen = operations_of(*rooms)
    place = NamespaceTemplate(namespace)
    return [_tool(one, place, agent, viewer, store) for one in chosen if one.declared.for_models]


def _tool(
    operation: Operation,
    namespace: NamespaceTemplate,
    agent: str | None,
    viewer: str | None,
    store: BaseStore | None,
) -> BaseTool:
    def work(config: RunnableConfig, **given: Any) -> str:
        source, scope = run_of(config, store, operation.id, viewer)
        where: Namespace = namespace.resolve(scope)
        who = None if agent is None else fill(agent, scope)
        seen: Any = bound(source, viewer_of(viewer, scope))  # type: ignore[type-var]
        answer = operation.call(seen, given, lambda _, __: where, who)
        return str(plain(list(answer) if isinstance(answer, tuple) else answer))

    return memory_tool(
        name=operation.id, description=operation.description, arguments=operation.parameters_model,
        work=work,
    )  # fmt: skip
