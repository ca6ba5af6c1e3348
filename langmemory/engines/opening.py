"""The one module that chooses an engine by the address of a memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from langmemory.addresses import is_server
from langmemory.config import DatabaseConfig
from langmemory.engines.sqlite import Engine as SqliteEngine
from langmemory.engines.sqlite import foreign as sqlite_foreign
from langmemory.errors import ConfigError, with_extra
from langmemory.ledger.engine import Contents, Engine, ForeignItem


def open_engine(path: str | os.PathLike[str], settings: DatabaseConfig) -> Engine:
    """Open a memory file, or a schema of a PostgreSQL server; each is created if there is none.

    Raises:
        ConfigError: It is on a server, and psycopg is not installed.
    """
    if is_server(path):
        with _needs_psycopg():
            from langmemory.engines.postgres import Engine as PostgresEngine
        return PostgresEngine(os.fspath(path), settings=settings)
    return SqliteEngine(path, settings=settings)


def is_there(path: str) -> bool:
    """Return whether there is a memory at an address."""
    if not is_server(path):
        return os.path.exists(path)
    with _needs_psycopg():
        from langmemory.engines import postgres
    return postgres.is_there(path)


def contents_of(path: str) -> Contents:
    """Return what is at an address: a memory, a store of LangGraph's own, or neither."""
    if not is_server(path):
        return sqlite_foreign.contents(path)
    with _needs_psycopg():
        from langmemory.engines.postgres import foreign
    return foreign.contents(path)


def foreign_items(path: str) -> Iterator[ForeignItem]:
    """Yield the items of a store of LangGraph's own."""
    if not is_server(path):
        return sqlite_foreign.items(path)
    with _needs_psycopg():
        from langmemory.engines.postgres import foreign
    return foreign.items(path)


@contextmanager
def _needs_psycopg() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"A memory on a PostgreSQL server needs psycopg: {with_extra('postgres')} ({error})."
        ) from error
