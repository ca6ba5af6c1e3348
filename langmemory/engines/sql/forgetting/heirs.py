"""Facts that somebody else said too: they outlive the person who said them first."""

from __future__ import annotations

from typing import Any

from langmemory.engines.sql.forgetting.concerned import Concerned
from langmemory.engines.sql.records.items import Batch
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.times import from_us
from langmemory.engines.sql.tables.values import leaves
from langmemory.values import from_json, to_json


def hand_on(connection: Connection, concerned: Concerned) -> None:
    """Make facts that others said too those others'. In a write transaction, before the rest is erased.

    Owner, speaker and time become those of what is left of the evidence: the first of it tells who said
    it and when, and they own it if nobody else said it as well.
    """
    going = connection.array(concerned.every)
    for item in sorted(concerned.inherited):
        left = connection.execute(
            "SELECT s.owner, s.speaker, s.valid_at, s.value ->> '$.at' FROM evidence v "
            "JOIN item s ON s.id = v.source WHERE v.item = ? "
            "AND s.id NOT IN (SELECT value FROM carray(?)) ORDER BY s.valid_at, s.id",
            (item, going),
        ).fetchall()
        first_said = connection.execute(
            "SELECT min(s.valid_at) FROM evidence v JOIN item s ON s.id = v.source "
            "WHERE v.item = ? AND s.id IN (SELECT value FROM carray(?))",
            (item, going),
        ).fetchone()[0]
        _inherit(connection, item, left, first_said)


def _inherit(
    connection: Connection, item: int, left: list[tuple[Any, ...]], first_said: int | None
) -> None:
    owners = {row[0] for row in left}
    owner = owners.pop() if len(owners) == 1 else None
    _, speaker, valid_at, told = left[0]
    [(namespace, text, since)] = connection.execute(
        "SELECT namespace, value, valid_at FROM item WHERE id = ?", (item,)
    ).fetchall()
    value = from_json(text)
    said_at = told or (None if valid_at is None else from_us(valid_at).isoformat())
    for name, new in (("speaker", speaker), ("owner", owner), ("said_at", said_at)):
        if name in value:
            value[name] = new
    connection.execute(
        "UPDATE item SET owner = ?, speaker = ?, value = ?, valid_at = ? WHERE id = ?",
        (owner, speaker, to_json(value), valid_at if since == first_said else since, item),
    )
    connection.execute("DELETE FROM leaf WHERE item = ?", (item,))
    batch = Batch(connection, 0, None, None)
    batch.leaf_rows.extend(
        (batch.path(name), leaf, namespace, item) for name, leaf in leaves(value)
    )
    batch.flush()
