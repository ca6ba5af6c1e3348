"""Vectors as rows: float32 blobs in sqlite-vec's format, their sign bits in the log, exact cosines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from langmemory.engines.sqlite.file.connection import Connection
from langmemory.ledger.connection import MAX_VECTORS, SLOT_BITS, check_count, insert
from langmemory.ports.candidates import Floats
from langmemory.search.chunks import sign_bits


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
        f"ON {connection.vector_of('c.value')} ORDER BY v.id",
        (connection.array(items),),
    )
    return {
        item: (connection.unpacked([row[:2] for row in some])[1], [row[2] for row in some])
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
