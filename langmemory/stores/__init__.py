"""Stores: `MemoryStore`, LangGraph's BaseStore over the SQLite engine."""

from langmemory.engines.sql.writing.indexing import IndexConfig
from langmemory.engines.sqlite.reembedding import reembed
from langmemory.stores.memory_store import MemoryStore

__all__ = ["IndexConfig", "MemoryStore", "reembed"]
