"""Fingerprints of facts as rows: what is known is not stored twice."""

from __future__ import annotations

from collections.abc import Sequence

from langmemory.engines.sql.tables.connection import Connection


def write(
    connection: Connection, rows: Sequence[tuple[int, bytes | None, int]], *, fresh: bool
) -> None:
    """Replace the fingerprints of items: (namespace id, SHA-256 or None, item id)."""
    if not fresh:
        connection.executemany(
            "DELETE FROM fingerprint WHERE item = ?", [(item,) for _, _, item in rows]
        )
    facts = [row for row in rows if row[1] is not None]
    if facts:
        connection.executemany(
            "INSERT INTO fingerprint (namespace, hash, item) VALUES (?, ?, ?)", facts
        )
