"""Reading what can still be read of a damaged file, row by row, into a sound temporary copy.

A damaged page makes SQLite give up a whole query. Every row is therefore looked up alone where a query
fails: rows before the page, rows behind it, and rows that an index names. Only what cannot be derived
from other rows is copied; an import makes vectors and words anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import apsw

from langmemory.engines.sqlite import tables
from langmemory.engines.sqlite.connection import Connection, clear_errors
from langmemory.ledger.tables import schema
from langmemory.values import from_json

MOST_PROBED: Final = 2_000_000
"""Ids looked for one by one between two readable rows (some seconds)."""
PROBED_BEHIND: Final = 10_000
"""Ids looked for behind the last readable row, where nothing says which was the last."""

Key = tuple[Any, ...]


def _exported() -> list[str]:
    return [table.name for table in schema.tables() if table.exported and not table.derived]


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """A row that cannot be read, or only in part."""

    table: str
    key: str
    """The name of the row: of a memory its namespace and key, as far as they can be read."""
    problem: str

    def __str__(self) -> str:
        return f"{self.table} {self.key}: {self.problem}"


@dataclass(kw_only=True, slots=True)
class Rescued:
    """A sound copy of what can be read, and what cannot."""

    connection: Connection
    rows: dict[str, int] = field(default_factory=dict)
    """By table."""
    damages: list[Damage] = field(default_factory=list)


@contextmanager
def rescued(path: str) -> Iterator[Rescued]:
    """Copy what can be read of the file into a temporary one, which goes at the end.

    The file itself is only read.

    Raises:
        DatabaseError: The file cannot be opened at all.
    """
    with clear_errors(path):
        source = Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    copy = Connection("")
    try:
        source.set_busy_timeout(10_000)
        source.pragma("writable_schema", True)  # else a file that was cut off cannot be read at all
        copy.execute(tables.statements())
        copy.pragma("foreign_keys", False)
        found = Rescued(connection=copy)
        with clear_errors(path):
            source.execute("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
            copy.execute("BEGIN")
            for table in _exported():
                _copy(source, found, table)
            _name_lost_namespaces(source, found)
            copy.execute("COMMIT")
        yield found
    finally:
        copy.close()
        source.close()


def damaged_rows(connection: Connection) -> list[Damage]:
    """Return every row of a file that cannot be read, or only in part. Call it on a reader."""
    found: list[Damage] = []
    for table in _exported():
        reader = _Table(connection, table)
        if reader.is_whole():
            continue
        for _ in reader.rows():
            pass
        found.extend(reader.damages)
    return found


class _Table:
    """One table of a damaged file."""

    def __init__(self, connection: Connection, table: str) -> None:
        self.connection, self.table = connection, table
        info = connection.execute(f"PRAGMA table_info({table})").fetchall()
        self.columns = [row[1] for row in info]
        keys = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
        sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).get
        self.json = schema.table(table).of_type("json")
        self.by_rowid = "WITHOUT ROWID" not in (sql or "")
        self.keys = keys or ["rowid"]
        self.damages: list[Damage] = []

    def is_whole(self) -> bool:
        """Return whether one pass over the table reads every row and all JSON in it."""
        columns = [self.columns.index(name) for name in self.json]
        query = f"SELECT {', '.join(self.columns)} FROM {self.table} NOT INDEXED"
        try:
            for row in self.connection.execute(query):
                for column in columns:
                    if row[column] is not None:
                        from_json(row[column])
        except (apsw.Error, ValueError, RecursionError):  # text that is not UTF-8 is a ValueError
            return False
        return True

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield every row that can be read, in the order of its key; notes those that cannot."""
        known, whole = self._known()
        for key in known:
            try:
                row = self._row(key)
            except apsw.Error as error:
                if whole or key in self._named:
                    self._note(key, f"cannot be read ({error})")
                continue
            except UnicodeDecodeError:
                row = self._repaired(key)
            if row is not None and self._is_sound(key, row):
                yield row

    def _known(self) -> tuple[list[Key], bool]:
        """Return the keys of the rows, and whether all are sure to be there (else some are guesses)."""
        names = ", ".join(self.keys)
        found, broken = self._scan(f"SELECT {names} FROM {self.table} NOT INDEXED", names, "ASC")
        self._named: set[Key] = set(found)
        if not broken:
            return found, True
        behind, _ = self._scan(f"SELECT {names} FROM {self.table} NOT INDEXED", names, "DESC")
        self._named |= set(behind)
        for _, index, *_, partial in self.connection.execute(
            f"PRAGMA index_list({self.table})"
        ).fetchall():
            if not partial:
                query = f"SELECT {names} FROM {self.table} INDEXED BY {index}"
                self._named |= set(self._scan(query, None, "")[0])
        guesses: set[Key] = set()
        if self.by_rowid and len(self.keys) == 1:  # between the row before the damage and the next
            first = found[-1][0] + 1 if found else 1
            last = max((key[0] for key in self._named), default=0) + PROBED_BEHIND
            last = min(behind[-1][0] if behind else last, first + MOST_PROBED)
            guesses = {(one,) for one in range(first, last)}
        self._note(("?",), f"a page is damaged; {len(self._named):,} rows are known by name")
        return sorted(self._named | guesses, key=repr if not self.by_rowid else None), False

    def _scan(self, query: str, order: str | None, way: str) -> tuple[list[Key], bool]:
        """Return the keys up to the first that cannot be read, and whether there was one."""
        found: list[Key] = []
        if order:
            query += " ORDER BY " + ", ".join(f"{name} {way}" for name in order.split(", "))
        try:
            for row in self.connection.execute(query):
                found.append(row)
        except (apsw.Error, UnicodeDecodeError):
            return found, True
        return found, False

    def _where(self) -> str:
        return f"FROM {self.table} NOT INDEXED WHERE " + " AND ".join(
            f"{one} = ?" for one in self.keys
        )

    def _row(self, key: Key) -> tuple[Any, ...] | None:
        row = self.connection.execute(
            f"SELECT {', '.join(self.columns)} {self._where()}", key
        ).fetchone()
        return None if row is None else tuple(row)

    def _repaired(self, key: Key) -> tuple[Any, ...]:
        """Return the row with the replacement character in place of bytes that are no text."""
        columns = ", ".join(
            f"typeof({one}), CASE typeof({one}) WHEN 'text' THEN CAST({one} AS BLOB) ELSE {one} END"
            for one in self.columns
        )
        row = self.connection.execute(f"SELECT {columns} {self._where()}", key).fetchone()
        self._note(key, "its text has bytes that are not UTF-8; they are replaced by U+FFFD")
        return tuple(
            found.decode("utf-8", "replace") if kind == "text" else found
            for kind, found in zip(row[::2], row[1::2], strict=True)
        )

    def _is_sound(self, key: Key, row: tuple[Any, ...]) -> bool:
        for name in self.json:
            text = row[self.columns.index(name)]
            try:
                if text is not None:
                    from_json(text)
            except (ValueError, RecursionError):
                self._note(key, f"its {name} is no JSON any more")
                return False
        return True

    def _note(self, key: Key, problem: str) -> None:
        name = "/".join(map(str, key))
        if self.table == "item":
            name = self._named_by_index(key) or name
        self.damages.append(Damage(table=self.table, key=name, problem=problem))

    def _named_by_index(self, key: Key) -> str | None:
        """Return the namespace and key of a memory as its index has them."""
        try:
            row = self.connection.execute(
                "SELECT n.path, i.key FROM item i INDEXED BY sqlite_autoindex_item_1 "
                "LEFT JOIN namespace n ON n.id = i.namespace WHERE +i.id = ?",
                key,
            ).fetchone()
        except (apsw.Error, UnicodeDecodeError):
            return None
        return None if row is None else f"{row[0]}/{row[1]} ({key[0]})"


