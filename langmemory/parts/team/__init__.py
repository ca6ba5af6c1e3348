"""A team of agents: what they tell each other, their tasks and decisions, and how sessions begin and end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langmemory.hooks import lazy

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


__getattr__ = lazy(
    __name__,
    {
        "inbox_nodes": ("AcknowledgeNode", "InboxNode"),
        "session_nodes": ("DecisionsNode", "SessionEndNode", "SessionStartNode"),
        "tools": ("SWARM_TOOLS", "create_swarm_tools"),
    },
)
"""A store that only has the bus needs no node."""
