"""One store for every caller: loops, threads, cancellation, groups of writes, closing, forking."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import sqlite3
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import apsw
import pytest
from langgraph.store.base import PutOp

from langmemory.config import load_config
from langmemory.engines.sqlite.connection import CHECKPOINT_PAGES
from langmemory.errors import (
    ClosedStoreError,
    ConfigError,
    InvalidValueError,
    LangMemoryError,
)
from langmemory.stores import MemoryStore
from tests.places import POSTGRES, locked
from tests.waiting import until

NS = ("a",)


@pytest.fixture(params=["file", "memory"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "m.db") if request.param == "file" else ":memory:"


async def test_one_bad_write_of_a_group_fails_alone(path: str) -> None:
    """Writes that share a commit stand or fall each on its own."""
    store = MemoryStore(path, index=False)
    busy, hold = threading.Event(), threading.Event()

    def block(connection: Any) -> None:
        busy.set()
        assert hold.wait(30)

    blocker = asyncio.ensure_future(store._core.workers.write(block))
    while not busy.is_set():
        await asyncio.sleep(0)  # the writer is busy: what follows is committed together

    def broken(connection: Any) -> None:
        connection.execute("INSERT INTO item (namespace, key) VALUES (1, 'half')")

    def stumbling(connection: Any) -> None:
        connection.execute("INSERT INTO setting (name, value) VALUES ('half', 'done')")
        raise KeyError("later")

    tasks: list[Awaitable[Any]] = [
        store.aput(NS, "one", {"n": 1}),
        store._core.workers.write(broken),
        store.aput(NS, "two", {"n": 2}),
        store._core.workers.write(stumbling),
        store.adelete(NS, "one"),
    ]
    waiting = asyncio.gather(*tasks, return_exceptions=True)
    while len(store._core.workers._pending) < len(tasks):
        await asyncio.sleep(0)
    hold.set()
    results = await waiting
    await blocker
    assert [type(result).__name__ for result in results] == [
        "NoneType", "DatabaseError", "NoneType", "KeyError", "NoneType",
    ]  # fmt: skip
    assert [item.key for item in await store.asearch(NS)] == ["two"]
    with store._core.engine.read() as snapshot:
        assert snapshot.connection.execute(
            "SELECT count(*) FROM setting WHERE name = 'half'"
        ).fetchone() == (0,)
    assert store.admin.check() == []
    store.close()


def test_threads_whose_writes_share_a_commit_fail_each_on_its_own(path: str) -> None:
    """Of several threads that wait for their turn one writes for all; an error is told to its own thread,
    and who is interrupted leaves the others to themselves."""
    store = MemoryStore(path, index=False)
    workers = store._core.workers
    busy, hold = threading.Event(), threading.Event()

    def interrupted(connection: Any) -> None:
        connection.execute("INSERT INTO setting (name, value) VALUES ('half', 'done')")
        busy.set()
        assert hold.wait(30)
        raise KeyboardInterrupt

    def put(key: str) -> Callable[[Any], str]:
        def write(connection: Any) -> str:
            connection.execute("INSERT INTO setting (name, value) VALUES (?, 'done')", (key,))
            return key

        return write

    def stumbling(connection: Any) -> None:
        put("half")(connection)
        raise KeyError("later")

    def broken(connection: Any) -> None:
        connection.execute("INSERT INTO item (namespace, key) VALUES (1, 'half')")

    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(workers.share, interrupted)
        assert busy.wait(30)
        others = [
            threads.submit(workers.share, one)
            for one in (put("one"), broken, stumbling, put("two"))
        ]
        while len(workers._waiting) < len(others):
            time.sleep(0.001)
        hold.set()
        told = [
            type(one.exception()).__name__ if one.exception() else one.result() for one in others
        ]
        assert isinstance(first.exception(), KeyboardInterrupt)
    assert told == ["one", "DatabaseError", "KeyError", "two"]
    with store._core.engine.read() as snapshot:
        found = snapshot.connection.execute(
            "SELECT name FROM setting WHERE name IN ('half', 'one', 'two') ORDER BY name"
        ).fetchall()
    assert found == [("one",), ("two",)]
    store.close()


async def test_cancellation_leaves_the_store_healthy(path: str) -> None:
    """Tasks cancelled at any moment of a put, search or remember leave a store that works on, and
    what was put is whole or not there."""
    store = MemoryStore(path)
    for delay in (0, 0, 0.0005, 0.001, 0.002, 0.005):
        tasks = [
            asyncio.ensure_future(call)
            for n in range(10)
            for call in (
                store.aput(NS, f"k{n}", {"text": "some note"}),
                store.asearch(NS, query="note"),
                store.aremember(("b",), [("user", f"{delay} {n}")], thread_id="t"),
            )
        ]
        await asyncio.sleep(delay)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await store.aput(NS, "after", {"text": "alive"})
    assert (await store.asearch(NS, query="alive", limit=1))[0].key == "after"
    assert store.admin.check() == []
    await store.aclose()


async def test_use_after_close(path: str) -> None:
    """After close every method says ClosedStoreError; closing again does nothing."""
    store = MemoryStore(path)
    await store.aput(NS, "k", {"text": "x"})
    rows = store.admin.export()
    next(rows)
    rows.close()
    store.close()
    store.close()
    await store.aclose()
    calls: list[Callable[[], Any]] = [
        lambda: store.get(NS, "k"),
        lambda: store.put(NS, "k", {}),
        lambda: store.search(NS, query="x"),
        lambda: store.list_namespaces(),
        lambda: store.remember(NS, [("user", "x")], thread_id="t"),
        lambda: store.recall("x", NS),
        lambda: store.changes.history(NS, "k"),
        lambda: store.admin.delete_namespace(NS),
        lambda: store.stats(),
        lambda: store.sweep_ttl(),
        lambda: next(store.admin.export()),
        lambda: store.conn,
    ]
    for call in calls:
        with pytest.raises(ClosedStoreError, match=r"is closed\. Open a new one"):
            call()
    later: list[Callable[[], Awaitable[Any]]] = [
        lambda: store.aget(NS, "k"),
        lambda: store.aput(NS, "k", {}),
        lambda: store.asearch(NS, query="x"),
        lambda: store.aremember(NS, [("user", "x")], thread_id="t"),
        lambda: store.arecall("x", NS),
        lambda: store.changes.ahistory(NS, "k"),
    ]
    for start in later:
        with pytest.raises(ClosedStoreError):
            await start()


def test_closing_beside_a_locked_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where usage counts cannot be written at the end, the log says so and the store is closed all
    the same: nobody loses the results of a recall for them."""
    config = load_config()
    database = config.database.model_copy(update={"busy_timeout_ms": 10})
    config = config.model_copy(update={"database": database})
    with ExitStack() as other:
        with MemoryStore(tmp_path / "m.db", index=False, config=config) as store:
            store.put(NS, "k", {"text": "tea"})
            other.enter_context(locked(tmp_path / "m.db"))
            store.recall("tea", NS)  # counts as a use
        assert "usage_counts_lost" in caplog.text
        assert f"error={'LockNotAvailable' if POSTGRES else 'BusyError'}" in caplog.text
    with pytest.raises(ClosedStoreError):
        store.get(NS, "k")


