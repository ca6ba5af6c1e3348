"""A whole database copied into another one, of whatever engine: every row, every id, every vector.

Both have the same tables (`tables.schema`), so a copy goes table by table, in pieces that
are ranges of one column. A piece that the target has already is left alone, and one that it has otherwise
is written anew: so a copy that was killed goes on, and a source that changed in between is followed. The
source is read in one snapshot. Until the copy is whole a setting of the target says that it is none
(`settings.Copying`), and `MemoryStore` does not open it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from langmemory.errors import ConfigError, DatabaseError, InvalidValueError
from langmemory.ledger import settings, verbatim
from langmemory.ledger.connection import Connection, insert
from langmemory.ledger.engine import Engine, Snapshot
from langmemory.ledger.indexing import COLUMNS, TABLES, Indexing, reindexed
from langmemory.ledger.namespaces import namespace_tokens
from langmemory.ledger.tables import schema
from langmemory.pluralize import counted


@schema.derived
def copied() -> dict[str, str]:
    """Return the tables in the order in which they are copied, and the column whose ranges are the pieces.
    Leases stay: they are those of the processes of the source."""
    return {
        table.name: next((one for one in reversed(table.id) if table.column(one).of), table.id[0])
        for table in schema.tables()
        if table.index is None and table is not schema.LEASE
    }


PIECE: Final = 500
"""Rows of a piece, or more where several have the same value of the column."""

Progress = Callable[[int, int], None]
"""Called with (rows done, rows in all)."""
Rows = list[tuple[Any, ...]]


class Checksum(NamedTuple):
    """How many rows there are and what they say, in whatever order."""

    rows: int = 0
    digest: int = 0

    def of(self, rows: Iterable[Sequence[Any]]) -> Checksum:
        """Return the checksum with further rows."""
        count, digest = self
        for row in rows:
            told = hashlib.blake2b(
                repr(tuple(row)).encode("utf-8", "surrogatepass"), digest_size=16
            )
            digest += int.from_bytes(told.digest(), "big")
            count += 1
        return Checksum(count, digest % (1 << 128))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A range of a table: above ``after``, up to ``last``; None is open."""

    table: str
    after: Any
    last: Any

    def where(self) -> tuple[str, tuple[Any, ...]]:
        column = copied()[self.table]
        bounds = [(f"{column} > ?", self.after), (f"{column} <= ?", self.last)]
        given = [(text, value) for text, value in bounds if value is not None]
        if self.table == "setting":
            given += [("name <> ?", one) for one in sorted(settings.OWN)]
        return " AND ".join(text for text, _ in given) or "TRUE", tuple(one for _, one in given)


def copy(
    source: Snapshot, name: str, target: Engine, indexing: Indexing, progress: Progress
) -> int:
    """Copy everything but what moved to the archive file; return how many rows. The target stays marked as
    unfinished, see `settings.note_copying`.

    Args:
        source: Left as it is; ``name`` is its path.
        target: Empty, or an unfinished copy of the same source.
        indexing: Makes the words of the keyword index anew; it needs no embedder.

    Raises:
        DatabaseError: The target is not empty, or cannot hold what there is.
    """
    connection = source.connection
    state, resumed = _begun(name, source, target, indexing)
    total = sum(_count(connection, table) for table in copied())
    run = _Run(connection, target, indexing, progress, state, resumed, total)
    for table in copied():
        run.copy_table(table)
    with target.write() as there:
        there.raise_last_ids(connection.last_ids())
    return total


def _begun(
    name: str, source: Snapshot, target: Engine, indexing: Indexing
) -> tuple[settings.Copying, bool]:
    """Mark the target as an unfinished copy; return what it is a copy of, and whether a run began it."""
    connection = source.connection
    model = settings.read_model(connection)
    if settings.is_archive(connection):
        raise DatabaseError(
            f"{name} is the archive file of a memory file. Copy the memory file: what moved to "
            "its archive file comes along."
        )
    if unfinished := settings.copying(connection):
        raise DatabaseError(
            f"{name} is itself an unfinished copy of {unfinished.source}. Finish it first: "
            f"langmemory copy {unfinished.source} {name}"
        )
    with target.write() as there:
        if settings.read_model(there).generation == model.generation:
            raise ConfigError(
                f"{target.path} is the same place as {name}, or a copy of its file. Name another target."
            )
        vectors = source.stats().vectors
        if vectors and not there.holds_vectors():
            raise DatabaseError(
                f"{name} has {counted(vectors, 'vector')}, and the database of {target.path} has "
                "no extension vector. Let an administrator run CREATE EXTENSION vector in it, then copy "
                "into a new schema."
            )
        resumed = begin(there, target.path, name, model.generation)
        ours = settings.read_model(there)
        settings.write_model(there, replace(ours, model=model.model, dims=model.dims))
        state = settings.copying(there) or settings.Copying(
            source=name, generation=model.generation
        )
        fields = None if indexing.fields is None else list(indexing.fields)
        if state.fields != fields:
            state = replace(state, fields=fields, replaced=resumed or state.replaced)
            settings.note_copying(there, state)
        return state, resumed


