"""The sign bits of all vectors of a file, in memory: what a search looks at first.

One `BinaryQuantizedIndex` is shared by all stores of a process on one file. It is a view of the ``code`` log:
built from packed segments and the tail behind them, and brought up to date from the tail whenever
another connection has committed. It can be dropped at any time. Over its byte budget nothing is
kept and a search streams the segments.

The vectors of a small file are kept as well, and a search compares them all. A process that searches
a larger file often keeps a byte for each dimension (`Int8Vectors`): then only the last few comparisons
need rows of the file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langmemory.errors import DatabaseError
from langmemory.ledger.connection import SLOT_BITS, Connection
from langmemory.ledger.namespaces import ids_below
from langmemory.ports.candidates import Floats, Ids
from langmemory.search.chunks import (
    COARSE_BLOCK,
    WHOLE_UP_TO,
    Bits,
    Chunk,
    Int8Vectors,
    closest,
    empty,
    fetch,
    highest,
    merge_entries,
    rows_in,
    rows_of,
)
from langmemory.types import Namespace

HAMMING_FACTOR: Final = 6
"""Vectors kept by Hamming distance for each one kept by the finer comparison."""
HAMMING_SHARE: Final = 12
"""One of so many vectors is kept by Hamming distance however few are wanted …"""
CENTERED_SHARE: Final = 160
"""As `HAMMING_SHARE`, by the sign bits of the coarse copy …"""
CENTERED_MOST: Final = 8_192
"""… and at most so many: of the ten nearest of a million static vectors .991 are among 5,200, .997 among
10,400."""
HAMMING_RANGE: Final = (1_000, 8_192)
"""… but at least and at most so many."""
COMPARED: Final = 2_200
"""Vectors that the coarse copy always compares: of the ten nearest of 100,000 static vectors .992 are
among 2,000, .994 among 2,500 and .980 among 1,000."""
EVERY: Final = 1 << 40
FEW: Final = 50
"""Vectors that are soon fetched and compared exactly: no reason for a copy."""
SCANS_BEFORE_COPY: Final = 16
"""Searches among more than `FEW` vectors after which a process is taken to go on searching."""
STEP_PAUSE_SECONDS: Final = 0.01
"""Between two blocks of the coarse copy, for the searches of other threads."""
KEPT_ROWS: Final = 1 << 19
"""Rows of namespaces that are kept (8 bytes each), so that a search need not look for them again …"""
KEPT_TIMES: Final = 2
"""… or so many times as many as there are vectors: the branches of a tree have all of them together."""
PACK_AFTER: Final = 65_536
"""Log rows after which the tail is packed into a segment."""
ENDS: Final = (
    "coalesce((SELECT max(seq) FROM code "
    "WHERE seq > (SELECT coalesce(max(last_seq), 0) FROM code_segment)), 0), "
    "coalesce((SELECT max(last_seq) FROM code_segment), 0)"
)
"""The last place of the log, 0 where nothing follows what is packed, and the last that is packed. Not the
maximum of all: PostgreSQL would walk through rows that are packed and deleted until it vacuums them."""


class Nearest(NamedTuple):
    """Vectors that are likely the closest, in any order."""

    ids: Ids
    scores: Floats
    complete: bool
    """Whether they are all there are."""
    cosines: bool
    """Whether the scores are cosines, right to about 0.002; else they only order."""


class BinaryQuantizedIndex:
    """Candidates for a query vector by Hamming distance. Thread-safe."""

    def __init__(self, words: int, budget_bytes: int, copy_bytes: int = 0) -> None:
        self.words = words
        self.budget_bytes = budget_bytes
        self._vector_bytes = 12 + 8 * words
        self._coarse_budget_bytes = copy_bytes
        self._lock = threading.Lock()
        self._seq = -1
        self._chunk = empty(words)
        self._streaming = False
        self._coarse_rows = 0
        self._coarse_ready = False
        self._scopes: dict[Namespace, tuple[Chunk, NDArray[np.int64] | None]] = {}
        self._scope_rows = 0
        self.next_copy = SCANS_BEFORE_COPY
        self.scans = 0
        """Searches among more than `FEW`: a coarse copy is worth its while if they go on."""

    def refresh(self, connection: Connection, ends: tuple[int, int] | None = None) -> None:
        """Read what was logged since the last time. Call it when the file has changed.

        Args:
            ends: The last place of the log in this snapshot, and the last that is packed, if known.
        """
        if ends is not None and ends[0] <= self._seq:
            return
        with self._lock:
            newest, packed = ends or _newest(connection)
            if newest <= self._seq:
                return
            if self._streaming or (self._seq < packed and self._seq >= 0):
                self._seq = -1  # the rows in between are packed away: read the segments
            if self._seq < 0:
                (logged,) = connection.execute(
                    "SELECT coalesce((SELECT sum(count) FROM code_segment), 0) "
                    "+ (SELECT count(*) FROM code)"
                ).fetchone()
                if logged * self._vector_bytes > self.budget_bytes:
                    self._streaming, self._chunk = True, empty(self.words)
                    self._seq = newest
                    return
                self._streaming = self._coarse_ready = False
                self._chunk = _load(connection, self.words)
                self._seq = packed
            tail = _read_tail(connection, self._seq, self.words)
            if tail is not None:
                self._chunk = merge_entries(self._chunk, *tail)
                self._scopes.clear()
                self._scope_rows = 0
                self._keep_within_budgets()
                _lay_coarse(connection, self._chunk, tail[0])
            self._copy_whole(connection)
            self._seq = newest

    def _copy_whole(self, connection: Connection) -> None:
        """Keep the vectors of a small file as they are."""
        chunk = self._chunk
        if not 0 < chunk.n <= WHOLE_UP_TO or chunk.coarse is not None or self._streaming:
            return
        dims = _dims(connection)
        if not dims or len(chunk.ids) * (dims + 1) * 4 > self._coarse_budget_bytes:
            return
        chunk = replace(chunk, coarse=Int8Vectors.whole(dims, len(chunk.ids)))
        _lay_coarse(connection, chunk, chunk.ids[: chunk.n])
        self._chunk, self._coarse_ready = chunk, True

    def _keep_within_budgets(self) -> None:
        """Give up what a file that grew while it was open has made too large."""
        chunk = self._chunk
        if chunk.n * self._vector_bytes > self.budget_bytes:
            self._streaming, self._coarse_ready = True, False
            self._chunk = empty(self.words)
        elif chunk.coarse is not None and (
            chunk.coarse.bytes > self._coarse_budget_bytes
            or (chunk.coarse.exact and chunk.n > WHOLE_UP_TO)
        ):
            self._coarse_ready = False
            self._chunk = replace(chunk, coarse=None)

    def load_coarse(
        self,
        read: Callable[[], AbstractContextManager[Connection | None]],
        dims: int,
        budget_bytes: int,
    ) -> None:
        """Keep the vectors at a byte a dimension from now on, if they fit into the budget.

        Takes about half a second for 100,000, in steps, so that searches go on meanwhile.

        Args:
            read: A snapshot of the file; None once its vectors come from another model.
        """
        while True:
            time.sleep(STEP_PAUSE_SECONDS)  # not inside the lock
            # The snapshot begins within the lock: it is no older than what `refresh` has seen.
            with self._lock, read() as connection:
                chunk = self._chunk
                if connection is None:
                    return
                self._coarse_budget_bytes = budget_bytes
                if self._streaming or len(chunk.ids) * (dims + 4 + 8 * self.words) > budget_bytes:
                    return
                if chunk.coarse is not None and chunk.coarse.exact:
                    return
                if chunk.coarse is None:
                    spread = chunk.ids[: chunk.n : max(chunk.n // COARSE_BLOCK, 1)]
                    coarse = Int8Vectors.around(
                        fetch(connection, spread)[1].reshape(-1, dims), len(chunk.ids)
                    )
                    self._coarse_rows, self._coarse_ready = 0, False
                    chunk = self._chunk = replace(chunk, coarse=coarse)
                if self._coarse_rows >= chunk.n:
                    self._coarse_ready = True
                    return
                end = min(self._coarse_rows + COARSE_BLOCK, chunk.n)
                _lay_coarse(connection, chunk, chunk.ids[self._coarse_rows : end])
                self._coarse_rows = end

    @property
    def loaded(self) -> bool:
        """Whether it was ever read from the log."""
        return self._seq >= 0

    @property
    def streaming(self) -> bool:
        """Whether it is over its budget."""
        return self._streaming

    @property
    def size(self) -> int:
        """Vectors in memory; 0 when streaming."""
        return self._chunk.n

    @property
    def coarse(self) -> Int8Vectors | None:
        """The coarse copy, when it is whole."""
        chunk = self._chunk  # before the flag: see `load_coarse`
        return chunk.coarse if self._coarse_ready else None

    @property
    def whole(self) -> bool:
        """Whether a search compares all vectors of the file as they are."""
        coarse = self.coarse
        return coarse is not None and coarse.exact

    def cosines(self, query: Floats, items: Ids) -> Floats | None:
        """Return the cosine of each item's best vector, NaN for an item without one, right to about 0.002
        if not `whole`; None without a copy."""
        chunk = self._chunk
        if not self._coarse_ready or chunk.coarse is None:
            return None
        rows, owner = rows_of(chunk, items)
        best = np.full(len(items), np.nan, np.float32)
        np.fmax.at(best, owner, chunk.coarse.cosines(query, rows))
        return best

    def chunks(self, connection: Connection) -> Iterator[Chunk]:
        """Yield all vectors: one chunk in memory, or the segments one by one."""
        if not self._streaming:
            yield self._chunk
            return
        for (last,) in connection.execute(
            "SELECT last_seq FROM code_segment ORDER BY last_seq"
        ).fetchall():
            yield _segment(connection, last, self.words)
        tail = _read_tail(connection, _newest(connection)[1], self.words)
        if tail is not None:
            yield merge_entries(empty(self.words), *tail)

    def candidates(
        self,
        connection: Connection,
        query: Floats,
        limit: int,
        namespace: Namespace,
        *,
        margin: float = 1.0,
        exhaustive: bool = False,
    ) -> Nearest:
        """Return the ``limit`` vectors that are likely the closest.

        First by Hamming distance of the sign bits, then, of `HAMMING_FACTOR` times as many, by the cosine
        with the coarse copy. Without one, by the dot product of the query itself with the signs,
        which still tells them apart much better (asymmetric distances, Gordo and Perronnin 2011).

        Args:
            connection: Where to stream from, if need be.
            limit: How many, as far as there are any. When streaming, outdated bits of changed
                vectors count too, so there may be fewer.
            namespace: Prefix of the namespaces in scope; ``()`` is every one.
            margin: Times as many to be chosen by sign bits, as predicates will leave out the others.
            exhaustive: Let no sign bits decide: with a coarse copy all vectors in scope are compared
                with it, without one all of them are returned.
        """
        ids: list[Ids] = []
        scores: list[Floats] = []
        total = 0
        cosines = self._coarse_ready
        if exhaustive and self.coarse is None:
            limit = EVERY
        near = EVERY
        if not (exhaustive or self.whole):
            near = self._kept_by_signs(limit, self._chunk.n, cosines, margin)
        for chunk in self.chunks(connection):
            cosines = cosines and chunk.coarse is not None
            rows = self._in_scope(connection, chunk, namespace)
            size = chunk.n if rows is None else len(rows)
            total += size
            if size > FEW:
                self.scans += 1
            if size <= near:
                rows = np.arange(size) if rows is None else rows
            else:
                if rows is None or size > chunk.n // 4:
                    found = chunk.distances(query, coarse=cosines)
                    found = found if rows is None else found[rows]
                else:
                    found = chunk.distances(query, rows, coarse=cosines)
                best = closest(found, near)
                rows = best if rows is None else rows[best]
            ids.append(chunk.ids[rows])
            scores.append(chunk.scores(query, rows, coarse=cosines))
        if not ids:
            return Nearest(np.empty(0, np.int64), np.empty(0, np.float32), True, cosines)
        together, score = ids[0], scores[0]
        if len(ids) > 1:
            together, score = np.concatenate(ids), np.concatenate(scores)
        if len(together) > limit:
            best = highest(score, together, limit)
            together, score = together[best], score[best]
        if self._streaming:  # a changed vector stands in several segments
            together, first = np.unique(together, return_index=True)
            score = score[first]
        return Nearest(together, score, total <= limit, cosines)

    def _kept_by_signs(self, limit: int, size: int, coarse: bool, margin: float = 1.0) -> int:
        """Return how many of ``size`` vectors go on to the finer comparison, of which ``limit`` are
        wanted."""
        if coarse:
            share = max(COMPARED, round(margin * min(size // CENTERED_SHARE, CENTERED_MOST)))
        else:
            least, most = HAMMING_RANGE
            share = round(margin * min(max(size // HAMMING_SHARE, least), most))
        return max(HAMMING_FACTOR * limit, share)

    def _in_scope(
        self, connection: Connection, chunk: Chunk, namespace: Namespace
    ) -> NDArray[np.int64] | None:
        """Return the rows of the chunk in the namespace and below it; None when it is all of them. Kept for
        the next search as long as nothing changes."""
        kept = self._scopes.get(namespace)
        if kept is not None and kept[0] is chunk:
            return kept[1]
        ids = np.array(ids_below(connection, namespace), np.int64) if namespace else None
        rows = rows_in(chunk, ids)
        if not self._streaming:
            with self._lock:
                # Another thread may have read on, to vectors in namespaces that this snapshot does
                # not know, or brought vectors back in the same chunk: then these are not all rows.
                if self._chunk is not chunk or _newest(connection)[0] != self._seq:
                    return rows
                # An empty one takes room as well.
                self._scope_rows += 1 if rows is None else 1 + len(rows)
                if self._scope_rows > max(KEPT_ROWS, KEPT_TIMES * chunk.n):
                    self._scopes.clear()
                    self._scope_rows = 0
                else:
                    self._scopes[namespace] = (chunk, rows)
        return rows

    def closest_of(self, query: Floats, items: Ids, limit: int) -> Ids | None:
        """Of the vectors of some items (ascending ids), about ``limit`` closest; None when streaming."""
        if self._streaming:
            return None
        chunk = self._chunk
        coarse = self._coarse_ready
        rows, _ = rows_of(chunk, items)
        near = EVERY if self.whole else self._kept_by_signs(limit, len(rows), coarse)
        if len(rows) > FEW:
            self.scans += 1
        if len(rows) > near:
            rows = rows[closest(chunk.distances(query, rows, coarse=coarse), near)]
        if len(rows) > limit:
            scores = chunk.scores(query, rows, coarse=coarse)
            rows = rows[highest(scores, chunk.ids[rows], limit)]
        return np.ascontiguousarray(chunk.ids[rows])


def _lay_coarse(connection: Connection, chunk: Chunk, ids: Ids) -> None:
    """Bring some rows (ascending ids) of the coarse copy, if there is one, to what the file says."""
    coarse = chunk.coarse
    if coarse is None or not len(ids):
        return
    rows = np.searchsorted(chunk.ids[: chunk.n], ids)
    known = rows < chunk.n
    rows, ids = rows[known], ids[known]
    rows, ids = rows[chunk.ids[rows] == ids], ids[chunk.ids[rows] == ids]
    coarse.values[rows] = 0
    found, vectors = fetch(connection, ids)
    if len(found):
        coarse.lay(rows[ids.searchsorted(found)], vectors)


def _dims(connection: Connection) -> int:
    """Return how long the vectors are; 0 without any."""
    # By the index of the ids: SQLite would call it a scan.
    one = f"SELECT v.id, v.e FROM {connection.vector_rows} v WHERE v.id > 0 LIMIT 1"
    return int(connection.unpacked(connection.execute(one).fetchall())[1].shape[1])


def _newest(connection: Connection) -> tuple[int, int]:
    """Return the last place of the log, and the last that is packed."""
    last, packed = connection.execute(f"SELECT {ENDS}").fetchone()
    return max(last, packed), packed


@contextmanager
def _clear_damage() -> Iterator[None]:
    """Where a page of the log stands in the place of another, its rows have the types of another table."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise DatabaseError(
            f"The sign bits of vectors are damaged ({error}). Run `langmemory doctor`: it says what to do."
        ) from error


