"""Stores: `MemoryStore`, LangGraph's BaseStore over the SQLite engine."""

from langmemory.stores.indexing import IndexConfig
from langmemory.stores.memory_store import MemoryStore
from langmemory.stores.reindexing import reembed

__all__ = ["IndexConfig", "MemoryStore", "reembed"]
