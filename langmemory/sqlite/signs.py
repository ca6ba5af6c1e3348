"""The sign bits of all vectors of a file, in memory: what a search looks at first.

One `SignIndex` is shared by all stores of a process on one file. It is a view of the ``code`` log:
built from packed segments and the tail behind them, and brought up to date from the tail whenever
another connection has committed. It can be dropped at any time. Over its byte budget nothing is
kept and a search streams the segments.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.sqlite.connection import Connection
from langmemory.sqlite.vectors import SLOT_BITS, Floats, Ids, sign_bits

Words = NDArray[np.uint64]

BLOCK: Final = 65_536
"""Vectors compared at a time, so that the intermediate arrays stay in the CPU cache."""
COARSE: Final = 6
"""Vectors kept by Hamming distance for each one kept by the finer comparison."""
PACK_AFTER: Final = 65_536
"""Log rows after which the tail is packed into a segment."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Sign bits of n vectors; rows beyond ``n`` of the arrays are spare room."""

    n: int
    ids: Ids
    """int64[>= n], ascending."""
    namespaces: NDArray[np.int32]
    """int32[>= n]; -1 where the vector is gone."""
    bits: Words
    """uint64[words, >= n]."""

    def distances(self, query: Words, rows: NDArray[np.int64] | None = None) -> NDArray[np.uint16]:
        """Hamming distances, uint16[n or len(rows)], to the sign bits uint64[words] of a query."""
        if rows is not None:
            found = np.bitwise_count(self.bits[:, rows] ^ query[:, None])
            total: NDArray[np.uint16] = found.sum(axis=0, dtype=np.uint16)
            return total
        distances = np.empty(self.n, np.uint16)
        scratch, counts = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint8)
        for start in range(0, self.n, BLOCK):
            end = min(start + BLOCK, self.n)
            block, count, out = scratch[: end - start], counts[: end - start], distances[start:end]
            for word, wanted in enumerate(query):
                np.bitwise_xor(self.bits[word, start:end], wanted, out=block)
                np.bitwise_count(block, out=count)
                if word:
                    np.add(out, count, out=out)
                else:
                    out[:] = count
        return distances

    def dots(self, query: Floats, rows: NDArray[np.int64]) -> Floats:
        """Dot products of the query with the signs of some rows, up to a constant: float32[rows]."""
        packed = np.ascontiguousarray(self.bits[:, rows].T).view(np.uint8)
        ones = np.unpackbits(packed, axis=1, count=len(query), bitorder="little")
        # Not `@`: BLAS would start threads for it, which stall one another on a busy machine.
        scores: Floats = np.vecdot(ones.astype(np.float32), query)
        return scores