def _copy(source: Connection, found: Rescued, table: str) -> None:
    try:
        reader = _Table(source, table)
    except apsw.Error as error:
        found.damages.append(Damage(table=table, key="*", problem=f"cannot be read ({error})"))
        return
    if not reader.columns:
        return
    marks = ", ".join("?" * len(reader.columns))
    into = f"INSERT INTO {table} ({', '.join(reader.columns)}) VALUES ({marks})"
    count = 0
    for row in reader.rows():
        try:
            found.connection.execute(into, row)
        except apsw.Error as error:
            reader._note(row[:1], f"has a value that no row has ({error})")
        else:
            count += 1
    found.rows[table] = count
    found.damages.extend(reader.damages)


def _name_lost_namespaces(source: Connection, found: Rescued) -> None:
    """Give memories whose namespace row cannot be read its path by the index, or one of their own."""
    lost = found.connection.execute(
        "SELECT DISTINCT namespace FROM item WHERE namespace NOT IN (SELECT id FROM namespace)"
    ).fetchall()
    for (one,) in lost:
        path = f"rescued.namespace {one}"
        with suppress(apsw.Error, UnicodeDecodeError):
            by_index = (
                "SELECT path FROM namespace INDEXED BY sqlite_autoindex_namespace_1 WHERE +id = ?"
            )
            path = source.execute(by_index, (one,)).get or path
        found.connection.execute("INSERT INTO namespace (id, path) VALUES (?, ?)", (one, path))
