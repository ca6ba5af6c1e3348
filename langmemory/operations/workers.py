"""Threads under the async methods: lanes for reads, lookups and preparation, one for writes, which commit
in groups."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from langmemory.errors import ClosedStoreError
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine

T = TypeVar("T")

READ_THREADS: Final = min(8, (os.cpu_count() or 1) + 2)
LOOKUP_THREADS: Final = 2
"""Threads for reading single items by key, so that a `get` never queues behind searches."""
GROUP_LIMIT: Final = 256
"""Most writes that share one commit."""

Apply = Callable[[Connection], Any]


class Workers:
    """Runs blocking store work for event loops. Bound to no loop, so any loop may use it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._readers = ThreadPoolExecutor(READ_THREADS, thread_name_prefix="langmemory-read")
        self._lookups = ThreadPoolExecutor(LOOKUP_THREADS, thread_name_prefix="langmemory-get")
        # One thread: writes that were begun one after the other reach the writer in that order.
        self._preparing = ThreadPoolExecutor(1, thread_name_prefix="langmemory-prepare")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="langmemory-write")
        self._lock = threading.Lock()
        self._pending: list[tuple[Apply, Future[Any]]] = []
        self._draining = False
        self._closing = False
        self._waiting: list[tuple[Apply, Future[Any]]] = []
        self._turn = threading.Lock()
        self._running: int | None = None
        """The thread whose turn it is."""

    async def read(self, call: Callable[[], T]) -> T:
        """Run a search, or another blocking read, in a thread."""
        return await self._run(self._readers, call)

    async def look_up(self, call: Callable[[], T]) -> T:
        """Run a read of single items in a thread that no search occupies."""
        return await self._run(self._lookups, call)

    async def prepare(self, call: Callable[[], T]) -> T:
        """Prepare a write in a thread, in order of arrival."""
        return await self._run(self._preparing, call)

    async def _run(self, lane: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        self._check_usable()
        try:
            running = asyncio.get_running_loop().run_in_executor(lane, call)
        except RuntimeError:
            self._check_usable()  # closed at this moment
            raise
        return await running

    def beside(self, call: Callable[[], None]) -> None:
        """Run what nobody waits for but `close`, in a thread. It has to catch its own errors.

        Raises:
            RuntimeError: No thread can be started.
        """
        self._readers.submit(call)

    def share(self, apply: Apply) -> Any:
        """Run a write in this thread; of several threads one runs those of all that wait for it. They share a
        commit, each all-or-nothing: where a commit is a way to a server, they wait for one together."""
        me = threading.get_ident()
        if me == self._running:  # as from a signal handler: the engine says what is wrong
            with self._engine.write() as connection:
                return apply(connection)
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.append((apply, future))
        with self._turn:
            if not future.done():
                self._running = me
                with self._lock:
                    group, self._waiting = self._waiting[:GROUP_LIMIT], self._waiting[GROUP_LIMIT:]
                try:
                    self._commit(group)
                finally:  # of a thread that is interrupted, the others take over what is left
                    self._running = None
                    with self._lock:
                        left = [one for one in group if not (one[1].done() or one[1] is future)]
                        self._waiting[:0] = left
        return future.result()

    async def write(self, apply: Apply) -> Any:
        """Run a write in order of arrival; concurrent ones share a commit, each all-or-nothing."""
        return await asyncio.wrap_future(self.later(apply))

    def later(self, apply: Apply) -> Future[Any]:
        """Run a write in the background, in order of arrival."""
        self._check_usable()
        future: Future[Any] = Future()
        with self._lock:
            if not self._draining:  # `_drain` waits for the lock
                try:
                    self._writer.submit(self._drain)
                except RuntimeError:  # no thread can be started, or no more
                    self._check_usable()  # closed at this moment
                    raise
                self._draining = True
            self._pending.append((apply, future))
        return future

    def _check_usable(self) -> None:
        self._engine.check_usable()  # also before a thread is asked: a forked child has none
        if self._closing:
            raise ClosedStoreError(
                f"The store on {self._engine.path} is being closed. Open a new one."
            )

    def _drain(self) -> None:
        while True:
            with self._lock:
                group, self._pending = self._pending[:GROUP_LIMIT], self._pending[GROUP_LIMIT:]
                if not group:
                    self._draining = False
                    return
            group = [one for one in group if one[1].set_running_or_notify_cancel()]
            try:
                self._commit(group)
            except BaseException as error:
                for _, future in group:
                    future.set_exception(error)

    def _commit(self, group: Sequence[tuple[Apply, Future[Any]]]) -> None:
        """Run the writes of a group in one transaction, and tell every caller what came of it. Raises what
        interrupts this thread; then nobody is told anything."""
        done: list[tuple[Any, BaseException | None]] = []
        try:
            if not (self._engine.shares_commits and self._wrote_all(group, done)):
                self._engine.retried(partial(self._write, group, done))
        except Exception as error:  # nothing was committed: every caller learns it
            done = [(None, own or error) for _, own in done]
            done += [(None, error)] * (len(group) - len(done))
        for (_, future), (result, failed) in zip(group, done, strict=True):
            if failed is None:
                future.set_result(result)
            else:
                future.set_exception(failed)

    def _wrote_all(
        self,
        group: Sequence[tuple[Apply, Future[Any]]],
        done: list[tuple[Any, BaseException | None]],
    ) -> bool:
        """Run the writes of a group as one, since to tell the errors of one from those of others takes two
        ways to the server each; return whether there were none. Else nothing was written."""

        committing: bool

        def write() -> None:
            nonlocal committing
            committing = False
            done.clear()
            with self._engine.write(retried=True) as connection:
                for apply, _ in group:
                    done.append((apply(connection), None))
                if len(group) > 1:
                    connection.changes()  # what is wrong with a statement is told by now
                committing = True

        try:
            self._engine.retried(write)
        except Exception:
            if len(group) == 1 or committing:  # then it may be written all the same
                raise
            return False
        return True

    def _write(
        self,
        group: Sequence[tuple[Apply, Future[Any]]],
        done: list[tuple[Any, BaseException | None]],
    ) -> None:
        """Run the writes of a group in one transaction; ``done`` takes the result and the error of each."""
        done.clear()
        with self._engine.write(retried=True) as connection:
            for apply, _ in group:
                done.append(self._part(connection, apply))

    def _part(self, connection: Connection, apply: Apply) -> tuple[Any, BaseException | None]:
        """Run one write of a group; return its result and its own error."""
        try:
            with self._engine.part(connection):
                return apply(connection), None
        except Exception as error:  # this caller's own fault: the others go on
            if not connection.in_transaction:  # SQLite gave the whole transaction up
                raise
            return None, error

    def close(self) -> None:
        """Finish what was begun; nothing further is accepted."""
        self._closing = True
        for lane in (self._preparing, self._lookups, self._readers, self._writer):
            lane.shutdown(wait=True)
