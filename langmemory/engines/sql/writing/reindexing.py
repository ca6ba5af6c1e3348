"""The indexed part of an item that is stored, derived from its row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from langmemory.engines.sql.records.items import IndexFields
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.namespaces import from_path
from langmemory.engines.sql.tables.times import by_clock
from langmemory.engines.sql.writing import verbatim
from langmemory.engines.sql.writing.indexing import Draft, Indexing
from langmemory.types import Namespace
from langmemory.values import from_json


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """The part of an item row that decides how it is indexed."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    index: IndexFields
    thread_id: str | None
    speaker: str | None
    said_us: int | None

    @classmethod
    def of(
        cls,
        namespace: Namespace,
        key: str,
        value: dict[str, Any],
        columns: Mapping[str, Any],
        thread_id: str | None,
    ) -> Stored:
        """By the columns of its row, as they are or were."""
        index = columns["index_fields"]
        return cls(
            namespace=namespace, key=key, value=value, thread_id=thread_id,
            index=None if index is None else json.loads(index),
            speaker=columns["speaker"], said_us=columns["valid_at"],
        )  # fmt: skip


def reindexed(indexing: Indexing, stored: Stored) -> Draft:
    """The item as it would be drafted today: a turn as a turn, anything else as a put."""
    if stored.thread_id is not None and stored.said_us is not None and stored.index is None:
        return verbatim.redraft(
            indexing,
            stored.namespace,
            stored.key,
            stored.value,
            speaker=stored.speaker or "",
            at=by_clock(stored.said_us, stored.value.get("at")),
        )
    return indexing.draft(stored.namespace, stored.key, stored.value, index=stored.index)


COLUMNS: Final = "i.id, n.path, i.key, i.value, i.index_fields, t.name, i.speaker, i.valid_at"
TABLES: Final = (
    "item i JOIN namespace n ON n.id = i.namespace LEFT JOIN thread t ON t.id = i.thread"
)


def stored_row(row: Sequence[Any]) -> Stored:
    """`COLUMNS` as a `Stored`."""
    columns = {"index_fields": row[4], "speaker": row[6], "valid_at": row[7]}
    return Stored.of(from_path(row[1]), row[2], from_json(row[3]), columns, row[5])


def redrafted(
    indexing: Indexing, connection: Connection, item: int, value: dict[str, Any]
) -> Draft:
    """Another value of an item that exists, indexed as the item is."""
    row = connection.execute(f"SELECT {COLUMNS} FROM {TABLES} WHERE i.id = ?", (item,)).fetchone()
    return reindexed(indexing, replace(stored_row(row), value=value))
