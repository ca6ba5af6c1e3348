"""Vectors in memory: sign bits of n of them, and a copy, whole or at a byte a dimension; plain arrays."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from langmemory.ledger.connection import SLOT_BITS, Connection
from langmemory.ports.candidates import Floats, Ids

Bits = NDArray[np.uint64]

BLOCK: Final = 65_536
"""Vectors compared at a time, so that the intermediate arrays stay in the CPU cache."""
MIXED: Final = 256
"""Dimensions that `_mixed` mixes with one another, at most."""
WORDS_A_BYTE: Final = 3
"""Bits whose bits a byte can count; adding bytes is three times as fast as adding to wider numbers."""
COMPARED_BLOCK: Final = 512
"""Vectors of the copy compared at a time, for the same reason: 6,500 of 256 dims take .6 ms, 4,096 at a time
1.0 ms."""
COARSE_BLOCK: Final = 4_096
"""Vectors read at a time for the copy, while a refresh waits (about 10 ms)."""
WHOLE_UP_TO: Final = 16_384
"""Vectors of a file that are copied as they are: a search compares them all, .2 ms for 10,000 of 256 dims."""
SAMPLED: Final = 16
"""One of so many distances tells how near is near enough: .05 ms for 100,000 instead of .3 ms."""


@dataclass(frozen=True, slots=True)
class Int8Vectors:
    """A copy of vectors, row for row those of a `Chunk`.

    Few vectors are kept as they are. Many are kept at a byte a dimension, with the sign bits of what
    `_mixed` makes of them, less their mean. These bits tell vectors apart better than those of the
    vectors themselves: of the ten nearest of 100,000 static vectors, .996 are among the 3,000 nearest
    by them, and .987 among the 4,000 nearest by the others.
    """

    center: Floats
    """float32[dims]: the mean of some of the vectors."""
    values: NDArray[np.int8] | Floats
    """int8 or float32[>= n, dims]; zero where there is no vector any more."""
    scale: Floats
    """float32[>= n]: what a value of 1 stands for."""
    bits: Bits
    """uint64[words, >= n]: `Int8Vectors.signs` of the vectors; no words beside whole vectors."""

    @classmethod
    def around(cls, some: Floats, capacity: int) -> Int8Vectors:
        """Room for vectors like these, float32[m, dims]."""
        dims = some.shape[1]
        center = some.mean(axis=0) if len(some) else np.zeros(dims, np.float32)
        words = len(sign_bits(center[None, :])[0])
        return cls(
            center,
            np.zeros((capacity, dims), np.int8),
            np.ones(capacity, np.float32),
            np.zeros((words, capacity), np.uint64),
        )

    @classmethod
    def whole(cls, dims: int, capacity: int) -> Int8Vectors:
        """Room for vectors as they are."""
        return cls(
            np.zeros(dims, np.float32),
            np.zeros((capacity, dims), np.float32),
            np.ones(capacity, np.float32),
            np.empty((0, capacity), np.uint64),
        )

    @property
    def exact(self) -> bool:
        """Whether the vectors are kept as they are."""
        return self.values.dtype == np.float32

    @property
    def bytes(self) -> int:
        """How large it is."""
        return self.values.nbytes + self.scale.nbytes + self.bits.nbytes

    def cosines(self, query: Floats, rows: NDArray[np.int64]) -> Floats:
        """float32[rows]: dot products with a query of unit length; right to about 0.002 if not `exact`."""
        # Not `@`: BLAS would start threads for it, which stall one another on a busy machine.
        if self.exact:
            adjacent = len(rows) > 0 and rows[-1] - rows[0] + 1 == len(rows)
            adjacent = adjacent and bool((rows[1:] > rows[:-1]).all())
            some = slice(rows[0], rows[-1] + 1) if adjacent else rows
            exactly: Floats = np.vecdot(cast("Floats", self.values[some]), query)
            return exactly
        cosines = np.empty(len(rows), np.float32)
        floats = np.empty((min(len(rows), COMPARED_BLOCK), len(query)), np.float32)
        for start in range(0, len(rows), COMPARED_BLOCK):
            some = rows[start : start + COMPARED_BLOCK]
            vectors = floats[: len(some)]
            np.copyto(vectors, self.values.take(some, axis=0))
            np.vecdot(vectors, query, out=cosines[start : start + len(some)])
        cosines *= self.scale[rows]
        return cosines

    def lay(self, rows: NDArray[np.int64], vectors: Floats) -> None:
        """Put float32[rows, dims] in."""
        if self.exact:
            self.values[rows] = vectors
            return
        scale = np.maximum(np.abs(vectors).max(axis=1), 1e-9) / np.float32(127)
        self.scale[rows] = scale
        self.values[rows] = np.rint(vectors / scale[:, None])
        self.bits[:, rows] = self.signs(vectors).T

    def signs(self, vectors: Floats) -> Bits:
        """uint64[m, words] of float32[m, dims]."""
        return sign_bits(_rotate(vectors - self.center))

    def with_room(self, n: int, capacity: int) -> Int8Vectors:
        if self.exact:
            grown = Int8Vectors.whole(self.values.shape[1], capacity)
        else:
            grown = Int8Vectors.around(self.center[None, :], capacity)
        grown.values[:n], grown.scale[:n] = self.values[:n], self.scale[:n]
        grown.bits[:, :n] = self.bits[:, :n]
        return grown


@dataclass(frozen=True, slots=True)
class Chunk:
    """Sign bits of n vectors; rows beyond ``n`` of the arrays are spare room."""

    n: int
    ids: Ids
    """int64[>= n], ascending."""
    namespaces: NDArray[np.int32]
    """int32[>= n]; -1 where the vector is gone."""
    bits: Bits
    """uint64[words, >= n]."""
    coarse: Int8Vectors | None = None

    def distances(
        self, query: Floats, rows: NDArray[np.int64] | None = None, *, coarse: bool
    ) -> NDArray[np.uint16]:
        """Return Hamming distances, uint16[n or len(rows)], to the sign bits of a query: around the
        mean with the coarse copy, else around zero."""
        if coarse and self.coarse is not None:
            return self._distances(self.coarse.bits, self.coarse.signs(query[None, :])[0], rows)
        return self._distances(self.bits, sign_bits(query[None, :])[0], rows)

    def _distances(
        self, bits: Bits, query: Bits, rows: NDArray[np.int64] | None
    ) -> NDArray[np.uint16]:
        n = self.n if rows is None else len(rows)
        distances = np.empty(n, np.uint16)
        scratch = np.empty(min(BLOCK, n), np.uint64)
        counts, sums = np.empty((2, min(BLOCK, n)), np.uint8)
        for start in range(0, n, BLOCK):
            end = min(start + BLOCK, n)
            block, count, some = (array[: end - start] for array in (scratch, counts, sums))
            out = distances[start:end]
            for word, wanted in enumerate(query, 1):
                if rows is None:
                    np.bitwise_xor(bits[word - 1, start:end], wanted, out=block)
                else:  # "clip": else numpy takes them into an array of its own first
                    bits[word - 1].take(rows[start:end], out=block, mode="clip")
                    np.bitwise_xor(block, wanted, out=block)
                if word % WORDS_A_BYTE == 1:
                    np.bitwise_count(block, out=some)
                else:
                    np.bitwise_count(block, out=count)
                    np.add(some, count, out=some)
                if word == min(WORDS_A_BYTE, len(query)):
                    out[:] = some
                elif word % WORDS_A_BYTE == 0 or word == len(query):
                    np.add(out, some, out=out)
        return distances

    def scores(self, query: Floats, rows: NDArray[np.int64], *, coarse: bool) -> Floats:
        """Return what tells the rows apart best: by the copy if it is complete, else by their signs."""
        if coarse and self.coarse is not None:
            return self.coarse.cosines(query, rows)
        return self.dots(query, rows)

    def dots(self, query: Floats, rows: NDArray[np.int64]) -> Floats:
        """Return dot products of the query with the signs of some rows, up to a constant: float32[rows]."""
        packed = np.ascontiguousarray(self.bits[:, rows].T).view(np.uint8)
        ones = np.unpackbits(packed, axis=1, count=len(query), bitorder="little")
        # Not `@`: BLAS would start threads for it, which stall one another on a busy machine.
        scores: Floats = np.vecdot(ones.astype(np.float32), query)
        return scores


def rows_of(chunk: Chunk, items: Ids) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the vectors of some items, and for each the index of its item."""
    ids = chunk.ids[: chunk.n]
    start = ids.searchsorted(items << SLOT_BITS)
    counts = ids.searchsorted((items + 1) << SLOT_BITS) - start
    owner = np.repeat(np.arange(len(items)), counts)
    rows = np.repeat(start - np.concatenate(([0], counts.cumsum()[:-1])), counts)
    rows = rows + np.arange(len(rows))
    alive = chunk.namespaces[rows] >= 0
    return rows[alive], owner[alive]


