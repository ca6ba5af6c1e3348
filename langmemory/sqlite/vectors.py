"""Vectors as rows: float32 blobs in sqlite-vec's format, their sign bits in the log, exact cosines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import apsw
import numpy as np
from numpy.typing import NDArray

from langmemory.errors import InvalidValueError
from langmemory.sqlite.connection import Connection

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]

SLOT_BITS: Final = 16
"""Low bits of a vector id that number the vectors of one item."""
MAX_VECTORS: Final = 1 << SLOT_BITS


def sign_bits(vectors: Floats) -> NDArray[np.uint64]:
    """Signs of float32[n, dims] as uint64[n, words], zero-padded: 1 where the value is > 0."""
    packed = np.packbits(vectors > 0, axis=1, bitorder="little")
    padding = -packed.shape[1] % 8
    if padding:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(packed).view(np.uint64)


def write(
    connection: Connection,
    rows: Iterable[tuple[int, int, Floats, Sequence[bytes | None]]],
    *,
    fresh: bool,
) -> None:
    """Replace the vectors of items, and log their sign bits.

    Args:
        connection: The writer, in a transaction.
        rows: (item id, namespace id, float32[n, dims], a cache key or None for each); n may be 0.
        fresh: The items are new, so there is nothing to replace.
    """
    vectors: list[tuple[int, bytes | None, bytes]] = []
    codes: list[tuple[int, int, bytes | None]] = []
    for item, namespace, embedded, hashes in rows:
        if len(embedded) > MAX_VECTORS:
            raise InvalidValueError(
                f"An item would have {len(embedded)} vectors; {MAX_VECTORS} is the most. "
                "Index fewer fields, or split the item."
            )
        first = item << SLOT_BITS
        if not fresh:
            gone = _delete_vectors(connection, item)
            codes.extend((one, namespace, None) for one in gone if one - first >= len(embedded))
        if len(embedded):
            bits = sign_bits(embedded)
            for n, (vector, digest) in enumerate(zip(embedded, hashes, strict=True)):
                vectors.append((first + n, digest, vector.tobytes()))
                codes.append((first + n, namespace, bits[n].tobytes()))
    if vectors:
        connection.executemany("INSERT INTO vector (id, hash, e) VALUES (?, ?, ?)", vectors)
    if codes:
        connection.executemany("INSERT INTO code (vector, namespace, bits) VALUES (?, ?, ?)", codes)


def delete(connection: Connection, item: int, namespace: int) -> None:
    """Remove the vectors of an item, and say so in the log."""
    gone = _delete_vectors(connection, item)
    if gone:
        connection.executemany(
            "INSERT INTO code (vector, namespace, bits) VALUES (?, ?, NULL)",
            [(one, namespace) for one in gone],
        )


def _delete_vectors(connection: Connection, item: int) -> list[int]:
    first = item << SLOT_BITS
    return [
        row[0]
        for row in connection.execute(
            "DELETE FROM vector WHERE id >= ? AND id < ? RETURNING id", (first, first + MAX_VECTORS)
        )
    ]


def cached(connection: Connection, hashes: Sequence[bytes]) -> dict[bytes, Floats]:
    """Vectors already in the file, by cache key."""
    found: dict[bytes, Floats] = {}
    for digest in hashes:
        row = connection.execute(
            "SELECT e FROM vector WHERE hash = ? LIMIT 1", (digest,)
        ).fetchone()
        if row is not None:
            found[digest] = np.frombuffer(row[0], np.float32)
    return found


def fetch(connection: Connection, ids: Ids) -> tuple[Ids, Floats]:
    """Vectors by id: (int64[m], float32[m, dims]) for those that exist."""
    if not len(ids):
        return unpack([])
    rows = connection.execute(
        "SELECT v.id, v.e FROM carray(?) c CROSS JOIN vector v ON v.id = c.value",
        (apsw.carray(np.ascontiguousarray(ids)),),
    ).fetchall()
    return unpack(rows)


def unpack(rows: Sequence[tuple[int, bytes]]) -> tuple[Ids, Floats]:
    """(id, blob) rows as int64[n] and float32[n, dims]."""
    if not rows:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    found, blobs = zip(*rows, strict=True)
    matrix = np.frombuffer(b"".join(blobs), np.float32).reshape(len(found), -1)
    return np.array(found, np.int64), matrix
