"""Nodes for LangGraph graphs: recall before the model, remember after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langmemory.hooks import lazy

if TYPE_CHECKING:
    from langmemory.nodes.core_memory import CondenseNode, CoreMemory
    from langmemory.nodes.memory_state import MemoryState
    from langmemory.nodes.model import ModelNode
    from langmemory.nodes.namespaces import NamespaceTemplate
    from langmemory.nodes.recall import RecallNode
    from langmemory.nodes.remember import ReflectionQueue, RememberNode
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

__getattr__ = lazy(
    __name__,
    {
        "core_memory": ("CondenseNode", "CoreMemory"), "model": ("ModelNode",),
        "namespaces": ("NamespaceTemplate",), "recall": ("RecallNode",),
        "remember": ("ReflectionQueue", "RememberNode"), "memory_state": ("MemoryState",),
        "strip_citations": ("StripCitations",), "summarize": ("SummarizationNode",),
    },
)  # fmt: skip
