"""A connection within a snapshot or a transaction, see `langmemory.ledger.connection`.

Beside the rows it writes the keyword index, vectors as rows of pgvector's ``vector``, and values of leaves as
bytes, in the order that SQLite gives values of any type: numbers, texts, blobs.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, cast

import apsw
import numpy as np
import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format, TransactionStatus
from psycopg.types.numeric import FloatDumper, Int8Dumper
from psycopg.types.string import StrDumper

from langmemory.engines.postgres.translate import Translated, translated
from langmemory.errors import DatabaseError
from langmemory.ledger.connection import SLOT_BITS, check_count
from langmemory.ledger.settings import read_model
from langmemory.ledger.values import LeafValue
from langmemory.ports.candidates import Floats, Ids
from langmemory.search import binary
from langmemory.search.chunks import sign_bits

TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])
"""As of the keyword index of a memory file, so that both rank alike."""
LONGEST: Final = 2_000
"""Bytes of a word that are kept; a lexeme of PostgreSQL has at most 2,046."""
MOST: Final = 20_000
"""Different words of an item that can be found; a tsvector takes a megabyte."""


@lru_cache(maxsize=1)
def _tokenizer() -> apsw.FTS5Tokenizer:
    return apsw.Connection(":memory:").fts5_tokenizer(*TOKENIZER)


def tokenized(text: str) -> list[str]:
    """Return the words of a text as the index has them."""
    found: Any = _tokenizer()(
        text.encode("utf-8", "ignore"), apsw.FTS5_TOKENIZE_QUERY, None,
        include_offsets=False, include_colocated=False,
    )  # fmt: skip
    return [
        one if len(one) <= LONGEST // 4 else one.encode()[:LONGEST].decode("utf-8", "ignore")
        for one in cast("Sequence[str]", found)
    ]


def hashed(token: str) -> int:
    """Return the number that stands for a word in ``keyword.places``."""
    return zlib.crc32(token.encode())


def of_namespace(namespace: int) -> str:
    """Return the word of a namespace; no text has one that begins so."""
    return f"@{namespace}"


def write_words(
    connection: Connection, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool
) -> None:
    """Index items: (item id, namespace tokens, body, context). Replaces what was there."""
    written: list[tuple[Any, ...]] = []
    change = _WordChange()
    for item, namespaces, body, context in rows:
        in_body = tokenized(body)
        tokens = [*in_body, *(tokenized(context) if context else ())]
        words = list(dict.fromkeys(tokens))[:MOST]
        places_of = [of_namespace(int(one[1:])) for one in namespaces.split()]
        words += places_of
        places = np.array([hashed(token) for token in tokens], np.uint32).tobytes()
        length = len(tokens) + len(places_of)  # as FTS5 counts, the namespaces too
        written.append((item, words, len(in_body), length, places))
        change.add(item, words, length, 1)
    if not written:
        return
    if not fresh:
        _delete_words(connection, [row[0] for row in written], change)
    connection.send_many(
        b"INSERT INTO keyword (item, words, body, length, places) "
        b"VALUES (%s, array_to_tsvector(%s), %s, %s, %s)",
        written,
    )
    change.write(connection)


def delete_words(connection: Connection, items: Sequence[int]) -> None:
    """Take items out of the index."""
    change = _WordChange()
    _delete_words(connection, items, change)
    change.write(connection)


def _delete_words(connection: Connection, items: Sequence[int], change: _WordChange) -> None:
    for item, words, length in connection.raw.execute(
        b"DELETE FROM keyword WHERE item = ANY(%s) RETURNING item, tsvector_to_array(words), length",
        (list(items),),
    ).fetchall():
        change.add(item, words, length, -1)


class _WordChange:
    """What a write changes of the counts, and whose words it changes: written as one statement."""

    def __init__(self) -> None:
        self._rows = self._tokens = 0
        self._words = Counter[str]()
        self._items = list[int]()

    def add(self, item: int, words: Iterable[str], length: int, times: int) -> None:
        """Count a row of the index, or one that goes (``times`` -1)."""
        self._rows += times
        self._tokens += times * length
        for word in words:
            self._words[word] += times
        self._items.append(item)

    def write(self, connection: Connection) -> None:
        if not self._items:
            return
        changed = sorted((word, by) for word, by in self._words.items() if by)
        connection.raw.execute(
            b"WITH total AS (UPDATE keyword_total SET rows = rows + %s, tokens = tokens + %s), "
            b"logged AS (INSERT INTO word_change (seq, items) "
            b"SELECT coalesce(max(seq), 0) + 1, %s FROM word_change) "
            b"INSERT INTO word_count (word, rows) SELECT * FROM unnest(%s::text[], %s::bigint[]) "
            b"ON CONFLICT (word) DO UPDATE SET rows = word_count.rows + excluded.rows",
            (
                self._rows,
                self._tokens,
                np.unique(np.array(self._items, np.int64)).tobytes(),
                [word for word, _ in changed],
                [by for _, by in changed],
            ),
        )
        if fewer := [word for word, by in changed if by < 0]:
            connection.raw.execute(
                b"DELETE FROM word_count WHERE word = ANY(%s) AND rows <= 0", (fewer,)
            )


KEPT_CHANGES: Final = 65_536
"""Rows of the log of changes that stay; who has seen less makes a copy anew."""


def trim_words_log(connection: Connection) -> None:
    """Leave out what nobody needs of the log of changes."""
    connection.raw.execute(
        b"DELETE FROM word_change WHERE seq <= (SELECT max(seq) FROM word_change) - %s",
        (KEPT_CHANGES,),
    )


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


def sent_vector(vector: Floats) -> Sent:
    """Return a vector, float32[dims], to be bound where SQL says ``::vector``."""
    # One dimension, no NULL, of type real (700), from element 1 on.
    head = np.array([1, 0, 700, len(vector), 1], ">i4").tobytes()
    elements = np.empty(len(vector), _ELEMENTS)
    elements["bytes"], elements["value"] = 4, vector
    return Sent(head + elements.tobytes())


def unpack_vectors(rows: Sequence[Any], /) -> tuple[Ids, Floats]:
    """Return rows of `ROWS`, (id, e), as int64[n] and float32[n, dims]."""
    if not rows:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    found, sent = zip(*rows, strict=True)
    # Two numbers of 16 bits, the dimensions and 0, come first.
    matrix = np.frombuffer(b"".join(sent), ">f4").reshape(len(found), -1)[:, 1:]
    return np.array(found, np.int64), matrix.astype(np.float32)


def write_vectors(
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
            (first + n, item, namespace, hashes[n], sent_vector(vector), bits[n].tobytes())
            for n, vector in enumerate(embedded)
        ]
    if not fresh:
        delete_vectors(connection, [row[0] for row in rows])
    if written:
        connection.send_many(
            b"WITH one AS (INSERT INTO embedding (id, item, namespace, hash, e) "
            b"VALUES (%s, %s, %s, %s, %s::vector) RETURNING id, namespace) "
            b"INSERT INTO code (vector, namespace, bits) SELECT id, namespace, %s FROM one",
            written,
        )


def delete_vectors(connection: Connection, items: Sequence[int]) -> None:
    """Remove the vectors of items, and say so in the log. Without pgvector there are none."""
    if not connection.holds_vectors():
        return
    connection.raw.execute(
        b"WITH gone AS (DELETE FROM embedding WHERE item = ANY(%s) RETURNING id, namespace) "
        b"INSERT INTO code (vector, namespace, bits) SELECT id, namespace, NULL FROM gone",
        (list(items),),
    )


def erase_vectors(connection: Connection, items: Sequence[int]) -> None:
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


def vectors_of_items(
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
        item: (unpack_vectors([row[:2] for row in some])[1], [row[2] for row in some])
        for item, some in found
    }


def cached_vectors(connection: Connection, hashes: Sequence[bytes]) -> dict[bytes, Floats]:
    """Return the vectors already there, by cache key."""
    rows = connection.raw.execute(
        b"SELECT DISTINCT ON (hash) id, vector_send(e), hash FROM embedding WHERE hash = ANY(%s)",
        (list(hashes),),
    ).fetchall()
    _, matrix = unpack_vectors([row[:2] for row in rows])
    return {row[2]: vector for row, vector in zip(rows, matrix, strict=True)}


_SIGN = 1 << 63


def encoded(value: LeafValue) -> bytes:
    """Return bytes that are equal, or smaller, where the values are.

    A number is the bits of the nearest float, turned so that they sort, and how far an integer is
    from that float: within 2**63 at most 512.
    """
    if isinstance(value, str):
        return b"\x02" + value.encode()
    if isinstance(value, bytes):
        return b"\x03" + value
    nearest = float(value)
    (bits,) = struct.unpack(">Q", struct.pack(">d", nearest + 0.0))
    bits = bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN
    rest = value - int(nearest) if isinstance(value, int) and math.isfinite(nearest) else 0
    return b"\x01" + struct.pack(">QH", bits, 0x8000 + rest)


class _Int(Int8Dumper):
    """An int, or a truth value, as bigint: an int of another size would be another statement."""

    def dump(self, value: Any) -> bytes:
        number = int(value)
        if not -(1 << 63) <= number < 1 << 63:
            raise OverflowError(f"{number} takes more than 64 bits")
        return str(number).encode()


class _Number(Loader):
    """A sum as the int or float that it is."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text else int(text)


