"""The record of changes, one row for each, enough to show and to undo it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from langmemory.ledger.connection import Connection, insert
from langmemory.ledger.namespaces import from_path, to_path
from langmemory.ledger.scopes import open_past, open_run
from langmemory.ledger.tables.facets import FLAGS, TIMES, UPKEEP
from langmemory.ledger.values import from_us, maybe_datetime
from langmemory.types import HistoryAction, HistoryEntry, Namespace
from langmemory.values import from_json, to_json

GONE: Final = ("delete", "expire", "forget")
"""Actions after which there is no item."""
CLAIMS: Final = "claims"
"""Beside the facets of a deletion, or of words that a person put in place of others: what the item
claimed in the graph until then (`graph_rows.claims_of`)."""
_TIMES, _FLAGS = frozenset(TIMES), frozenset(FLAGS)
_UNSHOWN: Final = (*UPKEEP, "thread_id", "position", CLAIMS)
WITHDRAWN: Final = "withdrawn"
"""Beside the facets of a change: the evidence it took, as ids of this file; for its undo alone."""
WHOSE: Final = ("privacy", "owner")
"""Columns told together: who may see what an item said, and what is to be forgotten with its owner."""
SEAL: Final = "forgotten/"
ROWS_A_KEY: Final = 20
"""Rows of the history that are read sooner than one key is looked up."""
TOMBSTONES: Final = ("forgotten",)
"""Namespace of the records whose own, and its ancestors, had nothing else in them."""


def seal_key(path: str, key: str) -> str:
    """Return the name in the history for the key of a forgotten memory, in the namespace of this path:
    enough to know it again when somebody sends it, not enough to read it."""
    if key.startswith(SEAL):
        return key
    return SEAL + hashlib.sha256(f"{path}\0{key}".encode()).hexdigest()[:32]


_SEALED: Final = (
    "FROM namespace n JOIN history h ON h.namespace = n.id "
    "WHERE n.path IN (SELECT value FROM json_each(?)) AND h.key IN (SELECT value FROM json_each(?))"
)


def _sealed(namespace: Namespace, keys: Sequence[str]) -> tuple[str, str]:
    """Return what `_SEALED` binds: where forgotten memories of the namespace may stand, and how the
    keys are named there."""
    above = [to_path(namespace[:depth]) for depth in range(len(namespace), 0, -1)]
    return json.dumps([*above, *TOMBSTONES]), json.dumps([seal_key(above[0], key) for key in keys])


def forgotten_lives(connection: Connection, namespace: Namespace, key: str) -> list[int]:
    """Item ids under which forgotten memories of this key stand in the history: in the namespace, or
    further up where that is gone with them."""
    rows = connection.execute(f"SELECT DISTINCT h.item {_SEALED}", _sealed(namespace, [key]))
    return [int(row[0]) for row in rows]


def met_before(connection: Connection, namespace: Namespace, keys: Sequence[str]) -> set[str]:
    """Return those of the keys under which there is an item, or was one, forgotten ones included."""
    path, names = to_path(namespace), json.dumps(keys)
    rows = connection.execute(
        "SELECT i.key FROM namespace n JOIN item i ON i.namespace = n.id "
        "WHERE n.path = ? AND i.key IN (SELECT value FROM json_each(?)) "
        "UNION SELECT h.key FROM namespace n JOIN history h ON h.namespace = n.id "
        "WHERE n.path = ? AND h.key IN (SELECT value FROM json_each(?)) "
        f"UNION SELECT h.key {_SEALED}",
        (path, names, path, names, *_sealed(namespace, keys)),
    )
    met = {row[0] for row in rows}
    return {key for key in keys if key in met or seal_key(path, key) in met}


LIVES: Final = (
    "SELECT i.id AS item FROM namespace n JOIN item i ON i.namespace = n.id "
    "WHERE n.path = ?1 AND i.key = ?2 UNION SELECT g.item FROM namespace n "
    "JOIN history g ON g.namespace = n.id WHERE n.path = ?1 AND g.key = ?2"
)
"""Ids of the item that is under a key (?2) of a namespace (?1, `to_path`) and of those that were."""


class Recorded(NamedTuple):
    """One change, as far as it tells whether the record of it is whole."""

    at_us: int
    action: HistoryAction
    blank: bool
    """The text of the item before it was forgotten, while the item was not."""


def recorded_lives(connection: Connection, namespace: Namespace, key: str) -> list[list[Recorded]]:
    """Return the changes of each item that is, or was, under this key, oldest first; without those
    whose past went because they had a TTL."""
    lives: dict[int, list[Recorded]] = {}
    for item, at_us, action, told in connection.execute(
        f"SELECT h.item, h.at, h.action, h.before IS NOT NULL FROM ({LIVES}) l "
        "JOIN history h ON h.item = l.item ORDER BY h.seq",
        (to_path(namespace), key),
    ):
        blank = not told and action not in ("add", "restore")
        lives.setdefault(item, []).append(Recorded(at_us, action, blank))
    return [life for life in lives.values() if all(one.action != "expire" for one in life)]


def with_whose(told: dict[str, Any], was: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a change replaced, for `record`: `WHOSE` as a whole, if any."""
    return told | {name: was[name] for name in WHOSE} if told.keys() & set(WHOSE) else told


