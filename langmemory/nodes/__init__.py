"""Nodes for anyone's LangGraph graph: recall before the model, remember after it."""

from langmemory.nodes.condense import CondenseNode
from langmemory.nodes.model import ModelNode
from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.nodes.recall import RecallNode
from langmemory.nodes.remember import ReflectionQueue, RememberNode
from langmemory.nodes.state import MemoryState

__all__ = [
    "CondenseNode",
    "MemoryState",
    "ModelNode",
    "NamespaceTemplate",
    "RecallNode",
    "ReflectionQueue",
    "RememberNode",
]
