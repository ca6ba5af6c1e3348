"""Factories of the stores that the conformance suite is run against: ours and LangGraph's."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langmemory.remote import RemoteMemoryStore
from langmemory.stores import MemoryStore
from tests import postgres_server


def _ours(place: Any, index: Any, ttl: Any) -> MemoryStore:
    ranked = {} if index is None else {"index": {**index, "search": "semantic"}}
    return MemoryStore(place, ttl=ttl, **ranked)


def file(folder: Path, index: Any = None, ttl: Any = None) -> MemoryStore:
    """Ours, in a file; in a schema where `tests.on_postgres` is loaded."""
    return _ours(folder / "m.db", index, ttl)


def memory(index: Any = None, ttl: Any = None) -> MemoryStore:
    """Ours, in memory."""
    return _ours(":memory:", index, ttl)


def server(folder: Path, index: Any = None, ttl: Any = None) -> MemoryStore:
    """Ours, on a PostgreSQL server."""
    return _ours(postgres_server.of_file(str(folder / "m.db")), index, ttl)


class _Client(RemoteMemoryStore):
    """A client whose items expire when the check says so: the server sweeps them."""

    sweep_ttl: Callable[[], int]


@contextmanager
def remote(folder: Path, index: Any = None, ttl: Any = None) -> Iterator[BaseStore]:
    """Ours, asked over HTTP."""
    from langmemory.server.app import create_app
    from langmemory.server.serving import serving

    with (
        file(folder, index, ttl) as store,
        serving(create_app(store)) as address,
        _Client(address) as client,
    ):
        client.sweep_ttl = store.sweep_ttl
        yield client


def _text_fields(index: Any) -> Any:
    return index and {**index, "text_fields": index["fields"]}


@contextmanager
def sqlite_store(folder: Path, index: Any = None, ttl: Any = None) -> Iterator[BaseStore]:
    """LangGraph's, in a file."""
    from langgraph.store.sqlite import SqliteStore

    place = str(folder / "s.db")
    with SqliteStore.from_conn_string(place, index=_text_fields(index), ttl=ttl) as store:
        store.setup()
        yield store


@asynccontextmanager
async def async_sqlite_store(
    folder: Path, index: Any = None, ttl: Any = None
) -> AsyncIterator[BaseStore]:
    """LangGraph's async one, in a file."""
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    async with AsyncSqliteStore.from_conn_string(
        str(folder / "s.db"), index=_text_fields(index), ttl=ttl
    ) as store:
        await store.setup()
        yield store


@contextmanager
def postgres_store(folder: Path, index: Any = None, ttl: Any = None) -> Iterator[BaseStore]:
    """LangGraph's, in a schema of a PostgreSQL server."""
    import psycopg
    from langgraph.store.postgres import PostgresStore

    url = postgres_server.url()
    schema = f"theirs_{hashlib.sha256(str(folder).encode()).hexdigest()[:20]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")  # two at once make the extension twice
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')  # type: ignore[arg-type]
    options = quote(f"-csearch_path={schema},public")
    address = f"{url}{'&' if '?' in url else '?'}options={options}"
    with PostgresStore.from_conn_string(address, index=index, ttl=ttl) as store:
        store.setup()
        yield store


STORES: Final = {
    "MemoryStore, file": file,
    "MemoryStore, PostgreSQL": server,
    "RemoteMemoryStore": remote,
    "InMemoryStore": InMemoryStore,
    "SqliteStore": sqlite_store,
    "AsyncSqliteStore": async_sqlite_store,
    "PostgresStore": postgres_store,
}
"""By the names that the page of the results has."""

KNOWN: Final = {
    "filter_true": "equality in a filter is Python's, as that of InMemoryStore: 1 equals True",
}
"""Undocumented expectations that ours do not meet on purpose."""

KNOWN_REMOTE: Final = {**KNOWN, "edges": "a server gives 10,000 items at most, and says so"}

NOTES: Final = {
    "SqliteStore": "It takes the fields of its index from `text_fields`, where LangGraph's documentation "
    "says `fields`. Here it is passed both, and so is `AsyncSqliteStore`.",
    "AsyncSqliteStore": "It has `supports_ttl = False`, so that checks of TTL are not run, though it "
    "stores a TTL.",
    "PostgresStore": "It keeps a TTL in whole minutes for the next read, and checks are run with fractions.",
}
"""What to know when reading the results, by the names of `STORES`."""
