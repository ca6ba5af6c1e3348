"""The stores an application may bring, and an embedder for those that need one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, IndexConfig
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from langmemory.embeddings.mock import MockEmbedder
from langmemory.stores import MemoryStore

StoreName = Literal["in_memory", "in_memory_no_index", "sqlite", "sqlite_no_index", "memory_store"]

STORES: tuple[StoreName, ...] = get_args(StoreName)


def words() -> Embeddings:
    """Vectors of word hashes: texts that share words are near each other."""
    return MockEmbedder().embeddings


def index() -> IndexConfig:
    """LangGraph's index config with that embedder."""
    embeddings = words()
    dims = len(embeddings.embed_query("x"))
    return {"dims": dims, "embed": embeddings, "fields": ["content"]}


def loadable_sqlite() -> Any:
    """A `sqlite3` module that loads sqlite-vec, which LangGraph's SqliteStore needs for its index;
    many Pythons are built without. The test is skipped where there is none."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    return pytest.importorskip(
        "pysqlite3",
        reason="this Python's sqlite3 loads no extensions and pysqlite3-binary is not installed, "
        "so SqliteStore can have no vector index",
    )


@contextmanager
def open_store(name: StoreName, path: Path) -> Iterator[BaseStore]:
    """One of `STORES`; those that have a file keep it at `path`."""
    match name:
        case "in_memory":
            yield InMemoryStore(index=index())
        case "in_memory_no_index":
            yield InMemoryStore()
        case "sqlite" | "sqlite_no_index":
            indexed = name == "sqlite"
            module = loadable_sqlite() if indexed else sqlite3
            connection = module.connect(path, check_same_thread=False, isolation_level=None)
            store = SqliteStore(connection, index=index() if indexed else None)
            store.setup()
            yield store
            connection.close()
        case "memory_store":
            with MemoryStore(path) as memory:
                yield memory
