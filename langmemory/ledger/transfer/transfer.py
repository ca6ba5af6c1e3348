"""Everything a file knows as plain rows, and back: export, import, nothing lost.

Rows are JSON objects: one ``meta``, then an ``item`` for each memory with its facets, times and
TTL, then its ``history``, and at the end what stands beside them (`records`). Vectors and indexes
are derived, so an import may use another model.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, get_args

import numpy as np
from langgraph.store.base import GetOp, validate_op_namespace

from langmemory.errors import ImportFormatError, LangMemoryError
from langmemory.ledger import verbatim
from langmemory.ledger.connection import Connection
from langmemory.ledger.history import (
    GONE,
    WITHDRAWN,
    Recorded,
    came_back,
    changes,
    forgotten_lives,
    newest,
    record,
    recorded_lives,
)
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.items import NAMED, NO_VECTORS, Write, find, put
from langmemory.ledger.namespaces import below, from_path, intern, intern_thread, to_path
from langmemory.ledger.runs import forgettings, is_blank
from langmemory.ledger.scopes import open_past, visible_to
from langmemory.ledger.settings import read_model
from langmemory.ledger.sparse import of_items
from langmemory.ledger.tables.facets import COUNTED, FACETS, TIMES
from langmemory.ledger.tables.schema import ITEM
from langmemory.ledger.transfer import records
from langmemory.ledger.values import from_us, to_us
from langmemory.ports.candidates import Floats
from langmemory.ports.sparse import PAIR
from langmemory.trust import trust_of
from langmemory.types import HistoryAction, Namespace
from langmemory.values import from_json, to_json

Place = tuple[Namespace, str]

FORMAT: Final = "langmemory-export"
VERSION: Final = 6
"""1 had items and history only, 2 no usage, 3 nothing of what runs removed, 4 no citations, 5 no vault.
A reader refuses a newer version before anything is stored, so a new type of row is a new version."""
BATCH: Final = 500
"""Items, or rows beside them, written in one transaction by an import."""
BATCH_CHARACTERS: Final = 4_000_000
"""Fewer items, if their values are this long together: embedding takes some forty bytes a character."""

_EXPORTED: Final = tuple(name for name in (*FACETS, *COUNTED) if name not in (*TIMES, "thread"))
"""Columns that are exported as they are; `TIMES` are in ISO 8601."""
_MAYBE_TIMES: Final = tuple(name for name in TIMES if ITEM.column(name).null)


@dataclass(kw_only=True, slots=True)
class Exporting:
    """How far an export has come, so that it goes on from there in another view of the file."""

    begun: bool = False
    last_item: int = 0
    """Newest item when it began: what is added later is left out."""
    last_seq: int = 0
    """Newest change when it began: what is removed later counts as there."""
    after: int = 0
    """Items up to this id are done."""
    gone_after: int = 0
    """Items that are gone, up to this id, are done."""
    lives: int = 0
    """So many of them were told of."""
    indexed: bool = False
    """Whether items come with what a model made of them, see `Indexed`."""


class Indexed(NamedTuple):
    """What models made of an item, in its row under ``indexed``: for a copy, as JSON cannot hold it."""

    vectors: tuple[Floats, Sequence[bytes | None]]
    """float32[n, dims], and the cache key, or None, of each."""
    sparse: bytes | None
    """As `sparse.of_items` returns it."""
    tokens: bytes | None
    """uint16 token ids of the text."""


PIECE: Final = 200
"""Items read in one transaction by an export; fewer once they are `PIECE_CHARACTERS` long."""
PIECE_CHARACTERS: Final = 1_000_000

Reading = Callable[[], AbstractContextManager[Connection]]


def export_rows(
    reading: Reading,
    prefix: Namespace = (),
    viewer: str | None = None,
    *,
    history: bool = True,
    state: Exporting | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a namespace and everything below it; ``()`` is the whole file. What the viewer
    may not know of is left out, and without ``history`` everything that tells of the past.

    ``reading`` is entered for one piece after the other and left before its rows are yielded, so that
    a slow reader does not keep the WAL from being written back.
    """
    state = Exporting() if state is None else state
    if not state.begun:
        with reading() as connection:
            model = read_model(connection)
            row = connection.execute("SELECT coalesce(max(id), 0) FROM item").fetchone()
            state.last_item, state.last_seq = row[0], newest(connection)
        state.begun = True
        yield {
            "type": "meta", "format": FORMAT, "version": VERSION,
            "exported_at": datetime.now(UTC).isoformat(), "model": model.model, "dims": model.dims,
        }  # fmt: skip
    for piece in (_items, _history_of_deleted) if history else (_items,):
        while True:
            with reading() as connection:
                rows, more = piece(connection, prefix, viewer, history, state)
            yield from rows
            if not more:
                break
    with reading() as connection:
        beside = list(records.export_rows(connection, prefix, viewer, history=history))
    yield from beside


