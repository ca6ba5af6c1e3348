"""Conversations of people in order: turns of one thread on one day, each with the one before and after."""

from __future__ import annotations

from typing import NamedTuple

from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import below
from langmemory.ledger.scopes import CompiledScope, visible_to
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
        f"WITH {_talks(spaces, visible.sql)}, joined AS (SELECT began, head, ended, turns, "
        "lag(head) OVER (PARTITION BY ns, who ORDER BY began, head) AS earlier, "
        "lead(head) OVER (PARTITION BY ns, who ORDER BY began, head) AS later FROM talk) "
        "SELECT t.began, t.head, t.ended, t.turns, t.earlier, t.later FROM joined t "
        f"{place}ORDER BY t.began DESC, t.head DESC LIMIT ?",
        (*labels, *visible.bindings, *(after or ()), limit),
    )
    return [Talk(*row) for row in rows]


def beside(connection: Connection, scope: CompiledScope, item: int, steps: int) -> list[int]:
    """Return the turns, items in order, of the conversation that the same person had so many before (below
    0) or after the one with a turn; none where there is no such conversation. Only turns in the scope
    count."""
    spaces, labels = below(scope.scope.namespace)
    same = "t.ns = {0}.ns AND t.who IS {0}.who AND t.thread = {0}.thread AND t.day = {0}.day"
    rows = connection.execute(
        f"WITH {_talks(spaces, scope.where)}, numbered AS (SELECT ns, who, thread, day, "
        "row_number() OVER (PARTITION BY ns, who ORDER BY began, head) AS place FROM talk), "
        f"here AS (SELECT t.ns AS ns, t.who AS who, t.place AS place FROM numbered t JOIN said a ON "
        f"{same.format('a')} WHERE a.id = ?) "
        "SELECT s.id FROM here h "
        "JOIN numbered t ON t.ns = h.ns AND t.who IS h.who AND t.place = h.place + ? "
        f"JOIN said s ON {same.format('s')} ORDER BY s.at, s.id",
        (*labels, *scope.bindings, item, steps),
    )
    return [row[0] for row in rows]


def last_turn(connection: Connection, scope: CompiledScope, owner: str | None) -> int | None:
    """Return the last turn in a scope, of a person where one is given."""
    spaces, labels = below(scope.scope.namespace)
    row = connection.execute(
        f"WITH {_said(spaces, scope.where)} SELECT id FROM said WHERE ? IN ('', who) "
        "ORDER BY at DESC, id DESC LIMIT 1",
        (*labels, *scope.bindings, owner or ""),
    ).fetchone()
    return None if row is None else int(row[0])


def _said(spaces: str, condition: str) -> str:
    """Return the table ``said`` of turns, of which a condition over ``item i`` holds."""
    return (
        "said AS (SELECT id, ns, who, thread, at, at / 86400000000 AS day FROM (SELECT i.id AS id, "
        "i.namespace AS ns, i.owner AS who, i.thread AS thread, coalesce(i.valid_at, i.created_at) AS at "
        f"FROM item i WHERE i.namespace IN {spaces} AND i.kind = 'episodic' AND i.status = 'active' "
        f"AND i.thread IS NOT NULL AND ({condition})) d)"
    )


def _talks(spaces: str, condition: str) -> str:
    """Return the table ``talk`` of conversations, beside that of their turns."""
    return (
        f"{_said(spaces, condition)}, talk AS (SELECT ns, who, thread, day, min(at) AS began, "
        "max(at) AS ended, count(*) AS turns, min(id) AS head FROM said GROUP BY ns, who, thread, day)"
    )