@pytest.mark.sqlite("adds a function to a connection of SQLite")
def test_closing_beside_a_query_by_hand(path: str) -> None:
    """A thread inside a query on ``store.conn`` does not keep the store from closing, and gets its
    answer."""
    store = MemoryStore(path)
    connection = store.conn
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> int:
        inside.set()
        go_on.wait(20)
        return 7

    connection.create_scalar_function("wait", wait, 0)
    found: list[Any] = []
    query = threading.Thread(target=lambda: found.extend(connection.execute("SELECT wait()")))
    query.start()
    assert inside.wait(20)
    store.close()
    with pytest.raises(ClosedStoreError):
        store.get(NS, "k")
    go_on.set()
    query.join()
    assert found == [(7,)]
    store.close()


@pytest.mark.parametrize("take", [pickle.dumps, copy.deepcopy])
def test_a_pickled_store_says_what_to_do_instead(path: str, take: Callable[[Any], Any]) -> None:
    """A store does not go into another process; the error says to open the file there."""
    with MemoryStore(path) as store:
        for one in (store, store.for_viewer("mia")):
            with pytest.raises(TypeError, match=r"cannot be pickled .* MemoryStore\('.*'\)"):
                take(one)


def test_a_store_never_closed(tmp_path: Path) -> None:
    """A store that is dropped without closing keeps nobody from the file, and loses nothing."""
    path = tmp_path / "m.db"
    dropped = MemoryStore(path)
    asyncio.run(dropped.aput(NS, "k", {"text": "x"}))
    database = weakref.ref(dropped._core.engine.database)
    if not POSTGRES:
        dropped._core.engine.database._after_commit(
            apsw.Connection(":memory:"), "main", CHECKPOINT_PAGES
        )
    del dropped

    def freed() -> bool:
        gc.collect()
        return database() is None

    until(freed)  # the thread that checkpoints may hold it for a moment
    with MemoryStore(path) as store:
        assert store.get(NS, "k") is not None


