"""Complete graphs, ready for LangGraph's server and for templates."""

from langmemory.graphs.chat import build_chat_graph
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.graphs.models import ChatContext, ChatState, NoModel, chat_model
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.graphs.server import open_store

__all__ = [
    "ChatContext",
    "ChatState",
    "NoModel",
    "build_chat_graph",
    "build_maintenance_graph",
    "build_reflection_graph",
    "chat_model",
    "open_store",
]