MANY: Final = 8
"""Rows from which on one statement for all of them saves more than a way to the server and back."""
MOST_SENT: Final = 200
"""Statements that are sent without waiting for what became of them."""


_SENT_HEAD: Final = 20
"""Bytes of an array of one dimension, as PostgreSQL sends it, before its elements."""
_SENT_ID: Final = np.dtype([("bytes", ">i4"), ("id", ">i8")])

_LAST_ITEM: Final = "SELECT last_value FROM last_item"


class Array(list[Any]):
    """A value of ``carray(?)``; any other list is no value."""


class Numbers(Array):
    """One of whole numbers."""


class _NumbersDumper(Dumper):
    """Writes them all at once, as they may be thousands."""

    oid = 1016  # of bigint[], the same on every server

    def dump(self, obj: Any) -> bytes:
        return b"{%s}" % ",".join(map(str, obj)).encode()


def adapt(raw: psycopg.Connection[Any]) -> None:
    """Let values go to and fro as they do with SQLite."""
    whole: tuple[type, ...] = (int, bool, np.int64, np.int32, np.bool_)
    for kind in whole:
        raw.adapters.register_dumper(kind, _Int)
    broken: tuple[type, ...] = (float, np.float64, np.float32)
    for kind in broken:
        raw.adapters.register_dumper(kind, FloatDumper)
    raw.adapters.register_dumper(str, StrDumper)  # as text, not as of no type
    raw.adapters.register_loader("numeric", _Number)
    raw.adapters.register_dumper(Numbers, _NumbersDumper)
    raw.adapters.register_dumper(Sent, SentDumper)