def _items(
    connection: Connection, prefix: Namespace, viewer: str | None, history: bool, state: Exporting
) -> tuple[list[dict[str, Any]], bool]:
    """Return the next items with their history, and whether there may be more."""
    namespaces, bindings = below(prefix)
    columns = ", ".join(f"i.{name}" for name in (*_EXPORTED, *TIMES))
    visible = visible_to(viewer)
    open_runs: dict[str, bool] = {}
    found: list[dict[str, Any]] = []
    by_id: dict[int, dict[str, Any]] = {}
    count = characters = 0
    after = state.after
    for row in connection.execute(
        f"SELECT i.id, n.path, i.key, i.value, i.index_fields, i.ttl_minutes, t.name, {columns} "
        "FROM item i JOIN namespace n ON n.id = i.namespace LEFT JOIN thread t ON t.id = i.thread "
        f"WHERE i.namespace IN {namespaces} AND {visible.sql} AND i.id > ? AND i.id <= ? "
        "ORDER BY i.id",
        (*bindings, *visible.bindings, state.after, state.last_item),
    ):
        item, path, key, value, index_fields, ttl_minutes, thread, *rest = row
        facets = dict(zip(_EXPORTED, rest, strict=False))
        heir = facets["superseded_by"]
        if viewer is not None and heir is not None:
            seen = find(connection, from_path(path), heir, viewer=viewer)
            facets["superseded_by"] = heir if seen is not None else None
        if viewer is not None and facets["position"] is not None:
            # Gaps would tell how many turns of others are private.
            facets["position"] = connection.execute(
                "SELECT count(*) FROM item t JOIN item i ON i.thread = t.thread "
                f"AND i.position < t.position WHERE t.id = ? AND {visible.sql}",
                (item, *visible.bindings),
            ).fetchone()[0]
        times = dict(zip(TIMES, rest[len(_EXPORTED) :], strict=True))
        one = {
            "type": "item",
            "namespace": list(from_path(path)),
            "key": key,
            "value": from_json(value),
            "index": None if index_fields is None else json.loads(index_fields),
            "ttl_minutes": ttl_minutes,
            "thread_id": thread,
            **{name: found for name, found in facets.items() if found is not None},
            **{name: from_us(us).isoformat() for name, us in times.items() if us is not None},
        }
        past = history and open_past(connection, item, viewer)
        told = _history(connection, viewer, open_runs, item, from_path(path), key) if past else ()
        found.extend((one, *told))
        by_id[item] = one
        after = item
        count, characters = count + 1, characters + len(value)
        if count == PIECE or characters >= PIECE_CHARACTERS:
            break
    else:
        count = 0
    if state.indexed:
        _add_indexed(connection, by_id)
    state.after = after
    return found, count > 0


def _add_indexed(connection: Connection, rows: Mapping[int, dict[str, Any]]) -> None:
    """Put into the rows of items, by id, what models made of them."""
    ids = list(rows)
    vectors = connection.read_vectors(ids) if connection.holds_vectors() else {}
    sparse = of_items(connection, ids)
    tokens = dict(
        connection.execute(
            "SELECT id, tokens FROM item WHERE id IN (SELECT value FROM carray(?))",
            (connection.array(ids),),
        ).fetchall()
    )
    for item, row in rows.items():
        row["indexed"] = Indexed(
            vectors.get(item, (NO_VECTORS, ())), sparse.get(item), tokens.get(item)
        )


