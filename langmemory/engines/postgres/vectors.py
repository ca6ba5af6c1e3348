"""Vectors as rows of pgvector's ``vector``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from psycopg.adapt import Dumper
from psycopg.pq import Format

from langmemory.ledger.connection import SLOT_BITS, check_count
from langmemory.ledger.settings import read_model
from langmemory.ports.candidates import Floats, Ids
from langmemory.search import binary
from langmemory.search.chunks import sign_bits

if TYPE_CHECKING:
    from langmemory.engines.postgres.connection import Connection

ROWS: Final = "(SELECT id, item, vector_send(e) AS e FROM embedding)"
"""The vectors for `unpacked`: bytes of a fixed length, big-endian, instead of digits."""


class Sent(bytes):
    """A vector as PostgreSQL takes an array of ``real``, which pgvector casts: no digits to write and to
    read."""


class SentDumper(Dumper):
    """Passes it as it is."""

    format = Format.BINARY
    oid = 1021  # of real[], the same on every server

    def dump(self, obj: Sent) -> bytes:
        return obj


_ELEMENTS: Final = np.dtype([("bytes", ">i4"), ("value", ">f4")])


def sent(vector: Floats) -> Sent:
    """Return a vector, float32[dims], to be bound where SQL says ``::vector``."""
    # One dimension, no NULL, of type real (700), from element 1 on.
    head = np.array([1, 0, 700, len(vector), 1], ">i4").tobytes()
    elements = np.empty(len(vector), _ELEMENTS)
    elements["bytes"], elements["value"] = 4, vector
    return Sent(head + elements.tobytes())


def unpacked(rows: Sequence[Any], /) -> tuple[Ids, Floats]:
    """Return rows of `ROWS`, (id, e), as int64[n] and float32[n, dims]."""
    if not rows:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    found, sent = zip(*rows, strict=True)
    # Two numbers of 16 bits, the dimensions and 0, come first.
    matrix = np.frombuffer(b"".join(sent), ">f4").reshape(len(found), -1)[:, 1:]
    return np.array(found, np.int64), matrix.astype(np.float32)


def write(
    connection: Connection,
    rows: Iterable[tuple[int, int, Floats, Sequence[bytes | None]]],
    *,
    fresh: bool,
) -> None:
    """Replace the vectors of items.

    Args:
        rows: (item id, namespace id, float32[n, dims], a cache key or None for each); n may be 0.
        fresh: The items are new, so there is nothing to replace.
    """
    rows = list(rows)
    written: list[tuple[Any, ...]] = []
    for item, namespace, embedded, hashes in rows:
        check_count(len(embedded))
        first = item << SLOT_BITS
        bits = sign_bits(embedded) if len(embedded) else ()
        written += [
            (first + n, item, namespace, hashes[n], sent(vector), bits[n].tobytes())
            for n, vector in enumerate(embedded)
        ]
    if not fresh:
        delete(connection, [row[0] for row in rows])
    if written:
        connection.send_many(
            b"WITH one AS (INSERT INTO embedding (id, item, namespace, hash, e) "
            b"VALUES (%s, %s, %s, %s, %s::vector) RETURNING id, namespace) "
            b"INSERT INTO code (vector, namespace, bits) SELECT id, namespace, %s FROM one",
            written,
        )


def delete(connection: Connection, items: Sequence[int]) -> None:
    """Remove the vectors of items, and say so in the log. Without pgvector there are none."""
    if not connection.holds_vectors():
        return
    connection.raw.execute(
        b"WITH gone AS (DELETE FROM embedding WHERE item = ANY(%s) RETURNING id, namespace) "
        b"INSERT INTO code (vector, namespace, bits) SELECT id, namespace, NULL FROM gone",
        (list(items),),
    )


def erase(connection: Connection, items: Sequence[int]) -> None:
    """Leave nothing of the deleted vectors of items in the log and its segments; that they are gone
    stays in it."""
    if not connection.holds_vectors():
        return
    connection.raw.execute(
        f"DELETE FROM code WHERE bits IS NOT NULL AND vector >> {SLOT_BITS} = ANY(%s)".encode(),
        (list(items),),
    )
    model = read_model(connection)
    if model.dims is not None:
        binary.without(connection, np.array(items, np.int64), model.words)
    moving = connection.raw.execute(b"SELECT to_regclass('vector_next') IS NOT NULL").fetchone()
    if moving and moving[0]:  # to another model
        connection.raw.execute(
            f"DELETE FROM vector_next WHERE id >> {SLOT_BITS} = ANY(%s)".encode(), (list(items),)
        )
        connection.raw.execute(b"DELETE FROM reembed_done WHERE item = ANY(%s)", (list(items),))


def of_items(
    connection: Connection, items: Sequence[int]
) -> dict[int, tuple[Floats, list[bytes | None]]]:
    """Return the vectors of those items that have any, float32[n, dims], and the cache key, or None, of
    each."""
    rows = connection.raw.execute(
        b"SELECT id, vector_send(e), hash FROM embedding WHERE item = ANY(%s) ORDER BY id",
        (list(items),),
    )
    found = ((item, list(some)) for item, some in groupby(rows, lambda row: row[0] >> SLOT_BITS))
    return {
        item: (unpacked([row[:2] for row in some])[1], [row[2] for row in some])
        for item, some in found
    }


def cached(connection: Connection, hashes: Sequence[bytes]) -> dict[bytes, Floats]:
    """Return the vectors already there, by cache key."""
    rows = connection.raw.execute(
        b"SELECT DISTINCT ON (hash) id, vector_send(e), hash FROM embedding WHERE hash = ANY(%s)",
        (list(hashes),),
    ).fetchall()
    _, matrix = unpacked([row[:2] for row in rows])
    return {row[2]: vector for row, vector in zip(rows, matrix, strict=True)}
