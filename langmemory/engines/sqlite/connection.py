"""Connections to one SQLite file: one writer, a pool of readers, checkpoints off the write path."""

from __future__ import annotations

import errno
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import apsw
import numpy as np

from langmemory.config import DEFAULT_DATABASE, DatabaseConfig, EngineConfig
from langmemory.engines.sqlite.guard import guard
from langmemory.errors import (
    ClosedStoreError,
    DatabaseError,
    InvalidValueError,
    SchemaVersionError,
)
from langmemory.files import create_file
from langmemory.ledger.connection import SLOT_BITS
from langmemory.ports.candidates import Floats, Ids

try:
    import sqlite_vec
except ImportError:  # no wheel for this platform, and so not installed
    sqlite_vec = None

if TYPE_CHECKING:
    from langmemory.ledger.connection import Rescued

logger = logging.getLogger("langmemory.engines.sqlite")

# SQLite's memory statistics take one process-wide mutex at every allocation and halve two-thread
# FTS throughput. Possible only before SQLite is initialised: if the application was first, leave it.
with suppress(apsw.MisuseError):
    apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, False)

MEMORY = ":memory:"

APPLICATION_ID = 0x4C4D454D  # "LMEM"

CHECKPOINT_PAGES = 4000
"""WAL pages (4 KiB each) after which the background thread is asked to checkpoint."""

KEPT_WAL_BYTES = 256 << 20
"""Bytes that stay of a WAL that grew beside a long read, or in a very large transaction, once it has been
written back: else a server that is never closed keeps it at its largest."""

_TEMPORARY_FOLDER: Final = threading.RLock()
"""Held while the folder of temporary files is another one: SQLite has one for the whole process."""


def describe(error: apsw.Error, path: str) -> DatabaseError:
    """Return the error a person can act on, for what SQLite said about the file at ``path``."""
    opens = isinstance(error, apsw.CantOpenError)
    if opens and os.path.isdir(path):
        text = f"{path} is a folder. Name a file in it, such as {os.path.join(path, 'memory.db')}."
    elif opens and os.path.exists(path):
        text = (
            f"{path} cannot be opened. Check that it and its folder may be read and written, and "
            "that this process may open more files (`ulimit -n`)."
        )
    else:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_NOMEM:
            error = apsw.NoMemError("out of memory")
        told = next(text for kind, text in _TOLD.items() if isinstance(error, kind))
        text = told.format(path=path, error=error)
    return DatabaseError(text)


def _roll_back(connection: apsw.Connection) -> None:
    """Take back a transaction, if there is one, also where memory is short."""
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except apsw.NoMemError:
            connection.release_memory()
            connection.execute("ROLLBACK")


_TOLD: Final[Mapping[type[apsw.Error], str]] = {
    apsw.NotADBError: (
        "{path} is not a SQLite database. Name another file, move this one away, restore a backup if it was "
        "one, or give the key if it is encrypted."
    ),
    apsw.CantOpenError: "{path} cannot be opened. Check that its folder exists and may be written to.",
    apsw.ReadOnlyError: "{path} is read-only. Check the permissions of the file and its folder.",
    apsw.FullError: (
        "The disk of {path} is full; nothing of this transaction was written. Free some space."
    ),
    apsw.CorruptError: "{path} is damaged ({error}). Run `langmemory doctor`: it says what to do.",
    apsw.BusyError: (
        "{path} stayed locked by another process for longer than busy_timeout_ms. "
        "Try again, or raise database.busy_timeout_ms."
    ),
    apsw.NoMemError: (
        "SQLite got no more memory for {path}; nothing of this transaction was written. Close something, or "
        "give the process more."
    ),
    apsw.IOError: (
        "The disk of {path} reported an error ({error}); nothing of this transaction was written."
    ),
    apsw.Error: "SQLite refused a statement on {path}: {error}. `langmemory doctor` checks the file.",
}
"""The meaning of each error of SQLite for the file, and the next step."""


