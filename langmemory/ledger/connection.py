"""The small port that portable SQL runs on: one snapshot, or one transaction, of a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any, Final, Protocol

from langmemory.errors import InvalidValueError
from langmemory.ports.candidates import Floats, Ids

MAX_VECTORS: Final = 65_536
"""Vectors that one item may have."""


SLOT_BITS: Final = (MAX_VECTORS - 1).bit_length()
"""Low bits of a vector id that number the vectors of one item."""


def check_count(vectors: int) -> None:
    """Refuse an item with more vectors than one may have.

    Raises:
        InvalidValueError: It has more than `MAX_VECTORS`.
    """
    if vectors > MAX_VECTORS:
        raise InvalidValueError(
            f"An item would have {vectors} vectors; {MAX_VECTORS} is the most. "
            "Index fewer fields, or split the item."
        )


class Rescued(Protocol):
    """A copy of what could be read of a damaged database."""

    @property
    def connection(self) -> Connection: ...

    @property
    def damages(self) -> Sequence[object]: ...


class Connection(Protocol):
    """A connection within a snapshot or a transaction.

    SQL for it keeps to the spellings of ``docs/decisions/038-portable-sql.md``, so that an engine
    for another database translates a handful of them and nothing else.
    """

    @property
    def constraint_errors(self) -> tuple[type[Exception], ...]:
        """The exceptions that a row raises which the schema does not allow."""
        ...

    @property
    def damage_errors(self) -> tuple[type[Exception], ...]:
        """The exceptions that a damaged table raises."""
        ...

    @property
    def own_words(self) -> tuple[str, ...]:
        """Queries for texts that the database itself writes into its files."""
        ...

    @property
    def vector_rows(self) -> str:
        """The vectors as a table of SQL: ``id``, which is the item's shifted by `SLOT_BITS`, and ``e``,
        which `unpack_vectors` reads."""
        ...

    def vector_of(self, item: str, /) -> str:
        """Return the condition that a row ``v`` of `vector_rows` is one of an item, given by SQL for its
        id."""
        ...

    @property
    def measures(self) -> bool:
        """Whether SQL here has the functions of sqlite-vec, which compare vectors."""
        ...

    def unpacked(self, rows: Sequence[Any], /) -> tuple[Ids, Floats]:
        """Return rows of (id, e) of `vector_rows` as int64[n] and float32[n, dims]."""
        ...

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; an error may have ended it."""
        ...

    def rescued(self) -> AbstractContextManager[Rescued]:
        """Return a copy of all that can be read of a damaged database."""
        ...

    def execute(self, statements: str, bindings: Any = ..., /) -> Any:
        """Run statements with bound values; return an iterable of rows with ``fetchone`` and
        ``fetchall``."""
        ...

    def ids(self, query: str, bindings: Any = ..., /) -> Ids:
        """Return the only column of a query, ids, as int64[n]."""
        ...

    def executemany(self, statements: str, bindings: Any, /) -> Any:
        """Run one statement for each of the rows of bound values."""
        ...

    def flush(self) -> None:
        """Have run what was given; an engine that sends statements without waiting for what becomes of
        them raises their errors now."""
        ...

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        ...

    def total_changes(self) -> int:
        """Return how many rows were changed through this connection."""
        ...

    def array(self, ids: Iterable[int], /) -> Any:
        """Return int64 ids, none of them 0, as the value of ``carray(?)``: a table of one column
        named ``value``."""
        ...

    def text_array(self, texts: Sequence[str], /) -> Any:
        """Return texts, at least one, as the value of ``carray(?)``."""
        ...

    def ahead(self, questions: Iterable[tuple[str, tuple[Any, ...]]], /) -> None:
        """Ask queries, with their values, that are about to be executed, where it saves time to ask several
        at once. The answers hold until something is written."""
        ...

    def last_item(self) -> int:
        """Return the highest id that an item ever had, 0 before the first."""
        ...

    def skip_item(self) -> int:
        """Return an item id that no item has or will have."""
        ...

    def last_ids(self) -> Mapping[str, int]:
        """Return the highest id that each table ever had, of those that use no id twice."""
        ...

    def raise_last_ids(self, ids: Mapping[str, int]) -> None:
        """Let the next id of each of these tables be higher than the given one, and than all in it."""
        ...

    def write_keywords(self, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool) -> None:
        """Index texts by their words: (item id, tokens of its namespaces, body, context). ``fresh``:
        the items are new, so there is nothing to replace."""
        ...

    def delete_keywords(self, item: int) -> None:
        """Take an item out of the keyword index."""
        ...

    def holds_vectors(self) -> bool:
        """Return whether the database can hold vectors."""
        ...

    def write_vectors(
        self, rows: Iterable[tuple[int, int, Floats, Sequence[bytes | None]]], *, fresh: bool
    ) -> None:
        """Replace the vectors of items: (item id, namespace id, float32[n, dims], a cache key or None
        for each)."""
        ...

    def read_vectors(
        self, items: Sequence[int]
    ) -> Mapping[int, tuple[Floats, Sequence[bytes | None]]]:
        """Return the vectors of those items that have any: float32[n, dims], and the cache key, or
        None, of each."""
        ...

    def delete_vectors(self, item: int, namespace: int) -> None:
        """Take the vectors of an item out of the vector index."""
        ...

    def delete_all_vectors(self) -> None:
        """Take every vector out of the vector index."""
        ...

    def create_next_vectors(self) -> None:
        """Create, unless they are there, the tables beside the vectors that a move to another model
        fills: ``vector_next`` (id, hash, e), where ``e`` is bytes of float32[dims], and
        ``reembed_done`` (item, version)."""
        ...

    def erase_vectors(self, items: Sequence[int]) -> None:
        """Leave nothing of the deleted vectors of items in any part of the vector index."""
        ...


TOGETHER: Final = 50
"""Rows in a statement. SQLite begins and ends each one, which for an AUTOINCREMENT reads and writes
the table of the last ids: a hundred items take three quarters of the time."""


def insert(connection: Connection, into: str, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows ``into`` a table, ``name (column, …)``, in their order.

    Call it in a transaction that is rolled back if this fails: the rows before the wrong one stay.
    ``OR FAIL`` says so to SQLite, which would otherwise keep a journal for each statement, and have
    FTS5 write out what it has gathered. Not for a table of FTS5's, where it cannot be left out.
    """
    rows = list(rows)
    if not rows:
        return
    one = f"({', '.join('?' * len(rows[0]))})"
    whole = len(rows) - len(rows) % TOGETHER
    if whole:
        connection.executemany(
            f"INSERT OR FAIL INTO {into} VALUES {', '.join([one] * TOGETHER)}",
            (
                tuple(chain.from_iterable(rows[start : start + TOGETHER]))
                for start in range(0, whole, TOGETHER)
            ),
        )
    if whole < len(rows):
        connection.executemany(f"INSERT OR FAIL INTO {into} VALUES {one}", rows[whole:])


def insert_new(connection: Connection, into: str, rows: Iterable[Sequence[Any]]) -> int:
    """Insert those of the rows ``into`` a table, ``name (column, …)``, that are not there; how many."""
    before = connection.total_changes()
    marks = ", ".join("?" * (into.count(",") + 1))
    connection.executemany(f"INSERT OR IGNORE INTO {into} VALUES ({marks})", rows)
    return int(connection.total_changes() - before)