def rows_in(chunk: Chunk, namespaces: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Return the rows of the chunk in scope; None when it is all of them."""
    own = chunk.namespaces[: chunk.n]
    if namespaces is None:
        mask = own >= 0
    elif len(namespaces) == 1:
        mask = own == namespaces[0]
    elif not len(namespaces):
        return np.empty(0, np.int64)
    else:
        table = np.zeros(max(int(namespaces.max()), int(own.max(initial=0))) + 2, np.bool_)
        table[namespaces] = True  # -1, "gone", reads the last entry, which stays False
        mask = table[own]
    if np.count_nonzero(mask) == chunk.n:
        return None
    return mask.nonzero()[0]


def _rotate(vectors: Floats) -> Floats:
    """float32[m, dims] turned (by a Hadamard matrix), so that each dimension tells about as much as any
    other: models give the first ones far more to tell."""
    dims = vectors.shape[1]
    size = min(dims & -dims, MIXED)
    signs, matrix = _turn(dims, size)
    blocks = (vectors * signs).reshape(len(vectors), -1, size)
    if len(vectors) == 1:  # no `@`: as above
        one: Floats = np.vecdot(blocks[:, :, None, :], matrix).reshape(1, dims)
        return one
    mixed: Floats = np.matmul(blocks, matrix, dtype=np.float32).reshape(vectors.shape)
    return mixed


@cache
def _turn(dims: int, size: int) -> tuple[Floats, Floats]:
    matrix: Floats = np.ones((1, 1), np.float32)
    while len(matrix) < size:
        matrix = np.concatenate((np.tile(matrix, 2), np.hstack((matrix, -matrix))))
    signs = np.random.default_rng(0).choice(np.array([-1, 1], np.float32), dims)
    return signs, matrix


def closest(distances: NDArray[np.uint16], limit: int) -> NDArray[np.int64]:
    """Return the places of about the ``limit`` smallest, ascending."""
    if len(distances) <= limit:
        return np.arange(len(distances))
    sample = distances[::SAMPLED]
    place = limit // SAMPLED + limit // (8 * SAMPLED)
    if limit >= SAMPLED * SAMPLED and place < len(sample):
        found = np.flatnonzero(distances <= np.partition(sample, place)[place])
        if limit <= len(found) <= 2 * limit:
            return found
    threshold = np.partition(distances, limit - 1)[limit - 1]
    found = (distances <= threshold).nonzero()[0]
    if len(found) > 2 * limit:  # one distance shared by very many: keep the first of them
        closer = (distances < threshold).nonzero()[0]
        ties = (distances == threshold).nonzero()[0][: limit - len(closer)]
        found = np.concatenate((closer, ties))
    return found


def empty(words: int) -> Chunk:
    return Chunk(0, np.empty(0, np.int64), np.empty(0, np.int32), np.empty((words, 0), np.uint64))


def merge_entries(chunk: Chunk, ids: Ids, namespaces: NDArray[np.int32], bits: Bits) -> Chunk:
    """Return the chunk with newer entries laid over it. ``ids`` ascend and are distinct.

    New vectors have higher ids than all before as a rule, so they go into the spare room at the
    end; a reader that still holds the old chunk does not see them. Changes of known vectors are
    written in place: a reader sees them early, and exact scoring against the rows decides anyway.
    """
    known = chunk.ids[: chunk.n]
    place = known.searchsorted(ids)
    inside = place < chunk.n
    same = inside.copy()
    same[inside] = known[place[inside]] == ids[inside]
    if same.any():
        if not chunk.ids.flags.writeable:
            chunk = replace(
                chunk,
                ids=chunk.ids.copy(),
                namespaces=chunk.namespaces.copy(),
                bits=chunk.bits.copy(),
            )
        chunk.namespaces[place[same]] = namespaces[same]
        chunk.bits[:, place[same]] = bits[:, same]
    new = ~same & (namespaces >= 0)
    if not new.any():
        return chunk
    ids, namespaces, bits = ids[new], namespaces[new], bits[:, new]
    if chunk.n and ids[0] < known[-1]:  # an old item indexed for the first time: rare
        order = np.argsort(np.concatenate((known, ids)), kind="stable")
        return Chunk(
            len(order),
            np.concatenate((known, ids))[order],
            np.concatenate((chunk.namespaces[: chunk.n], namespaces))[order],
            np.concatenate((chunk.bits[:, : chunk.n], bits), axis=1)[:, order],
        )
    total = chunk.n + len(ids)
    if total > len(chunk.ids) or not chunk.ids.flags.writeable:
        chunk = _with_room(chunk, max(total, chunk.n + chunk.n // 4, 1024))
    chunk.ids[chunk.n : total] = ids
    chunk.namespaces[chunk.n : total] = namespaces
    chunk.bits[:, chunk.n : total] = bits
    return replace(chunk, n=total)


def _with_room(chunk: Chunk, capacity: int) -> Chunk:
    ids = np.empty(capacity, np.int64)
    namespaces = np.empty(capacity, np.int32)
    bits = np.empty((len(chunk.bits), capacity), np.uint64)
    ids[: chunk.n] = chunk.ids[: chunk.n]
    namespaces[: chunk.n] = chunk.namespaces[: chunk.n]
    bits[:, : chunk.n] = chunk.bits[:, : chunk.n]
    coarse = None if chunk.coarse is None else chunk.coarse.with_room(chunk.n, capacity)
    return Chunk(chunk.n, ids, namespaces, bits, coarse)


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


def shared_per_file(key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """Return what all stores of this process on one file share; made by the first that asks. The key
    names the file and its generation, which changes when the file is re-embedded."""
    key = (os.getpid(), *key)  # a fork copies locks as they are
    with _shared_lock:
        found: T | None = _shared.get(key)
        if found is None:
            found = _shared[key] = make()
        return found
