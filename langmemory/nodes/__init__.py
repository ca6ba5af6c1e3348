"""Nodes for LangGraph graphs: recall before the model, remember after it."""

from langmemory.nodes.core_memory import CondenseNode, CoreMemory
from langmemory.nodes.model import ModelNode
from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.nodes.recall import RecallNode
from langmemory.nodes.remember import ReflectionQueue, RememberNode
from langmemory.nodes.state import MemoryState
from langmemory.nodes.strip_citations import StripCitations
from langmemory.nodes.summarize import SummarizationNode

__all__ = [
    "CondenseNode",
    "CoreMemory",
    "MemoryState",
    "ModelNode",
    "NamespaceTemplate",
    "RecallNode",
    "ReflectionQueue",
    "RememberNode",
    "StripCitations",
    "SummarizationNode",
]