def _history_of_deleted(
    connection: Connection, prefix: Namespace, viewer: str | None, history: bool, state: Exporting
) -> tuple[list[dict[str, Any]], bool]:
    """Return the history of the next items that are gone, and whether there may be more."""
    namespaces, bindings = below(prefix)
    found: list[dict[str, Any]] = []
    rows = connection.execute(
        "SELECT h.item, n.path, h.key FROM history h INDEXED BY history_gone "
        f"JOIN namespace n ON n.id = h.namespace WHERE h.namespace IN {namespaces} "
        "AND h.key IS NOT NULL AND h.item > ? GROUP BY h.item, n.path, h.key "
        "HAVING min(h.seq) <= ? ORDER BY h.item LIMIT ?",
        (*bindings, state.gone_after, state.last_seq, PIECE),
    ).fetchall()
    open_runs: dict[str, bool] = {}
    for item, path, key in rows:
        if open_past(connection, item, viewer):
            place = (from_path(path), key)
            state.lives += (
                1  # and not the row id: gaps would tell how many items of others are private
            )
            found.extend(_history(connection, viewer, open_runs, item, *place, gone=state.lives))
    state.gone_after = rows[-1][0] if rows else state.gone_after
    return found, len(rows) == PIECE


def _history(
    connection: Connection,
    viewer: str | None,
    open_runs: dict[str, bool],
    item: int,
    namespace: Namespace,
    key: str,
    gone: int | None = None,
) -> Iterator[dict[str, Any]]:
    for _, at, action, before, run, reason, facets in changes(connection, item, viewer, open_runs):
        yield {
            "type": "history",
            "namespace": list(namespace),
            "key": key,
            "at": from_us(at).isoformat(),
            "action": action,
            "before": None if before is None else from_json(before),
            "run": run,
            "reason": reason,
            **({} if facets is None else {"facets": facets}),
            **({} if gone is None else {"life": gone}),
        }


def row_types() -> frozenset[str]:
    """Return the types of the rows of an export."""
    return records.row_types() | {"meta", "item", "history"}