@contextmanager
def clear_errors(path: str) -> Iterator[None]:
    """Turn what SQLite and its binding raise into errors of ours.

    Raises:
        DatabaseError: What `describe` says, or that the process may open no more files.
        InvalidValueError: Half of a surrogate pair in a key, namespace, filter or text.
    """
    try:
        yield
    except apsw.Error as error:
        raise describe(error, path) from error
    except OSError as error:  # also of a module or a migration that is read on first use
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        raise DatabaseError(
            f"This process may open no more files while it uses {path} ({error.strerror}: "
            f"{error.filename}); nothing of this transaction was written. Close some, or raise "
            "`ulimit -n`."
        ) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DatabaseError(
            f"{path} is damaged (a stored text cannot be read: {type(error).__name__}). Run `langmemory "
            "doctor`: it names the rows, and `langmemory doctor --rescue FILE` brings out the others."
        ) from error
    except UnicodeEncodeError as error:
        raise InvalidValueError(
            f"{error.object!r:.80} is not text: it holds half of a surrogate pair at character "
            f"{error.start}. Repair it, for example with text.encode('utf-8', 'replace').decode()."
        ) from error


def is_damage(error: BaseException) -> bool:
    """Return whether an error of ours says that the file is damaged."""
    return isinstance(
        error.__cause__, apsw.CorruptError | UnicodeDecodeError | json.JSONDecodeError
    ) or "malformed JSON" in str(error.__cause__)


def is_keyword_damage(error: BaseException) -> bool:
    """Return whether an error of ours may come from a damaged keyword index."""
    cause = error.__cause__
    return isinstance(cause, apsw.CorruptError) or (
        isinstance(cause, apsw.SQLError) and "fts5 file" in str(cause)
    )


def with_vector_functions(connection: apsw.Connection) -> bool:
    """Load sqlite-vec into a connection, for its functions in SQL; whether that worked. There are no wheels
    of it for some platforms, where numpy compares vectors alone."""
    if sqlite_vec is None:
        return False
    connection.enable_load_extension(True)
    try:
        connection.load_extension(sqlite_vec.loadable_path())
    except apsw.Error:
        return False
    finally:
        connection.enable_load_extension(False)
    return True


