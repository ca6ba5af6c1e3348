"""A connection within a snapshot or a transaction, see `langmemory.ledger.connection`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import FloatDumper, Int8Dumper
from psycopg.types.string import StrDumper

from langmemory.engines.postgres import keywords, vectors
from langmemory.engines.postgres.leaves import decoded, encoded
from langmemory.engines.postgres.translate import Translated, translated
from langmemory.errors import DatabaseError
from langmemory.ledger.values import LeafValue
from langmemory.ports.candidates import Floats, Ids


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
    raw.adapters.register_dumper(vectors.Sent, vectors.SentDumper)


class Connection:
    """One snapshot, or one transaction, that speaks the portable SQL."""

    constraint_errors: tuple[type[Exception], ...] = (
        psycopg.IntegrityError, psycopg.DataError,
        # A value of another type than its column; SQLite may turn it into that type.
        psycopg.errors.DatatypeMismatch, psycopg.errors.UndefinedFunction,
    )  # fmt: skip
    damage_errors: tuple[type[Exception], ...] = (psycopg.errors.DataCorrupted,)
    own_words: tuple[str, ...] = ()
    vector_rows = vectors.ROWS
    vector_of = staticmethod("v.item = {}".format)
    unpacked = staticmethod(vectors.unpacked)

    def __init__(
        self, raw: psycopg.Connection[Any], pipeline: psycopg.Pipeline | None = None
    ) -> None:
        """``pipeline``: statements that return no rows are sent and not waited for, until one does."""
        self.raw, self._pipeline = raw, pipeline
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

    def columns(self, table: str) -> list[str]:
        rows = self.execute(
            "SELECT column_name::text FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position",
            (table,),
        )
        return [str(name) for (name,) in rows]

    @staticmethod
    def leaf(stored: Any, /) -> LeafValue:
        return decoded(stored)

    def rescued(self) -> Any:
        raise DatabaseError(
            "Nothing can be rescued of a damaged PostgreSQL server from here. Restore its backup."
        )

    def write_keywords(self, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool) -> None:
        keywords.write(self, rows, fresh=fresh)

    def delete_keywords(self, item: int) -> None:
        keywords.delete(self, [item])

    def holds_vectors(self) -> bool:
        if self._holds_vectors is None:
            found: Any = self.raw.execute(b"SELECT to_regclass('embedding') IS NOT NULL").fetchone()
            self._holds_vectors = bool(found[0])
        return self._holds_vectors

    def write_vectors(
        self, rows: Iterable[tuple[int, int, Floats, Sequence[bytes | None]]], *, fresh: bool
    ) -> None:
        vectors.write(self, rows, fresh=fresh)

    def read_vectors(
        self, items: Sequence[int]
    ) -> Mapping[int, tuple[Floats, Sequence[bytes | None]]]:
        return vectors.of_items(self, items)

    def delete_vectors(self, item: int, namespace: int) -> None:
        vectors.delete(self, [item])

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
        vectors.erase(self, items)


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
