"""Stores: `MemoryStore`, LangGraph's BaseStore over the SQLite engine."""

from langmemory.engines.sqlite.writing.indexing import IndexConfig
from langmemory.engines.sqlite.writing.reindexing import reembed
from langmemory.stores.memory_store import MemoryStore

__all__ = ["IndexConfig", "MemoryStore", "reembed"]