def begin(target: Connection, path: str, source: str, generation: int) -> bool:
    """Mark a target as an unfinished copy; return whether an earlier run did.

    Args:
        path: Of the target, ``source`` that of the source.
        generation: Of the source, by which a later run knows it.

    Raises:
        DatabaseError: It is neither empty nor an unfinished copy of this source.
    """
    found = settings.copying(target)
    if found is not None and found.generation != generation:
        raise DatabaseError(
            f"{path} is an unfinished copy of {found.source}. Finish that, or name another target."
        )
    if found is None:
        full = [table for table in copied() if table != "setting" and _any(target, table)]
        if full:
            raise DatabaseError(
                f"{path} is not empty: it has rows in {', '.join(full[:3])}. Name a new file or schema."
            )
        settings.note_copying(target, settings.Copying(source=source, generation=generation))
    return found is not None


def _any(connection: Connection, table: str) -> bool:
    return connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None


def _count(connection: Connection, table: str) -> int:
    where, bindings = _Piece(table, None, None).where()
    row = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", bindings).fetchone()
    return int(row[0])


class _Run:
    """One run of a copy."""

    def __init__(
        self,
        source: Connection,
        target: Engine,
        indexing: Indexing,
        progress: Progress,
        state: settings.Copying,
        resumed: bool,
        total: int,
    ) -> None:
        self.source, self.target, self.indexing = source, target, indexing
        self.progress, self.state, self.resumed, self.total = progress, state, resumed, total
        self.vectors = source.holds_vectors()
        self.places: dict[int, str] = {}
        """The words of namespaces, by id."""
        self.done = 0

    def copy_table(self, table: str) -> None:
        """Write the pieces of a table that the target does not have."""
        columns = _columns(self.source, self.target, table)
        todo: Iterable[_Piece] = _pieces(self.source, table)
        if self.resumed or table in ("activity", "setting"):
            # All that is wrong goes before anything is written, for the sake of unique columns.
            todo = [piece for piece in todo if not self._done_before(piece, columns)]
        for piece in todo:
            rows = read(self.source, piece, columns)
            try:
                with self.target.write() as there:
                    _write(there, table, columns, rows)
                    if table == "item":
                        self._write_indexes(there, [row[columns.index("id")] for row in rows])
            except (DatabaseError, InvalidValueError) as error:
                after, last = (
                    "the first" if piece.after is None else repr(piece.after),
                    "the last" if piece.last is None else repr(piece.last),
                )
                raise DatabaseError(
                    f"{error} It is a row of the table {table} of {self.state.source}, with "
                    f"{copied()[table]} from {after} to {last}. What is before it is copied; repeat the "
                    "command to go on."
                ) from error
            self._advance(len(rows))
        if table == "item" and self.state.replaced:
            self._write_words_anew()

    def _advance(self, rows: int) -> None:
        self.done += rows
        self.progress(self.done, self.total)

    def _done_before(self, piece: _Piece, columns: Sequence[str]) -> bool:
        """Return whether the target has a piece as it is; else delete what it has of it."""
        rows = read(self.source, piece, columns)
        with self.target.read() as snapshot:
            there = read(snapshot.connection, piece, columns)
            same = Checksum().of(_told(piece.table, columns, rows)) == Checksum().of(
                _told(piece.table, columns, there)
            )
            if same and piece.table == "item" and self.vectors:
                ids = [row[columns.index("id")] for row in rows]
                same = _vectors(self.source, ids) == _vectors(snapshot.connection, ids)
        if same:
            self._advance(len(rows))
            return True
        if there:
            self._delete(piece, columns, there)
        return False

    def _delete(self, piece: _Piece, columns: Sequence[str], rows: Rows) -> None:
        where, bindings = piece.where()
        with self.target.write() as there, self.target.erasing(there):
            if piece.table == "item":
                item, namespace = columns.index("id"), columns.index("namespace")
                for row in rows:
                    there.delete_keywords(row[item])
                    if self.vectors:
                        there.delete_vectors(row[item], row[namespace])
                there.erase_vectors([row[item] for row in rows])
            there.execute(f"DELETE FROM {piece.table} WHERE {where}", bindings)
            if piece.table not in ("activity", "setting") and not self.state.replaced:
                self.state = replace(self.state, replaced=True)
                settings.note_copying(there, self.state)

    def _write_indexes(self, there: Connection, ids: Sequence[int]) -> None:
        """Write the vectors and the words of new items."""
        if self.vectors:
            homes = dict(
                self.source.execute(
                    "SELECT id, namespace FROM item WHERE id IN (SELECT value FROM carray(?))",
                    (self.source.array(ids),),
                ).fetchall()
            )
            vectors = self.source.read_vectors(ids)
            there.write_vectors(
                [(item, homes[item], *found) for item, found in vectors.items()], fresh=True
            )
        there.write_keywords(self._words(ids), fresh=True)

    def _words(self, ids: Sequence[int]) -> list[tuple[int, str, str, str]]:
        """Return the rows of the keyword index, from what the source says."""
        words: dict[int, tuple[int, str, str, str]] = {}
        turns = []
        for row in self.source.execute(
            f"SELECT {COLUMNS}, i.namespace FROM {TABLES} "
            "WHERE i.id IN (SELECT value FROM carray(?)) ORDER BY i.id",
            (self.source.array(ids),),
        ).fetchall():
            body = reindexed(self.indexing, row).body
            if body is not None:
                if row[8] not in self.places:
                    self.places[row[8]] = namespace_tokens(self.source, row[8])
                words[row[0]] = (row[0], self.places[row[8]], body, "")
                if row[5] is not None:
                    turns.append(row[0])
        words |= {row[0]: row for row in verbatim.keywords_of(self.source, turns)}
        return list(words.values())

    def _write_words_anew(self) -> None:
        """Write all words: what stood beside a changed turn has others in its context."""
        for piece in _pieces(self.source, "item"):
            ids = [row[0] for row in read(self.source, piece, ["id"])]
            with self.target.write() as there:
                there.write_keywords(self._words(ids), fresh=False)


