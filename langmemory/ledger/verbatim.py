"""Verbatim memory: messages as episodic items, each findable with its speaker, time and neighbours; and
the turns that no reflection has read yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from langmemory.languages import index_text
from langmemory.ledger import history
from langmemory.ledger.connection import Connection
from langmemory.ledger.indexing import Indexing, turn_body
from langmemory.ledger.items import Write, find, put
from langmemory.ledger.namespaces import below, from_path, intern, intern_thread, namespace_tokens
from langmemory.ledger.removal import was_deleted
from langmemory.ledger.scopes import is_private_to_another
from langmemory.ledger.values import by_clock
from langmemory.messages import NAMELESS, Turn, hash_identity, turn_key, turn_value
from langmemory.types import Namespace
from langmemory.values import from_json, readable_text


def draft(
    indexing: Indexing, namespace: Namespace, thread_id: str, turn: Turn, facets: Mapping[str, Any]
) -> Write:
    """Return a turn as an item, with owner and privacy. Its ids are values, never indexed text."""
    value = turn_value(thread_id, turn, facets)
    made = indexing.draft_turn(namespace, turn.key, value, speaker=turn.speaker, at=turn.at)
    made.facets = {**made.facets, **facets}
    return made


def store(
    connection: Connection,
    namespace: Namespace,
    thread_id: str,
    writes: Sequence[Write],
    now_us: int,
) -> list[str]:
    """Append turns to their thread. Returns the keys added.

    Those already there are left alone, and those that were deleted stay so: a client sends whole
    conversations again and again, and what a person took back must not return with them.
    """
    new = []
    asked = [(write.key, write.facets["owner"]) for write in writes]
    keys = _free_keys(connection, namespace, thread_id, asked)
    for write, key in zip(writes, keys, strict=True):
        if key is not None:
            write.key = key
            new.append(write)
    if not new:
        return []
    thread = intern_thread(connection, intern(connection, namespace), thread_id)
    last = connection.execute(
        "SELECT id, value, index_fields, position, privacy, owner FROM item "
        "WHERE thread = ? AND position IS NOT NULL ORDER BY position DESC LIMIT 1",
        (thread,),
    ).fetchall()
    start = last[0][3] + 1 if last else 0
    said = [_Said.of(*row[1:3], *row[4:6]) for row in last]
    said += [_Said.of(one.value, None, one.facets["privacy"], one.facets["owner"]) for one in new]
    for n, write in enumerate(new):
        write.facets = {**write.facets, "thread": thread, "position": start + n}
        write.context = _context(said, n + len(last))
    put(connection, new, now_us)
    refresh_contexts(connection, [row[0] for row in last])  # the last turn now has a successor
    return [write.key for write in new]


def new_turns(
    connection: Connection,
    namespace: Namespace,
    thread_id: str,
    turns: Sequence[Turn],
    owner: str | None,
) -> list[Turn]:
    """Return the turns that `store` would not leave alone: what is known already need not be embedded."""
    asked = [(turn.key, owner) for turn in turns]
    keys = _free_keys(connection, namespace, thread_id, asked)
    return [turn for turn, key in zip(turns, keys, strict=True) if key is not None]


def _free_keys(
    connection: Connection,
    namespace: Namespace,
    thread_id: str,
    asked: Sequence[tuple[str, str | None]],
) -> list[str | None]:
    """Return `_free_key` of each key and owner; one statement finds those that were never there."""
    met = history.met_before(connection, namespace, [key for key, _ in asked])
    return [
        _free_key(connection, namespace, thread_id, key, owner) if key in met else key
        for key, owner in asked
    ]


def _free_key(
    connection: Connection, namespace: Namespace, thread_id: str, key: str, owner: str | None
) -> str | None:
    """Return the key to store a turn under, None where it was stored before. Of messages without an id,
    those in one thread with the same words are one message, unless the first is private to somebody
    else: then the owner of the second is part of the key as well."""
    if not _was_stored(connection, namespace, key):
        return key
    name = key.removeprefix(turn_key(thread_id, ""))
    if not NAMELESS.fullmatch(name) or not is_private_to_another(connection, namespace, key, owner):
        return None
    key = turn_key(thread_id, hash_identity(f"{name}\0{owner or ''}"))
    return None if _was_stored(connection, namespace, key) else key


def _was_stored(connection: Connection, namespace: Namespace, key: str) -> bool:
    there = find(connection, namespace, key) is not None
    return there or was_deleted(connection, namespace, key)


def turns_around(connection: Connection, ids: Sequence[int]) -> list[int]:
    """Return those of the items that are turns, and their neighbours: whose context a change concerns."""
    if not ids:
        return []
    rows = connection.execute(
        "SELECT DISTINCT b.id FROM carray(?) c CROSS JOIN item a ON a.id = c.value "
        "CROSS JOIN item b ON b.thread = a.thread "
        "AND b.position BETWEEN a.position - 1 AND a.position + 1 WHERE a.thread IS NOT NULL",
        (connection.array(np.array(ids, np.int64)),),
    )
    return [int(row[0]) for row in rows]


def refresh_around(connection: Connection, ids: Sequence[int]) -> None:
    """After a put: turns among the items, and their neighbours, take the new words in."""
    refresh_contexts(connection, turns_around(connection, ids))


def refresh_contexts(connection: Connection, ids: Sequence[int]) -> None:
    """Write the keyword rows of turns anew, with the neighbours they have now."""
    connection.write_keywords(keywords_of(connection, ids), fresh=False)


_WITH_NEIGHBOURS: Final = (
    "SELECT a.id, a.namespace, a.speaker, a.valid_at, a.value ->> '$.at', b.position - a.position, "
    "b.value, b.index_fields, b.privacy, b.owner FROM carray(?) c CROSS JOIN item a ON a.id = c.value "
    "CROSS JOIN item b ON b.thread = a.thread AND b.position BETWEEN a.position - 1 AND a.position + 1 "
    "WHERE a.thread IS NOT NULL AND a.position IS NOT NULL AND a.valid_at IS NOT NULL "
    "AND a.index_fields IS NULL"
)


def keywords_of(connection: Connection, ids: Sequence[int]) -> list[tuple[int, str, str, str]]:
    """Return the keyword rows of those of the items that are turns, as `Connection.write_keywords` takes
    them."""
    if not ids:
        return []
    turns: dict[int, tuple[Any, ...]] = {}
    around: dict[int, dict[int, _Said]] = {}
    for item, *turn, offset, value, index_fields, privacy, owner in connection.execute(
        _WITH_NEIGHBOURS, (connection.array(ids),)
    ).fetchall():
        turns[item] = tuple(turn)
        said = _Said.of(value, index_fields, privacy, owner)
        around.setdefault(item, {})[offset] = said
    places = {
        namespace: namespace_tokens(connection, namespace)
        for namespace in {turn[0] for turn in turns.values()}
    }
    rows = []
    for item, (namespace, speaker, valid_at, told) in turns.items():
        near = [around[item].get(offset, _NOTHING) for offset in (-1, 0, 1)]
        body = turn_body(speaker or "", by_clock(valid_at, told), near[1].words)
        rows.append((item, places[namespace], body, _context(near, 1)))
    return rows


@dataclass(frozen=True, slots=True)
class _Said:
    """The words that a turn adds to the context of its neighbours."""

    words: str
    """Empty if its put said what is to be indexed."""
    reader: str | None
    """Who alone may read it: the owner of a private turn; None for everybody."""

    @classmethod
    def of(cls, value: str, index_fields: str | None, privacy: str, owner: str | None) -> _Said:
        words = readable_text(from_json(value)) if index_fields is None else ""
        return cls(words, (owner or "") if privacy == "private" else None)


_NOTHING: Final = _Said("", None)


def _context(said: Sequence[_Said], place: int) -> str:
    """Neighbours of a turn, for the context column: those that all its readers may read, else a
    search would find the turn by the words of somebody's private one beside it."""
    around = [*said[max(place - 1, 0) : place], *said[place + 1 : place + 2]]
    reader = said[place].reader
    return index_text(" ".join(one.words for one in around if one.reader in (None, reader)))


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


