"""Follow-ups as rows: what a change left to be planned after its commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import find, from_path, to_path
from langmemory.types import Namespace
from langmemory.values import from_json, to_json

FollowUpKind = Literal["restored", "reworded"]
"""``restored``: facts hold again, or links between entities were taken back. ``reworded``: an
application gave a memory other words."""


class FollowUp(NamedTuple):
    """One plan that is still to be made."""

    id: int
    namespace: Namespace
    kind: FollowUpKind
    detail: dict[str, Any]


def note(
    connection: Connection, namespace: Namespace, kind: FollowUpKind, detail: Mapping[str, Any]
) -> None:
    """Note a plan to be made after this transaction."""
    connection.execute(
        "INSERT INTO follow_up (namespace, kind, detail) VALUES (?, ?, ?)",
        (to_path(namespace), kind, to_json(detail)),
    )


def pending(connection: Connection) -> list[FollowUp]:
    """Return the plans that are still to be made, oldest first."""
    rows = connection.execute("SELECT id, namespace, kind, detail FROM follow_up ORDER BY id")
    return [FollowUp(id, from_path(path), kind, from_json(text)) for id, path, kind, text in rows]


def take(connection: Connection, follow_up: FollowUp) -> bool:
    """Delete the row of a plan that this transaction applies; return whether it was there."""
    row = connection.execute(
        "DELETE FROM follow_up WHERE id = ? RETURNING id", (follow_up.id,)
    ).fetchone()
    return row is not None


def changed_since(connection: Connection, namespace: Namespace, seq: int) -> bool:
    """Return whether anything of a namespace changed after this place in the history."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM history WHERE seq > ? AND namespace = ?)",
        (seq, find(connection, namespace)),
    ).fetchone()
    return bool(row[0])
