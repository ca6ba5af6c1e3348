"""Tools with which a model manages and searches its own memory."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore

from langmemory.nodes.core_memory import BLOCKS
from langmemory.tools.conversation import create_conversation_search_tool
from langmemory.tools.core import create_core_memory_tools
from langmemory.tools.manage import create_manage_memory_tool
from langmemory.tools.memories import (
    create_get_memory_tool,
    create_memory_archive_tool,
    create_memory_timeline_tool,
)
from langmemory.tools.search import create_search_memory_tool

__all__ = [
    "create_conversation_search_tool",
    "create_core_memory_tools",
    "create_get_memory_tool",
    "create_manage_memory_tool",
    "create_memory_archive_tool",
    "create_memory_timeline_tool",
    "create_memory_tools",
    "create_search_memory_tool",
]


def create_memory_tools(
    namespace: tuple[str, ...] | str,
    *,
    viewer: str | None = "{user_id|}",
    core: Mapping[str, str] = BLOCKS,
    limits: Mapping[str, int] = MappingProxyType({}),
    store: BaseStore | None = None,
) -> list[BaseTool]:
    """All memory tools over one namespace, for a model that looks after its memory itself.

    Args:
        namespace: template of the memories' namespace, see `langmemory.nodes.NamespaceTemplate`.
        viewer: template of the person whose private memories may be shown; None shows all.
        core: labels of the core blocks and what belongs in each; empty for none.
        limits: characters by label of a core block, where the default is not right.
        store: used instead of the graph's store, or outside a graph.
    """
    return [
        create_manage_memory_tool(namespace, viewer=viewer, store=store),
        create_search_memory_tool(namespace, viewer=viewer, store=store),
        create_conversation_search_tool(namespace, viewer=viewer, store=store),
        create_get_memory_tool(namespace, viewer=viewer, store=store),
        create_memory_timeline_tool(namespace, viewer=viewer, store=store),
        create_memory_archive_tool(namespace, viewer=viewer, store=store),
        *(
            create_core_memory_tools(
                namespace, labels=core, limits=limits, viewer=viewer, store=store
            )
            if core
            else []
        ),
    ]
