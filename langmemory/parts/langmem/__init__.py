"""LangMem's names: a change from ``langmem`` to langmemory is an import line.

``from langmem import …`` becomes ``from langmemory import …``, and ``from langmem.short_term import …``
becomes ``from langmemory.short_term import …``; this module has them all, but for the prompt optimizers,
which are in `prompts`. Arguments and answers are LangMem's.
"""

from langmemory.parts.langmem.memory_manager import MemoryManager, create_memory_manager
from langmemory.parts.langmem.schemas import ExtractedMemory, Memory
from langmemory.parts.langmem.searcher import create_memory_searcher
from langmemory.parts.langmem.short_term import (
    RunningSummary,
    SummarizationNode,
    SummarizationResult,
    asummarize_messages,
    summarize_messages,
)
from langmemory.parts.langmem.store_manager import (
    MemoryPhase,
    MemoryStoreManager,
    create_memory_store_manager,
)
from langmemory.parts.langmem.thread_extractor import create_thread_extractor
from langmemory.reflection import ReflectionExecutor
from langmemory.tools import create_manage_memory_tool, create_search_memory_tool

__all__ = [
    "ExtractedMemory",
    "Memory",
    "MemoryManager",
    "MemoryPhase",
    "MemoryStoreManager",
    "ReflectionExecutor",
    "RunningSummary",
    "SummarizationNode",
    "SummarizationResult",
    "asummarize_messages",
    "create_manage_memory_tool",
    "create_memory_manager",
    "create_memory_searcher",
    "create_memory_store_manager",
    "create_search_memory_tool",
    "create_thread_extractor",
    "summarize_messages",
]