def are_unread(
    connection: Connection,
    namespace: int,
    keys: Sequence[str],
    now_us: int,
    alive_at_us: int | None,
) -> dict[str, bool]:
    """Return, of those of the turns that are there, by key, whether nobody has read them. What ended before
    ``alive_at_us`` is not there."""
    alive = "" if alive_at_us is None else " AND (i.expires_at IS NULL OR i.expires_at > ?)"
    rows = connection.execute(
        f"SELECT i.key, CASE WHEN {_UNREAD} THEN 1 ELSE 0 END FROM item i "
        f"WHERE i.namespace = ? AND i.key IN (SELECT value FROM json_each(?)){alive}",
        (now_us, namespace, json.dumps(keys), *(() if alive_at_us is None else (alive_at_us,))),
    )
    return {str(key): bool(unread) for key, unread in rows}


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
    connection.execute(
        "DELETE FROM reflected WHERE item IN (SELECT i.id FROM carray(?) c "
        f"CROSS JOIN item i ON i.id = c.value WHERE {_EDITED})",
        (connection.array(items),),
    )


def edited_after(connection: Connection, items: Iterable[int], seq: int) -> int:
    """Return how many items say something else than they did at this place in the history."""
    row = connection.execute(
        "SELECT count(*) FROM carray(?) c WHERE (SELECT h.before ->> '$.content' <> "
        "i.value ->> '$.content' FROM history h JOIN item i ON i.id = h.item WHERE h.item = c.value "
        "AND h.seq > ? AND h.before IS NOT NULL ORDER BY h.seq LIMIT 1)",
        (connection.array(items), seq),
    ).fetchone()
    return int(row[0])


_SELECT: Final = (
    "SELECT i.key, i.value, i.speaker, i.owner, i.privacy, i.position, i.valid_at, "
    f"{_READ} FROM item i"
)


def _turns(connection: Connection, sql: str, bindings: tuple[Any, ...]) -> Iterator[TurnRow]:
    for key, value, *rest in connection.execute(sql, bindings):
        yield TurnRow(key, from_json(value), *rest)
