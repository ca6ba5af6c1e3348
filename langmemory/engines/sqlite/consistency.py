"""Whether a file agrees with itself: rows, leaves, keywords, vectors, sign bits, history, graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final

import apsw
import numpy as np

from langmemory.engines.sql.copies.binary import BinaryQuantizedIndex
from langmemory.engines.sql.copies.vectors import sign_bits
from langmemory.engines.sql.records.history import GONE
from langmemory.engines.sql.records.removal import RESTORABLE
from langmemory.engines.sql.tables.connection import SLOT_BITS
from langmemory.engines.sql.tables.settings import ARCHIVE_OF, read_model
from langmemory.engines.sql.tables.values import leaves
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.file.rescue import damaged_rows
from langmemory.engines.sqlite.index import keywords
from langmemory.values import from_json

DAMAGED: Final = "damaged:"
"""Begins a problem with one row."""
SHOWN: Final = 3
"""Ids named in a problem."""
_KNOWN: Final = f"SELECT id FROM item UNION ALL SELECT h.item FROM history h WHERE {RESTORABLE}"
"""Items, and those that an undo would bring back."""
RUN: Final = 4096
"""Vectors looked at together."""
UNBOUNDED: Final = 1 << 62
_NONE: Final[tuple[int, Iterator[Any]]] = (UNBOUNDED, iter(()))
"""Follows the leaves of the last item."""


def check(connection: Connection) -> list[str]:
    """Return the problems of the file, in words; empty when nothing is.

    Reads every row once: seconds for 100,000 items. Call it on a reader, inside its snapshot.
    """
    problems: list[str] = []
    for part in (
        _damaged,
        _pages,
        _rows,
        _moved,
        _keywords,
        _leaves,
        _vectors,
        _signs,
        _history,
        _graph,
    ):
        try:
            problems.extend(part(connection))
        except (apsw.Error, UnicodeDecodeError, ValueError) as error:
            problems.append(f"{part.__name__.strip('_')} cannot be read: {error}")
    return problems


def _damaged(connection: Connection) -> Iterator[str]:
    yield from (f"{DAMAGED} {one}" for one in damaged_rows(connection))


def _pages(connection: Connection) -> Iterator[str]:
    # FTS5 checks with the structure it remembers and would take another connection's writes for
    # damage; a search makes it look again.
    connection.execute("SELECT rowid FROM keyword('a') LIMIT 1").fetchall()
    for (line,) in connection.execute("PRAGMA integrity_check(10)"):
        if line != "ok":
            yield f"SQLite: {line}"


def _rows(connection: Connection) -> Iterator[str]:
    yield from _named(
        connection,
        "items in a namespace that does not exist",
        "SELECT id FROM item WHERE namespace NOT IN (SELECT id FROM namespace)",
    )
    yield from _named(
        connection,
        "turns whose thread does not exist or belongs to another namespace",
        "SELECT i.id FROM item i LEFT JOIN thread t ON t.id = i.thread "
        "WHERE i.thread IS NOT NULL AND t.namespace IS NOT i.namespace",
    )
    yield from _named(
        connection,
        "turns that share their place in a thread",
        "SELECT min(id) FROM item WHERE thread IS NOT NULL AND position IS NOT NULL "
        "GROUP BY thread, position HAVING count(*) > 1",
    )
    for table, known in (("usage", _KNOWN), ("citation", _KNOWN), ("label", "SELECT id FROM item")):
        yield from _named(
            connection,
            f"items are gone and left a row in {table}",
            f"SELECT item FROM {table} WHERE item NOT IN ({known})",
        )


def _keywords(connection: Connection) -> Iterator[str]:
    if keywords.lost(connection):
        yield "the keyword index was lost and is not written anew yet: open the file as a MemoryStore"
        return
    yield from _named(
        connection,
        "items are to be found by words and are not in the keyword index",
        "SELECT id FROM item WHERE index_fields IS NOT 'false' "
        "AND id NOT IN (SELECT id FROM keyword_docsize)",
    )
    yield from _named(
        connection,
        "rows of the keyword index belong to no item, or to one that is not to be indexed",
        "SELECT id FROM keyword_docsize "
        "WHERE id NOT IN (SELECT id FROM item WHERE index_fields IS NOT 'false')",
    )


def _moved(connection: Connection) -> Iterator[str]:
    yield from _named(
        connection,
        "items are here and noted to be in the archive file",
        "SELECT item FROM archived_item WHERE item IN (SELECT id FROM item)",
    )


def _leaves(connection: Connection) -> Iterator[str]:
    wrong = []
    names = dict(connection.execute("SELECT id, name FROM path").fetchall())
    rows = connection.execute(
        "SELECT item, path, value, namespace FROM leaf INDEXED BY leaf_item ORDER BY item"
    )
    stored = groupby(rows, key=itemgetter(0))
    there, leaves_there = next(stored, _NONE)
    for item, namespace, value in connection.execute(
        "SELECT id, namespace, value FROM item ORDER BY id"
    ):
        while there < item:
            there, leaves_there = next(stored, _NONE)
        found = (
            {(names.get(path), *leaf) for _, path, *leaf in leaves_there}
            if there == item
            else set()
        )
        if found != {(*leaf, namespace) for leaf in leaves(from_json(value))}:
            wrong.append(item)
    yield from _found("items whose filter leaves are not those of their value", wrong)
    yield from _named(
        connection,
        "items are gone and left filter leaves",
        "SELECT DISTINCT item FROM leaf WHERE item NOT IN (SELECT id FROM item)",
    )


def _vectors(connection: Connection) -> Iterator[str]:
    model = read_model(connection)
    yield from _named(
        connection,
        "items are gone and left vectors",
        f"SELECT DISTINCT id >> {SLOT_BITS} FROM vector "
        f"WHERE id >> {SLOT_BITS} NOT IN (SELECT id FROM item)",
    )
    yield from _named(
        connection,
        f"vectors are not of the model's {model.dims} dims",
        f"SELECT id FROM vector WHERE length(e) IS NOT {model.dims or 'NULL'} * 4",
    )


def _signs(connection: Connection) -> Iterator[str]:
    model = read_model(connection)
    if model.dims is None:
        yield from _named(
            connection, "sign bits stand in a file without a model", "SELECT vector FROM code"
        )
        return
    index = BinaryQuantizedIndex(model.words, UNBOUNDED)
    index.refresh(connection)
    (chunk,) = index.chunks(connection)
    there = chunk.namespaces[: chunk.n] >= 0
    signed = dict(zip(chunk.ids[: chunk.n][there].tolist(), np.flatnonzero(there), strict=True))
    unsigned: list[int] = []
    wrong: list[int] = []
    cursor = connection.execute(
        f"SELECT v.id, i.namespace, v.e FROM vector v JOIN item i ON i.id = v.id >> {SLOT_BITS} "
        "WHERE length(v.e) = ? ORDER BY v.id",
        (model.dims * 4,),
    )
    while rows := list(islice(cursor, RUN)):
        bits = sign_bits(
            np.frombuffer(b"".join(row[2] for row in rows), "<f4").reshape(-1, model.dims)
        )
        for (vector, namespace, _), own in zip(rows, bits, strict=True):
            place = signed.pop(vector, None)
            if place is None:
                unsigned.append(vector)
            elif chunk.namespaces[place] != namespace or (chunk.bits[:, place] != own).any():
                wrong.append(vector)
    yield from _found("vectors have no sign bits", unsigned)
    yield from _found("vectors have the sign bits or namespace of another", wrong)
    yield from _found("sign bits belong to no vector", sorted(signed))


def _history(connection: Connection) -> Iterator[str]:
    yield from _named(
        connection,
        "items have no history",
        "SELECT id FROM item WHERE id NOT IN (SELECT item FROM history)",
    )
    yield from _named(
        connection,
        "items are gone, and no deletion is recorded",
        "SELECT DISTINCT item FROM history WHERE item NOT IN (SELECT id FROM item) "
        f"AND item NOT IN (SELECT item FROM history WHERE action IN {GONE})",
    )


DANGLING: Final = (
    ("evidence", "item", "item"), ("evidence", "source", "item"), ("reflected", "item", "item"),
    ("fingerprint", "item", "item"), ("mention", "item", "item"), ("mention", "entity", "entity"),
    ("edge", "fact", "item"), ("edge", "subject", "entity"), ("edge", "object", "entity"),
    ("alias", "entity", "entity"), ("entity", "same_as", "entity"),
)  # fmt: skip
"""(table, column, the table whose id it holds)."""


def _is_archive(connection: Connection) -> bool:
    """Return whether the file is the archive file of another one."""
    found = connection.execute("SELECT 1 FROM setting WHERE name = ?", (ARCHIVE_OF,)).fetchone()
    return found is not None


def _graph(connection: Connection) -> Iterator[str]:
    away = _is_archive(connection)
    for table, column, target in DANGLING:
        if away and (target == "entity" or column == "source"):
            continue  # these stay in the memory file
        beside = target == "item" and table != "fingerprint"
        known = _KNOWN if beside else f"SELECT id FROM {target}"
        yield from _named(
            connection,
            f"{target} ids in {table}.{column} that belong to nothing",
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL "
            f"AND {column} NOT IN ({known})",
        )
    yield from _named(
        connection,
        "facts without their fingerprint, or items with another one",
        "SELECT i.id FROM item i LEFT JOIN fingerprint f ON f.item = i.id "
        "AND f.namespace = i.namespace GROUP BY i.id HAVING count(f.hash) <> "
        "(json_type(value, '$.fact_kind') IS 'text' AND json_type(value, '$.text') IS 'text')",
    )
    yield from _named(
        connection,
        "entities that are linked in a circle",
        "WITH RECURSIVE way (start, id) AS (SELECT id, same_as FROM entity "
        "WHERE same_as IS NOT NULL UNION SELECT w.start, e.same_as FROM way w "
        "JOIN entity e ON e.id = w.id WHERE e.same_as IS NOT NULL) "
        "SELECT DISTINCT start FROM way WHERE start = id",
    )


def _named(connection: Connection, what: str, ids: str) -> Iterator[str]:
    """Yield a problem if a query finds ids that have it."""
    yield from _found(what, [row[0] for row in connection.execute(ids)])


def _found(what: str, ids: list[int]) -> Iterator[str]:
    if ids:
        some = ", ".join(map(str, ids[:SHOWN]))
        more = f", … ({len(ids):,} in all)" if len(ids) > SHOWN else ""
        yield f"{what}: {some}{more}"
