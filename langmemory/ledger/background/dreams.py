"""Rows of what nights of maintenance changed: what `DREAMS.md` is written from."""

from __future__ import annotations

from typing import Any, Final

from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import find, from_path
from langmemory.ledger.tables.times import from_us
from langmemory.ports.journal import DreamRow
from langmemory.types import Namespace
from langmemory.values import from_json

MOST: Final = 500
"""Changes that are told, the newest."""

RUNS: Final = 200
"""Runs that are looked at, the newest."""

_ROWS: Final = """
    SELECT h.at, r.note ->> '$.night', h.action, i.value, h.before, coalesce(h.reason, r.reason),
    i.owner, i.privacy, h.facets ->> '$.privacy' FROM (
        SELECT id, note, reason FROM run WHERE namespace = ? AND kind = 'maintenance'
        AND undone_by IS NULL ORDER BY at DESC LIMIT ?
    ) r CROSS JOIN history h ON h.run = r.id CROSS JOIN item i ON i.id = h.item
    WHERE i.kind IN ('semantic', 'procedural', 'archival')
    ORDER BY h.seq DESC LIMIT ?"""


def namespaces(connection: Connection) -> list[Namespace]:
    """Return the namespaces that nights have changed."""
    rows = connection.execute(
        "SELECT DISTINCT n.path FROM run r JOIN namespace n ON n.id = r.namespace "
        "WHERE r.kind = 'maintenance' ORDER BY n.path"
    )
    return [from_path(row[0]) for row in rows]


def rows(connection: Connection, namespace: Namespace) -> list[DreamRow]:
    """Return what nights that stand changed in a namespace, the newest first. What is gone is not told,
    and of what was private to others before only that it is theirs now."""
    found = connection.execute(_ROWS, (find(connection, namespace) or 0, RUNS, MOST))
    return [
        DreamRow(
            day=f"{from_us(at):%Y-%m-%d}",
            night=str(night or ""),
            action=action,
            text=_text(value),
            summary_of=_summary_of(value),
            before="" if was_privacy not in (None, privacy) else _text(before),
            reason=str(reason or ""),
            owner=owner,
            privacy=privacy,
        )
        for at, night, action, value, before, reason, owner, privacy, was_privacy in found
    ]


def _summary_of(value: str) -> str:
    told = from_json(value)
    return f"{told['level']} {told['period']}" if "level" in told and "period" in told else ""


def _text(value: str | None) -> str:
    told: Any = from_json(value) if value else {}
    text = told.get("text", told.get("content")) if isinstance(told, dict) else None
    return text[:300] if isinstance(text, str) else ""
