"""The connections of this process to a server: at most so many, shared by the stores on one address.

`Notices` tells the other processes of a schema that something was written, by LISTEN and NOTIFY. Nobody
depends on it: whoever waits looks after a while. So a notice may be late, and one may stand for many
writes, and it is sent after the commit: a NOTIFY within a transaction would make the commits of all
schemas of a server follow one another.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from select import select
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakValueDictionary

import psycopg
from psycopg import sql as quoting
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import ConnStatus, TransactionStatus

from langmemory.addresses import Address
from langmemory.engines.postgres.connection import adapt
from langmemory.errors import DatabaseError, LangMemoryError

logger = logging.getLogger("langmemory.engines.postgres")

NOTICE_SECONDS: Final = 0.02
"""Between two notices of one process."""
IDLE_SECONDS: Final = 5.0
"""After which the thread that tells ends."""
PROOF_SECONDS: Final = 5.0
"""Within which a notice to oneself has to come."""
RETRY_SECONDS: Final = 2.0
"""After which a lost connection is made again."""

Wake = Callable[[], object]


class Notices:
    """The notices of one schema in this process. Threads begin with the first need of them."""

    def __init__(
        self,
        lend: Callable[[], AbstractContextManager[psycopg.Connection[Any]]],
        connect: Callable[[], psycopg.Connection[Any]],
        schema: str,
        shown: str,
    ) -> None:
        """``lend`` lends a connection of the pool; ``connect`` opens another, to listen by."""
        self._lend, self._connect, self._shown = lend, connect, shown
        self._channel = f"langmemory_{zlib.crc32(schema.encode()):08x}"
        self._lock = threading.Lock()
        self._listeners: dict[object, Wake] = {}
        self._listening = self._telling = False
        self._written = threading.Event()
        self._closed = False

    def written(self) -> None:
        """Tell the others, soon, that something was written here."""
        self._written.set()
        with self._lock:
            if not self._telling:
                self._telling = self._begun(self._tell)

    def listen(self, wake: Wake) -> Callable[[], None]:
        """Call ``wake``, in a thread of its own, whenever something was written; return what ends that."""
        mark = object()
        with self._lock:
            self._listeners[mark] = wake
            if not self._listening:
                self._listening = self._begun(self._listen)

        def end() -> None:
            with self._lock:
                self._listeners.pop(mark, None)

        return end

    def _begun(self, run: Callable[[], None]) -> bool:
        with suppress(RuntimeError):  # none can be started: the others look by themselves
            threading.Thread(target=run, name="langmemory-notices", daemon=True).start()
            return True
        return False

    def _tell(self) -> None:
        """Until nothing was written for a while: a thread keeps a store from being collected."""
        while True:
            self._written.wait(IDLE_SECONDS)
            with self._lock:
                if self._closed or not self._written.is_set():
                    self._telling = False
                    return
                self._written.clear()
            with suppress(psycopg.Error, LangMemoryError), self._lend() as connection:
                self._notify(connection, "")
            time.sleep(NOTICE_SECONDS)

    def _notify(self, connection: psycopg.Connection[Any], what: str) -> None:
        connection.execute("SELECT pg_notify(%s, %s)", (self._channel, what))

    def _listen(self) -> None:
        while not self._closed:
            connection: psycopg.Connection[Any] | None = None
            try:
                connection = self._connect()
                connection.execute(
                    quoting.SQL("LISTEN {}").format(quoting.Identifier(self._channel))
                )
                if not self._gets_through(connection):
                    return
                self._wake_all()  # for what was written while nobody listened
                while not self._closed:
                    for _ in connection.notifies(timeout=1.0, stop_after=1):
                        self._wake_all()
            except (psycopg.Error, LangMemoryError):
                time.sleep(0 if self._closed else RETRY_SECONDS)
            finally:
                _closed(connection)

    def _gets_through(self, connection: psycopg.Connection[Any]) -> bool:
        """Return whether notices come: through PgBouncer in transaction mode they do not."""
        with self._lend() as other:
            self._notify(other, "proof")
        for one in connection.notifies(timeout=PROOF_SECONDS):
            if one.payload == "proof":
                return True
            self._wake_all()
        logger.warning(
            "%s: LISTEN does not get through, as behind PgBouncer in transaction mode. Workers and "
            "followers of events look for changes at intervals.", self._shown,
        )  # fmt: skip
        return False

    def _wake_all(self) -> None:
        with self._lock:
            wakes = list(self._listeners.values())
        for wake in wakes:
            with suppress(RuntimeError):  # an event loop that is closed by now
                wake()

    def close(self) -> None:
        """End the threads, soon."""
        self._closed = True
        self._written.set()


def _closed(connection: psycopg.Connection[Any] | None) -> None:
    if connection is not None:
        with suppress(psycopg.Error):
            connection.close()


LONGEST_IDLE_SECONDS: Final = 600.0
"""A firewall between forgets a connection that nobody used for longer."""
PAUSE_SECONDS: Final = 0.25
"""Between two attempts to reach a server that restarts."""

DEFAULTS: Final[dict[str, Any]] = {
    "application_name": "langmemory",
    "connect_timeout": 10,
    # A server that went without a word is noticed within a minute, not after two hours.
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""Options of libpq, unless the address has them."""


