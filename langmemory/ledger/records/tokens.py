"""Tokens as rows: who reaches the file through the server, on whose behalf, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.times import from_us, maybe_datetime, to_us
from langmemory.types import AccessToken
from langmemory.values import from_json

_COLUMNS = "id, viewer, namespaces, scope, created_at, expires_at, agent, unlocks"


def insert(connection: Connection, token: AccessToken, namespaces: str, digest: bytes) -> None:
    """Add a token; ``namespaces`` is those of it as JSON, ``digest`` the SHA-256 of its secret."""
    expires = None if token.expires_at is None else to_us(token.expires_at)
    connection.execute(
        "INSERT INTO token (id, hash, viewer, namespaces, scope, created_at, expires_at, agent, unlocks) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            token.id, digest, token.viewer, namespaces, token.scope, to_us(token.created_at),
            expires, token.agent, int(token.unlocks),
        ),
    )  # fmt: skip


FIND = f"SELECT {_COLUMNS}, hash FROM token WHERE id = ?"
"""A single statement, so that no transaction is needed for it."""


def token_of(row: Sequence[Any]) -> AccessToken:
    """Return the token of a row of `FIND` or `listed`."""
    return AccessToken(
        id=row[0],
        viewer=row[1],
        namespaces=tuple(tuple(labels) for labels in from_json(row[2])),
        scope=row[3],
        created_at=from_us(row[4]),
        expires_at=maybe_datetime(row[5]),
        agent=row[6],
        unlocks=bool(row[7]),
    )


def listed(connection: Connection) -> list[AccessToken]:
    """Return every token, the oldest first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM token ORDER BY created_at, id")
    return [token_of(row) for row in rows]


def delete(connection: Connection, id: str) -> bool:
    """Delete a token; return whether it was there."""
    row = connection.execute("DELETE FROM token WHERE id = ? RETURNING id", (id,)).fetchone()
    return row is not None
