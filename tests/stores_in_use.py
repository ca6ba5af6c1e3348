"""The stores an application may bring, and an embedder for those that need one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from langmemory.embeddings.mock import MockEmbedder
from langmemory.stores import MemoryStore

StoreName = Literal["in_memory", "in_memory_no_index", "sqlite", "memory_store"]

STORES: tuple[StoreName, ...] = ("in_memory", "in_memory_no_index", "sqlite", "memory_store")


def words() -> Embeddings:
    """Vectors of word hashes: texts that share words are near each other."""
    return MockEmbedder().embeddings


@contextmanager
def open_store(name: StoreName, path: Path) -> Iterator[BaseStore]:
    """One of `STORES`; those that have a file keep it at `path`."""
    match name:
        case "in_memory":
            embeddings = words()
            dims = len(embeddings.embed_query("x"))
            yield InMemoryStore(index={"dims": dims, "embed": embeddings, "fields": ["content"]})
        case "in_memory_no_index":
            yield InMemoryStore()
        case "sqlite":  # without an index: many Pythons cannot load sqlite-vec into sqlite3
            connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            store = SqliteStore(connection)
            store.setup()
            yield store
            connection.close()
        case "memory_store":
            with MemoryStore(path) as memory:
                yield memory
