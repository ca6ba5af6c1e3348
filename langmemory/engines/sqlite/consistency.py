"""Whether a file agrees with itself: rows, leaves, keywords, vectors, sign bits, history, graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import apsw
import numpy as np

from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.file.rescue import damaged_rows
from langmemory.engines.sqlite.index import keywords
from langmemory.ledger import consistency
from langmemory.ledger.connection import SLOT_BITS
from langmemory.ledger.consistency import named, problem
from langmemory.ledger.settings import read_model
from langmemory.search.binary import BinaryQuantizedIndex
from langmemory.search.chunks import sign_bits

DAMAGED: Final = "damaged:"
"""Begins a problem with one row."""
RUN: Final = 4096
"""Vectors looked at together."""
UNBOUNDED: Final = 1 << 62


def check(connection: Connection) -> list[str]:
    """Return the problems of the file, in words; empty when nothing is.

    Reads every row once: seconds for 100,000 items. Call it on a reader, inside its snapshot.
    """
    problems: list[str] = []
    for part in (
        _damaged, _pages, consistency.rows, consistency.moved, _keywords, consistency.filter_leaves,
        _vectors, _signs, consistency.history, consistency.graph,
    ):  # fmt: skip
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


def _keywords(connection: Connection) -> Iterator[str]:
    if keywords.lost(connection):
        yield "the keyword index was lost and is not written anew yet: open the file as a MemoryStore"
        return
    yield from named(
        connection,
        "items are to be found by words and are not in the keyword index",
        "SELECT id FROM item WHERE index_fields IS NOT 'false' "
        "AND id NOT IN (SELECT id FROM keyword_docsize)",
    )
    yield from named(
        connection,
        "rows of the keyword index belong to no item, or to one that is not to be indexed",
        "SELECT id FROM keyword_docsize "
        "WHERE id NOT IN (SELECT id FROM item WHERE index_fields IS NOT 'false')",
    )


def _vectors(connection: Connection) -> Iterator[str]:
    model = read_model(connection)
    yield from named(
        connection,
        "items are gone and left vectors",
        f"SELECT DISTINCT id >> {SLOT_BITS} FROM vector "
        f"WHERE id >> {SLOT_BITS} NOT IN (SELECT id FROM item)",
    )
    yield from named(
        connection,
        f"vectors are not of the model's {model.dims} dims",
        f"SELECT id FROM vector WHERE length(e) IS NOT {model.dims or 'NULL'} * 4",
    )


def _signs(connection: Connection) -> Iterator[str]:
    model = read_model(connection)
    if model.dims is None:
        yield from named(
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
    yield from problem("vectors have no sign bits", unsigned)
    yield from problem("vectors have the sign bits or namespace of another", wrong)
    yield from problem("sign bits belong to no vector", sorted(signed))