def record(
    connection: Connection,
    at_us: int,
    action: HistoryAction,
    item: int,
    *,
    before: str | None = None,
    facets: Mapping[str, Any] | None = None,
    gone_from: tuple[int, str] | None = None,
    run: str | None = None,
    reason: str | None = None,
) -> None:
    """Write one row; ``facets`` are columns the change replaced, as they were, ``gone_from`` is
    (namespace id, key) of an item that no longer exists."""
    namespace, key = gone_from or (None, None)
    connection.execute(
        "INSERT INTO history (at, action, item, namespace, key, before, facets, run, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            at_us, action, item, namespace, key, before,
            None if facets is None else to_json(facets), run, reason,
        ),
    )  # fmt: skip


def record_added(
    connection: Connection,
    at_us: int,
    items: Iterable[int],
    run: str | None,
    reason: str | None,
) -> None:
    """Write one row for each new item."""
    insert(
        connection,
        "history (at, action, item, run, reason)",
        [(at_us, "add", item, run, reason) for item in items],
    )


def came_back(connection: Connection, item: int) -> None:
    """An item that was gone is there again: its history does not name it any more."""
    connection.execute("UPDATE history SET namespace = NULL, key = NULL WHERE item = ?", (item,))


class Step(NamedTuple):
    """Where a change stands in the history of a key."""

    begun_us: int
    """When the item it is of was added,"""
    first: int
    """and ``seq`` of that."""
    seq: int
    number: int
    """From 1, of those that the viewer is told of."""


def of_item(
    connection: Connection, namespace: Namespace, key: str, viewer: str | None = None
) -> list[HistoryEntry]:
    """Return every change of an item under this key, oldest first, also of earlier lives of the key, as
    far as their past is open to the viewer."""
    return [entry for _, entry in steps_of(connection, namespace, key, viewer)]