def in_batches(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the rows `BATCH` at a time, or of about `BATCH_CHARACTERS`, an item never apart from its
    history."""
    batch: list[Mapping[str, Any]] = []
    count = characters = 0
    known = row_types()
    for row in rows:
        if not isinstance(row, Mapping) or str(row.get("type")) not in known:
            raise ImportFormatError(
                f"{row!r:.80} is not a row of `langmemory export`: a JSON object whose type is one "
                f"of {', '.join(sorted(known))}."
            )
        if row["type"] not in ("meta", "history"):
            if count == BATCH or characters >= BATCH_CHARACTERS:
                yield batch
                batch, count, characters = [], 0, 0
            count += 1
            characters += len(str(row.get("value", "")))
        batch.append(row)
    if batch:
        yield batch


def drafts(indexing: Indexing, rows: Sequence[Mapping[str, Any]]) -> list[Write]:
    """Return the items among the rows, ready to embed.

    Raises:
        ImportFormatError: A row is not what `export_rows` writes, or from a newer version.
    """
    made: list[Write] = []
    for row in rows:
        if row["type"] == "meta":
            if row.get("format") != FORMAT or row.get("version") not in range(1, VERSION + 1):
                raise ImportFormatError(
                    f"The rows are {row.get('format')!r} version {row.get('version')!r}; this "
                    f"langmemory reads {FORMAT!r} up to version {VERSION}. Upgrade it."
                )
        elif row["type"] == "item":
            made.append(_draft(indexing, row))
    return made


def _draft(indexing: Indexing, row: Mapping[str, Any]) -> Write:
    try:
        _check_place(row)
        facets: dict[str, Any] = {name: row[name] for name in _EXPORTED if name in row}
        facets |= {name: row.get(name) for name in ("speaker", "owner", "superseded_by")}
        times = {name: to_us(datetime.fromisoformat(row[name])) for name in TIMES if name in row}
        columns = {
            "index_fields": None if row.get("index") is None else json.dumps(row["index"]),
            "thread_id": row.get("thread_id"), "speaker": row.get("speaker"),
            "valid_at": times.get("valid_at"),
        }  # fmt: skip
        write = indexing.redraft(tuple(row["namespace"]), row["key"], row["value"], columns)
        facets.setdefault("trust", trust_of(row["value"]))  # which is an object now
        write.created_us, write.updated_us = times["created_at"], times["updated_at"]
    except (KeyError, TypeError, ValueError) as error:
        raise ImportFormatError(
            f"The row of item {row.get('key')!r} is not from `langmemory export`: {error!r}."
        ) from error
    for name in _MAYBE_TIMES:
        facets[name] = times.get(name)
    facets["thread_name"] = row.get("thread_id")
    write.ttl_minutes, write.facets = row.get("ttl_minutes"), facets
    if isinstance(indexed := row.get("indexed"), Indexed):
        (write.embedded, write.hashes), sparse, write.tokens = indexed
        write.sparse = None if sparse is None else np.frombuffer(sparse, PAIR)
    return write


def _check_place(row: Mapping[str, Any]) -> None:
    namespace, key = row["namespace"], row["key"]
    if not isinstance(namespace, list) or not namespace or not isinstance(key, str):
        raise ValueError("namespace must be a list of labels, and key a string")
    validate_op_namespace(GetOp(tuple(namespace), key))


def write_rows(
    connection: Connection,
    rows: Sequence[Mapping[str, Any]],
    writes: Sequence[Write],
    now_us: int,
    since: set[str],
) -> int:
    """Write a batch of rows; how many items are new or changed. Items already equal are left alone.

    A new item comes with its own history. So does one that was here, as far as its own goes on in
    the export; else it keeps its own, and an update more. ``since`` is one set for all batches of an
    import, at first all forgettings of this file: see `records.import_row`.

    Raises:
        ImportFormatError: A row says something that no export says; nothing of its batch was stored.
    """
    wrong: tuple[type[Exception], ...] = (
        *connection.constraint_errors,
        OverflowError,
        TypeError,
        ValueError,
    )
    try:
        written = _write_rows(connection, rows, writes, now_us, since)
        connection.flush()
        return written
    except wrong as error:
        if isinstance(error, LangMemoryError):
            raise
        raise ImportFormatError(
            f"A row has a value that no export has ({error!r}). Nothing of its batch was stored."
        ) from error


def _write_rows(
    connection: Connection,
    rows: Sequence[Mapping[str, Any]],
    writes: Sequence[Write],
    now_us: int,
    since: set[str],
) -> int:
    latest = {(write.namespace, write.key): write for write in writes}
    changes = [_change(row) for row in rows if row["type"] == "history"]
    told: defaultdict[Place, list[tuple[int, str]]] = defaultdict(list)
    for one in changes:
        if one.life is None:
            told[one.place].append((one.at_us, one.action))
    lives_here: dict[Place, list[list[Recorded]]] = {}
    if forgettings(connection):
        lives_here = {place: recorded_lives(connection, *place) for place in {**latest, **told}}
    taken: set[tuple[int, int]] = set()
    todo = [
        _with_thread(connection, one, taken)
        for one in latest.values()
        if not _is_same_item(connection, one)
        and not _forgotten(connection, one)
        and not _is_forgotten_here(
            one, told[one.namespace, one.key], lives_here.get((one.namespace, one.key), ())
        )
    ]
    # (seq, time, action) of every change of each item that is here, oldest first.
    recorded: dict[Place, list[tuple[int, int, str]]] = {
        (one.namespace, one.key): connection.execute(
            "SELECT seq, at, action FROM history WHERE item = ? ORDER BY seq",
            (find(connection, one.namespace, one.key),),
        ).fetchall()
        for one in todo
    }
    # How many of its changes in the export are recorded here, for each item whose history begins in
    # the export as it does here: in the copy of a file, none for what is new.
    known = {
        place: len(own)
        for place, own in recorded.items()
        if told.get(place) and told[place][: len(own)] == [(at, action) for _, at, action in own]
    }
    ids = put(connection, todo, now_us, reason="import").ids
    items = {(one.namespace, one.key): item for one, item in zip(todo, ids, strict=True)}
    for place in known:  # the record of the import itself gives way
        last = max((seq for seq, *_ in recorded[place]), default=0)
        connection.execute("DELETE FROM history WHERE item = ? AND seq > ?", (items[place], last))
    _write_history(connection, changes, items, known, lives_here, since)
    beside = records.row_types()
    for row in rows:
        if row["type"] in beside:
            records.import_row(connection, row, since)
    verbatim.refresh_around(connection, list(items.values()))
    return len(items)


class _Change(NamedTuple):
    """A change that an export tells of."""

    place: Place
    life: int | None
    """Which of the items that were in its place and are gone; None: the one that was there."""
    at_us: int
    action: HistoryAction
    before: str | None
    """JSON."""
    row: Mapping[str, Any]


def _write_history(
    connection: Connection,
    changes: Iterable[_Change],
    items: Mapping[Place, int],
    known: dict[Place, int],
    lives_here: Mapping[Place, Sequence[Sequence[Recorded]]],
    since: set[str],
) -> None:
    """Record the changes of items that come with their own history, but for as many as are ``known``,
    and of those that are gone."""
    lives: dict[tuple[Place, int], int] = {}
    over: set[int] = set()
    for one in changes:
        place, life, at, action, before, row = one
        if life is None:
            if place not in known:
                continue
            if known[place]:
                known[place] -= 1
                continue
            item = items[place]
        elif _life_known(connection, one):
            continue
        else:
            if (place, life) not in lives:
                lives[place, life] = connection.skip_item()
            item = lives[place, life]
        gone = life is not None and action in GONE
        if gone:
            over.add(item)
        elif life is not None and action == "restore":
            over.discard(item)
            came_back(connection, item)
        facets = row.get("facets")
        if any((at, action, True) in life for life in lives_here.get(place, ())):
            before = facets = None  # forgotten here
        if facets is not None:
            facets = {name: was for name, was in facets.items() if name != WITHDRAWN}
        record(
            connection, at, action, item, before=before,
            facets=_named_still(connection, place[0], facets),
            gone_from=(intern(connection, place[0]), place[1]) if gone else None,
            run=row.get("run"),
            reason=None if since and is_blank(connection, row.get("run")) else row.get("reason"),
        )  # fmt: skip
    for item in lives.values():
        if item not in over:  # the export is cut off within its history
            connection.execute("DELETE FROM history WHERE item = ?", (item,))


def _is_forgotten_here(
    write: Write, told: Sequence[tuple[int, str]], lives_here: Iterable[Sequence[Recorded]]
) -> bool:
    """Return whether what the item says in the export is what an item here once said and what was
    forgotten of it since, with somebody whose it was."""
    for life in lives_here:
        if told:
            begins = [one[:2] for one in life[: len(told)]] == list(told)
            since = life[len(told) :] if begins else ()
        else:  # the export tells no history
            begins = (life[0].at_us, life[0].action) == (write.created_us, "add")
            at = write.updated_us or 0
            since = [one for one in life if one.at_us > at] if begins else ()
        if since and since[0].blank:
            return True
    return False


def _change(row: Mapping[str, Any]) -> _Change:
    """Return a history row, checked."""
    try:
        _check_place(row)
        if row["action"] not in get_args(HistoryAction):
            raise ValueError(f"unknown action {row['action']!r}")
        if not isinstance(row.get("life"), int | None):
            raise ValueError(f"life is {row['life']!r}")
        if not isinstance(row.get("facets"), dict | None):
            raise ValueError(f"facets are {row['facets']!r}")
        before = row["before"]
        return _Change(
            (tuple(row["namespace"]), row["key"]),
            row.get("life"),
            to_us(datetime.fromisoformat(row["at"])),
            row["action"],
            None if before is None else to_json(before),
            row,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ImportFormatError(
            f"A history row of {row.get('key')!r} is not from `langmemory export`: {error!r}."
        ) from error


def _is_same_item(connection: Connection, write: Write) -> bool:
    row = connection.execute(
        f"SELECT i.value, i.updated_at FROM item i WHERE {NAMED}",
        (to_path(write.namespace), write.key),
    ).fetchone()
    return (
        row is not None
        and row[1] == write.updated_us
        and from_json(row[0]) == from_json(write.value)
    )


def _forgotten(connection: Connection, write: Write) -> bool:
    """Return whether an item was forgotten here: an export from before does not bring it back, also not
    in place of what was put there since."""
    lives = forgotten_lives(connection, write.namespace, write.key)
    if not lives or find(connection, write.namespace, write.key) is None:
        return bool(lives)
    begun = connection.execute(
        "SELECT 1 FROM history WHERE item IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) "
        "AND action = 'add' AND at = ?",
        (json.dumps(lives), write.created_us),
    )
    return begun.fetchone() is not None


def _named_still(
    connection: Connection, namespace: Namespace, facets: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return the facets that do not name what was forgotten here as what took the item's place."""
    heir = None if facets is None else facets.get("superseded_by")
    if facets is None or heir is None or find(connection, namespace, heir) is not None:
        return facets
    forgotten = forgotten_lives(connection, namespace, heir)
    return {**facets, "superseded_by": None} if forgotten else facets


def _with_thread(connection: Connection, write: Write, taken: set[tuple[int, int]]) -> Write:
    """With the id of its thread, and its place there unless another turn has it: then it keeps the
    one it has here, or comes last. ``taken`` are the places given by this batch so far."""
    facets = dict(_named_still(connection, write.namespace, write.facets) or {})
    name = facets.pop("thread_name")
    if name is None:
        return replace(write, facets=facets)
    namespace = intern(connection, write.namespace)
    thread = intern_thread(connection, namespace, name)
    position = facets.get("position")
    holder, own, last = connection.execute(
        "SELECT (SELECT key FROM item WHERE thread = ?1 AND position = ?2), "
        "(SELECT position FROM item WHERE namespace = ?4 AND key = ?3 AND thread = ?1), "
        "(SELECT max(position) FROM item WHERE thread = ?1)",
        (thread, position, write.key, namespace),
    ).fetchone()
    if position is None or holder not in (None, write.key) or (thread, position) in taken:
        position = own
    if position is None or (thread, position) in taken:
        places = [place for found, place in taken if found == thread]
        position = max([-1 if last is None else last, *places]) + 1
    taken.add((thread, position))
    return replace(write, facets={**facets, "thread": thread, "position": position})


def _life_known(connection: Connection, change: _Change) -> bool:
    """Return whether this change of an item that is gone is known: it was imported before, or it is one
    of an item that was forgotten since, or the removal of one that was brought back here."""
    namespace, key = change.place
    forgotten = forgotten_lives(connection, namespace, key)
    known = connection.execute(
        "SELECT 1 FROM history h WHERE h.at = ?3 AND h.action = ?4 AND (h.item IN "
        "(SELECT g.item FROM namespace n JOIN history g ON g.namespace = n.id "
        "WHERE n.path = ?1 AND g.key = ?2) "
        "OR h.item IN (SELECT CAST(value AS INTEGER) FROM json_each(?5)) "
        "OR h.action = 'delete' AND h.item IN "
        "(SELECT i.id FROM namespace n JOIN item i ON i.namespace = n.id "
        "WHERE n.path = ?1 AND i.key = ?2))",
        (to_path(namespace), key, change.at_us, change.action, json.dumps(forgotten)),
    )
    return known.fetchone() is not None