class Connection(apsw.Connection):
    """A connection that remembers what of the file was last looked at through it."""

    seen_version: int = -1
    seen_model: object = None
    ranks: bool = False
    """Whether it knows the ranking function of `keywords`."""
    public: bool = False
    """Whether it is the caller's own, who uses it whenever they like."""
    tokenize: apsw.FTS5Tokenizer | None = None
    """Of the keyword index, once asked for."""
    constraint_errors = (apsw.ConstraintError,)
    """Raised for a row that the schema does not allow."""
    damage_errors = (apsw.CorruptError, apsw.SQLError, UnicodeDecodeError)
    """Raised by a damaged table."""

    vector_rows = "vector"
    measures = False

    @staticmethod
    def vector_of(item: str, /) -> str:
        """Return the condition that a row ``v`` of the table ``vector`` is one of an item."""
        return f"v.id >= {item} << {SLOT_BITS} AND v.id < ({item} + 1) << {SLOT_BITS}"

    @staticmethod
    def unpacked(rows: Sequence[Any], /) -> tuple[Ids, Floats]:
        """Return rows of the table ``vector`` as int64[n] and float32[n, dims]."""
        if not rows:
            return np.empty(0, np.int64), np.empty((0, 0), np.float32)
        found, blobs = zip(*rows, strict=True)
        matrix = np.frombuffer(b"".join(blobs), np.float32).reshape(len(found), -1)
        return np.array(found, np.int64), matrix

    def ids(self, query: str, bindings: Any = (), /) -> Ids:
        """Return the only column of a query, ids, as int64[n]."""
        return np.fromiter((row[0] for row in self.execute(query, bindings)), np.int64)

    @staticmethod
    def array(ids: Iterable[int], /) -> Any:
        """Return the ids as a table of one column, ``carray(?)``. SQLite takes no empty one: 0 stands for
        none, as no id is 0."""
        found = ids if isinstance(ids, np.ndarray) else np.fromiter(ids, np.int64)
        return apsw.carray(np.ascontiguousarray(found) if len(found) else np.zeros(1, np.int64))

    def ahead(self, questions: Iterable[tuple[str, tuple[Any, ...]]], /) -> None:
        """Nothing is far away here."""

    @staticmethod
    def text_array(texts: Sequence[str], /) -> Any:
        """Return the texts, at least one, as a table of one column, ``carray(?)``. SQLite ends a text in it
        at a NUL, so those that hold one are left out."""
        return apsw.carray(tuple(one for one in texts if "\0" not in one) or ("",))

    own_words = (
        "SELECT k FROM keyword_config", "SELECT v FROM keyword_config",
        "SELECT sql FROM sqlite_schema", "SELECT 'SQLite format 3'",
    )  # fmt: skip
    """Queries for texts that SQLite writes into the file."""

    def last_item(self) -> int:
        """Return the highest id that an item ever had, 0 before the first."""
        row = self.execute("SELECT seq FROM sqlite_sequence WHERE name = 'item'").fetchone()
        return 0 if row is None else int(row[0])

    def flush(self) -> None:
        """Every statement is run when it is given."""

    def skip_item(self) -> int:
        """Return an item id that no item has or will have."""
        self.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'item'")
        if not self.changes():
            self.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('item', 1)")
        return self.last_item()

    def last_ids(self) -> dict[str, int]:
        """Return the highest id that each table ever had, of those that use no id twice."""
        return dict(self.execute("SELECT name, seq FROM sqlite_sequence").fetchall())

    def raise_last_ids(self, ids: Mapping[str, int]) -> None:
        """Let the next id of each of these tables be higher than the given one."""
        counted = "SELECT name FROM sqlite_schema WHERE sql LIKE '%PRIMARY KEY AUTOINCREMENT%'"
        for (table,) in self.execute(counted).fetchall():
            if table not in ids:
                continue
            self.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (ids[table], table)
            )
            if not self.changes():
                self.execute(
                    "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, ids[table])
                )

    if TYPE_CHECKING:
        # apsw types a row as a tuple of unions; what a query returns is known where it is written.
        def execute(self, statements: str, bindings: Any = ..., **options: Any) -> Any: ...

        # Of `indexes.IndexedConnection`, which every connection of an `Engine` is.
        def write_keywords(
            self, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool
        ) -> None: ...
        def delete_keywords(self, item: int) -> None: ...
        def holds_vectors(self) -> bool: ...
        def write_vectors(
            self, rows: Iterable[tuple[int, int, Floats, Sequence[bytes | None]]], *, fresh: bool
        ) -> None: ...
        def read_vectors(
            self, items: Sequence[int]
        ) -> Mapping[int, tuple[Floats, Sequence[bytes | None]]]: ...
        def delete_vectors(self, item: int, namespace: int) -> None: ...
        def delete_all_vectors(self) -> None: ...
        def create_next_vectors(self) -> None: ...
        def erase_vectors(self, items: Sequence[int]) -> None: ...
        def rescued(self) -> AbstractContextManager[Rescued]: ...


STATEMENTS: Final = 512
"""Prepared statements that a connection keeps; with apsw's 100, what remembers prepares a sixth anew."""
MAPPED_BYTES: Final = 48 << 20
"""Bytes of the file that each connection may map into memory. More is up to a fifth faster, and counts as
resident memory once for each connection."""

_opened: weakref.WeakValueDictionary[int, Database] = weakref.WeakValueDictionary()
"""Every file that is open in this process, by `id`; in a forked child also those of its parent."""
_leaving = threading.Lock()