class Connection:
    """One snapshot, or one transaction, that speaks the portable SQL."""

    constraint_errors: tuple[type[Exception], ...] = (
        psycopg.IntegrityError, psycopg.DataError,
        # A value of another type than its column; SQLite may turn it into that type.
        psycopg.errors.DatatypeMismatch, psycopg.errors.UndefinedFunction,
    )  # fmt: skip
    damage_errors: tuple[type[Exception], ...] = (psycopg.errors.DataCorrupted,)
    own_words: tuple[str, ...] = ()
    vector_rows = ROWS
    measures = False
    vector_of = staticmethod("v.item = {}".format)
    unpacked = staticmethod(unpack_vectors)

    def __init__(
        self,
        raw: psycopg.Connection[Any],
        pipeline: psycopg.Pipeline | None = None,
        begun: Callable[[], None] | None = None,
    ) -> None:
        """
        Args:
            pipeline: Statements that return no rows are sent and not waited for, until one does.
            begun: Looks at what the beginning of the transaction returned, with the first answer.
        """
        self.raw, self._pipeline, self._begun = raw, pipeline, begun
        self.told: Any = None
        """What `Database.read` was asked ``also``."""
        self.answers: dict[str, tuple[Any, ...] | None] = {}
        """The only rows of statements without values, which were asked with others."""
        self._changed = self._changed_in_all = 0
        self._holds_vectors: bool | None = None
        self._uncounted: list[Any] = []
        self._asked: deque[tuple[str, tuple[Any, ...], Any]] = deque()

    @property
    def in_transaction(self) -> bool:
        return self.raw.info.transaction_status in (
            TransactionStatus.INTRANS,
            TransactionStatus.ACTIVE,
            TransactionStatus.INERROR,
        )

    def execute(self, statements: str, bindings: Any = (), /) -> Any:
        if not bindings and statements in self.answers:
            return Answered(self.answers[statements])
        if self._asked and (answer := self._answer(statements, bindings)) is not None:
            return answer
        cursor: Any = None
        for statement in _parts(statements):
            one = translated(statement)
            cursor = self.raw.execute(one.sql.encode(), _bound(one, bindings))
            if not one.returns:
                self._uncounted.append(cursor)
            if one.returns or self._pipeline is None or len(self._uncounted) >= MOST_SENT:
                self.flush()
            if not isinstance(bindings, Mapping):
                bindings = bindings[one.takes :]  # each statement takes its own
        return cursor

    def ids(self, query: str, bindings: Any = (), /) -> Ids:
        one = translated(query)
        found: Any = self.raw.execute(
            f"SELECT array_send(array_agg(s.id::bigint)) FROM ({one.sql}) AS s (id)".encode(),
            _bound(one, bindings),
            binary=True,  # thousands of rows take as long to be read as to be found
        ).fetchone()
        if found[0] is None:
            return np.empty(0, np.int64)
        return np.frombuffer(found[0], _SENT_ID, offset=_SENT_HEAD)["id"].astype(np.int64)

    def executemany(self, statements: str, bindings: Any, /) -> Any:
        if len(_parts(statements)) > 1:
            for row in bindings:
                self.execute(statements, row)
            return self.raw.cursor()
        one = translated(statements)
        return self.send_many(one.sql.encode(), [_bound(one, row) for row in bindings])

    def send_many(self, statement: bytes, rows: Sequence[Sequence[Any]]) -> Any:
        """Run a statement of PostgreSQL that returns no rows for each of the rows."""
        self._asked.clear()
        cursor = self.raw.cursor()
        if self._pipeline is not None and len(rows) < MANY:
            for row in rows:
                cursor = self.raw.execute(statement, row)
                self._uncounted.append(cursor)
        elif rows:
            self.flush()
            cursor.executemany(statement, rows)
            self._uncounted.append(cursor)
            self.flush()
        return cursor

    def flush(self) -> None:
        if self._pipeline is not None:
            self._pipeline.sync()
        if self._begun is not None:
            begun, self._begun = self._begun, None
            begun()
        for cursor in self._uncounted:
            if cursor.description is None:
                self._changed = max(cursor.rowcount, 0)
                self._changed_in_all += self._changed
        self._uncounted.clear()

    def changes(self) -> int:
        self.flush()
        return self._changed

    def total_changes(self) -> int:
        self.flush()
        return self._changed_in_all

    @staticmethod
    def array(ids: Iterable[int], /) -> Any:
        found = ids.tolist() if isinstance(ids, np.ndarray) else [int(one) for one in ids]
        return Numbers(found or [0])

    def ahead(self, questions: Iterable[tuple[str, tuple[Any, ...]]], /) -> None:
        if self._pipeline is None:
            return
        self._asked.clear()
        for statement, bindings in (*questions, (_LAST_ITEM, ())):
            one = translated(statement)
            cursor = self.raw.execute(one.sql.encode(), _bound(one, bindings))
            self._asked.append((statement, bindings, cursor))
        self.flush()

    def _answer(self, statement: str, bindings: Any) -> Any:
        """Return the answer to a query that was asked ahead, or None."""
        if not statement.startswith("SELECT"):
            self._asked.clear()
        for place, (asked, of, cursor) in enumerate(self._asked):
            if asked == statement and of == bindings:
                del self._asked[place]
                return cursor
        return None

    @staticmethod
    def text_array(texts: Sequence[str], /) -> Any:
        return Array(texts)

    def last_item(self) -> int:
        return int(self.execute(_LAST_ITEM).fetchone()[0])

    def skip_item(self) -> int:
        self._asked.clear()
        return int(
            self.execute(
                "SELECT setval('last_item', (SELECT last_value FROM last_item) + 1)"
            ).fetchone()[0]
        )

    def last_ids(self) -> dict[str, int]:
        found = {"item": self.last_item()}
        for table, _, sequence in self._numbered():
            if table not in found:
                query = f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}"
                found[table] = int(self.execute(query).fetchone()[0])
        return found

    def raise_last_ids(self, ids: Mapping[str, int]) -> None:
        self._asked.clear()
        for table, column, sequence in self._numbered():
            highest = (
                f"greatest(1, ?, last_value, (SELECT coalesce(max({column}), 0) FROM {table}))"
            )
            if table == "item":
                sequence = "last_item"
            self.execute(
                f"SELECT setval('{sequence}', {highest}) FROM {sequence} "
                f"WHERE ? > 0 OR EXISTS (SELECT 1 FROM {table})",
                (ids.get(table, 0), ids.get(table, 0)),
            )

    def _numbered(self) -> list[tuple[str, str, str]]:
        """Return the tables that number their rows, with the column and its sequence."""
        return list(
            self.raw.execute(
                b"SELECT table_name::text, column_name::text, "
                b"pg_get_serial_sequence(quote_ident(table_name), column_name) "
                b"FROM information_schema.columns "
                b"WHERE table_schema = current_schema() AND is_identity = 'YES' ORDER BY 1"
            ).fetchall()
        )

    def rescued(self) -> Any:
        raise DatabaseError(
            "Nothing can be rescued of a damaged PostgreSQL server from here. Restore its backup."
        )

    def write_keywords(self, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool) -> None:
        write_words(self, rows, fresh=fresh)

    def delete_keywords(self, item: int) -> None:
        delete_words(self, [item])

    def holds_vectors(self) -> bool:
        if self._holds_vectors is None:
            found: Any = self.raw.execute(b"SELECT to_regclass('embedding') IS NOT NULL").fetchone()
            self._holds_vectors = bool(found[0])
        return self._holds_vectors

    def write_vectors(
        self, rows: Iterable[tuple[int, int, Floats, Sequence[bytes | None]]], *, fresh: bool
    ) -> None:
        write_vectors(self, rows, fresh=fresh)

    def read_vectors(
        self, items: Sequence[int]
    ) -> Mapping[int, tuple[Floats, Sequence[bytes | None]]]:
        return vectors_of_items(self, items)

    def delete_vectors(self, item: int, namespace: int) -> None:
        delete_vectors(self, [item])

    def delete_all_vectors(self) -> None:
        for table in (b"embedding", b"code", b"code_segment"):
            self.raw.execute(b"DELETE FROM " + table)

    def create_next_vectors(self) -> None:
        self.raw.execute(
            b"CREATE TABLE IF NOT EXISTS vector_next (id bigint PRIMARY KEY, hash bytea, e bytea NOT NULL)"
        )
        self.raw.execute(
            b"CREATE TABLE IF NOT EXISTS reembed_done (item bigint PRIMARY KEY, version bigint NOT NULL)"
        )

    def erase_vectors(self, items: Sequence[int]) -> None:
        erase_vectors(self, items)


class Answered:
    """The row of a statement that was asked before, or none."""

    def __init__(self, row: tuple[Any, ...] | None) -> None:
        self._row = row

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._row


_SEMICOLON: Final = re.compile(r"'(?:[^']|'')*'|(;)")


def _parts(statements: str) -> list[str]:
    """Statements one by one: the server binds values to one of them."""
    if ";" not in statements:
        return [statements]
    parts, at = [], 0
    for found in _SEMICOLON.finditer(statements):
        if found[1]:
            parts.append(statements[at : found.start()])
            at = found.end()
    parts.append(statements[at:])
    return [part for part in parts if part.strip()]


def _bound(one: Translated, bindings: Any) -> list[Any]:
    """Return the values in the order in which the statement takes them."""
    values: list[Any]
    if isinstance(bindings, Mapping):
        values = [bindings[str(name)] for name in one.order]
    else:
        given = tuple(bindings)
        values = [given[int(place)] for place in one.order]
    for value in values:
        if type(value) in (list, tuple, dict):
            raise TypeError(f"{value!r:.80} is no value of a column")
    for place in one.leaves:
        values[place] = encoded(values[place])
    return values
