"""Vectors in memory: their sign bits, the highest scores, and what all stores of a process share."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from langmemory.ledger.tables.connection import Connection
from langmemory.ports.candidates import Floats, Ids


def sign_bits(vectors: Floats) -> NDArray[np.uint64]:
    """Return the signs of float32[n, dims] as uint64[n, words], zero-padded: 1 where the value is > 0."""
    packed = np.packbits(vectors > 0, axis=1, bitorder="little")
    padding = -packed.shape[1] % 8
    if padding:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(packed).view(np.uint64)


def fetch(connection: Connection, ids: Ids) -> tuple[Ids, Floats]:
    """Return the vectors by id: (int64[m], float32[m, dims]) for those that exist."""
    if not len(ids):
        return connection.unpacked([])
    rows = connection.execute(
        f"SELECT v.id, v.e FROM carray(?) c CROSS JOIN {connection.vector_rows} v ON v.id = c.value",
        (connection.array(ids),),
    ).fetchall()
    return connection.unpacked(rows)


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
