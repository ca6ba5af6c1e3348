"""Signals that arrive in the middle of a call, and threads that cannot be started."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import apsw
import pytest
from langgraph.store.base import PutOp

from langmemory import MemoryStore
from langmemory.engines.sqlite import connection
from langmemory.errors import DatabaseError
from langmemory.search.binary import SCANS_BEFORE_COPY
from tests.waiting import until_blocked

NS = ("a",)


class Interrupted(Exception):
    """Raised by a signal handler, as KeyboardInterrupt is."""


@pytest.fixture
def restored() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupted_while_waiting_for_the_lock(tmp_path: Path, restored: None) -> None:
    """Whoever interrupts a write that waits for another process keeps a store that writes, and keeps
    nobody from the file."""
    path = tmp_path / "m.db"
    store = MemoryStore(path, index=False)

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    signal.signal(signal.SIGINT, interrupt)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    main = threading.get_ident()

    def release() -> None:
        until_blocked(main, 'connection.execute("BEGIN IMMEDIATE")')
        signal.raise_signal(signal.SIGINT)  # handled by the main thread when SQLite returns to it
        other.execute("COMMIT")

    with ThreadPoolExecutor() as pool:
        released = pool.submit(release)
        with pytest.raises(Interrupted):
            store.put(NS, "interrupted", {})
        released.result()
    other.execute("BEGIN IMMEDIATE; COMMIT")  # nobody holds the lock
    store.put(NS, "after", {})
    assert store.get(NS, "after") is not None
    store.close()
    other.close()


def test_a_write_within_a_write(tmp_path: Path, restored: None) -> None:
    """A signal handler that writes in the middle of a write is refused; the write goes on, whole."""
    store = MemoryStore(tmp_path / "m.db", index=False)
    said: list[str] = []

    def write(number: int, frame: FrameType | None) -> None:
        try:
            store.put(NS, "handler", {})
        except DatabaseError as error:
            said.append(str(error))

    signal.signal(signal.SIGINT, write)
    with store._core.engine.write() as connection:
        connection.execute("INSERT INTO setting (name, value) VALUES ('one', 1)")
        signal.raise_signal(signal.SIGINT)
        connection.execute("INSERT INTO setting (name, value) VALUES ('two', 2)")
    assert "within another one" in said[0]
    found = store.conn.execute("SELECT name FROM setting WHERE name IN ('one', 'two')").fetchall()
    assert found == [("one",), ("two",)]
    store.put(NS, "later", {})
    assert store.get(NS, "handler") is None
    store.close()


async def test_no_thread_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system gives no thread, an awaited write says so instead of waiting for ever, and the
    next one works again."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with MemoryStore(tmp_path / "m.db", index=False) as store:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            for _ in range(2):
                with pytest.raises(RuntimeError, match="can't start"):
                    await store.aput(NS, "refused", {})
        await store.aput(NS, "k", {})
        assert [item.key for item in store.search(NS)] == ["k"]


def test_no_thread_to_tidy_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system gives no thread, what a commit or a search would do in the background is left
    for later, and they succeed."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(connection, "CHECKPOINT_PAGES", 50)  # a commit that large takes seconds
    with MemoryStore(tmp_path / "m.db") as store:
        texts = (PutOp(NS, f"k{n}", {"text": f"word {n}"}) for n in range(200))
        store.batch([*texts, PutOp(NS, "long", {"text": "x" * (50 * 4096)}, False)])
        for _ in range(SCANS_BEFORE_COPY + 2):
            assert store.search(NS, query="word 7", limit=1)
        store.put(NS, "after", {"text": "tea"})


def test_no_thread_to_count_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be had, as when the interpreter ends, a recall answers all the same, and
    what it would have counted in the background is counted on closing."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    file = tmp_path / "m.db"
    with MemoryStore(file, index=False) as store:
        store.batch([PutOp(NS, f"k{n}", {"text": f"tea number {n}"}) for n in range(300)])
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            assert len(store.recall("tea", NS, limit=300)) == 300
            assert len(store.recall("tea", NS, limit=1)) == 1
    with MemoryStore(file, index=False) as store:
        counted = [row.get("access_count", 0) for row in store.admin.export()]
        assert sum(counted) == 301
