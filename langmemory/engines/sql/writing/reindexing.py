"""Stored items drafted again from their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langmemory.engines.sql.records.items import Write
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.namespaces import from_path
from langmemory.engines.sql.writing.indexing import Indexing
from langmemory.values import from_json

COLUMNS: Final = "i.id, n.path, i.key, i.value, i.index_fields, t.name, i.speaker, i.valid_at"
TABLES: Final = (
    "item i JOIN namespace n ON n.id = i.namespace LEFT JOIN thread t ON t.id = i.thread"
)


def reindexed(indexing: Indexing, row: Sequence[Any], value: dict[str, Any] | None = None) -> Write:
    """Return the item of a row of `COLUMNS` as it would be drafted today, or another value of it."""
    names = ("index_fields", "thread_id", "speaker", "valid_at")
    columns = dict(zip(names, row[4:8], strict=True))
    said = from_json(row[3]) if value is None else value
    return indexing.redraft(from_path(row[1]), row[2], said, columns)


def redrafted(
    indexing: Indexing, connection: Connection, item: int, value: dict[str, Any]
) -> Write:
    """Return another value of an item that exists, indexed as the item is."""
    row = connection.execute(f"SELECT {COLUMNS} FROM {TABLES} WHERE i.id = ?", (item,)).fetchone()
    return reindexed(indexing, row, value)
