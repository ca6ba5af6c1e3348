"""Telling the other processes of a schema that something was written, and being told, by LISTEN and NOTIFY.

Nobody depends on it: whoever waits looks by himself after a while. So a notice may be late, and one may
stand for many writes, and it is sent after the commit: a NOTIFY within a transaction would make the commits
of all schemas of a server follow one another.
"""

from __future__ import annotations

import logging
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, Final

import psycopg
from psycopg import sql as quoting

from langmemory.errors import LangMemoryError

logger = logging.getLogger("langmemory.engines.postgres")

PAUSE_SECONDS: Final = 0.02
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
            time.sleep(PAUSE_SECONDS)

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