class SignIndex:
    """Candidates for a query vector by Hamming distance. Thread-safe."""

    def __init__(self, words: int, budget_bytes: int) -> None:
        self.words = words
        self.budget_bytes = budget_bytes
        self._lock = threading.Lock()
        self._seq = -1
        self._chunk = _empty(words)
        self._streaming = False

    def refresh(self, connection: Connection) -> None:
        """Read what was logged since the last time. Call it when the file has changed."""
        with self._lock:
            newest = connection.execute(
                "SELECT coalesce((SELECT max(seq) FROM code), 0), "
                "coalesce((SELECT max(last_seq) FROM code_segment), 0)"
            ).fetchone()
            if max(newest) <= self._seq:
                return
            packed = int(newest[1])
            if self._streaming or (self._seq < packed and self._seq >= 0):
                self._seq = -1  # the rows in between are packed away: read the segments
            if self._seq < 0:
                if self._too_large(connection):
                    self._streaming, self._chunk = True, _empty(self.words)
                    self._seq = max(newest)
                    return
                self._streaming = False
                self._chunk = _load(connection, self.words)
                self._seq = packed
            tail = _read_tail(connection, self._seq, self.words)
            if tail is not None:
                self._chunk = _merge(self._chunk, *tail)
            self._seq = max(newest)

    def _too_large(self, connection: Connection) -> bool:
        row = connection.execute(
            "SELECT coalesce((SELECT sum(count) FROM code_segment), 0) + (SELECT count(*) FROM code)"
        ).fetchone()
        return int(row[0]) * (12 + 8 * self.words) > self.budget_bytes

    def chunks(self, connection: Connection) -> Iterator[Chunk]:
        """All vectors: one chunk in memory, or the segments one by one."""
        if not self._streaming:
            yield self._chunk
            return
        for (last,) in connection.execute(
            "SELECT last_seq FROM code_segment ORDER BY last_seq"
        ).fetchall():
            yield _segment(connection, last, self.words)
        tail = _read_tail(connection, _packed_seq(connection), self.words)
        if tail is not None:
            yield _merge(_empty(self.words), *tail)

    def candidates(
        self,
        connection: Connection,
        query: Floats,
        limit: int,
        namespaces: NDArray[np.int64] | None,
    ) -> tuple[Ids, bool]:
        """Ids of the ``limit`` vectors that are likely the closest, in any order, and whether they
        are all there are.

        First by Hamming distance of the sign bits, then, of `COARSE` times as many, by the dot
        product of the query itself with the signs, which tells them apart much better (asymmetric
        distances, Gordo and Perronnin 2011).

        Args:
            connection: Where to stream from, if need be.
            query: float32[dims].
            limit: How many, as far as there are any. When streaming, outdated bits of changed
                vectors count too, so there may be fewer.
            namespaces: int64 namespace ids in scope; None for every namespace.
        """
        bits = sign_bits(query[None, :])[0]
        ids: list[Ids] = []
        scores: list[Floats] = []
        total = 0
        for chunk in self.chunks(connection):
            rows = _in_scope(chunk, namespaces)
            if rows is None or len(rows) > chunk.n // 4:
                found = chunk.distances(bits)
                best = _closest(found if rows is None else found[rows], COARSE * limit)
            else:
                best = _closest(chunk.distances(bits, rows), COARSE * limit)
            total += chunk.n if rows is None else len(rows)
            rows = best if rows is None else rows[best]
            ids.append(chunk.ids[rows])
            scores.append(chunk.dots(query, rows))
        if not ids:
            return np.empty(0, np.int64), True
        together, score = np.concatenate(ids), np.concatenate(scores)
        if len(together) > limit:
            together = together[np.argpartition(-score, limit - 1)[:limit]]
        if self._streaming:  # a changed vector stands in several segments
            together = np.unique(together)
        return together, total <= limit

    def closest_of(self, query: Floats, items: Ids, limit: int) -> Ids | None:
        """Of the vectors of some items (ascending ids), about ``limit`` closest; None when streaming."""
        if self._streaming:
            return None
        chunk = self._chunk
        ids = chunk.ids[: chunk.n]
        start = np.searchsorted(ids, items << SLOT_BITS)
        end = np.searchsorted(ids, (items + 1) << SLOT_BITS)
        counts = end - start
        rows = np.repeat(start - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        rows = rows + np.arange(len(rows))
        rows = rows[chunk.namespaces[rows] >= 0]
        if len(rows) > limit:
            rows = rows[np.argpartition(-chunk.dots(query, rows), limit - 1)[:limit]]
        return np.ascontiguousarray(ids[rows])


def _in_scope(chunk: Chunk, namespaces: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Rows of the chunk in scope; None when it is all of them."""
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
    return np.flatnonzero(mask)


def _closest(distances: NDArray[np.uint16], limit: int) -> NDArray[np.int64]:
    if len(distances) <= limit:
        return np.arange(len(distances))
    threshold = np.partition(distances, limit - 1)[limit - 1]
    found = np.flatnonzero(distances <= threshold)
    if len(found) > 2 * limit:  # one distance shared by very many: keep the first of them
        closer = np.flatnonzero(distances < threshold)
        ties = np.flatnonzero(distances == threshold)[: limit - len(closer)]
        found = np.concatenate((closer, ties))
    return found


def _empty(words: int) -> Chunk:
    return Chunk(0, np.empty(0, np.int64), np.empty(0, np.int32), np.empty((words, 0), np.uint64))


def _packed_seq(connection: Connection) -> int:
    row = connection.execute("SELECT coalesce(max(last_seq), 0) FROM code_segment").fetchone()
    return int(row[0])


def _segment(connection: Connection, last_seq: int, words: int) -> Chunk:
    count, ids, namespaces, bits = connection.execute(
        "SELECT count, vectors, namespaces, bits FROM code_segment WHERE last_seq = ?", (last_seq,)
    ).fetchone()
    return Chunk(
        count,
        np.frombuffer(ids, np.int64),
        np.frombuffer(namespaces, np.int32),
        np.frombuffer(bits, np.uint64).reshape(words, count),
    )


def _load(connection: Connection, words: int) -> Chunk:
    chunk = _empty(words)
    for (last,) in connection.execute(
        "SELECT last_seq FROM code_segment ORDER BY last_seq"
    ).fetchall():
        segment = _segment(connection, last, words)
        chunk = _merge(chunk, segment.ids, segment.namespaces, segment.bits) if chunk.n else segment
    return chunk


def _read_tail(
    connection: Connection, after_seq: int, words: int
) -> tuple[Ids, NDArray[np.int32], Words] | None:
    """What the log says after a point, newest per vector: ids ascending, namespaces, bits."""
    rows = connection.execute(
        "SELECT vector, namespace, bits FROM code WHERE seq > ? ORDER BY seq", (after_seq,)
    ).fetchall()
    if not rows:
        return None
    gone = bytes(8 * words)
    ids = np.array([row[0] for row in rows], np.int64)
    namespaces = np.array([row[1] if row[2] is not None else -1 for row in rows], np.int32)
    bits = np.frombuffer(
        b"".join(gone if row[2] is None else row[2] for row in rows), np.uint64
    ).reshape(len(rows), words)
    newest = len(rows) - 1 - np.unique(ids[::-1], return_index=True)[1]  # ascending by id
    return ids[newest], namespaces[newest], bits[newest].T


def _merge(chunk: Chunk, ids: Ids, namespaces: NDArray[np.int32], bits: Words) -> Chunk:
    """The chunk with newer entries laid over it. ``ids`` ascend and are distinct.

    New vectors have higher ids than all before as a rule, so they go into the spare room at the
    end; a reader that still holds the old chunk does not see them. Changes of known vectors are
    written in place: a reader sees them early, and exact scoring against the rows decides anyway.
    """
    known = chunk.ids[: chunk.n]
    place = np.searchsorted(known, ids)
    inside = place < chunk.n
    same = inside.copy()
    same[inside] = known[place[inside]] == ids[inside]
    if same.any():
        if not chunk.ids.flags.writeable:
            chunk = Chunk(chunk.n, chunk.ids.copy(), chunk.namespaces.copy(), chunk.bits.copy())
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
    return Chunk(total, chunk.ids, chunk.namespaces, chunk.bits)


def _with_room(chunk: Chunk, capacity: int) -> Chunk:
    ids = np.empty(capacity, np.int64)
    namespaces = np.empty(capacity, np.int32)
    bits = np.empty((len(chunk.bits), capacity), np.uint64)
    ids[: chunk.n] = chunk.ids[: chunk.n]
    namespaces[: chunk.n] = chunk.namespaces[: chunk.n]
    bits[:, : chunk.n] = chunk.bits[:, : chunk.n]
    return Chunk(chunk.n, ids, namespaces, bits)


def tail_length(connection: Connection) -> int:
    """Rows of the log that are not packed."""
    row = connection.execute(  # two look-ups: one query with both would read the whole table
        "SELECT coalesce((SELECT max(seq) FROM code) - (SELECT min(seq) FROM code) + 1, 0)"
    ).fetchone()
    return int(row[0])


def pack(connection: Connection, words: int) -> None:
    """Move the tail of the log into a segment; merge the segments when a third of them is stale.

    Call it in a write transaction. Readers that have not read the packed rows read the segments.
    """
    tail = _read_tail(connection, 0, words)
    if tail is None:
        return
    last = int(connection.execute("SELECT max(seq) FROM code").fetchone()[0])
    live = int(connection.execute("SELECT count(*) FROM vector").fetchone()[0])
    stored = int(
        connection.execute("SELECT coalesce(sum(count), 0) FROM code_segment").fetchone()[0]
    )
    chunk = _merge(_empty(words), *tail)
    gone = tail[1] < 0
    if stored + len(tail[0]) > 1.5 * live + 1024 or gone.all():
        chunk = _merge(_load(connection, words), *tail)
        keep = np.flatnonzero(chunk.namespaces[: chunk.n] >= 0)
        chunk = Chunk(len(keep), chunk.ids[keep], chunk.namespaces[keep], chunk.bits[:, keep])
        connection.execute("DELETE FROM code_segment")
    else:  # tombstones of older segments must survive the packing
        order = np.argsort(tail[0])
        chunk = Chunk(len(order), tail[0][order], tail[1][order], tail[2][:, order])
    connection.execute(
        "INSERT INTO code_segment (last_seq, count, vectors, namespaces, bits) VALUES (?, ?, ?, ?, ?)",
        (
            last,
            chunk.n,
            chunk.ids[: chunk.n].tobytes(),
            chunk.namespaces[: chunk.n].tobytes(),
            np.ascontiguousarray(chunk.bits[:, : chunk.n]).tobytes(),
        ),
    )
    connection.execute("DELETE FROM code")


_shared: weakref.WeakValueDictionary[tuple[str, int, int], SignIndex] = (
    weakref.WeakValueDictionary()
)
_shared_lock = threading.Lock()


def shared_index(path: str, generation: int, words: int, budget_bytes: int) -> SignIndex:
    """The process's index of a file; ``generation`` changes when the file is re-embedded."""
    key = (str(Path(path).resolve()), generation, words)
    with _shared_lock:
        index = _shared.get(key)
        if index is None:
            index = _shared[key] = SignIndex(words, budget_bytes)
        return index
