"""Where tests keep memories: files, or with ``LANGMEMORY_TEST_ENGINE=postgres`` schemas of a server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from langmemory.stores import MemoryStore
from tests import postgres_server

POSTGRES: Final = os.environ.get("LANGMEMORY_TEST_ENGINE") == "postgres"

NUL: Final = "\1" if POSTGRES else "\0"
"""The oddest character that a key may hold. PostgreSQL has no NUL in a text; the store refuses it."""


def address(path: Path) -> str:
    """Return what another process opens the memory of a test by."""
    return postgres_server.of_file(str(path)) if POSTGRES else str(path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another store on a memory is in the middle of a write."""
    with MemoryStore(path, index=False) as other, other._core.engine.write():
        yield


def kept(store: MemoryStore) -> bytes:
    """Return the bytes of a memory of a test: those of its folder, or the rows of its schema."""
    if not POSTGRES:
        return b"".join(one.read_bytes() for one in Path(store.path).parent.iterdir())
    raw: Any = store.conn
    tables = raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    names = [name for (name,) in tables.fetchall()]
    assert "secret" in names
    found = b""
    for name in names:
        with raw.raw.cursor().copy(f'COPY "{name}" TO STDOUT (FORMAT binary)') as rows:
            found += b"".join(rows)
    return found
