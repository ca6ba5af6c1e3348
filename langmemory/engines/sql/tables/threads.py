"""Threads as rows: a conversation of one namespace, by its name."""

from __future__ import annotations

from langmemory.engines.sql.tables.connection import Connection


def find(connection: Connection, namespace: int, name: str) -> int | None:
    """Id of the thread; None if nothing of it was ever stored."""
    row = connection.execute(
        "SELECT id FROM thread WHERE namespace = ? AND name = ?", (namespace, name)
    ).fetchone()
    return None if row is None else int(row[0])


def intern(connection: Connection, namespace: int, name: str) -> int:
    """Id of the thread, which gets a row if it has none."""
    found = find(connection, namespace, name)
    if found is not None:
        return found
    row = connection.execute(
        "INSERT INTO thread (namespace, name) VALUES (?, ?) RETURNING id", (namespace, name)
    ).fetchone()
    return int(row[0])
