"""Reading the file of LangGraph's SqliteStore."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import apsw

from langmemory.engines.sqlite.connection import APPLICATION_ID, clear_errors
from langmemory.errors import DatabaseError
from langmemory.ledger.engine import TABLES, Contents, ForeignItem

_ITEMS: Final = (  # its values are blobs of JSON
    "SELECT prefix, key, CAST(value AS TEXT), created_at, updated_at, expires_at, ttl_minutes "
    "FROM store ORDER BY created_at, prefix, key"
)


def contents(path: str) -> Contents:
    """Return what is in a file.

    Raises:
        DatabaseError: There is no such file, or it is no SQLite database.
    """
    if not os.path.exists(path):
        raise DatabaseError(f"{path} does not exist. Name the file or the server to copy from.")
    with clear_errors(path), closing(_opened(path)) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()  # type: ignore[misc]
        if application == APPLICATION_ID:
            return "memory"
        names = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (?, ?)"
        found = connection.execute(names, TABLES).fetchone()
        return "items" if found == (len(TABLES),) else "nothing"


def items(path: str) -> Iterator[ForeignItem]:
    """Yield the items of a SqliteStore, all of one moment."""
    with clear_errors(path), closing(_opened(path)) as connection:
        for row in connection.execute(_ITEMS):
            yield ForeignItem(*row)


def _opened(path: str) -> apsw.Connection:
    return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
