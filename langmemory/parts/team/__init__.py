"""A team of agents: what they tell each other, their tasks and decisions, and how sessions begin and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langmemory.parts.team.inbox_nodes import AcknowledgeNode, InboxNode
    from langmemory.parts.team.session_nodes import DecisionsNode, SessionEndNode, SessionStartNode
    from langmemory.parts.team.tools import SWARM_TOOLS, create_swarm_tools

__all__ = [
    "SWARM_TOOLS",
    "AcknowledgeNode",
    "DecisionsNode",
    "InboxNode",
    "SessionEndNode",
    "SessionStartNode",
    "create_swarm_tools",
]


def __getattr__(name: str) -> Any:
    """Names are imported when first used: a store that only has the bus needs no node."""
    from importlib import import_module

    for module in ("inbox_nodes", "session_nodes", "tools"):
        if name in __all__:
            found = import_module(f"{__name__}.{module}")
            if hasattr(found, name):
                return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