def _columns(source: Connection, target: Engine, table: str) -> list[str]:
    """Return the columns that both databases have, in the source's order; others are an engine's own."""
    with target.read() as snapshot:
        return _common(source, snapshot.connection, table)


def _common(one: Connection, other: Connection, table: str) -> list[str]:
    there = set(other.columns(table))
    return [name for name in one.columns(table) if name in there]


def _pieces(connection: Connection, table: str) -> Iterator[_Piece]:
    """Yield the pieces of a table, which together leave no value of the column out."""
    column, after = copied()[table], None
    while True:
        above, bindings = ("TRUE", ()) if after is None else (f"{column} > ?", (after,))
        row = connection.execute(
            f"SELECT {column} FROM {table} WHERE {above} ORDER BY {column} "
            f"LIMIT 1 OFFSET {PIECE - 1}",
            bindings,
        ).fetchone()
        last = None if row is None else row[0]
        yield _Piece(table, after, last)
        if last is None:
            return
        after = last


def read(connection: Connection, piece: _Piece, columns: Sequence[str]) -> Rows:
    """Return the rows of a piece, as any engine takes them."""
    where, bindings = piece.where()
    rows = connection.execute(
        f"SELECT {', '.join(columns)} FROM {piece.table} WHERE {where}", bindings
    ).fetchall()
    if piece.table == "leaf":
        place = columns.index("value")
        return [(*row[:place], connection.leaf(row[place]), *row[place + 1 :]) for row in rows]
    if piece.table == "activity":  # whose subjects PostgreSQL keeps as text
        place, kind = columns.index("subject"), columns.index("type")
        return [
            (*row[:place], int(row[place]), *row[place + 1 :]) if row[kind] == "job" else row
            for row in rows
        ]
    return [tuple(row) for row in rows]


def _told(table: str, columns: Sequence[str], rows: Rows) -> Iterable[Sequence[Any]]:
    """Return rows of which every engine says the same: in PostgreSQL a setting is a text."""
    if table != "setting":
        return rows
    place = columns.index("value")
    return ((*row[:place], str(row[place]), *row[place + 1 :]) for row in rows)


def _write(connection: Connection, table: str, columns: Sequence[str], rows: Rows) -> None:
    try:
        insert(connection, f"{table} ({', '.join(columns)})", rows)
        connection.flush()
    except connection.constraint_errors as error:
        raise DatabaseError(
            f"The target refuses a row ({error}). Let nobody else write to it while it is copied into."
        ) from error


def _vectors(connection: Connection, ids: Sequence[int]) -> Checksum:
    """Return the checksum of the vectors of items, one row for each item."""
    return Checksum().of(
        (item, found.shape, found.tobytes(), list(map(_bytes, hashes)))
        for item, (found, hashes) in connection.read_vectors(ids).items()
    )


def _bytes(one: bytes | None) -> bytes | None:
    return None if one is None else bytes(one)


def differing(source: Connection, target: Connection) -> list[str]:
    """Return the tables of which two databases do not say the same, and how many rows each has."""
    found = []
    for table in copied():
        columns = _common(source, target, table)
        one, other = (_checksum(each, table, columns) for each in (source, target))
        if one != other:
            found.append(f"{table} ({one.rows} and {other.rows} rows)")
    if source.holds_vectors() and target.holds_vectors():
        one, other = (_all_vectors(each) for each in (source, target))
        if one != other:
            found.append(f"vectors (of {one.rows} and {other.rows} memories)")
    return found


def _checksum(connection: Connection, table: str, columns: Sequence[str]) -> Checksum:
    found = Checksum()
    for piece in _pieces(connection, table):
        found = found.of(_told(table, columns, read(connection, piece, columns)))
    return found


def _all_vectors(connection: Connection) -> Checksum:
    rows = digest = 0
    for piece in _pieces(connection, "item"):
        ids = [row[0] for row in read(connection, piece, ["id"])]
        one = _vectors(connection, ids)
        rows, digest = rows + one.rows, digest + one.digest
    return Checksum(rows, digest % (1 << 128))