def steps_of(
    connection: Connection,
    namespace: Namespace,
    key: str,
    viewer: str | None,
    *,
    after: Step | None = None,
    limit: int = -1,
) -> list[tuple[Step, HistoryEntry]]:
    """As `of_item`, the first so many, -1 for all, behind a step, each with its step."""
    place = (to_path(namespace), key)
    current = connection.execute(
        "SELECT i.id, i.value FROM namespace n JOIN item i ON i.namespace = n.id "
        "WHERE n.path = ? AND i.key = ?",
        place,
    ).fetchone()
    lives = {row[0] for row in connection.execute(LIVES, place)}
    lives.update(forgotten_lives(connection, namespace, key))
    # By time: an import writes lives that are over after the present one.
    begun = connection.execute(
        "SELECT h.at, h.seq, h.item FROM json_each(?) l CROSS JOIN history h ON h.seq = "
        "(SELECT min(f.seq) FROM history f WHERE f.item = CAST(l.value AS INTEGER)) ORDER BY h.at, h.seq",
        (json.dumps(list(lives)),),
    ).fetchall()
    found: list[tuple[Step, HistoryEntry]] = []
    open_runs: dict[str, bool] = {}
    number = 0 if after is None else after.number
    for at, first, item in begun:
        if len(found) == limit:
            break
        if after is not None and (at, first) < after[:2]:
            continue
        if not open_past(connection, item, viewer):
            continue
        behind = after.seq if after is not None and (at, first) == after[:2] else 0
        # One more than is wanted tells what the last one left.
        wanted = None if limit < 0 else limit - len(found)
        reading = -1 if wanted is None else wanted + 1
        rows = changes(connection, item, viewer, open_runs, after=behind, limit=reading)
        alive = current is not None and current[0] == item
        afters = [row[3] for row in rows[1:]] + [current[1] if alive and current else None]
        for (seq, *row), told in list(zip(rows, afters, strict=False))[:wanted]:
            number += 1
            # Gaps would tell a viewer how much others do in private.
            shown = seq if viewer is None else number
            found.append((Step(at, first, seq, number), _entry(shown, namespace, key, row, told)))
    return found


def _entry(
    seq: int, namespace: Namespace, key: str, row: Sequence[Any], after: str | None
) -> HistoryEntry:
    at, action, before, run, reason, facets = row
    return HistoryEntry(
        seq=seq, at=from_us(at), action=action, namespace=namespace, key=key,
        before=_maybe(before), after=None if action in GONE else _maybe(after),
        run_id=run, reason=reason, facets=shown_facets(facets),
    )  # fmt: skip


def of_run(
    connection: Connection, run: str, limit: int, *, after: int = 0
) -> list[tuple[int, HistoryEntry]]:
    """Return what a run changed, in the order in which it did, at most so many changes behind a place in
    the history, each with its place."""
    rows = connection.execute(
        "SELECT h.seq, n.path, coalesce(i.key, h.key, g.key), h.at, h.action, h.before, h.reason, h.facets, "
        "coalesce(x.before, CASE WHEN x.seq IS NULL THEN i.value END) FROM history h "
        "LEFT JOIN item i ON i.id = h.item "
        "LEFT JOIN history g ON i.id IS NULL AND h.key IS NULL AND g.seq = "
        "(SELECT max(y.seq) FROM history y WHERE y.item = h.item AND y.key IS NOT NULL) "
        "LEFT JOIN history x ON x.seq = (SELECT min(y.seq) FROM history y WHERE y.item = h.item "
        "AND y.seq > h.seq) "
        "JOIN namespace n ON n.id = coalesce(i.namespace, h.namespace, g.namespace) "
        "WHERE h.run = ? AND h.seq > ? ORDER BY h.seq LIMIT ?",
        (run, after, limit),
    )
    found = []
    for seq, path, key, at, action, before, reason, facets, told in rows:
        kept = None if facets is None else from_json(facets)
        if kept is not None:
            kept.pop(WITHDRAWN, None)
        row = at, action, before, run, reason, kept
        found.append((seq, _entry(seq, from_path(path), key, row, told)))
    return found


def changes(
    connection: Connection,
    item: int,
    viewer: str | None = None,
    open_runs: dict[str, bool] | None = None,
    *,
    after: int = 0,
    limit: int = -1,
) -> list[tuple[Any, ...]]:
    """(seq, at, action, before, run, reason, facets) of every change of an item whose past is open
    to the viewer, oldest first; facets parsed or None.

    A viewer is not told why, where that may be for memories that are not theirs, nor what took the
    item's place. Whoever asks for many items passes one ``open_runs`` for all: whether a run is open
    to the viewer takes a look at everything that it changed. At most ``limit`` behind the seq ``after``;
    -1 is all.
    """
    open_runs = {} if open_runs is None else open_runs
    rows = connection.execute(
        "SELECT seq, at, action, before, run, reason, facets FROM history "
        "WHERE item = ? AND seq > ? ORDER BY seq LIMIT ?",
        (item, after, limit),
    ).fetchall()
    found: list[tuple[Any, ...]] = []
    for *row, run, reason, text in rows:
        facets = None if text is None else from_json(text)
        if facets is not None:
            facets.pop(WITHDRAWN, None)
        if viewer is not None and facets is not None:
            facets.pop("superseded_by", None)
            facets.pop(CLAIMS, None)
        if viewer is not None and run is not None:
            if run not in open_runs:
                open_runs[run] = open_run(connection, run, viewer)
            reason = reason if open_runs[run] else None
        found.append((*row, run, reason, facets))
    return found


