"""Tools with which a model manages and searches its own memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore

from langmemory.errors import ConfigError
from langmemory.nodes.core_memory import BLOCKS
from langmemory.tools.core import PROCEDURE_TOOLS, create_core_memory_tools, create_procedure_tools
from langmemory.tools.manage import create_manage_memory_tool, create_search_memory_tool
from langmemory.tools.memories import (
    create_conversation_search_tool,
    create_get_memory_tool,
    create_memory_archive_tool,
    create_memory_timeline_tool,
)

__all__ = [
    "DEFAULT_TOOLS",
    "PROCEDURE_TOOLS",
    "TOOLS",
    "create_conversation_search_tool",
    "create_core_memory_tools",
    "create_get_memory_tool",
    "create_manage_memory_tool",
    "create_memory_archive_tool",
    "create_memory_timeline_tool",
    "create_memory_tools",
    "create_procedure_tools",
    "create_search_memory_tool",
]


DEFAULT_TOOLS: Final = (
    "manage_memory",
    "search_memory",
    "core_memory_append",
    "core_memory_rethink",
)
"""The tools that an agent gets by default; their schemas take less than 600 tokens of a prompt."""

TOOLS: Final = (
    *DEFAULT_TOOLS,
    "core_memory_replace",
    "conversation_search",
    "get_memory",
    "memory_timeline",
    "memory_archive",
)
"""The names of all memory tools."""


def create_memory_tools(
    namespace: tuple[str, ...] | str,
    *,
    tools: Sequence[str] | None = None,
    viewer: str | None = "{user_id|}",
    core: Mapping[str, str] = BLOCKS,
    limits: Mapping[str, int] = MappingProxyType({}),
    store: BaseStore | None = None,
) -> list[BaseTool]:
    """Return memory tools over one namespace, for a model that manages its memory itself.

    Args:
        namespace: template of the memories' namespace, see `langmemory.nodes.NamespaceTemplate`.
        tools: names of the tools, of `TOOLS`, in the wanted order; None is `DEFAULT_TOOLS`.
        viewer: template of the person whose private memories may be shown; None shows all.
        core: the core blocks by label, with their purposes; if empty, there are no tools for them.
        limits: characters by label of a core block, if not the default.
        store: used instead of the graph's store, or outside a graph.

    Raises:
        ConfigError: there is no tool of one of these names.
    """
    names = _check_names(DEFAULT_TOOLS if tools is None else tools)
    make: dict[str, Callable[..., BaseTool]] = {
        "manage_memory": create_manage_memory_tool,
        "search_memory": partial(create_search_memory_tool, short=True),
        "conversation_search": create_conversation_search_tool,
        "get_memory": create_get_memory_tool,
        "memory_timeline": create_memory_timeline_tool,
        "memory_archive": create_memory_archive_tool,
    }
    made: dict[str, BaseTool] = {
        name: make[name](namespace, viewer=viewer, store=store) for name in names if name in make
    }
    if core and any(name not in make for name in names):
        for tool in create_core_memory_tools(
            namespace, labels=core, limits=limits, viewer=viewer, store=store
        ):
            made[tool.name] = tool
    return [made[name] for name in names if name in made]


def _check_names(names: Sequence[str]) -> Sequence[str]:
    unknown = [names] if isinstance(names, str) else [one for one in names if one not in TOOLS]
    if unknown:
        raise ConfigError(
            f"tools has {', '.join(map(repr, unknown))}; pass a list with names of these: "
            f"{', '.join(TOOLS)}"
        )
    return tuple(dict.fromkeys(names))
