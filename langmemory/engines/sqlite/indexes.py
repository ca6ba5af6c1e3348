"""A connection that keeps the keyword index and the vector index beside the rows.

Words are FTS5 rows; vectors are float32 blobs in sqlite-vec's format. Logs say whose words changed, and hold
the sign bits of the vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any, Final

import apsw
import numpy as np
from numpy.typing import NDArray

from langmemory.engines.sqlite import rescue
from langmemory.engines.sqlite.connection import Connection
from langmemory.engines.sqlite.tables import KEYWORD
from langmemory.ledger.connection import MAX_VECTORS, SLOT_BITS, check_count, insert
from langmemory.ledger.settings import read_model
from langmemory.ports.candidates import Floats
from langmemory.search import binary
from langmemory.search.chunks import sign_bits


def write_words(
    connection: Connection, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool
) -> None:
    """Index items: (item id, namespace tokens, body, context). Replaces what was there."""
    verb = "INSERT" if fresh else "INSERT OR REPLACE"
    rows = list(rows)
    if not rows:
        return
    connection.executemany(
        f"{verb} INTO keyword (rowid, ns, body, context) VALUES (?, ?, ?, ?)", rows
    )
    _log(connection, [row[0] for row in rows])


def delete_words(connection: Connection, item: int) -> None:
    connection.execute("DELETE FROM keyword WHERE rowid = ?", (item,))
    _log(connection, [item])


def delete_all_words(connection: Connection) -> None:
    """Empty the index, to write it anew."""
    connection.execute("INSERT INTO keyword (keyword) VALUES ('delete-all')")
    connection.execute("INSERT INTO word_change (items) VALUES (NULL)")


def _log(connection: Connection, items: list[int]) -> None:
    """Say whose words have changed, to those who keep a copy of them."""
    connection.execute(
        "INSERT INTO word_change (items) VALUES (?)", (np.array(items, np.int64).tobytes(),)
    )


KEPT_CHANGES: Final = 65_536
"""Rows of the log of changes that stay; who has seen less makes a copy anew."""


def trim_words_log(connection: Connection) -> None:
    """Leave out what nobody needs of the log of changes."""
    connection.execute(
        "DELETE FROM word_change WHERE seq <= (SELECT max(seq) FROM word_change) - ?",
        (KEPT_CHANGES,),
    )


MERGED_PAGES: Final = 64
"""Pages of the index that are merged in one transaction (mostly some milliseconds)."""
MERGED_FROM: Final = 2
"""So many parts of about one size, written meanwhile, are merged with one another."""


def merge_words(connection: Connection, *, begin: bool) -> bool:
    """Merge the parts that single writes left the index in, a step of it; whether more is to do.

    A search opens every part for every word: merged, it takes two thirds of the time in a small
    namespace of a large file.

    Args:
        begin: This is the first step: all parts there are now go into one. The further steps must
            not begin again, or FTS5 starts over with the parts written meanwhile, and leaves one
            more behind each time.
    """
    known = connection.execute("SELECT v FROM keyword_config WHERE k = 'usermerge'").fetchone()
    if known != (MERGED_FROM,):
        _set(connection, "usermerge", MERGED_FROM)
    before = connection.total_changes()
    _set(connection, "merge", -MERGED_PAGES if begin else MERGED_PAGES)
    return bool(connection.total_changes() - before >= 2)  # the statement itself counts as one


def _set(connection: Connection, name: str, value: Any) -> None:
    """A setting of FTS5's, or one of its commands."""
    connection.execute("INSERT INTO keyword (keyword, rank) VALUES (?, ?)", (name, value))


SHADOW_TABLES: Final = ("keyword_data", "keyword_idx", "keyword_docsize", "keyword_config")


def shadow_tables_lost(connection: Connection) -> bool:
    """Return whether FTS5 lost a table of its own; the index can then only be written anew."""
    tables = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE name IN (?, ?, ?, ?, ?)",
        ("keyword", *SHADOW_TABLES),
    ).fetchone()[0]
    return int(tables) != 1 + len(SHADOW_TABLES)


PROBED: Final = 64
"""Items at either end of a file among which one is sought that the index has to have."""


def words_missing(connection: Connection) -> bool:
    """Return whether the index lacks the first or the last item that it should have. FTS5 says nothing of
    lost rows: it finds less."""
    for order in ("ASC", "DESC"):
        row = connection.execute(
            f"SELECT id, namespace FROM (SELECT id, namespace, index_fields FROM item ORDER BY id {order} "
            f"LIMIT {PROBED}) WHERE index_fields IS NOT 'false' ORDER BY id {order} LIMIT 1"
        ).fetchone()
        if row is None:
            continue
        there = "SELECT 1 FROM keyword WHERE keyword MATCH ? AND rowid = ?"
        if connection.execute(there, (f'ns : "n{row[1]}"', row[0])).fetchone() is None:
            return True
    return False


