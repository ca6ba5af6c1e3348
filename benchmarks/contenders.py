"""The stores under test, all driven through the same handful of `BaseStore` calls."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from typing import Any, Literal, Protocol

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, SearchItem, SearchOp

Mode = Literal["semantic", "keyword", "hybrid"]
Filter = dict[str, Any]

BATCH = 1_000
"""Items per call while a store is being filled."""


class Contender(Protocol):
    """One open store and the way its calls are made."""

    name: str

    def run(self, ops: Sequence[Op]) -> list[Any]:
        """`batch`, or `abatch` awaited on the contender's own loop."""

    def close(self) -> None: ...


def index_config(embedder: Embeddings, dims: int) -> dict[str, Any]:
    """Embeds the field "text"; LangGraph's SQLite stores read `text_fields`, others `fields`."""
    return {"dims": dims, "embed": embedder, "fields": ["text"], "text_fields": ["text"]}


class Synchronous:
    """A store with a `batch` method that may be called from this thread."""

    def __init__(self, name: str, store: BaseStore, closing: ExitStack | None = None) -> None:
        self.name = name
        self.store = store
        self._closing = closing or ExitStack()

    def run(self, ops: Sequence[Op]) -> list[Any]:
        return self.store.batch(ops)

    def close(self) -> None:
        self._closing.close()


class Asynchronous:
    """A store driven by an event loop that only turns while a call is under way."""

    def __init__(self, name: str, opening: Any) -> None:
        self.name = name
        self._loop = asyncio.new_event_loop()
        self._opening = opening
        self.store: BaseStore = self._loop.run_until_complete(opening.__aenter__())

    def run(self, ops: Sequence[Op]) -> list[Any]:
        return self._loop.run_until_complete(self.store.abatch(ops))

    def close(self) -> None:
        self._loop.run_until_complete(self._opening.__aexit__(None, None, None))
        tasks = asyncio.all_tasks(self._loop)  # AsyncSqliteStore leaves its batching task behind
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()


def ours(path: Path, embedder: Embeddings, dims: int, mode: Mode) -> Synchronous:
    from langmemory import MemoryStore

    index = index_config(embedder, dims) | {"search": mode}
    closing = ExitStack()
    store = closing.enter_context(MemoryStore.from_conn_string(str(path), index=index))
    return Synchronous(f"MemoryStore {mode}", store, closing)


def ours_async(path: Path, embedder: Embeddings, dims: int, mode: Mode) -> Asynchronous:
    from langmemory import MemoryStore

    index = index_config(embedder, dims) | {"search": mode}
    opening = MemoryStore.from_conn_string(str(path), index=index)
    return Asynchronous(f"MemoryStore {mode}, async", opening)


def sqlite(path: Path, embedder: Embeddings, dims: int) -> Synchronous:
    from langgraph.store.sqlite import SqliteStore

    closing = ExitStack()
    index: Any = index_config(embedder, dims)
    opening: AbstractContextManager[Any] = SqliteStore.from_conn_string(str(path), index=index)
    store = closing.enter_context(opening)
    store.setup()
    return Synchronous("SqliteStore", store, closing)


def sqlite_in_wal(path: Path, embedder: Embeddings, dims: int) -> Synchronous:
    """SqliteStore on a file in WAL mode, as an application may make it. LangGraph leaves SQLite's
    rollback journal, with which every commit waits for the disk several times."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # the file keeps it
    store = sqlite(path, embedder, dims)
    store.name = "SqliteStore in WAL"
    return store


def sqlite_async(path: Path, embedder: Embeddings, dims: int) -> Asynchronous:
    from langgraph.store.sqlite import AsyncSqliteStore

    index: Any = index_config(embedder, dims)
    return Asynchronous(
        "AsyncSqliteStore", AsyncSqliteStore.from_conn_string(str(path), index=index)
    )


def in_memory(embedder: Embeddings, dims: int) -> Synchronous:
    from langgraph.store.memory import InMemoryStore

    return Synchronous("InMemoryStore", InMemoryStore(index=index_config(embedder, dims)))  # type: ignore[arg-type]


def fill(contender: Contender, puts: Sequence[PutOp]) -> None:
    for start in range(0, len(puts), BATCH):
        contender.run(puts[start : start + BATCH])


def search(
    contender: Contender, namespace: tuple[str, ...], query: str, filter: Filter | None = None
) -> list[SearchItem]:
    """Ten results."""
    found: list[SearchItem] = contender.run([SearchOp(namespace, filter, 10, 0, query)])[0]
    return found


def get(contender: Contender, namespace: tuple[str, ...], key: str) -> Item | None:
    item: Item | None = contender.run([GetOp(namespace, key)])[0]
    return item
