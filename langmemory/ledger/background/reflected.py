"""Turns that no reflection has read yet, or that say something else since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import below, from_path
from langmemory.types import Namespace
from langmemory.values import from_json

_TURN: Final = (
    # The plus: to start from a thread, not from all turns of the file.
    "+i.kind = 'episodic' AND i.status = 'active' AND i.position IS NOT NULL "
    "AND i.valid_at IS NOT NULL AND (i.expires_at IS NULL OR i.expires_at > ?)"
)


def was_rewritten(item: str) -> str:
    """Return whether anything was put in an item's place since it was added: of most turns nothing was,
    and their history need not be looked at."""
    return f"{item}.updated_at <> {item}.created_at"


def reads_otherwise(item: str, since: str) -> str:
    """Return whether an item says something else than at a moment: what it said then is what the first
    change after it replaced."""
    return (
        f"coalesce((SELECT h.before ->> '$.content' FROM history h WHERE h.item = {item}.id "
        f"AND {since} < h.at AND h.before IS NOT NULL ORDER BY h.at, h.seq LIMIT 1), "
        f"{item}.value ->> '$.content') <> {item}.value ->> '$.content'"
    )


_READ: Final = "EXISTS (SELECT 1 FROM reflected r WHERE r.item = i.id)"
_EDITED: Final = (
    f"{was_rewritten('i')} AND EXISTS (SELECT 1 FROM reflected r JOIN run u ON u.id = r.run "
    f"WHERE r.item = i.id AND {reads_otherwise('i', 'u.at')})"
)
_UNREAD: Final = f"{_TURN} AND (NOT {_READ} OR ({_EDITED}))"


class TurnRow(NamedTuple):
    """A turn as it stands in the file."""

    key: str
    value: dict[str, Any]
    speaker: str | None
    owner: str | None
    privacy: str
    position: int
    valid_at_us: int
    read_before: bool
    """With other words."""


class UnreadRow(NamedTuple):
    """A thread that has turns nobody has read."""

    namespace: Namespace
    thread: int
    name: str
    turns: int


def threads(connection: Connection, prefix: Namespace, now_us: int) -> list[UnreadRow]:
    """Return the threads with unread turns in a namespace and below it, by when the first was said."""
    query, bindings = below(prefix)
    rows = connection.execute(
        "SELECT n.path, t.id, t.name, count(*) FROM thread t "
        "JOIN namespace n ON n.id = t.namespace JOIN item i ON i.thread = t.id "
        f"WHERE t.namespace IN {query} AND {_UNREAD} "
        "GROUP BY n.path, t.id ORDER BY min(i.valid_at), t.id",
        (*bindings, now_us),
    )
    return [UnreadRow(from_path(path), *rest) for path, *rest in rows]


def oldest(
    connection: Connection, namespace: int, now_us: int, since_us: int | None
) -> tuple[int, str] | None:
    """Return the id and name of the thread of a namespace whose unread turn, of those said since then, was
    said first."""
    row: tuple[int, str] | None = connection.execute(
        # By the index of times: not to count all that is unread for the first of it.
        "SELECT t.id, t.name FROM item i INDEXED BY item_valid CROSS JOIN thread t ON t.id = i.thread "
        f"WHERE i.namespace = ? AND i.valid_at >= ? AND {_UNREAD} "
        "ORDER BY i.valid_at, t.id LIMIT 1",
        (namespace, -(2**63) if since_us is None else since_us, now_us),
    ).fetchone()
    return row


def unread(connection: Connection, thread: int, now_us: int, position: int) -> Iterator[TurnRow]:
    """Yield the turns of a thread that nobody has read, from a place on and in order; read as far as
    they are taken."""
    return _turns(
        connection,
        f"{_SELECT} WHERE i.thread = ? AND i.position >= ? AND {_UNREAD} ORDER BY i.position",
        (thread, position, now_us),
    )


def read_by(connection: Connection, run: str) -> list[str]:
    """Return the keys of the turns that a run has read and nobody let go since, in order."""
    rows = connection.execute(
        "SELECT i.key FROM reflected r JOIN item i ON i.id = r.item WHERE r.run = ? "
        "ORDER BY i.thread, i.position",
        (run,),
    )
    return [str(key) for (key,) in rows]


def position(connection: Connection, thread: int, namespace: int, key: str) -> int:
    """Return where in a thread a turn stands; 0 where it is gone, or in another."""
    row = connection.execute(
        "SELECT position FROM item WHERE namespace = ? AND key = ? AND thread = ?",
        (namespace, key, thread),
    ).fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def before(
    connection: Connection, thread: int, position: int, limit: int, now_us: int
) -> list[TurnRow]:
    """Return the last turns of a thread before a place in it, in order."""
    found = _turns(
        connection,
        f"{_SELECT} WHERE i.thread = ? AND {_TURN} AND i.position < ? "
        "ORDER BY i.position DESC LIMIT ?",
        (thread, now_us, position, limit),
    )
    return list(found)[::-1]


def forget_edited(connection: Connection, items: Iterable[int]) -> None:
    """Turns that were read with other words than theirs count as unread."""
    connection.executemany(
        "DELETE FROM reflected WHERE item = ?1 AND EXISTS "
        f"(SELECT 1 FROM item i WHERE i.id = ?1 AND {_EDITED})",
        [(item,) for item in items],
    )


def edited_after(connection: Connection, item: int, seq: int) -> bool:
    """Return whether an item says something else than it did at this place in the history."""
    row = connection.execute(
        "SELECT h.before ->> '$.content' <> i.value ->> '$.content' FROM history h "
        "JOIN item i ON i.id = h.item "
        "WHERE h.item = ? AND h.seq > ? AND h.before IS NOT NULL ORDER BY h.seq LIMIT 1",
        (item, seq),
    ).fetchone()
    return row is not None and bool(row[0])


_SELECT: Final = (
    "SELECT i.key, i.value, i.speaker, i.owner, i.privacy, i.position, i.valid_at, "
    f"{_READ} FROM item i"
)


def _turns(connection: Connection, sql: str, bindings: tuple[Any, ...]) -> Iterator[TurnRow]:
    for key, value, *rest in connection.execute(sql, bindings):
        yield TurnRow(key, from_json(value), *rest)