def test_a_forked_child_is_told(tmp_path: Path) -> None:
    """In a forked child the store of the parent refuses, at once and clearly, sync and async; the
    parent works on, and so does a new store in the child."""
    path = tmp_path / "m.db"
    store = MemoryStore(path, index=False)
    asyncio.run(store.aput(NS, "parent", {}))
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:  # no assertion may escape into a second pytest
        said = []
        try:
            for call in (
                lambda: store.get(NS, "parent"),
                lambda: asyncio.run(asyncio.wait_for(store.aput(NS, "child", {}), 5)),
                lambda: asyncio.run(asyncio.wait_for(store.aget(NS, "child"), 5)),
            ):
                try:
                    call()
                    said.append("nothing")
                except LangMemoryError as error:
                    said.append(str("forked" in str(error)))
            store.close()
            with MemoryStore(path, index=False) as own:
                own.put(NS, "child", {})
        except BaseException as error:
            said.append(repr(error))
        os.write(writing, " ".join(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        assert answer.read() == "True True True"
    os.waitpid(pid, 0)
    store.put(NS, "after", {})
    assert {item.key for item in store.search(NS)} == {"parent", "child", "after"}
    store.close()


async def test_sync_calls_on_a_guarded_loop(tmp_path: Path) -> None:
    """Inside ``async with from_conn_string`` a sync call on the loop is refused as AsyncSqliteStore
    refuses it; from a thread it works."""
    async with MemoryStore.from_conn_string(str(tmp_path / "m.db"), index=False) as store:
        with pytest.raises(asyncio.InvalidStateError, match="Await its async twin"):
            store.put(NS, "k", {})
        await asyncio.to_thread(store.put, NS, "k", {})
        assert await store.aget(NS, "k") is not None


async def test_a_bad_value_stops_its_batch_only(path: str) -> None:
    """A value that has no JSON form fails its whole batch before anything is written."""
    store = MemoryStore(path, index=False)
    operations = [PutOp(NS, "good", {"n": 1}), PutOp(NS, "bad", {"f": object()})]
    with pytest.raises(InvalidValueError, match="object"):
        store.batch(operations)
    with pytest.raises(InvalidValueError, match="object"):
        await store.abatch(operations)
    assert store.search(NS) == []
    store.close()


@pytest.mark.parametrize("path", [sqlite3.connect(":memory:"), 3])
def test_a_store_opens_its_own_connections(path: Any) -> None:
    """A connection, as LangGraph's SQLite stores take it, is refused by name and not by a type."""
    with pytest.raises(ConfigError, match="must be the path of a file"):
        MemoryStore(path)


def test_an_export_is_read_in_any_thread(path: str) -> None:
    """A web server asks for each row of an export in another thread, and drops it in the middle when
    the client goes away; whoever writes meanwhile does not wait for it."""
    with MemoryStore(path, index=False) as store, ThreadPoolExecutor(1) as other:
        for key in "abc":
            store.put(NS, key, {"text": key})
        whole, dropped = store.admin.export(), store.admin.export()
        rows = [next(whole), other.submit(next, whole).result(10)]
        other.submit(next, dropped).result(10)
        other.submit(store.put, NS, "d", {"text": "d"}).result(10)
        dropped.close()
        rows += whole
        assert [row["key"] for row in rows if row.get("type") == "item"] == ["a", "b", "c"]
        other.submit(store.put, NS, "e", {"text": "e"}).result(10)


def test_an_export_that_was_dropped_ends_in_any_moment(path: str) -> None:
    """Garbage collection may end an export that nobody reads on in the very moment in which its thread
    takes a connection for another read: neither waits for the other."""
    store = MemoryStore(path, index=False)
    store.put(NS, "k", {"text": "x"})
    export: Any = store.admin.export()
    next(export)

    database = store._core.engine.database
    lock = database._pool._lock if POSTGRES else database._pool_lock

    def collect() -> None:
        with lock:
            export.close()

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    store.close()