def recreate_words(connection: Connection) -> None:
    """Drop what is left of the index and create it empty; it counts as lost until `found`."""
    connection.execute("INSERT OR REPLACE INTO setting (name, value) VALUES ('keywords', 'lost')")
    # DROP TABLE asks FTS5, which does not start without its tables.
    connection.execute(
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'keyword'; "
        "PRAGMA writable_schema = RESET"
    )
    for table in SHADOW_TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(KEYWORD)
    set_default_rank(connection)


def words_lost(connection: Connection) -> bool:
    """Return whether the index was created anew and nobody has written the items into it yet."""
    query = "SELECT 1 FROM setting WHERE name = 'keywords' AND value = 'lost'"
    return connection.execute(query).fetchone() is not None


def words_found(connection: Connection) -> None:
    """Say that the items are in the index again; in the transaction that wrote them."""
    connection.execute("DELETE FROM setting WHERE name = 'keywords'")


def set_default_rank(connection: Connection) -> None:
    """Column weights of ``rank``: the namespace counts nothing, the context half."""
    _set(connection, "rank", "bm25(0.0, 1.0, 0.5)")


def write_vectors(
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


def _blobs(matrix: NDArray[Any]) -> list[bytes]:
    """Return the bytes of each row."""
    data, width = matrix.tobytes(), matrix.strides[0]
    return [data[start : start + width] for start in range(0, len(data), width)]


def _log_gone(connection: Connection, gone: Sequence[tuple[int, int]]) -> None:
    """Say in the log that these vectors, (id, namespace id), are there no more."""
    if gone:
        connection.executemany(
            "INSERT INTO code (vector, namespace, bits) VALUES (?, ?, NULL)", gone
        )


def delete_vectors(connection: Connection, item: int, namespace: int) -> None:
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


def vectors_of_items(
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


def cached_vectors(connection: Connection, hashes: Sequence[bytes]) -> dict[bytes, Floats]:
    """Return the vectors already in the file, by cache key."""
    rows = connection.execute(
        # The first of those with the same text: one is enough.
        "SELECT c.value, (SELECT v.e FROM vector v WHERE v.hash = c.value LIMIT 1) FROM carray(?) c",
        (apsw.carray(tuple(hashes)),),
    )
    return {digest: np.frombuffer(e, np.float32) for digest, e in rows if e is not None}


class IndexedConnection(Connection):
    """See `langmemory.ledger.connection.Connection`."""

    def rescued(self) -> AbstractContextManager[rescue.Rescued]:
        return rescue.rescued(self.db_filename("main"))

    def write_keywords(self, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool) -> None:
        write_words(self, rows, fresh=fresh)

    def delete_keywords(self, item: int) -> None:
        delete_words(self, item)

    def holds_vectors(self) -> bool:
        return True

    def write_vectors(
        self, rows: Iterable[tuple[int, int, Floats, Sequence[bytes | None]]], *, fresh: bool
    ) -> None:
        write_vectors(self, rows, fresh=fresh)

    def read_vectors(
        self, items: Sequence[int]
    ) -> Mapping[int, tuple[Floats, Sequence[bytes | None]]]:
        return vectors_of_items(self, items)

    def delete_vectors(self, item: int, namespace: int) -> None:
        delete_vectors(self, item, namespace)

    def delete_all_vectors(self) -> None:
        self.execute("DELETE FROM vector; DELETE FROM code; DELETE FROM code_segment")

    def create_next_vectors(self) -> None:
        self.execute(
            "CREATE TABLE IF NOT EXISTS vector_next (id INTEGER PRIMARY KEY, hash BLOB, e BLOB NOT NULL) "
            "STRICT; CREATE TABLE IF NOT EXISTS reembed_done (item INTEGER PRIMARY KEY, "
            "version INTEGER NOT NULL) STRICT"
        )

    def erase_vectors(self, items: Sequence[int]) -> None:
        """The sign bits of these items leave the log and its segments; that they are gone stays in
        it."""
        array = self.array(items)
        self.execute(
            f"DELETE FROM code WHERE bits IS NOT NULL AND vector >> {SLOT_BITS} IN "
            "(SELECT value FROM carray(?))",
            (array,),
        )
        model = read_model(self)
        if model.dims is not None:
            binary.without(self, np.array(items, np.int64), model.words)
        tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('vector_next', 'reembed_done')"
        if self.execute(tables).fetchone()[0] == 2:  # a move to another model is under way
            self.execute(
                f"DELETE FROM vector_next WHERE id >> {SLOT_BITS} IN (SELECT value FROM carray(?1)); "
                "DELETE FROM reembed_done WHERE item IN (SELECT value FROM carray(?1))",
                (array, array),
            )
