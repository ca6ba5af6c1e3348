"""Vectors as rows: float32 blobs in sqlite-vec's format, their sign bits in the log, exact cosines."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from langmemory.engines.sql.tables.connection import MAX_VECTORS, check_count
from langmemory.engines.sql.tables.rows import insert
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.ports.candidates import Floats, Ids

SLOT_BITS: Final = (MAX_VECTORS - 1).bit_length()
"""Low bits of a vector id that number the vectors of one item."""


def sign_bits(vectors: Floats) -> NDArray[np.uint64]:
    """Return the signs of float32[n, dims] as uint64[n, words], zero-padded: 1 where the value is > 0."""
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
        rows: (item id, namespace id, float32[n, dims], a cache key or None for each); n may be 0.
        fresh: The items are new, so there is nothing to replace.
    """
    ids: list[int] = []
    keys: list[bytes | None] = []
    places: list[int] = []
    blocks: list[Floats] = []
    gone: list[tuple[int, int]] = []
    for item, namespace, embedded, hashes in rows:
        count = len(embedded)
        check_count(count)
        first = item << SLOT_BITS
        if not fresh:
            before = _delete_vectors(connection, item)
            gone.extend((one, namespace) for one in before if one - first >= count)
        if count:
            ids.extend(range(first, first + count))
            keys.extend(hashes)
            places.extend([namespace] * count)
            blocks.append(embedded)
    _log_gone(connection, gone)
    if ids:
        embedded = np.concatenate(blocks)
        insert(connection, "vector (id, hash, e)", zip(ids, keys, _blobs(embedded), strict=True))
        bits = _blobs(sign_bits(embedded))
        insert(connection, "code (vector, namespace, bits)", zip(ids, places, bits, strict=True))


def _blobs(matrix: NDArray[Any]) -> Iterator[bytes]:
    """Yield the bytes of each row."""
    data, width = matrix.tobytes(), matrix.strides[0]
    return (data[start : start + width] for start in range(0, len(data), width))


def _log_gone(connection: Connection, gone: Sequence[tuple[int, int]]) -> None:
    """Say in the log that these vectors, (id, namespace id), are there no more."""
    if gone:
        connection.executemany(
            "INSERT INTO code (vector, namespace, bits) VALUES (?, ?, NULL)", gone
        )


def delete(connection: Connection, item: int, namespace: int) -> None:
    """Remove the vectors of an item, and say so in the log."""
    _log_gone(connection, [(one, namespace) for one in _delete_vectors(connection, item)])


def _delete_vectors(connection: Connection, item: int) -> list[int]:
    first = item << SLOT_BITS
    return [
        row[0]
        for row in connection.execute(
            "DELETE FROM vector WHERE id >= ? AND id < ? RETURNING id", (first, first + MAX_VECTORS)
        )
    ]


def of_items(
    connection: Connection, items: Sequence[int]
) -> dict[int, tuple[Floats, list[bytes | None]]]:
    """Return the vectors of those items that have any, float32[n, dims], and the cache key, or None, of
    each."""
    rows = connection.execute(
        "SELECT v.id, v.e, v.hash FROM carray(?) c CROSS JOIN vector v "
        f"ON v.id >= c.value << {SLOT_BITS} AND v.id < (c.value + 1) << {SLOT_BITS} ORDER BY v.id",
        (connection.array(items),),
    )
    return {
        item: (unpack([row[:2] for row in some])[1], [row[2] for row in some])
        for item, some in (
            (item, list(some)) for item, some in groupby(rows, lambda row: row[0] >> SLOT_BITS)
        )
    }


def cached(connection: Connection, hashes: Sequence[bytes]) -> dict[bytes, Floats]:
    """Return the vectors already in the file, by cache key."""
    rows = connection.execute(
        # The first of those with the same text: one is enough.
        "SELECT c.value, (SELECT v.e FROM vector v WHERE v.hash = c.value LIMIT 1) FROM carray(?) c",
        (apsw.carray(tuple(hashes)),),
    )
    return {digest: np.frombuffer(e, np.float32) for digest, e in rows if e is not None}


def fetch(connection: Connection, ids: Ids) -> tuple[Ids, Floats]:
    """Return the vectors by id: (int64[m], float32[m, dims]) for those that exist."""
    if not len(ids):
        return unpack([])
    rows = connection.execute(
        "SELECT v.id, v.e FROM carray(?) c CROSS JOIN vector v ON v.id = c.value",
        (apsw.carray(np.ascontiguousarray(ids)),),
    ).fetchall()
    return unpack(rows)


def highest(scores: Floats, ids: NDArray[np.integer[Any]], limit: int) -> NDArray[np.int64]:
    """Return the places of the ``limit`` highest scores, in any order; of equal ones those of the lowest
    ids."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    parts = max(4 * limit, 64)
    if len(scores) >= 16 * parts:  # of each part the highest: few scores reach the last of these
        most = scores[: len(scores) // parts * parts].reshape(-1, parts).max(axis=0)
        likely = np.flatnonzero(scores >= np.partition(most, parts - limit)[parts - limit])
        if len(likely) < len(scores):
            return likely[highest(scores[likely], ids[likely], limit)]
    places = np.flatnonzero(
        scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit]
    )
    if len(places) > limit:
        places = places[np.lexsort((ids[places], -scores[places]))[:limit]]
    return places


def unpack(rows: Sequence[tuple[int, bytes]]) -> tuple[Ids, Floats]:
    """(id, blob) rows as int64[n] and float32[n, dims]."""
    if not rows:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    found, blobs = zip(*rows, strict=True)
    matrix = np.frombuffer(b"".join(blobs), np.float32).reshape(len(found), -1)
    return np.array(found, np.int64), matrix


T = TypeVar("T")
_shared: weakref.WeakValueDictionary[tuple[Hashable, ...], Any] = weakref.WeakValueDictionary()
_shared_lock = threading.Lock()


def shared(key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """Return what all stores of this process on one file share; made by the first that asks. The key
    names the file and its generation, which changes when the file is re-embedded."""
    key = (os.getpid(), *key)  # a fork copies locks as they are
    with _shared_lock:
        found: T | None = _shared.get(key)
        if found is None:
            found = _shared[key] = make()
        return found