class Database:
    """The connections of one file. Thread-safe; needs no event loop.

    `write` serialises the writers of this process and runs one ``BEGIN IMMEDIATE`` transaction;
    `read` lends a pooled reader with one snapshot. ``:memory:`` has one connection for both.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        settings: DatabaseConfig = DEFAULT_DATABASE,
        connection: type[Connection] = Connection,
    ) -> None:
        """Open (and create) the file.

        Args:
            path: A file, or ``:memory:``.
            connection: The class of its connections.
            settings: How SQLite treats the file; its ``path`` is not read.

        Raises:
            DatabaseError: The file cannot be opened or is not a database.
        """
        self._connection = connection
        self.path = os.path.expanduser(path)
        self.in_memory = self.path == MEMORY
        if not self.path:
            raise DatabaseError("The path is empty. Name a file, or ':memory:'.")
        if "\0" in self.path:
            raise DatabaseError(
                f"The path {self.path!r:.200} holds a NUL character, which no file name may. "
                "Name a file without it."
            )
        scheme, is_address, _ = self.path.partition("://")
        if is_address and scheme.replace("+", "").isalnum():  # the rest may hold a password
            raise DatabaseError(
                f"{scheme}://… is the address of a database; langmemory is a file. Name its path."
            )
        self.file = self.path if self.in_memory else os.path.realpath(self.path)
        """Where it is, also after the working directory or a symbolic link has changed."""
        self._synchronous = settings.synchronous
        self._busy_timeout_ms = settings.busy_timeout_ms
        self._mmap_bytes = MAPPED_BYTES
        self._max_idle = EngineConfig.of(settings).readers
        self._write_lock = threading.RLock()
        # Reentrant: garbage collection may end a read that was dropped while a thread is in here.
        self._pool_lock = threading.RLock()
        self._idle: list[Connection] = []
        self._scan_lock = threading.Lock()
        self._purge_lock = threading.Lock()
        self._scans: set[Connection] = set()
        self._closed = False
        self._writing = False
        self._spoiled = False
        """Whether a part of the transaction could not be taken back, so that it is not committed."""
        self._wake = threading.Event()
        self._keeper: threading.Thread | None = None
        self._written_back = False
        self.pid = os.getpid()
        if not self.in_memory:
            parent = os.path.dirname(self.file)
            if not os.path.isdir(parent):
                raise DatabaseError(
                    f"{self.path} cannot be created: the folder {parent} does not exist. Create it."
                )
            _leave_inherited(self.file)
            # The WAL and its index get the mode of the file. What stands in the way SQLite tells.
            with suppress(OSError):
                create_file(self.file)
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._inode: tuple[int, int] | None = None
        self._wal: tuple[int, int] | None = None
        self._writer = self._open()
        self._guard = None if self.in_memory else guard(self.file)
        if self._guard is not None:
            self._unguard = weakref.finalize(self, self._guard.leave)
            self._unguard.atexit = False
        if not self.in_memory:
            self._inode = _inode(self.file)
        _opened[id(self)] = self
        # A put touches some twenty scattered pages; with them cached it takes two thirds the time.
        self._writer.pragma("cache_size", -32_768)
        if not self.in_memory:
            self._writer.set_wal_hook(self._after_commit)
        self.schema_version: int | None = None
        """Of the file, once set up; what is written by an older one would not fit it."""
        self._schema_changes: int | None = None
        self.housekeeping: Callable[[], None] | None = None
        """Called by the background thread after a checkpoint; may write."""

    def _open(self) -> Connection:
        self._check_file()
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if self._inode is None else 0)
        with clear_errors(self.path):
            connection = self._connection(self.file, flags=flags, statementcachesize=STATEMENTS)
            self._connections.add(connection)
            # First of all: every later statement may meet another process's lock.
            connection.set_busy_timeout(self._busy_timeout_ms)
            if not self.in_memory:
                application, tables = connection.execute(
                    "SELECT application_id, (SELECT count(*) FROM sqlite_schema) "
                    "FROM pragma_application_id"
                ).fetchone()
                if application == APPLICATION_ID or tables == 0:  # else it must stay as it was
                    connection.pragma("journal_mode", "wal")
                connection.wal_autocheckpoint(0)  # the writer's hook wakes a background thread
                connection.pragma("mmap_size", self._mmap_bytes)
                connection.pragma("journal_size_limit", KEPT_WAL_BYTES)
            connection.pragma("synchronous", self._synchronous)
            connection.pragma("cache_size", -4096)
            connection.pragma("temp_store", "memory")
            connection.pragma("trusted_schema", False)
            connection.measures = with_vector_functions(connection)
        return connection

    @contextmanager
    def write(
        self, *, busy_timeout_ms: int | None = None, retried: bool = False
    ) -> Iterator[Connection]:
        """One transaction, committed at the end and rolled back whole on any exception.
        ``busy_timeout_ms``: a shorter one, for this transaction alone. ``retried`` changes nothing here."""
        self.check_usable()  # a forked child may never get the lock
        with self._write_lock, clear_errors(self.path):
            self.check_usable()
            connection = self._writer
            if self._writing:
                raise DatabaseError(
                    f"A write to {self.path} began within another one of the same thread, as from "
                    "a signal handler. Write when the first is done."
                )
            _roll_back(connection)  # one for which there was no memory
            self._check_file()
            try:
                self._writing = True
                if busy_timeout_ms is not None:
                    connection.set_busy_timeout(min(busy_timeout_ms, self._busy_timeout_ms))
                # Within: a signal handler may raise as soon as SQLite has got its lock.
                connection.execute("BEGIN IMMEDIATE")
                self._check_schema(connection)
                yield connection
                if self._spoiled:
                    raise apsw.NoMemError("a part could not be taken back")
                connection.execute("COMMIT")
                if self._wal is None and not self.in_memory:
                    self._wal = _inode(f"{self.file}-wal")
            except BaseException:
                _roll_back(connection)
                raise
            finally:
                self._writing = self._spoiled = False
                if busy_timeout_ms is not None:
                    connection.set_busy_timeout(self._busy_timeout_ms)

    @contextmanager
    def part(self, connection: Connection) -> Iterator[None]:
        """A part of a write transaction that may fail alone: undone on an exception, which goes on.

        The caller asks ``connection.in_transaction`` whether SQLite gave up the whole transaction.
        """
        with clear_errors(self.path):
            connection.execute("SAVEPOINT part")
            try:
                yield
            except BaseException:
                if connection.in_transaction:
                    self._spoiled = True  # until it is taken back
                    connection.execute("ROLLBACK TO part; RELEASE part")
                    self._spoiled = False
                raise
            connection.execute("RELEASE part")

    @contextmanager
    def read(self, *, snapshot: bool = True) -> Iterator[Connection]:
        """A connection with one consistent snapshot of the file. Do not write through it.

        With ``snapshot=False`` each statement has its own, which is enough for a single one and
        saves the 20 µs of a transaction.
        """
        self.check_usable()
        if self.in_memory:
            with self._write_lock, clear_errors(self.path):
                self.check_usable()
                yield self._writer
            return
        with self._pool_lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._open()
        healthy = True
        try:
            with clear_errors(self.path):
                try:
                    if snapshot:
                        connection.execute("BEGIN")
                    yield connection
                finally:
                    if connection.in_transaction:  # unlike COMMIT, ends it in a damaged file too
                        connection.execute("ROLLBACK")
        except BaseException:  # a query cut short would keep its snapshot for the next reader
            healthy = False
            raise
        finally:
            self._give_back(connection, healthy)

    def _give_back(self, connection: Connection, healthy: bool) -> None:
        with self._pool_lock:
            if healthy and not self._closed and len(self._idle) < self._max_idle:
                self._idle.append(connection)
                return
        self._discard(connection)

    def _discard(self, connection: Connection) -> None:
        self._connections.discard(connection)
        connection.close()

    def first(self, statement: str, bindings: tuple[Any, ...]) -> Any:
        """Return the first row of a single statement that reads, or None; the shortest way to a row."""
        if self.in_memory:
            with self.read() as connection:
                return connection.execute(statement, bindings).fetchone()
        self.check_usable()
        try:
            connection = self._idle.pop()  # atomic; giving back is what needs the lock
        except IndexError:
            connection = self._open()
        try:
            row = connection.execute(statement, bindings).fetchone()
        except (apsw.Error, UnicodeError):
            self._discard(connection)
            with clear_errors(self.path):
                raise
        self._give_back(connection, True)
        return row

    @contextmanager
    def scan(self) -> Iterator[Connection]:
        """As `read`, for reading much of the file once: what passes is not kept in memory. `close`
        and `purge` break it off."""
        self.check_usable()
        with self._scan_lock:
            self.check_usable()
            connection = self._open()
            self._scans.add(connection)
        try:
            with clear_errors(self.path):
                connection.pragma("mmap_size", 0)
                connection.execute("BEGIN")
                yield connection
        finally:
            with self._scan_lock:
                self._scans.discard(connection)
                self._discard(connection)

    @contextmanager
    def copy(self) -> Iterator[Connection]:
        """A connection to a private copy of the file as of now, to see what a write would do without
        the lock that it takes. The copy goes with it; meanwhile it needs the space of the file
        where SQLite keeps temporary files (``SQLITE_TMPDIR``)."""
        copied = self._connection("")
        try:
            with clear_errors(f"The temporary copy of {self.path}"):
                copied.pragma("journal_mode", "off")  # nothing of it is ever taken back
                copied.pragma("temp_store", "memory")
                with self.read() as connection, copied.backup("main", connection, "main") as backup:
                    while not backup.done:
                        backup.step(-1)
                self._check_schema(copied)
                copied.execute("BEGIN")
                yield copied
        finally:
            copied.close()

    def _end_scans(self) -> None:
        """Break off what reads through the file. The last connection to close writes the WAL back:
        who copies the file after `close` is to have all of it."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            with self._scan_lock:
                for connection in self._scans:
                    connection.interrupt()
                if not self._scans:
                    return
            time.sleep(0.002)

    def new_connection(self) -> Connection:
        """Return a further connection of the caller's own; for ``:memory:`` the only one there is."""
        self.check_usable()
        if self.in_memory:
            return self._writer
        connection = self._open()
        connection.public = True
        return connection

    def check_usable(self) -> None:
        """Raise ClosedStoreError after `close`, and in a forked child."""
        if self._closed:
            raise ClosedStoreError(f"The store on {self.path} is closed. Open a new one.")
        if self.pid != os.getpid():
            raise ClosedStoreError(
                f"The store on {self.path} was opened before this process was forked. SQLite "
                "connections must not cross a fork: open a new store in the child process."
            )

    @property
    def identity(self) -> str:
        """The path, and what tells the file that is open here from one put in its place."""
        return f"{self.file} {self._inode}"

    def _check_file(self) -> None:
        """Raise DatabaseError where the path names another file than the one that is open: what is
        written to that one nobody would ever read."""
        if self._inode is not None and _inode(self.file) != self._inode:
            raise DatabaseError(
                f"{self.path} was deleted, or another file put in its place, while it was open "
                "here; nothing was written. Open the store anew."
            )
        if self._wal is not None and _inode(f"{self.file}-wal") != self._wal:
            raise DatabaseError(
                f"The WAL of {self.path} was deleted while the file was open here, as another SQLite "
                "library in this process does when it closes the file (Python's sqlite3). Nothing of "
                "this call was written; what was written before is in the file. Open the store anew, "
                "and look into the file with store.conn, or from another process."
            )

    def _check_schema(self, connection: Connection) -> None:
        """Raise SchemaVersionError where a newer langmemory has migrated the file meanwhile."""
        if self.schema_version is None:
            return
        found = connection.pragma("user_version")
        if found != self.schema_version:
            raise SchemaVersionError(
                f"{self.path} was brought from schema version {self.schema_version} to {found} by "
                "another langmemory while it was open here; nothing was written. Restart this "
                "process with that langmemory."
            )
        changes = connection.pragma("schema_version")
        if changes != self._schema_changes:  # somebody made or dropped a table since
            refuse_checkpointer(connection, self.path)
            self._schema_changes = changes

    def leave(self) -> bool:
        """In a forked child: close the connections of the parent; False, and none is closed, where
        a thread of it was using one."""
        every = list(self._connections)
        if not every:
            return True
        if not self._write_lock.acquire(blocking=False):
            return False
        self._write_lock.release()
        idle = [self._writer, *self._idle]
        # Taking back a write under way would touch what the parent's index of the WAL says.
        if self._writer.in_transaction or any(one not in idle and not one.public for one in every):
            return False
        for connection in every:
            try:
                connection.close(True)
            except apsw.ThreadingViolationError:
                return False
            self._connections.discard(connection)
        return True

    def _after_commit(self, connection: apsw.Connection, name: str, pages: int) -> int:
        """SQLite calls this with the size of the WAL after each commit of the writer."""
        if pages < CHECKPOINT_PAGES:
            return apsw.SQLITE_OK
        if self._written_back or pages >= CHECKPOINT_PAGES * 20:
            # The background thread has just written back all but the last pages. With these done
            # too, the next commit starts the WAL from its beginning; appending to a growing file
            # takes twice as long to sync.
            self._written_back = False
            # Not to be told as the commit's, which is done: all stays in the WAL until the next time.
            with suppress(apsw.Error):
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        else:
            if self._keeper is None:
                keeper = threading.Thread(
                    target=_keep,
                    args=(weakref.ref(self), self._wake),
                    name="langmemory-checkpoint",
                    daemon=True,
                )
                try:
                    keeper.start()
                except RuntimeError:  # no thread to be had; this commit is done all the same
                    return apsw.SQLITE_OK
                weakref.finalize(self, self._wake.set)  # a store dropped without closing
                self._keeper = keeper
            self._wake.set()
        return apsw.SQLITE_OK

    def tidy(self) -> bool:
        """Checkpoint, and whatever else is not to hold up a write; False once closed."""
        if self._closed:
            return False
        try:
            with self.read(snapshot=False) as connection:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._written_back = True
            if self.housekeeping is not None:
                self.housekeeping()
        except (DatabaseError, ClosedStoreError) as error:
            logger.debug("checkpoint postponed: %s", type(error).__name__)
        return True

    def purge(self) -> bool:
        """Write the whole file anew (``VACUUM``) without what was deleted, and empty the WAL. Return False
        where another connection still reads an older state of the file, so that the WAL keeps it.

        Writers wait for as long as this takes (docs/decisions/033 has figures), and it needs twice the
        size of the file in its folder.
        """
        with self._purge_lock:
            self.check_usable()
            self._end_scans()  # the WAL cannot be emptied beside them
            try:
                self._vacuum()
            finally:
                with self._pool_lock:  # their caches hold old pages
                    idle, self._idle = self._idle, []
                for connection in idle:
                    self._discard(connection)
            return self.empty_wal()

    def _vacuum(self) -> None:
        with self._write_lock, _TEMPORARY_FOLDER, clear_errors(self.path):
            self.check_usable()
            self._writer.pragma("temp_store", "file")  # the copy may not fit into memory
            # Nor into the system's folder for such files, which a container may not even write to.
            before = self._writer.pragma("temp_store_directory") or ""
            try:
                self._writer.pragma("temp_store_directory", os.path.dirname(self.file))
                self._writer.execute("VACUUM")
            finally:
                # One that was removed meanwhile is refused: then SQLite looks for one by itself.
                self._writer.pragma("temp_store_directory", before if os.path.isdir(before) else "")
                self._writer.pragma("temp_store", "memory")
                self._writer.pragma("shrink_memory")

    def empty_wal(self) -> bool:
        """Return whether the WAL could be written back and cut to nothing within the busy timeout."""
        self.check_usable()
        with self._write_lock, clear_errors(self.path):
            self.check_usable()
            if self.in_memory:
                return True
            deadline = time.monotonic() + self._busy_timeout_ms / 1000
            while True:
                try:
                    self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                except apsw.BusyError:  # at once, without waiting, beside another checkpoint
                    if time.monotonic() > deadline:
                        return False
                    time.sleep(0.02)
                else:
                    return True

    def close(self) -> None:
        """Close every connection. A second call does nothing."""
        if self.pid != os.getpid():  # a forked child: the connections belong to its parent
            self._closed = True
            return
        with self._write_lock:
            if self._closed:
                return
            self._closed = True
        self._wake.set()
        if self._keeper is not None and self._keeper is not threading.current_thread():
            self._keeper.join(timeout=5)  # it may be waiting for the lock
        self._end_scans()
        with self._write_lock:
            with self._pool_lock:
                idle, self._idle = self._idle, []
            # SQLite leaves the WAL behind, with the last writes, when it closes a file that was given
            # another name meanwhile. Not where a new file took its place: it may be that one's WAL.
            if self._inode is not None and _inode(self.file) == (0, 0):
                with suppress(apsw.Error):  # then it stays beside the old name
                    self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            if self._guard is not None:
                self._guard.lift()
            for connection in (*idle, self._writer):
                self._discard(connection)
            if self._guard is not None:
                self._unguard()


