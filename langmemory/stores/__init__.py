"""Stores: `MemoryStore`, LangGraph's BaseStore over the engine that a memory is kept by."""

from langmemory.ledger.indexing import IndexConfig
from langmemory.stores.copying import copy
from langmemory.stores.memory_store import MemoryStore
from langmemory.stores.reembedding import reembed, reencode

__all__ = ["IndexConfig", "MemoryStore", "copy", "reembed", "reencode"]
