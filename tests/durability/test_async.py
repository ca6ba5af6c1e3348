"""One store object under an event loop, under a second one, and under threads."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.engines.sqlite.connection import Database
from tests.durability.consistency import check_consistency
from tests.durability.writers import open_store, value_of
from tests.waiting import until

NAMESPACE = ("async",)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    store = open_store(tmp_path / "memory.db")
    yield store
    store.close()


class Gate:
    """Holds up whoever reads or writes a file until it is opened, and notes their threads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.threads: set[int] = set()
        self._opened = threading.Event()
        for name in ("read", "write"):
            monkeypatch.setattr(Database, name, self._held(getattr(Database, name)))

    def open(self) -> None:
        self._opened.set()

    def _held(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def held(*arguments: Any, **options: Any) -> Iterator[Any]:
            self.threads.add(threading.get_ident())
            assert self._opened.wait(60), "the loop did not come round to open the gate"
            with original(*arguments, **options) as connection:
                yield connection

        return held


async def _many_calls(store: MemoryStore, calls: int) -> None:
    """Puts and searches, all at the same time."""

    async def call(n: int) -> None:
        key = f"k{n}"
        if n % 2:
            await store.aput(NAMESPACE, key, value_of(key, n))
        else:
            await store.asearch(NAMESPACE, query=f"note {key}")

    await asyncio.gather(*(call(n) for n in range(calls)))


async def test_two_hundred_concurrent_calls_do_not_block_the_loop(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the file takes, 200 asearch/aput and their kin wait for it in other threads,
    while the loop comes round."""
    gate = Gate(monkeypatch)
    calls = asyncio.gather(
        _many_calls(store, 200),
        store.aremember(NAMESPACE, [("user", "I was here.")], thread_id="t"),
        store.arecall("who was here?", NAMESPACE),
        store.changes.ahistory(NAMESPACE, "k1"),
        store.changes.aruns(),
    )
    while not gate.threads:
        await asyncio.sleep(0)
    for _ in range(1_000):  # times round the loop
        await asyncio.sleep(0)
    assert not calls.done()
    gate.open()
    await calls
    assert threading.get_ident() not in gate.threads
    found = await store.asearch(NAMESPACE, filter={"n": {"$lt": 200}}, limit=500)
    assert len(found) == 100


def test_one_object_serves_a_second_loop_and_threads(store: MemoryStore, tmp_path: Path) -> None:
    """The loop a store was first used in may end: another loop, loops in other threads at the same
    time and plain threads use the same object, and all their writes are there."""
    asyncio.run(_many_calls(store, 20))
    asyncio.run(_many_calls(store, 40))

    def in_a_loop(first: int) -> None:
        async def puts() -> None:
            keys = [f"loop{n}" for n in range(first, first + 20)]
            await asyncio.gather(*(store.aput(NAMESPACE, key, value_of(key, 1)) for key in keys))

        asyncio.run(puts())

    def in_a_thread(first: int) -> None:
        for n in range(first, first + 20):
            store.put(NAMESPACE, f"thread{n}", value_of(f"thread{n}", 1))
            assert store.search(NAMESPACE, query=f"thread{n}x1", limit=1)[0].key == f"thread{n}"

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(in_a_loop, first) for first in (0, 20)]
        futures += [pool.submit(in_a_thread, first) for first in (0, 20)]
        for future in futures:
            future.result(60)
    assert len(store.search(NAMESPACE, filter={"n": 1}, limit=500)) == 81  # and k1 of _many_calls
    assert check_consistency(tmp_path / "memory.db") == 20 + 80


def test_a_store_that_is_never_closed_loses_nothing_and_leaves_no_thread(tmp_path: Path) -> None:
    """Dropping the last reference is as good as closing: the writes are there and threads end."""
    path = tmp_path / "memory.db"
    before = threading.active_count()
    store = open_store(path)
    asyncio.run(_many_calls(store, 40))
    del store

    def gone() -> bool:
        gc.collect()  # what a thread still held at the last one
        return threading.active_count() <= before

    until(gone)
    assert check_consistency(path) == 20