class Pool:
    """Connections to one address. Thread-safe; it has no threads of its own."""

    def __init__(self, address: Address) -> None:
        self._address, self._shown = address, address.shown()
        self._places = threading.Semaphore(address.pool_size)
        self._idle: list[tuple[psycopg.Connection[Any], float]] = []
        self._prepared: WeakKeyDictionary[psycopg.Connection[Any], dict[str, str]] = (
            WeakKeyDictionary()
        )
        self._lock = threading.Lock()
        self.users = 0
        self.prepares = True
        """Whether statements may be prepared: not behind a pooler, where the next transaction may be another
        server process's."""

    @property
    def closed(self) -> bool:
        return not self.users

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection of its own."""
        options = DEFAULTS | conninfo_to_dict(self._address.url)
        if "," in str(options.get("host", "")):  # of several, the one that may be written to
            options.setdefault("target_session_attrs", "read-write")
        raw = psycopg.connect(autocommit=True, **options)
        if not self.prepares:
            raw.prepare_threshold = None
        adapt(raw)
        return raw

    def take(self, deadline: float) -> psycopg.Connection[Any]:
        """Return a connection that nobody else has. One that was idle may be broken.

        Args:
            deadline: The `time.monotonic` until which is waited for a place and for the server.

        Raises:
            DatabaseError: All are in use.
            psycopg.OperationalError: There is no server, or it refuses.
        """
        if not self._places.acquire(timeout=max(deadline - time.monotonic(), 0)):
            raise DatabaseError(
                f"All {self._address.pool_size} connections of this process to {self._shown} are in use, for "
                f"longer than {self._address.pool_timeout_seconds:g} seconds. Add pool_size=N to the "
                "address, or do less at once."
            )
        try:
            while idle := self._popped():
                raw, since = idle
                if time.monotonic() - since < LONGEST_IDLE_SECONDS and _rolled_back(raw, deadline):
                    return raw
                raw.close()
            while True:
                try:
                    return self.connect()
                except psycopg.OperationalError:
                    if time.monotonic() + PAUSE_SECONDS > deadline:
                        raise
                time.sleep(PAUSE_SECONDS)
        except BaseException:
            self._places.release()
            raise

    def _popped(self) -> tuple[psycopg.Connection[Any], float] | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def give_back(self, raw: psycopg.Connection[Any]) -> None:
        """Take a connection back, and roll back what is left open on it; a broken one is closed. What
        becomes of the rollback is read when the connection is taken the next time."""
        if raw.info.transaction_status != TransactionStatus.IDLE and not self.closed:
            with suppress(psycopg.Error):
                raw.pgconn.send_query(b"ROLLBACK")
                raw.pgconn.flush()
        if self.closed or raw.info.status != ConnStatus.OK or _is_lost(raw):
            raw.close()
        else:
            with self._lock:
                self._idle.append((raw, time.monotonic()))
        self._places.release()

    def begin(
        self, raw: psycopg.Connection[Any], start: str, questions: Sequence[str]
    ) -> tuple[Any, ...] | None:
        """Begin a transaction in one message, and return the row of its last question.

        Args:
            start: Statements, of which ``BEGIN`` is the first.
            questions: Queries without values, which are prepared where they may be.
        """
        known = self._prepared.setdefault(raw, {})
        try:
            return self._begun(raw, start, questions, known)
        except psycopg.errors.InvalidSqlStatementName:  # psycopg drops all at times, as after a DDL
            known.clear()
            raw.execute("ROLLBACK")
            return self._begun(raw, start, questions, known)

    def _begun(
        self,
        raw: psycopg.Connection[Any],
        start: str,
        questions: Sequence[str],
        known: dict[str, str],
    ) -> tuple[Any, ...] | None:
        message = [start]
        for one in questions:
            if not self.prepares:
                message.append(one)
                continue
            if one not in known:
                known[one] = f"langmemory_{next(_numbers)}"
                message.append(f"PREPARE {known[one]} AS {one}")
            message.append(f"EXECUTE {known[one]}")
        cursor = raw.execute("; ".join(message).encode())
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def close_idle(self) -> None:
        """Close the connections that nobody uses: after one broke, the others are likely to be broken."""
        while idle := self._popped():
            idle[0].close()

    def leave(self) -> None:
        """One store less uses it; the last one closes it."""
        with _lock:
            self.users -= 1
        if self.closed:
            self.close_idle()

    def __del__(self) -> None:  # of stores that were never closed
        for raw, _ in self._idle:
            raw.close()


def _is_lost(raw: psycopg.Connection[Any]) -> bool:
    return raw.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)


def _rolled_back(raw: psycopg.Connection[Any], deadline: float) -> bool:
    """Wait for the rollback that `Pool.give_back` sent; return whether the connection can be used."""
    server = raw.pgconn
    try:
        while raw.info.status == ConnStatus.OK and server.is_busy():
            server.flush()
            if not select([server.socket], [], [], max(deadline - time.monotonic(), 0))[0]:
                return False
            server.consume_input()
        while server.get_result() is not None:
            pass
    except psycopg.Error:
        return False
    return raw.info.transaction_status == TransactionStatus.IDLE


_numbers = itertools.count()
_pools: WeakValueDictionary[tuple[Address, int], Pool] = WeakValueDictionary()
_lock = threading.Lock()


def pool_of(address: Address) -> Pool:
    """Return the pool of an address in this process; `Pool.leave` when it is not used any more."""
    with _lock:
        key = (address, os.getpid())
        found = _pools.get(key)
        if found is None or found.closed:
            found = _pools[key] = Pool(address)
        found.users += 1
        return found
