"""Many rows inserted in one statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from langmemory.ledger.tables.connection import Connection

TOGETHER: Final = 50
"""Rows in a statement. SQLite begins and ends each one, which for an AUTOINCREMENT reads and writes
the table of the last ids: a hundred items take three quarters of the time."""


def insert(connection: Connection, into: str, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows ``into`` a table, ``name (column, …)``, in their order.

    Call it in a transaction that is rolled back if this fails: the rows before the wrong one stay.
    ``OR FAIL`` says so to SQLite, which would otherwise keep a journal for each statement, and have
    FTS5 write out what it has gathered. Not for a table of FTS5's, where it cannot be left out.
    """
    rows = list(rows)
    if not rows:
        return
    one = f"({', '.join('?' * len(rows[0]))})"
    whole = len(rows) - len(rows) % TOGETHER
    if whole:
        connection.executemany(
            f"INSERT OR FAIL INTO {into} VALUES {', '.join([one] * TOGETHER)}",
            (
                tuple(chain.from_iterable(rows[start : start + TOGETHER]))
                for start in range(0, whole, TOGETHER)
            ),
        )
    if whole < len(rows):
        connection.executemany(f"INSERT OR FAIL INTO {into} VALUES {one}", rows[whole:])


def insert_new(connection: Connection, into: str, rows: Iterable[Sequence[Any]]) -> int:
    """Insert those of the rows ``into`` a table, ``name (column, …)``, that are not there; how many."""
    before = connection.total_changes()
    marks = ", ".join("?" * (into.count(",") + 1))
    connection.executemany(f"INSERT OR IGNORE INTO {into} VALUES ({marks})", rows)
    return int(connection.total_changes() - before)
