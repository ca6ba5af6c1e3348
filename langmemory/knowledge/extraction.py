"""The names of ``langmem.knowledge.extraction``."""

from langmemory.hooks import lazy

__all__ = [  # noqa: F822 - found when they are first used
    "ExtractedMemory",
    "MemoryManager",
    "MemoryPhase",
    "MemoryStoreManager",
    "create_memory_manager",
    "create_memory_searcher",
    "create_memory_store_manager",
    "create_thread_extractor",
]

__getattr__ = lazy(__name__, {}, exports=True)
