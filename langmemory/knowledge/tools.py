"""The names of ``langmem.knowledge.tools``."""

from langmemory.tools import create_manage_memory_tool, create_search_memory_tool

__all__ = ["create_manage_memory_tool", "create_search_memory_tool"]