def _keep(database: weakref.ref[Database], wake: threading.Event) -> None:
    """Tidy up whenever woken, as long as somebody uses the database."""
    while True:
        wake.wait()
        wake.clear()
        found = database()
        if found is None or not found.tidy():
            return
        del found


def refuse_checkpointer(connection: apsw.Connection, path: str) -> None:
    """Raise DatabaseError where LangGraph's SqliteSaver keeps its checkpoints in this file, too: it has
    a SQLite of its own, and within a few turns two of them in one process damage the file."""
    tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'checkpoints'"
    if connection.execute(tables).get:
        raise DatabaseError(
            f"{path} is also the file of a checkpointer (it has the table checkpoints), which would "
            "damage it: SqliteSaver brings another SQLite into this process. Nothing was written. Give "
            "the checkpointer a file of its own, a copy of this one if its threads are to go on, and "
            "drop its tables checkpoints and writes from this one, with sqlite3 and no other process "
            "on it."
        )


def _inode(file: str) -> tuple[int, int]:
    """Return the identity of a file; (0, 0) where there is none."""
    try:
        found = os.stat(file)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _leave_inherited(file: str) -> None:
    """In a forked child, make SQLite forget the connections of its parent, before its own first one.

    SQLite keeps the record of a process's locks on a file in memory, and a fork copies it: a new
    connection would take the parent's locks for its own and set none. Once the parent closed the
    file, its WAL would be deleted under the child, with every later write
    (https://sqlite.org/howtocorrupt.html, 2.6).

    Raises:
        DatabaseError: A thread of the parent was using the file at that moment.
    """
    pid = os.getpid()
    opened = [found for ref in _opened.valuerefs() if (found := ref()) is not None]
    if all(one.pid == pid for one in opened):
        return
    with _leaving:
        for one in opened:
            if one.pid == pid or one.leave():
                continue
            if one.file == file:
                raise DatabaseError(
                    f"{file} was in use by another thread at the moment this process was forked, so "
                    "SQLite's locks on it cannot be trusted here. Fork before the store is used, or "
                    "start processes with multiprocessing.get_context('spawn')."
                )
