"""The connections to one schema of a PostgreSQL server: snapshots, and one writer at a time."""

from __future__ import annotations

import copy
import logging
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg import sql as quoting

from langmemory.addresses import Address
from langmemory.config import DatabaseConfig
from langmemory.engines.postgres import row_security, schema
from langmemory.engines.postgres.connection import Connection
from langmemory.engines.postgres.pool import PAUSE_SECONDS, Notices, Pool, pool_of
from langmemory.errors import ClosedStoreError, DatabaseError, InvalidValueError, SchemaVersionError

logger = logging.getLogger("langmemory.engines.postgres")

OLDEST: Final = 150_000
"""The oldest version of PostgreSQL that is tested."""
OLDEST_PGVECTOR: Final = (0, 7)
TRIES: Final = 5
"""Times that a transaction is tried of which nothing was written."""
_CLOCK: Final = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_RUN: Final = "(SELECT stats_reset::text FROM pg_stat_bgwriter)"
"""A value that a server loses when it crashes, and no clean restart changes: its statistics begin anew."""
_VERSION: Final = (
    f"SELECT {_CLOCK}, (SELECT version FROM langmemory_version), pg_current_xact_id()::text, {_RUN}"
)

T = TypeVar("T")


class NothingWrittenError(DatabaseError):
    """A transaction ended for a reason that may be over soon; nothing of it was written."""


def is_there(url: str) -> bool:
    """Return whether a server has the schema of an address.

    Raises:
        DatabaseError: There is no server, or it refuses.
    """
    address = Address(url)
    with clear_errors(address.shown()), Pool(address).connect() as raw:
        return schema.is_there(raw, address.schema)


@contextmanager
def clear_errors(shown: str) -> Iterator[None]:
    """Turn what the server and its driver raise into errors of ours.

    Raises:
        DatabaseError: What the server said, and the next step.
        InvalidValueError: A text that PostgreSQL cannot hold.
    """
    try:
        yield
    except psycopg.errors.LockNotAvailable as error:
        raise DatabaseError(
            f"{shown} stayed locked by another writer for longer than busy_timeout_ms. "
            "Try again, or raise database.busy_timeout_ms."
        ) from error
    except psycopg.errors.QueryCanceled as error:
        raise DatabaseError(
            f"PostgreSQL canceled a statement on {shown}: {_first_line(error)}. Nothing was written. Try "
            "again, or raise statement_timeout of the role."
        ) from error
    except (psycopg.errors.DiskFull, psycopg.errors.ConfigurationLimitExceeded) as error:
        raise DatabaseError(
            f"{shown} takes nothing more: {_first_line(error)}. Nothing was written. Free space on the "
            "server, then try again."
        ) from error
    except (
        psycopg.errors.SerializationFailure,
        psycopg.errors.DeadlockDetected,
        psycopg.errors.TransactionRollback,
        psycopg.errors.ReadOnlySqlTransaction,
    ) as error:
        raise NothingWrittenError(
            f"PostgreSQL gave a transaction on {shown} up: {_first_line(error)}. Nothing was written; try "
            "again."
        ) from error
    except psycopg.OperationalError as error:
        raise NothingWrittenError(
            f"The connection to {shown} failed: {_first_line(error)}. Nothing was written. Check that the "
            "server runs, its address and its max_connections, then try again."
        ) from error
    except psycopg.DataError as error:
        if "NUL" in str(error) or isinstance(error, psycopg.errors.UntranslatableCharacter):
            raise InvalidValueError(
                "A text holds the character NUL, which PostgreSQL cannot store. Take it out, for "
                "example with text.replace('\\0', '')."
            ) from error
        raise DatabaseError(
            f"PostgreSQL refused a value on {shown}: {_first_line(error)}"
        ) from error
    except psycopg.Error as error:
        raise DatabaseError(
            f"PostgreSQL refused a statement on {shown}: {_first_line(error)}"
        ) from error
    except UnicodeEncodeError as error:
        raise InvalidValueError(
            f"{error.object!r:.80} is not text: it holds half of a surrogate pair at character "
            f"{error.start}. Repair it, for example with text.encode('utf-8', 'replace').decode()."
        ) from error


