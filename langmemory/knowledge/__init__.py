"""The names of ``langmem.knowledge``: swapping is an import line."""

from langmemory.hooks import lazy

__all__ = [
    "MemoryPhase",
    "create_manage_memory_tool",
    "create_memory_manager",
    "create_memory_searcher",
    "create_memory_store_manager",
    "create_search_memory_tool",
    "create_thread_extractor",
]

__getattr__ = lazy(
    __name__,
    {"tools": ("create_manage_memory_tool", "create_search_memory_tool")},
    exports=True,
)