def _maybe(text: str | None) -> dict[str, Any] | None:
    return None if text is None else from_json(text)


def shown_facets(facets: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the columns as the file keeps them, as `HistoryEntry` shows them."""
    found: dict[str, Any] = {
        name: kept for name, kept in (facets or {}).items() if name not in _UNSHOWN
    }
    for name in found.keys() & _TIMES:
        found[name] = maybe_datetime(found[name])
    for name in found.keys() & _FLAGS:
        found[name] = bool(found[name])
    return found


def newest(connection: Connection) -> int:
    """`HistoryEntry.seq` of the newest change of the file; 0 before the first."""
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM history").fetchone()[0])


def is_gone(connection: Connection, namespace: Namespace, key: str) -> bool:
    """Return whether an item of this name was there once and was deleted, for whatever reason."""
    row = connection.execute(
        "SELECT 1 FROM namespace n JOIN history h ON h.namespace = n.id "
        "WHERE n.path = ? AND h.key = ? LIMIT 1",
        (to_path(namespace), key),
    ).fetchone()
    return row is not None or bool(forgotten_lives(connection, namespace, key))


def latest(connection: Connection, namespace: Namespace, key: str) -> tuple[int, str, str | None]:
    """(seq, action, run) of the newest change of an item, also of one that is gone; seq 0: none."""
    forgotten = json.dumps(forgotten_lives(connection, namespace, key))
    row = connection.execute(
        "WITH place (id) AS (SELECT id FROM namespace WHERE path = ?1) "
        "SELECT seq, action, run FROM history WHERE item IN (SELECT i.id FROM place p "
        "JOIN item i ON i.namespace = p.id AND i.key = ?2 "
        "UNION ALL SELECT CAST(value AS INTEGER) FROM json_each(?3)) "
        "OR (namespace = (SELECT id FROM place) AND key = ?2) ORDER BY seq DESC LIMIT 1",
        (to_path(namespace), key, forgotten),
    ).fetchone()
    return row or (0, "add", None)


def newest_reason(connection: Connection, namespace: int, key: str) -> str | None:
    """Return the reason of the newest change of an item that is there."""
    row = connection.execute(
        "SELECT h.reason FROM item i JOIN history h ON h.item = i.id "
        "WHERE i.namespace = ? AND i.key = ? ORDER BY h.seq DESC LIMIT 1",
        (namespace, key),
    ).fetchone()
    reason: str | None = row[0] if row else None
    return reason


def maybe_changed(
    connection: Connection, namespace: Namespace, keys: Sequence[str], since_seq: int
) -> Sequence[str]:
    """Return those of the keys that something of the file that changed after a place may be called; all of
    them where more changed than is worth reading."""
    if newest(connection) - since_seq > ROWS_A_KEY * len(keys):
        return keys
    rows = connection.execute(
        "SELECT DISTINCT coalesce(h.key, i.key) FROM history h LEFT JOIN item i ON i.id = h.item "
        "WHERE h.seq > ?",
        (since_seq,),
    )
    names = {row[0] for row in rows}
    path = to_path(namespace)
    gone = any(name is not None and name.startswith(SEAL) for name in names)
    return [key for key in keys if key in names or (gone and seal_key(path, key) in names)]


def name_of(connection: Connection, item: int) -> tuple[str, bool]:
    """(key, whether it is gone) of an item that is or was."""
    row = connection.execute(
        "SELECT key, 0 FROM item WHERE id = ?1 UNION ALL "
        "SELECT key, 1 FROM history WHERE item = ?1 AND key IS NOT NULL LIMIT 1",
        (item,),
    ).fetchone()
    return row[0], bool(row[1])
