"""Candidates that need neither vectors nor words: time windows, neighbours in a thread, rows of ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from langmemory.engines.sql.scope.scopes import CompiledScope
from langmemory.engines.sql.tables.connection import Connection
from langmemory.ports.candidates import Ids

NOTHING = (np.empty(0, np.int64), np.empty(0, np.float32))


def window(
    connection: Connection, scope: CompiledScope, since_us: int, until_us: int, limit: int
) -> Ids:
    """Items said or true from within ``[since, until)``, newest first."""
    namespaces, bindings = scope.namespaces()
    rows = connection.execute(
        f"SELECT i.id FROM item i INDEXED BY item_valid WHERE i.namespace IN {namespaces} "
        f"AND i.valid_at >= ? AND i.valid_at < ? AND {scope.where} "
        "ORDER BY i.valid_at DESC, i.id DESC LIMIT ?",
        (*bindings, since_us, until_us, *scope.bindings, limit),
    ).fetchall()
    return np.fromiter((row[0] for row in rows), np.int64, len(rows))


def newest(connection: Connection, scope: CompiledScope, limit: int) -> Ids:
    """Return the items in scope, what was said or became true last first."""
    namespaces, bindings = scope.namespaces()
    found = connection.execute(
        f"SELECT i.id{scope.value_column} FROM item i WHERE i.namespace IN {namespaces} "
        f"AND {scope.where} ORDER BY coalesce(i.valid_at, "
        "unixepoch(i.value ->> '$.said_at', 'subsec') * 1000000, i.created_at) DESC, i.id DESC"
        + ("" if scope.value_column else f" LIMIT {limit:d}"),
        (*bindings, *scope.bindings),
    )
    return np.array([row[0] for row in scope.passing(found)[:limit]], np.int64)


ROW_COLUMNS = (
    "i.id, i.thread, i.position, i.speaker, coalesce(i.valid_at, i.created_at), i.tokens, "
    "i.importance, i.confidence, i.status, i.invalid_at, i.expired_at"
)

RowTuples = list[tuple[Any, ...]]


def rows(connection: Connection, items: Ids) -> RowTuples:
    """`ROW_COLUMNS` of items, in any order; unknown ids are left out."""
    if not len(items):
        return []
    found: RowTuples = connection.execute(
        f"SELECT {ROW_COLUMNS} FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
        (connection.array(items),),
    ).fetchall()
    return found


def uses(connection: Connection, items: Ids) -> RowTuples:
    """Id, last access (or creation), accesses and priority of items, in any order."""
    found: RowTuples = connection.execute(
        "SELECT i.id, coalesce(i.accessed_at, i.created_at), i.access_count, i.priority "
        "FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
        (connection.array(items),),
    ).fetchall()
    return found


def at_places(
    connection: Connection, scope: CompiledScope, threads: Ids, positions: Ids
) -> RowTuples:
    """Return `ROW_COLUMNS` of the items in scope at these positions of threads, in any order."""
    if not len(threads):
        return []
    found = connection.execute(
        f"SELECT {ROW_COLUMNS}{scope.value_column} "
        "FROM carray(?) c CROSS JOIN item i INDEXED BY item_thread "
        "ON i.thread = c.value >> 32 AND i.position = c.value & 0xffffffff "
        f"WHERE i.thread IS NOT NULL AND {scope.where}",
        (connection.array(threads << 32 | positions), *scope.bindings),
    )
    return scope.passing(found)
