"""Messages of the bus as rows: who sent what to whom, who has it, and who wants what."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from langmemory.ledger.connection import Connection
from langmemory.ledger.filters import Condition
from langmemory.ledger.namespaces import below, from_path, intern, to_path
from langmemory.ledger.scopes import visible_to
from langmemory.ledger.values import from_us, maybe_datetime, to_us
from langmemory.types import BusMessage, Namespace, Receipt, Subscription
from langmemory.values import from_json

EXPIRED_AT_ONCE: Final = 200
"""Messages that a transaction deletes besides what it is for."""
_SUBSCRIPTION: Final = "s.id, s.agent, s.topic, s.sender, s.query, s.created_at, s.min_similarity"


def insert(connection: Connection, message: BusMessage) -> int:
    """Add a message; return its number."""
    row = connection.execute(
        "INSERT INTO message (id, namespace, sender, recipient, type, priority, topic, summary, details, "
        "artifacts, memories, next_steps, confidence, reply_to, owner, privacy, created_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq",
        (
            message.id, intern(connection, message.namespace), message.sender, message.recipient,
            message.type, message.priority, message.topic, message.summary, message.details,
            _list(message.artifacts), _list(message.memories), _list(message.next_steps),
            message.confidence, message.reply_to, message.owner, message.privacy,
            to_us(message.created_at), to_us(message.expires_at),
        ),
    ).fetchone()  # fmt: skip
    return int(row[0])


def _list(texts: Iterable[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)


def is_taken(connection: Connection, message_id: str) -> bool:
    """Return whether there is a message of this id, whoever may read it."""
    query = "SELECT EXISTS (SELECT 1 FROM message WHERE id = ?)"
    return bool(connection.execute(query, (message_id,)).fetchall()[0][0])


def in_namespace(namespace: Namespace) -> Condition:
    """Return messages ``m`` of a namespace and below it."""
    query, bindings = below(namespace)
    return Condition(f"m.namespace IN {query}", bindings)


def there(namespace: int) -> Condition:
    """Return messages of exactly one namespace, given by its number."""
    return Condition("m.namespace = ?", (namespace,))


def concerning(agent: str) -> Condition:
    """Return what an agent sent, what was sent to it, and what went to all."""
    return Condition("(m.sender = ? OR m.recipient IS NULL OR m.recipient = ?)", (agent, agent))


def to_recipient(agent: str) -> Condition:
    """Return what was sent to an agent by name, and what others sent to all."""
    return Condition("(m.recipient = ? OR (m.recipient IS NULL AND m.sender <> ?))", (agent, agent))


def waiting(namespace: int, agent: str, viewer: str | None) -> Condition:
    """Return what an agent has yet to be done with: what was sent to it by name, and of what others sent
    to all what one of its subscriptions wants; all of that where it has none."""
    its = "SELECT 1 FROM subscription s WHERE s.namespace = ? AND s.agent = ? AND s.viewer IS ?"
    own = (namespace, agent, viewer)
    return Condition(
        "m.invalidated_at IS NULL AND NOT EXISTS (SELECT 1 FROM receipt r WHERE r.message = m.seq "
        "AND r.agent = ? AND r.acknowledged_at IS NOT NULL) AND (m.recipient = ? OR "
        f"(m.recipient IS NULL AND m.sender <> ? AND (NOT EXISTS ({its}) OR EXISTS ({its} AND "
        "(s.topic = m.topic OR s.sender = m.sender OR EXISTS (SELECT 1 FROM fit f "
        "WHERE f.subscription = s.id AND f.message = m.seq))))))",
        (agent, agent, agent, *own, *own),
    )


def agents(connection: Connection, namespace: int, viewer: str | None, now_us: int) -> set[str]:
    """Return the agents that sent something, or were sent something by name, which has not expired."""
    seen = visible_to(viewer, "m")
    rows = connection.execute(
        "SELECT m.sender, m.recipient FROM message m WHERE m.namespace = ? AND m.expires_at > ? "
        f"AND {seen.sql} GROUP BY m.sender, m.recipient",
        (namespace, now_us, *seen.bindings),
    )
    return {str(one) for row in rows for one in row if one is not None}


def list_messages(
    connection: Connection,
    conditions: Sequence[Condition],
    *,
    viewer: str | None,
    now_us: int,
    after: int = 0,
    limit: int = 1,
    newest_first: bool = False,
) -> list[tuple[int, BusMessage]]:
    """Return messages that a viewer may read and that have not expired, each with its number, by which they
    are in order.

    Args:
        connection: Of the file.
        conditions: Over ``message AS m``; all must hold.
        viewer: None is the application.
        now_us: The time.
        after: The number of the last one of the page before; 0 for the first page.
        limit: The most messages.
        newest_first: Whether they come in falling order.
    """
    every = [*conditions, visible_to(viewer, "m"), Condition("m.expires_at > ?", (now_us,))]
    if after:
        every.append(Condition("m.seq < ?" if newest_first else "m.seq > ?", (after,)))
    memories = Condition("m.memories", ())
    if viewer is not None:
        readable = visible_to(viewer)
        memories = Condition(
            "(SELECT json_group_array(key) FROM (SELECT k.value AS key FROM json_each(m.memories) k "
            "JOIN item i ON i.namespace = m.namespace AND i.key = k.value "
            f"WHERE {readable.sql} ORDER BY k.key))",
            readable.bindings,
        )
    rows = connection.execute(
        "SELECT m.seq, m.id, n.path, m.sender, m.recipient, m.type, m.priority, m.topic, m.summary, "
        f"m.details, m.artifacts, {memories.sql}, m.next_steps, m.confidence, m.reply_to, m.owner, "
        "m.privacy, m.created_at, m.expires_at, m.invalidated_at "
        "FROM message m JOIN namespace n ON n.id = m.namespace "
        f"WHERE {' AND '.join(f'({one.sql})' for one in every)} "
        f"ORDER BY m.seq {'DESC' if newest_first else ''} LIMIT ?",
        (*memories.bindings, *(one for each in every for one in each.bindings), limit),
    ).fetchall()
    receipts = _receipts(connection, [row[0] for row in rows])
    return [(row[0], _message(row, receipts.get(row[0], ()))) for row in rows]


def _message(row: Sequence[Any], receipts: Sequence[Receipt]) -> BusMessage:
    message = BusMessage(
        id=row[1], namespace=from_path(row[2]), sender=row[3], recipient=row[4], type=row[5],
        priority=row[6], topic=row[7], summary=row[8], details=row[9],
        artifacts=tuple(from_json(row[10])), memories=tuple(from_json(row[11])),
        next_steps=tuple(from_json(row[12])), confidence=row[13], reply_to=row[14], owner=row[15],
        privacy=row[16], created_at=from_us(row[17]), expires_at=from_us(row[18]),
        receipts=tuple(receipts),
    )  # fmt: skip
    done = any(one.agent == message.recipient and one.acknowledged_at for one in receipts)
    if row[19] is not None:
        return replace(message, state="invalidated")
    return replace(message, state="acknowledged") if done else message


def _receipts(connection: Connection, numbers: Sequence[int]) -> dict[int, list[Receipt]]:
    found: dict[int, list[Receipt]] = {}
    for number, agent, seen_us, done_us in connection.execute(
        "SELECT message, agent, seen_at, acknowledged_at FROM receipt "
        "WHERE message IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) ORDER BY message, seen_at, agent",
        (json.dumps(list(numbers)),),
    ):
        receipt = Receipt(
            agent=agent, seen_at=from_us(seen_us), acknowledged_at=maybe_datetime(done_us)
        )
        found.setdefault(number, []).append(receipt)
    return found


def note_seen(connection: Connection, numbers: Iterable[int], agent: str, now_us: int) -> None:
    """Note that an agent was given messages; the first time counts."""
    connection.executemany(
        "INSERT INTO receipt (message, agent, seen_at) VALUES (?, ?, ?) "
        "ON CONFLICT (message, agent) DO NOTHING",
        [(number, agent, now_us) for number in numbers],
    )


def note_acknowledged(
    connection: Connection, numbers: Sequence[int], agent: str, now_us: int
) -> None:
    """Note that an agent is done with messages; the first time counts."""
    note_seen(connection, numbers, agent, now_us)
    connection.executemany(
        "UPDATE receipt SET acknowledged_at = ? "
        "WHERE message = ? AND agent = ? AND acknowledged_at IS NULL",
        [(now_us, number, agent) for number in numbers],
    )


def invalidate(connection: Connection, number: int, now_us: int) -> None:
    """Note that a message does not hold any more."""
    connection.execute(
        "UPDATE message SET invalidated_at = ? WHERE seq = ? AND invalidated_at IS NULL",
        (now_us, number),
    )


def any_expired(connection: Connection, now_us: int) -> bool:
    """Return whether the time of a message is over."""
    query = "SELECT EXISTS (SELECT 1 FROM message WHERE expires_at <= ?)"
    return bool(connection.execute(query, (now_us,)).fetchall()[0][0])


def expire(connection: Connection, now_us: int, limit: int = EXPIRED_AT_ONCE) -> int:
    """Delete messages whose time is over, at most so many; return how many."""
    rows = connection.execute(
        "DELETE FROM message WHERE seq IN "
        "(SELECT seq FROM message WHERE expires_at <= ? LIMIT ?) RETURNING seq",
        (now_us, limit),
    )
    return len(rows.fetchall())


def subscribe(
    connection: Connection,
    namespace: Namespace,
    viewer: str | None,
    wanted: Subscription,
) -> Subscription:
    """Add a subscription, unless the agent has the same already; return it as it is there."""
    place = intern(connection, namespace)
    same = [
        one
        for one in subscriptions(connection, place, wanted.agent, viewer)
        if replace(one, id=wanted.id, created_at=wanted.created_at) == wanted
    ]
    if same:
        return same[0]
    row = connection.execute(
        "INSERT INTO subscription (namespace, agent, viewer, topic, sender, query, created_at, "
        "min_similarity) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            place, wanted.agent, viewer, wanted.topic, wanted.sender, wanted.query,
            to_us(wanted.created_at), wanted.min_similarity,
        ),
    ).fetchone()  # fmt: skip
    return replace(wanted, id=int(row[0]))


def subscriptions(
    connection: Connection, namespace: int, agent: str, viewer: str | None
) -> list[Subscription]:
    """Return what an agent wants on behalf of a viewer, the oldest first."""
    rows = connection.execute(
        f"SELECT {_SUBSCRIPTION} FROM subscription s "
        "WHERE s.namespace = ? AND s.agent = ? AND s.viewer IS ? ORDER BY s.id",
        (namespace, agent, viewer),
    )
    return [
        Subscription(
            id=row[0], agent=row[1], topic=row[2], sender=row[3], query=row[4],
            created_at=from_us(row[5]), min_similarity=row[6],
        )
        for row in rows
    ]  # fmt: skip


def unsubscribe(
    connection: Connection, id: int, namespace: int, agent: str, viewer: str | None
) -> bool:
    """Delete a subscription of an agent; return whether it was there."""
    row = connection.execute(
        "DELETE FROM subscription WHERE id = ? AND namespace = ? AND agent = ? AND viewer IS ? "
        "RETURNING id",
        (id, namespace, agent, viewer),
    ).fetchone()
    return row is not None


def queries(connection: Connection, namespace: Namespace) -> dict[int, tuple[str, float]]:
    """Return by which queries agents of exactly this namespace subscribed, each with the cosine from which on
    a message fits, by subscription."""
    rows = connection.execute(
        "SELECT s.id, s.query, s.min_similarity FROM subscription s "
        "JOIN namespace n ON n.id = s.namespace "
        "WHERE n.path = ? AND s.query IS NOT NULL ORDER BY s.id",
        (to_path(namespace),),
    )
    return {id: (query, least) for id, query, least in rows}


def note_fits(connection: Connection, pairs: Iterable[tuple[int, int]]) -> None:
    """Note which messages fit which subscriptions, as (subscription, message), where both are there."""
    connection.executemany(
        "INSERT OR IGNORE INTO fit (subscription, message) SELECT s.id, m.seq "
        "FROM subscription s CROSS JOIN message m WHERE s.id = ? AND m.seq = ?",
        list(pairs),
    )