@_clear_damage()
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
    chunk = empty(words)
    for (last,) in connection.execute(
        "SELECT last_seq FROM code_segment ORDER BY last_seq"
    ).fetchall():
        segment = _segment(connection, last, words)
        chunk = (
            merge_entries(chunk, segment.ids, segment.namespaces, segment.bits)
            if chunk.n
            else segment
        )
    return chunk


@_clear_damage()
def _read_tail(
    connection: Connection, after_seq: int, words: int
) -> tuple[Ids, NDArray[np.int32], Bits] | None:
    """Entries of the log after a point, newest per vector: ids ascending, namespaces, bits."""
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


def tail_length(connection: Connection) -> int:
    """Return the rows of the log that are not packed."""
    last, packed = _newest(connection)
    if last == packed:
        return 0
    (first,) = connection.execute("SELECT min(seq) FROM code WHERE seq > ?", (packed,)).fetchone()
    return int(last - first + 1)


def pack(connection: Connection, words: int) -> None:
    """Move the tail of the log into a segment; merge the segments when a third of them is stale.

    Call it in a write transaction. Readers that have not read the packed rows read the segments.
    """
    tail = _read_tail(connection, 0, words)
    if tail is None:
        return
    last = int(connection.execute("SELECT max(seq) FROM code").fetchone()[0])
    live = int(connection.execute(f"SELECT count(*) FROM {connection.vector_rows} v").fetchone()[0])
    stored = int(
        connection.execute("SELECT coalesce(sum(count), 0) FROM code_segment").fetchone()[0]
    )
    if stored + len(tail[0]) > 1.5 * live + 1024 or (tail[1] < 0).all():
        chunk = merge_entries(_load(connection, words), *tail)
        keep = (chunk.namespaces[: chunk.n] >= 0).nonzero()[0]
        connection.execute("DELETE FROM code_segment")
        _write_segment(connection, last, _only(chunk, keep))
    else:  # tombstones of older segments must survive the packing
        _write_segment(connection, last, Chunk(len(tail[0]), *tail))
    connection.execute("DELETE FROM code")


def without(connection: Connection, items: Ids, words: int) -> None:
    """Take the sign bits of some items out of the segments, in a write transaction. Whoever has read
    a segment learns from the log that they are gone."""
    for (last,) in connection.execute("SELECT last_seq FROM code_segment").fetchall():
        segment = _segment(connection, last, words)
        keep = np.flatnonzero(~np.isin(segment.ids >> SLOT_BITS, items))
        if len(keep) < segment.n:
            _write_segment(connection, last, _only(segment, keep))


def _only(chunk: Chunk, rows: NDArray[np.int64]) -> Chunk:
    return Chunk(len(rows), chunk.ids[rows], chunk.namespaces[rows], chunk.bits[:, rows])


def _write_segment(connection: Connection, last_seq: int, chunk: Chunk) -> None:
    """``chunk`` is without spare room."""
    connection.execute(
        "INSERT OR REPLACE INTO code_segment (last_seq, count, vectors, namespaces, bits) "
        "VALUES (?, ?, ?, ?, ?)",
        (
            last_seq,
            chunk.n,
            chunk.ids.tobytes(),
            chunk.namespaces.tobytes(),
            np.ascontiguousarray(chunk.bits).tobytes(),
        ),
    )