def _timeline(raw: psycopg.Connection[Any]) -> str | None:
    """Return which history of a server this is: it changes when a standby takes over. None: not told."""
    try:
        row = raw.execute("SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)").fetchone()
    except psycopg.errors.Error as error:
        if isinstance(error, psycopg.OperationalError) and raw.closed:
            raise
        return None
    return row[0] if row else None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class Database:
    """The connections of one schema. Thread-safe; needs no event loop.

    `write` takes a lock of the schema for the length of its transaction, so that one writer follows
    the other, on whatever machine; what they number, commits in the order of the numbers. Nothing
    belongs to a session, so that PgBouncer may hand out its connections by transaction.
    """

    def __init__(self, url: str, *, settings: DatabaseConfig) -> None:
        """Connect.

        Raises:
            DatabaseError: There is no server, or it refuses.
        """
        self.address = Address(url)
        self.path = self.address.shown()
        self._busy_timeout_ms = settings.busy_timeout_ms
        self.vectors_in: str | None = None
        """The schema of pgvector; None: the database has no vectors."""
        self.vector_version: tuple[int, ...] = ()
        """Of pgvector, such as ``(0, 8, 5)``: its iterative scan is there from 0.8 on."""
        self._begins: dict[str, tuple[str, ...]] = {}
        self.schema_version: int | None = None
        self.ahead_us = 0
        self.filtered = False
        """Whether row-level security decides what the role reads."""
        self.reads_only = False
        """Whether the role may only read, or the server is a replica."""
        self._viewer = ""
        self.pid = os.getpid()
        self._closed = threading.Event()  # also of copies for viewers
        self._timeline: str | None = None
        self._writing = threading.local()
        self._durable = settings.synchronous == "full"
        self._pool = pool_of(self.address)
        self.connect = self._pool.connect
        self.notices = Notices(self._lent, self.connect, self.address.schema, self.path)
        # One connection first: a wrong address is told at once, in the server's words.
        try:
            with clear_errors(self.path), self.connect() as raw:
                self._look_at(raw)
        except BaseException:
            self.close()
            raise

    def _look_at(self, raw: psycopg.Connection[Any]) -> None:
        if raw.info.server_version < OLDEST:
            raise DatabaseError(
                f"{self.path} is PostgreSQL {raw.info.server_version // 10_000}; langmemory needs "
                f"{OLDEST // 10_000} or later."
            )
        encoding = raw.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise DatabaseError(
                f"The database of {self.path} has the encoding {encoding}; langmemory needs UTF8. "
                "Create a database with ENCODING 'UTF8'."
            )
        # A pooler invents the number of the process that a client is told.
        process = raw.execute("SELECT pg_backend_pid()").fetchone()
        if process is None or process[0] != raw.info.backend_pid:
            self._pool.prepares = False
        self._timeline = _timeline(raw)
        self.find_vectors(raw)
        asked_us = time.time_ns() // 1000
        told: Any = raw.execute(f"SELECT {_CLOCK}".encode()).fetchone()
        self._set_clock(asked_us, told[0])

    def find_vectors(self, raw: psycopg.Connection[Any]) -> None:
        """Look whether the database has pgvector, and where."""
        row = raw.execute(
            "SELECT n.nspname, e.extversion FROM pg_extension e "
            "JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector' "
            # A schema that was created without has no table for them.
            "AND (NOT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'item') "
            "OR EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'embedding'))",
            (self.address.schema, self.address.schema),
        ).fetchone()
        self.vectors_in, self.vector_version = None, ()
        self._begins = {}
        if row is not None:
            found = tuple(int(one) for one in re.findall(r"\d+", row[1]))
            if found >= OLDEST_PGVECTOR:
                self.vectors_in, self.vector_version = row[0], found

    def search_path(self) -> quoting.Composed:
        """Return the setting that has names found in the schema, for ``SET`` and ``SET LOCAL``."""
        names = [self.address.schema, *([self.vectors_in] if self.vectors_in else [])]
        return quoting.SQL("search_path TO {}").format(
            quoting.SQL(", ").join(map(quoting.Identifier, dict.fromkeys(names)))
        )

    def _begin(self, mode: str) -> tuple[str, ...]:
        """Return the statements that begin a transaction, to be sent at once with what follows: each message
        costs a way to the server and back."""
        begin = self._begins.get(mode)
        if begin is None:
            path = self.search_path().as_string(None)
            begin = self._begins[mode] = (f"BEGIN ISOLATION LEVEL {mode}", f"SET LOCAL {path}")
        if not self.filtered:
            return begin
        viewer = quoting.Literal(self._viewer).as_string(None)
        return (*begin, f"SET LOCAL {row_security.SETTING} = {viewer}")

    def find_rights(self) -> None:
        """Look whether the role of the address may write here, once the tables are there."""
        with self.read(snapshot=False) as connection:
            row = connection.raw.execute(
                "SELECT row_security_active('item'), "
                "NOT has_table_privilege('item', 'INSERT') OR pg_is_in_recovery()"
            ).fetchone()
        assert row is not None
        self.filtered, self.reads_only = row[0], row[0] or row[1]

    def for_viewer(self, viewer: str) -> Database:
        """Return the same connections, with transactions that name a viewer to a reader's policies."""
        found = copy.copy(self)
        found._viewer = viewer
        return found

    def patience(self, busy_timeout_ms: int | None = None) -> quoting.Literal:
        """Return how long a writer waits for a lock, at most so many milliseconds."""
        timeout = min(self._busy_timeout_ms, busy_timeout_ms or self._busy_timeout_ms)
        return quoting.Literal(f"{max(timeout, 1)}ms")

    def lock(self) -> quoting.Composed:
        """Return what waits, within a transaction, until nobody else writes to the schema."""
        return quoting.SQL("SELECT pg_advisory_xact_lock(hashtextextended({}, 7))").format(
            quoting.Literal(f"langmemory {self.address.schema}")
        )

    @contextmanager
    def _lent(self) -> Iterator[psycopg.Connection[Any]]:
        self.check_usable()
        raw = self._pool.take(time.monotonic() + self.address.pool_timeout_seconds)
        try:
            yield raw
        finally:
            self._pool.give_back(raw)

    @contextmanager
    def _begun(
        self, begin: str, *questions: str
    ) -> Iterator[tuple[psycopg.Connection[Any], Any, int]]:
        """A connection on which a transaction began, the row that the last question of its beginning
        returned, and when that was asked for. One that broke while it was idle is replaced: nothing was
        begun on it."""
        self.check_usable()
        deadline = time.monotonic() + self.address.pool_timeout_seconds
        while True:
            raw = self._pool.take(deadline)
            try:
                asked_us = time.time_ns() // 1000
                row = self._pool.begin(raw, begin, questions)
                break
            except psycopg.OperationalError:
                broken = raw.closed and time.monotonic() < deadline
                self._pool.give_back(raw)
                if not broken:
                    raise
                self._pool.close_idle()
            except BaseException:
                self._pool.give_back(raw)
                raise
        try:
            yield raw, row, asked_us
        finally:
            self._pool.give_back(raw)

    @contextmanager
    def write(
        self, *, busy_timeout_ms: int | None = None, retried: bool = False
    ) -> Iterator[Connection]:
        """One transaction, committed at the end and rolled back whole on any exception.

        Args:
            busy_timeout_ms: A shorter one, for this transaction alone.
            retried: It runs within `retried`: its beginning is sent with the first question and waited for
                with the answer, since a connection that broke while it was idle may be told of so late.
        """
        self.check_usable()
        if getattr(self._writing, "now", False):
            raise DatabaseError(
                f"A write to {self.path} began within another one of the same thread, as from "
                "a signal handler. Write when the first is done."
            )
        if self.reads_only and not self.filtered:
            self.find_rights()  # a replica may have been promoted, a right granted
        if self.reads_only:
            raise DatabaseError(
                f"The role with which {self.path} is open may only read it, or the server is a replica. "
                "Write through a store that is opened on the primary, as the owner of the tables."
            )
        begin = (
            *self._begin("READ COMMITTED"),
            f"SET LOCAL lock_timeout = {self.patience(busy_timeout_ms).as_string(None)}",
            f"SET LOCAL synchronous_commit = {'on' if self._durable else 'off'}",
        )
        lock = self.lock().as_string(None)
        version = _VERSION if self.schema_version is not None else f"SELECT {_CLOCK}"
        row: Any = None
        committing: Any = ()

        def check(told: Any, asked_us: int) -> None:
            nonlocal row
            row = told
            self._set_clock(asked_us, row[0])
            self._check_schema(row[1:])

        self._writing.now = True
        try:
            with clear_errors(self.path), ExitStack() as begun:
                if retried:
                    raw, asked_us = begun.enter_context(self._lent()), time.time_ns() // 1000
                    pipeline = begun.enter_context(raw.pipeline())
                    for one in begin:
                        raw.execute(one.encode(), prepare=False)
                    raw.execute(lock.encode())
                    told = raw.execute(version.encode())
                    connection = Connection(raw, pipeline, lambda: check(told.fetchone(), asked_us))
                else:
                    raw, first, asked_us = begun.enter_context(
                        self._begun("; ".join(begin), lock, version)
                    )
                    check(first, asked_us)
                    connection = Connection(raw, begun.enter_context(raw.pipeline()))
                try:
                    yield connection
                    if row is None:
                        connection.flush()
                except BaseException:
                    with suppress(psycopg.Error):  # else psycopg logs it, with values
                        connection.flush()
                    if raw.closed:
                        self._pool.close_idle()
                    raise
                committing = row[2:]
                raw.execute("COMMIT")
        except NothingWrittenError:
            if not committing or not self._was_committed(*committing):
                raise
        finally:
            self._writing.now = False
        self.notices.written()

    def _was_committed(self, transaction: str, run: str) -> bool:
        """Return whether a transaction is written of whose COMMIT no answer came.

        A server that crashes forgets numbers of transactions that were not yet on its disk, and gives
        them to others. Then "aborted" is still true of this one, and "committed" may be another's.

        Args:
            transaction: Its number.
            run: What `_RUN` was within the transaction.

        Raises:
            DatabaseError: Nobody knows.
        """
        deadline = time.monotonic() + self.address.pool_timeout_seconds
        begin = f"BEGIN READ ONLY; SELECT pg_xact_status('{int(transaction)}'::xid8), {_RUN}"
        state, before = "in progress", self._timeline
        with suppress(DatabaseError), clear_errors(self.path):
            while state == "in progress" and time.monotonic() < deadline:
                try:
                    with self._begun(begin) as (raw, row, _):
                        state, now = row
                        self._timeline = _timeline(raw)
                    if state == "committed" and now != run:
                        state = "of another run"
                except psycopg.errors.InvalidParameterValue:  # the number was not given yet
                    state = "aborted"
                time.sleep(PAUSE_SECONDS if state == "in progress" else 0)
        if before is None or self._timeline != before:
            state = "of another server"  # which may have given the number to another transaction
        if state not in ("committed", "aborted"):
            raise DatabaseError(
                f"The connection to {self.path} broke while a transaction was committed, and the server does "
                "not say whether it is written; it is written whole, or not at all. Look before you "
                "write it again."
            )
        return state == "committed"

    def retried(self, call: Callable[[], T]) -> T:
        """Return what a call returns that writes in one transaction, or reads; it is called again where
        nothing was written, unless it waited for a server in vain."""
        deadline = time.monotonic() + self.address.pool_timeout_seconds
        for n in range(1, TRIES):
            try:
                return call()
            except NothingWrittenError as error:
                if time.monotonic() > deadline:
                    raise
                logger.info("tried_again path=%s time=%d error=%s", self.path, n,
                            type(error.__cause__).__name__)  # fmt: skip
                time.sleep(random.uniform(0, 0.05 * n))
        return call()

    @contextmanager
    def part(self, connection: Connection) -> Iterator[None]:
        """A part of a write transaction that may fail alone: undone on an exception, which goes on."""
        with clear_errors(self.path):
            connection.execute("SAVEPOINT part")
            try:
                yield
                connection.flush()  # what went wrong is this part's
            except BaseException:
                with suppress(psycopg.Error):
                    connection.flush()
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part")
                raise
            connection.execute("RELEASE SAVEPOINT part")

    @contextmanager
    def read(self, *, snapshot: bool = True, also: str = "") -> Iterator[Connection]:
        """A connection with one consistent snapshot. Do not write through it.

        Args:
            also: A query whose row becomes `Connection.told`: asked on the way.
        """
        mode = "REPEATABLE READ" if snapshot else "READ COMMITTED"
        begin = "; ".join(self._begin(f"{mode} READ ONLY"))
        with (
            clear_errors(self.path),
            self._begun(begin, *([also] if also else [])) as (raw, row, _),
        ):
            connection = Connection(raw)
            connection.told = row if also else None
            yield connection

    @contextmanager
    def copy(self) -> Iterator[Connection]:
        """A transaction that is rolled back whatever happens, to see what a write would do. It writes, and
        so it takes the lock of the writers: rows that both change would end one of them."""
        timeout = f"SET LOCAL lock_timeout = {self.patience().as_string(None)}"
        begin = "; ".join((*self._begin("READ COMMITTED"), timeout))
        with (
            clear_errors(self.path),
            self._begun(begin, self.lock().as_string(None)) as (raw, _, _),
        ):
            yield Connection(raw)

    def first(self, statement: str, bindings: tuple[Any, ...]) -> Any:
        """Return the first row of a single statement that reads, or None."""
        with self.read(snapshot=False) as connection:
            return connection.execute(statement, bindings).fetchone()

    def _set_clock(self, asked_us: int, server_us: int) -> None:
        """Correct how far the server's clock is ahead, where an answer shows that it is not as known. Leases
        and lives are compared by it, since the clocks of several machines differ."""
        least = server_us - time.time_ns() // 1000
        self.ahead_us = min(max(self.ahead_us, least), server_us - asked_us)

    def _check_schema(self, row: Any) -> None:
        if self.schema_version is None:
            return
        if not row or row[0] != self.schema_version:
            raise SchemaVersionError(
                f"{self.path} was brought from schema version {self.schema_version} to "
                f"{row and row[0]} by another langmemory while it was open here; nothing was written. "
                "Restart this process with that langmemory."
            )

    @contextmanager
    def outside(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection of its own without a transaction, for what PostgreSQL does in none."""
        self.check_usable()
        with clear_errors(self.path), self.connect() as raw:
            yield raw

    def check_usable(self) -> None:
        """Raise ClosedStoreError after `close`, and in a forked child."""
        if self._closed.is_set():
            raise ClosedStoreError(f"The store on {self.path} is closed. Open a new one.")
        if self.pid != os.getpid():
            raise ClosedStoreError(
                f"The store on {self.path} was opened before this process was forked. Connections must "
                "not cross a fork: open a new store in the child process."
            )

    def close(self) -> None:
        """Close every connection. A second call does nothing."""
        if self._closed.is_set():
            return
        self._closed.set()
        self.notices.close()
        if self.pid == os.getpid():
            self._pool.leave()
