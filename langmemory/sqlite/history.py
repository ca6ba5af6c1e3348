"""The record of changes: one row for each, enough to show and to undo it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langmemory.sqlite.connection import Connection
from langmemory.sqlite.namespaces import find as find_namespace
from langmemory.sqlite.times import from_us
from langmemory.sqlite.values import from_json
from langmemory.types import HistoryAction, HistoryEntry, Namespace


def record(
    connection: Connection,
    at_us: int,
    action: HistoryAction,
    item: int,
    *,
    before: str | None = None,
    gone_from: tuple[int, str] | None = None,
    run: str | None = None,
    reason: str | None = None,
) -> None:
    """Write one row; ``gone_from`` is (namespace id, key) of an item that no longer exists."""
    namespace, key = gone_from or (None, None)
    connection.execute(
        "INSERT INTO history (at, action, item, namespace, key, before, run, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (at_us, action, item, namespace, key, before, run, reason),
    )


def record_added(
    connection: Connection,
    at_us: int,
    items: Iterable[int],
    run: str | None,
    reason: str | None,
) -> None:
    """Write one row for each new item."""
    connection.executemany(
        "INSERT INTO history (at, action, item, run, reason) VALUES (?, 'add', ?, ?, ?)",
        [(at_us, item, run, reason) for item in items],
    )


def of_item(connection: Connection, namespace: Namespace, key: str) -> list[HistoryEntry]:
    """Every change of an item under this key, oldest first, also of earlier lives of the key."""
    namespace_id = find_namespace(connection, namespace)
    current = connection.execute(
        "SELECT id, value FROM item WHERE namespace = ? AND key = ?", (namespace_id, key)
    ).fetchone()
    lives = {
        row[0]
        for row in connection.execute(
            "SELECT item FROM history WHERE namespace = ? AND key = ?", (namespace_id, key)
        )
    }
    if current is not None:
        lives.add(current[0])
    entries: list[HistoryEntry] = []
    recorded = [
        (
            item,
            connection.execute(
                "SELECT seq, at, action, before, run, reason FROM history WHERE item = ? ORDER BY seq",
                (item,),
            ).fetchall(),
        )
        for item in lives
    ]
    # By time: an import writes lives that are over after the present one.
    for item, rows in sorted(recorded, key=lambda life: life[1][0][1:2] + life[1][0][:1]):
        alive = current is not None and current[0] == item
        afters = [row[3] for row in rows[1:]] + [current[1] if alive and current else None]
        entries.extend(
            HistoryEntry(
                seq=seq,
                at=from_us(at),
                action=action,
                namespace=namespace,
                key=key,
                before=_maybe(before),
                after=None if action in ("delete", "expire") else _maybe(after),
                run_id=run,
                reason=reason,
            )
            for (seq, at, action, before, run, reason), after in zip(rows, afters, strict=True)
        )
    return entries


def _maybe(text: str | None) -> dict[str, Any] | None:
    return None if text is None else from_json(text)
