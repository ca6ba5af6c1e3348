"""Conversations of people in order: turns of one thread on one day, each with the one before and after."""

from __future__ import annotations

from typing import NamedTuple

from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import below
from langmemory.ledger.scopes import visible_to
from langmemory.types import Namespace


class Talk(NamedTuple):
    """One conversation. Conversations are known by their first turns, items."""

    began_us: int
    first: int
    ended_us: int
    turns: int
    previous: int | None
    """Of the same person in the same namespace."""
    next: int | None


def newest(
    connection: Connection,
    prefix: Namespace,
    viewer: str | None,
    limit: int,
    *,
    after: tuple[int, int] | None = None,
) -> list[Talk]:
    """Return conversations of a namespace and below it, the newest first.

    Args:
        connection: Of the file.
        prefix: Of the namespaces.
        viewer: Only turns that they may read count; None is the application.
        limit: At most so many.
        after: When the last one of the page before began, and its first turn.
    """
    spaces, labels = below(prefix)
    visible = visible_to(viewer)
    place = "" if after is None else "WHERE (t.began, t.head) < (?, ?) "
    rows = connection.execute(
        "WITH said AS (SELECT i.id, i.namespace AS ns, i.owner AS who, i.thread AS thread, "
        "coalesce(i.valid_at, i.created_at) AS at FROM item i "
        f"WHERE i.namespace IN {spaces} AND i.kind = 'episodic' AND i.status = 'active' "
        f"AND i.thread IS NOT NULL AND {visible.sql}), "
        "talk AS (SELECT ns, who, min(at) AS began, max(at) AS ended, count(*) AS turns, min(id) AS head "
        "FROM said GROUP BY ns, who, thread, at / 86400000000), "
        "joined AS (SELECT began, head, ended, turns, "
        "lag(head) OVER (PARTITION BY ns, who ORDER BY began, head) AS earlier, "
        "lead(head) OVER (PARTITION BY ns, who ORDER BY began, head) AS later FROM talk) "
        "SELECT t.began, t.head, t.ended, t.turns, t.earlier, t.later FROM joined t "
        f"{place}ORDER BY t.began DESC, t.head DESC LIMIT ?",
        (*labels, *visible.bindings, *(after or ()), limit),
    )
    return [Talk(*row) for row in rows]
