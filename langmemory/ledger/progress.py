"""How far tasks and nights of maintenance have come, and the lease by which one process does them."""

from __future__ import annotations

from typing import Any, Final

from langmemory.ledger.connection import Connection
from langmemory.values import from_json, to_json

_NIGHT: Final = "night"
"""The setting that notes the last night."""


def progress_place(connection: Connection, task: str, namespace: int) -> int:
    """Return the place in the history up to which a task has looked at a namespace; 0 at first."""
    row = connection.execute(
        "SELECT seq FROM progress WHERE task = ? AND namespace = ?", (task, namespace)
    ).fetchone()
    return 0 if row is None else int(row[0])


def advance(connection: Connection, task: str, namespace: int, seq: int) -> None:
    """Note how far a task has come; it never goes back."""
    connection.execute(
        "INSERT INTO progress (task, namespace, seq) VALUES (?, ?, ?) "
        "ON CONFLICT (task, namespace) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > progress.seq",
        (task, namespace, seq),
    )


def take_lease(connection: Connection, name: str, holder: str, now_us: int, until_us: int) -> bool:
    """Take or renew a lease; return whether the holder has it now."""
    connection.execute(
        "INSERT INTO lease (name, holder, until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE "
        "SET holder = excluded.holder, until = excluded.until "
        "WHERE lease.holder = excluded.holder OR lease.until < ?",
        (name, holder, until_us, now_us),
    )
    row = connection.execute("SELECT holder FROM lease WHERE name = ?", (name,)).fetchone()
    return row is not None and row[0] == holder


def give_back_lease(connection: Connection, name: str, holder: str) -> None:
    """Give a lease back, if the holder has it."""
    connection.execute("DELETE FROM lease WHERE name = ? AND holder = ?", (name, holder))


def lease_holder(connection: Connection, name: str, now_us: int) -> str | None:
    """Return who holds a lease; None where nobody does."""
    row = connection.execute(
        "SELECT holder FROM lease WHERE name = ? AND until >= ?", (name, now_us)
    ).fetchone()
    return None if row is None else str(row[0])


def note_night(connection: Connection, night: dict[str, Any]) -> None:
    """Note how far the last night has come, as JSON."""
    connection.execute(
        "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", (_NIGHT, to_json(night))
    )


def last_night(connection: Connection) -> dict[str, Any] | None:
    """Return what is noted of the last night; None where there was none."""
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (_NIGHT,)).fetchone()
    found: dict[str, Any] | None = None if row is None else from_json(row[0])
    return found
