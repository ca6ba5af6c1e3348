"""Long-term memory for LangGraph agents, in one SQLite file or on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langmemory.hooks import lazy

if TYPE_CHECKING:
    from langmemory.agent_memory import AgentMemory
    from langmemory.config import Config, load_config
    from langmemory.graphs import build_chat_graph, build_reflection_graph
    from langmemory.parts.langmem import (
        create_memory_manager,
        create_memory_searcher,
        create_memory_store_manager,
        create_thread_extractor,
    )
    from langmemory.parts.langmem.prompts import Prompt as Prompt
    from langmemory.parts.langmem.prompts import (
        create_multi_prompt_optimizer as create_multi_prompt_optimizer,
    )
    from langmemory.parts.langmem.prompts import create_prompt_optimizer as create_prompt_optimizer
    from langmemory.reflection import ReflectionExecutor, create_procedure_learner
    from langmemory.remote import RemoteMemoryStore
    from langmemory.stores import MemoryStore, reembed, reencode
    from langmemory.tools import create_manage_memory_tool, create_search_memory_tool
    from langmemory.types import Memory, Recall, RecallResult

__version__ = "0.1.0"

__all__ = [  # without the prompt optimizers, which need LangMem: `import *` is to work
    "AgentMemory",
    "Config",
    "Memory",
    "MemoryStore",
    "Recall",
    "RecallResult",
    "ReflectionExecutor",
    "RemoteMemoryStore",
    "build_chat_graph",
    "build_reflection_graph",
    "create_manage_memory_tool",
    "create_memory_manager",
    "create_memory_searcher",
    "create_memory_store_manager",
    "create_procedure_learner",
    "create_search_memory_tool",
    "create_thread_extractor",
    "load_config",
    "reembed",
    "reencode",
]

if not TYPE_CHECKING:  # else a type checker believes that there is every name
    __getattr__ = lazy(
        __name__,
        {
            "agent_memory": ("AgentMemory",),
            "config": ("Config", "load_config"),
            "graphs": ("build_chat_graph", "build_reflection_graph"),
            "reflection": ("ReflectionExecutor", "create_procedure_learner"),
            "remote": ("RemoteMemoryStore",),
            "stores": ("MemoryStore", "reembed", "reencode"),
            "tools": ("create_manage_memory_tool", "create_search_memory_tool"),
            "types": ("Memory", "Recall", "RecallResult"),
        },
        exports=True,
    )
