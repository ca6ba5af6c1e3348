"""Memories copied between the memory file and its archive file, with all that stands beside them.

Both files have the same tables, and an item, its history and its edges have the same ids in both. What
is derived from the text of an item is indexed anew. Entities, runs and turns stay in the memory file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from langmemory.errors import DatabaseError
from langmemory.ledger import removal
from langmemory.ledger.connection import Connection, insert
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.items import Batch, Write
from langmemory.ledger.namespaces import below, from_path, to_path
from langmemory.ledger.settings import read_model, write_model
from langmemory.ledger.sparse import note_missed, of_items, read_sparse, write_sparse
from langmemory.ledger.tables import schema
from langmemory.ports.sparse import PAIR
from langmemory.types import Namespace
from langmemory.values import from_json


@schema.cached_derivation
def tables_of_item() -> list[tuple[str, str]]:
    """Return the tables whose rows go with an item that is no turn, and the column that holds its id."""
    return [(table.name, table.item) for table in schema.beside_items() if table.beside == "item"]


MOVABLE: Final = (
    "i.status = 'archived' AND i.kind NOT IN ('core', 'working', 'episodic') AND i.thread IS NULL "
    "AND i.expires_at IS NULL AND NOT EXISTS (SELECT 1 FROM evidence v WHERE v.source = i.id)"
)
"""Items, of the table ``i``, that may move: archived, no turn, without a TTL, and nothing in the memory
file was derived from them, be it something that an undo would bring back."""

Row = dict[str, Any]


def archived_ids(connection: Connection) -> set[int]:
    """Return the ids of all items that are in the archive file; a few milliseconds for 10,000."""
    return {int(row[0]) for row in connection.execute("SELECT item FROM archived_item")}


def moved_among(connection: Connection, ids: Iterable[int]) -> list[int]:
    """Return those of the items that are in the archive file."""
    rows = connection.execute(
        "SELECT item FROM archived_item WHERE item IN (SELECT value FROM carray(?)) ORDER BY item",
        (connection.array(ids),),
    )
    return [int(row[0]) for row in rows]


ANY_MOVED: Final = "SELECT EXISTS (SELECT 1 FROM archived_item)"


def any_moved(connection: Connection) -> bool:
    """Return whether anything is in the archive file."""
    return bool(connection.execute(ANY_MOVED).fetchone()[0])


def moved_under(connection: Connection, prefix: Namespace) -> list[int]:
    """Return the ids of the items of a namespace and what is below it that are in the archive file."""
    where, bindings = below(prefix)
    rows = connection.execute(
        f"SELECT item FROM archived_item WHERE namespace IN {where} ORDER BY item", bindings
    )
    return [int(row[0]) for row in rows]


def moved_named(connection: Connection, places: Iterable[tuple[Namespace, str]]) -> list[int]:
    """Return the ids of the items under these names that are in the archive file."""
    if not any_moved(connection):
        return []
    keys: dict[Namespace, set[str]] = {}
    for namespace, key in places:
        keys.setdefault(namespace, set()).add(key)
    return [
        int(row[0])
        for namespace, some in keys.items()
        for row in connection.execute(
            "SELECT a.item FROM namespace n JOIN archived_item a ON a.namespace = n.id "
            "WHERE n.path = ? AND a.key IN (SELECT value FROM json_each(?)) ORDER BY a.item",
            (to_path(namespace), json.dumps(sorted(some), ensure_ascii=False)),
        )
    ]


def touched_by(main: Connection, archive: Connection, run: str) -> list[int]:
    """Return the ids of the moved items that the undo of a run needs: the run moved or changed them, or they
    rest on an item or an entity that it made or changed."""

    def ids(connection: Connection, query: str, bindings: tuple[Any, ...]) -> set[int]:
        return {int(row[0]) for row in connection.execute(query, bindings)}

    changed = ids(main, "SELECT item FROM history WHERE run = ?", (run,))
    known = ids(main, "SELECT id FROM entity WHERE run = ?1 OR link_run = ?1", (run,))
    found = ids(
        archive,
        "SELECT item FROM history WHERE run = ?1 UNION SELECT item FROM evidence WHERE run = ?1 "
        "OR source IN (SELECT value FROM carray(?2)) UNION SELECT item FROM mention WHERE run = ?1 "
        "OR entity IN (SELECT value FROM carray(?3)) UNION SELECT fact FROM edge WHERE run = ?1 "
        "OR subject IN (SELECT value FROM carray(?3)) OR object IN (SELECT value FROM carray(?3))",
        (run, archive.array(changed), archive.array(known)),
    )
    found |= ids(main, "SELECT item FROM archived_item WHERE run = ?", (run,))
    return moved_among(main, found)


def sharing_runs(
    main: Connection, archive: Connection, namespace: Namespace, key: str
) -> list[int]:
    """Return the ids of the moved items that were changed by a run that changed the item of this name: who
    may read why it did that depends on all of them."""
    path = to_path(namespace)
    rows = main.execute(
        "SELECT h.run FROM namespace n JOIN item i ON i.namespace = n.id JOIN history h "
        "ON h.item = i.id WHERE n.path = ?1 AND i.key = ?2 AND h.run IS NOT NULL UNION "
        "SELECT h.run FROM namespace n JOIN history g ON g.namespace = n.id JOIN history h "
        "ON h.item = g.item WHERE n.path = ?1 AND g.key = ?2 AND h.run IS NOT NULL",
        (path, key),
    ).fetchall()
    runs = {str(row[0]) for row in rows}
    own = moved_named(main, [(namespace, key)])
    runs |= {
        str(row[0])
        for row in archive.execute(
            "SELECT run FROM history WHERE run IS NOT NULL AND item IN (SELECT value FROM carray(?))",
            (archive.array(own),),
        )
    }
    rows = archive.execute(
        "SELECT DISTINCT item FROM history WHERE run IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(runs), ensure_ascii=False),),
    ).fetchall()
    return moved_among(main, {*own, *(int(row[0]) for row in rows)})


def copy(
    source: Connection, target: Connection, ids: Sequence[int], indexing: Indexing
) -> list[int]:
    """Copy items into another file, in a transaction of it, in place of what it has of them; return the ids
    of those that the source has.

    Vectors, also sparse ones, go along where both files have them of the same model, or the target none yet.
    """
    rows = _rows(
        source,
        "SELECT n.path, i.* FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
        "JOIN namespace n ON n.id = i.namespace ORDER BY i.id",
        ids,
    )
    model, there = read_model(source), read_model(target)
    if there.model is None and model.model is not None:
        there = replace(there, model=model.model, dims=model.dims)
        write_model(target, there)
    same = (model.model, model.dims) == (there.model, there.dims)
    encoder = read_sparse(source)
    if encoder.encoder is not None and read_sparse(target).encoder is None:
        write_sparse(target, encoder)
    elif encoder.missed:
        note_missed(target)
    drop(target, [row["id"] for row in rows])
    sparse: Mapping[int, bytes] = {}
    if encoder.encoder is not None and encoder.encoder == read_sparse(target).encoder:
        sparse = of_items(source, [row["id"] for row in rows])
    vectors = source.read_vectors([row["id"] for row in rows]) if same else {}
    batch = Batch(target, 0, None, None)
    for row in rows:
        namespace = from_path(row.pop("path"))
        write = _redraft(indexing, namespace, row)
        if row["id"] in vectors:
            write.embedded, write.hashes = vectors[row["id"]]
        if row["id"] in sparse:
            write.sparse = np.frombuffer(sparse[row["id"]], PAIR)
        row["namespace"], _ = batch.namespace(namespace)
        insert(target, f"item ({', '.join(row)})", [tuple(row.values())])
        batch.replace(write, row["id"], row["namespace"])
    batch.flush()
    for table, column in tables_of_item():
        query = f"SELECT * FROM {table} WHERE {column} IN (SELECT value FROM carray(?))"
        found = _rows(source, query, [row["id"] for row in rows])
        if found:
            insert(
                target, f"{table} ({', '.join(found[0])})", [tuple(one.values()) for one in found]
            )
    return [row["id"] for row in rows]


def _redraft(indexing: Indexing, namespace: Namespace, row: Row) -> Write:
    """Return what is derived from the text of an item that is no turn, but for its vectors."""
    columns = {name: row[name] for name in ("index_fields", "speaker", "valid_at")}
    value = from_json(row["value"])
    return indexing.redraft(namespace, row["key"], value, {**columns, "thread_id": None})


def _rows(connection: Connection, query: str, ids: Sequence[int]) -> list[Row]:
    cursor = connection.execute(query, (connection.array(ids),))
    names: list[str] = []
    found: list[Row] = []
    for row in cursor:
        names = names or [column[0] for column in cursor.description]
        found.append(dict(zip(names, row, strict=True)))
    return found


def drop(connection: Connection, ids: Sequence[int]) -> None:
    """Take items out of a file, with all that stands beside them, without any record of it."""
    rows = connection.execute(
        "SELECT i.id, i.namespace FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
        (connection.array(ids),),
    ).fetchall()
    for item, namespace in rows:
        removal.take_out(connection, item, namespace)
    for table, column in tables_of_item():
        connection.execute(
            f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM carray(?))",
            (connection.array(ids),),
        )


def move_out(main: Connection, ids: Sequence[int], run: str, now_us: int) -> None:
    """Take items out of the memory file that the archive file has by now, and note where they are."""
    main.execute(
        "INSERT INTO archived_item (item, namespace, key, run, at) "
        "SELECT i.id, i.namespace, i.key, ?, ? FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
        (run, now_us, main.array(ids)),
    )
    drop(main, ids)


def bring_back(
    main: Connection, archive: Connection, ids: Iterable[int], indexing: Indexing
) -> list[int]:
    """Copy moved items back into the memory file, within a transaction of it, with those that they were
    derived from; return their ids. The archive file keeps its copies until it is swept.

    Raises:
        DatabaseError: The archive file does not have one of them.
    """
    going = set(ids)
    reached = going
    while reached:
        rows = archive.execute(
            "SELECT source FROM evidence WHERE item IN (SELECT value FROM carray(?))",
            (archive.array(reached),),
        )
        reached = set(moved_among(main, {int(row[0]) for row in rows} - going))
        going |= reached
    found = copy(archive, main, sorted(going), indexing)
    if lost := len(going) - len(found):
        raise DatabaseError(
            f"{lost} of {len(going)} memories that moved to the archive file are not in it. Bring it back "
            "from a backup; `langmemory doctor` tells where it is expected."
        )
    _drop_dangling(main, found)
    main.execute(
        "DELETE FROM archived_item WHERE item IN (SELECT value FROM carray(?))",
        (main.array(found),),
    )
    # Short ids are filled up from the newest item that has one (`items.has_every_hash`).
    main.execute("DELETE FROM label WHERE item > ?", (min(found, default=0),))
    return found


def _drop_dangling(connection: Connection, ids: Sequence[int]) -> None:
    """Delete what items that came back were linked with and that is not there any more."""
    known = f"SELECT id FROM item UNION ALL SELECT h.item FROM history h WHERE {removal.RESTORABLE}"
    connection.execute(
        "DELETE FROM evidence WHERE item IN (SELECT value FROM carray(?1)) "
        f"AND source NOT IN ({known}); "
        "DELETE FROM mention WHERE item IN (SELECT value FROM carray(?1)) "
        "AND entity NOT IN (SELECT id FROM entity); "
        "DELETE FROM edge WHERE fact IN (SELECT value FROM carray(?1)) AND "
        "(subject NOT IN (SELECT id FROM entity) OR object NOT IN (SELECT id FROM entity))",
        (connection.array(ids),) * 3,
    )


def drop_unused_names(connection: Connection) -> None:
    """Delete the names of namespaces and value paths that no item of an archive file has any more."""
    connection.execute(
        "DELETE FROM path WHERE NOT EXISTS (SELECT 1 FROM leaf WHERE leaf.path = path.id)"
    )
    while True:
        connection.execute(
            "DELETE FROM namespace WHERE id NOT IN (SELECT namespace FROM item) "
            "AND id NOT IN (SELECT parent FROM namespace WHERE parent IS NOT NULL)"
        )
        if not connection.changes():
            return
