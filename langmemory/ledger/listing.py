"""Memories one page after the other, what was said or became true last first.

A page starts where the one before it ended, by an index, so that the thousandth costs what the first does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, get_args

from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import below, from_path, inside
from langmemory.ledger.scopes import CompiledScope, visible_to
from langmemory.ledger.values import from_us
from langmemory.types import Kind, Namespace, NamespaceCounts, Status

TOLD_AT: Final = (
    "coalesce({0}.valid_at, CASE WHEN {0}.value ->> '$.said_at' GLOB '[0-9][0-9][0-9][0-9]-*' THEN "
    "CAST(round(unixepoch({0}.value ->> '$.said_at', 'subsec') * 1000000) AS INTEGER) END, {0}.created_at)"
)
"""When something became true or was said; when it was stored, if that is unknown: `Memory.at`. The indexes
``item_class`` and ``item_told`` have it, word for word."""

FEW_NAMESPACES: Final = 32
"""Up to so many the newest of each is looked up; of more the newest of the file, whatever is theirs."""


class Place(NamedTuple):
    """Where a memory stands in the list."""

    at_us: int
    item: int


def newest(
    connection: Connection,
    scope: CompiledScope,
    *,
    after: Place | None,
    limit: int,
    since_us: int | None = None,
    until_us: int | None = None,
) -> list[Place]:
    """Return where the next memories in a scope stand, the latest first.

    Args:
        connection: A reader in a snapshot.
        scope: Without times.
        after: Where the page before ended.
        limit: The most memories.
        since_us: Only what was said, or became true, then or later.
        until_us: Only what was, before.
    """
    query, bindings = below(scope.scope.namespace)
    found = connection.execute(f"SELECT id FROM {query} LIMIT ?", (*bindings, FEW_NAMESPACES + 1))
    spaces = [int(row[0]) for row in found]
    few = spaces if len(spaces) <= FEW_NAMESPACES else None
    told = TOLD_AT.format("i")
    span, bounds = "TRUE", tuple[Any, ...]()
    if since_us is not None:
        span, bounds = f"{told} >= ?", (since_us,)
    rows: list[Place] = []
    before = until_us
    if after is not None and (until_us is None or after.at_us < until_us):
        same = f"{told} = ? AND i.id < ? AND {span}"
        rows = _rows(connection, scope, few, same, (*after, *bounds), limit, tied=True)
        before = after.at_us
    if len(rows) < limit:
        if before is not None:
            span, bounds = f"{told} < ? AND {span}", (before, *bounds)
        rows += _rows(connection, scope, few, span, bounds, limit - len(rows))
    return rows


def _rows(
    connection: Connection,
    scope: CompiledScope,
    spaces: Sequence[int] | None,
    span: str,
    bounds: tuple[Any, ...],
    limit: int,
    *,
    tied: bool = False,
) -> list[Place]:
    """Return the first places within a span; ``tied``: it is a single moment."""
    order = "i.id DESC" if tied else f"{TOLD_AT.format('i')} DESC, i.id DESC"
    if spaces is None:
        where, labels = inside("i.namespace", scope.scope.namespace)
        found = connection.execute(
            f"SELECT {TOLD_AT.format('i')}, i.id FROM item i INDEXED BY item_told "
            f"WHERE {span} AND {where} AND {scope.where} ORDER BY {order} LIMIT ?",
            (*bounds, *labels, *scope.bindings, limit),
        )
    else:
        kinds, statuses = scope.scope.kinds, scope.scope.statuses
        found = connection.execute(
            f"SELECT {TOLD_AT.format('o')} AS at, o.id FROM json_each(?) n CROSS JOIN json_each(?) k "
            "CROSS JOIN json_each(?) s CROSS JOIN item o ON o.id IN ("
            "SELECT i.id FROM item i INDEXED BY item_class WHERE i.kind = k.value "
            f"AND i.namespace = CAST(n.value AS INTEGER) AND i.status = s.value AND {span} AND {scope.where} "
            f"ORDER BY {order} LIMIT ?) ORDER BY at DESC, o.id DESC LIMIT ?",
            (
                json.dumps(spaces),
                json.dumps(get_args(Kind) if kinds is None else kinds),
                json.dumps(get_args(Status) if statuses is None else statuses),
                *bounds, *scope.bindings, limit, limit,
            ),
        )  # fmt: skip
    return [Place(*row) for row in found]


def counted(
    connection: Connection, prefix: Namespace, viewer: str | None, limit: int
) -> Iterator[NamespaceCounts]:
    """Yield how much each namespace holds that is in force, where something was said last first."""
    where, labels = inside("i.namespace", prefix)
    visible = visible_to(viewer)
    told = f"max(CASE WHEN i.kind = 'episodic' THEN {TOLD_AT.format('i')} END)"
    rows = connection.execute(
        "SELECT p.path, sum(CASE WHEN i.kind = 'episodic' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN i.kind IN ('semantic', 'procedural') THEN 1 ELSE 0 END), count(*), "
        f"coalesce({told}, max(i.created_at)) FROM item i JOIN namespace p ON p.id = i.namespace "
        f"WHERE i.status = 'active' AND {where} AND {visible.sql} GROUP BY p.path "
        "ORDER BY 5 DESC, 1 LIMIT ?",
        (*labels, *visible.bindings, limit),
    )
    for path, turns, facts, memories, last_us in rows:
        yield NamespaceCounts(
            namespace=from_path(path), turns=int(turns), facts=int(facts), memories=memories,
            last_at=from_us(last_us),
        )  # fmt: skip
