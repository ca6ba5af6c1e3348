"""Long-term memory for LangGraph agents, in one SQLite file or on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "Config": "langmemory.config",
    "Memory": "langmemory.types",
    "MemoryStore": "langmemory.stores",
    "Recall": "langmemory.types",
    "RecallResult": "langmemory.types",
    "ReflectionExecutor": "langmemory.reflection",
    "RemoteMemoryStore": "langmemory.remote",
    "build_chat_graph": "langmemory.graphs",
    "build_reflection_graph": "langmemory.graphs",
    "create_manage_memory_tool": "langmemory.tools",
    "create_procedure_learner": "langmemory.reflection",
    "create_search_memory_tool": "langmemory.tools",
    "load_config": "langmemory.config",
    "reembed": "langmemory.stores",
    "reencode": "langmemory.stores",
}


if not TYPE_CHECKING:  # else a type checker believes that there is every name

    def __getattr__(name: str) -> Any:
        """Public names are imported when first used, so that the command line starts fast."""
        from importlib import import_module

        if name not in _HOMES:
            from langmemory.hooks import exported

            return exported(name)
        return getattr(import_module(_HOMES[name]), name)
