"""Reflection in the background: what was said becomes knowledge without anybody waiting for it.

`executor` and `queue` take work in, `worker` does it; the jobs stand in the memory file. `steps` are
the nodes of `langmemory.graphs.build_reflection_graph`. `managers` are LangMem's.
"""

from langmemory.reflection.executor import ReflectionExecutor
from langmemory.reflection.local import LocalReflectionExecutor
from langmemory.reflection.managers.memory_manager import MemoryManager, create_memory_manager
from langmemory.reflection.managers.schemas import ExtractedMemory, Memory
from langmemory.reflection.managers.searcher import create_memory_searcher
from langmemory.reflection.managers.store_manager import (
    MemoryPhase,
    MemoryStoreManager,
    create_memory_store_manager,
)
from langmemory.reflection.managers.thread_extractor import create_thread_extractor
from langmemory.reflection.options import Debounce, WorkOptions
from langmemory.reflection.queue import TurnQueue
from langmemory.reflection.remote import RemoteReflectionExecutor
from langmemory.reflection.worker import Worker

__all__ = [
    "Debounce",
    "ExtractedMemory",
    "LocalReflectionExecutor",
    "Memory",
    "MemoryManager",
    "MemoryPhase",
    "MemoryStoreManager",
    "ReflectionExecutor",
    "RemoteReflectionExecutor",
    "TurnQueue",
    "WorkOptions",
    "Worker",
    "create_memory_manager",
    "create_memory_searcher",
    "create_memory_store_manager",
    "create_thread_extractor",
]
