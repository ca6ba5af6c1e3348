"""Another SQLite library in the same process: what somebody looks into the file with."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from langmemory.engines.sqlite.guard import guard
from langmemory.errors import DatabaseError
from langmemory.stores import MemoryStore

NS = ("a",)

PEEKS = """
import os, sqlite3, sys
from langmemory.stores import MemoryStore
path = sys.argv[1]
stores = [MemoryStore(path), MemoryStore(path)]
for n in range(9):
    stores[n % 2].put(("a",), str(n), {"text": "x"})
    peek = sqlite3.connect(path)
    assert peek.execute("SELECT count(*) FROM item").fetchone() == (n + 1,)
    peek.close()
    if n == 4:
        stores[1].close()
        stores[1] = MemoryStore(path)
os._exit(0)
"""
"""Dies with its last writes in the WAL."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="locks of open file descriptions")


@linux
def test_a_look_with_sqlite3_loses_nothing(tmp_path: Path) -> None:
    """Opening and closing the file with Python's sqlite3, which does not see this process's locks,
    leaves the WAL to the stores that write to it."""
    path = tmp_path / "m.db"
    subprocess.run([sys.executable, "-c", PEEKS, str(path)], check=True)
    with MemoryStore(path) as store:
        assert len(store.search(NS, limit=99)) == 9


@linux
def test_the_last_store_still_writes_the_wal_back(tmp_path: Path) -> None:
    """Closing leaves one file and no open descriptor, with several stores, in any order."""
    path = tmp_path / "m.db"
    before = len(os.listdir("/proc/self/fd"))
    stores = [MemoryStore(path) for _ in range(3)]
    for number, store in enumerate(stores):
        store.put(NS, str(number), {"text": "x"})
    for store in (stores[1], stores[0], stores[2]):
        assert (tmp_path / "m.db-wal").exists()
        store.close()
    assert os.listdir(tmp_path) == ["m.db"]
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_wal_that_is_gone_is_told_before_anything_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a system has no such locks, the next write is refused and says why; what was written
    before is in the file."""
    monkeypatch.setattr("langmemory.engines.sqlite.connection.guard", lambda file: None)
    path = tmp_path / "m.db"
    store = MemoryStore(path)
    store.put(NS, "k", {"text": "x"})
    sqlite3.connect(path).execute("SELECT count(*) FROM item").connection.close()
    if (tmp_path / "m.db-wal").exists():  # this system's sqlite3 left it
        store.put(NS, "l", {"text": "x"})
    else:
        with pytest.raises(DatabaseError, match="Python's sqlite3"):
            store.put(NS, "l", {"text": "x"})
    store.close()
    with MemoryStore(path) as again:
        assert again.get(NS, "k") is not None


def test_a_file_that_is_not_there_is_not_guarded(tmp_path: Path) -> None:
    """Nothing is created by asking."""
    assert guard(str(tmp_path / "none.db")) is None
    assert not list(tmp_path.iterdir())


@linux
def test_a_dropped_store_is_freed_while_another_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Garbage collection may free a store that nobody closed in the very moment in which its thread
    opens another one: neither waits for the other, and no descriptor is left."""
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    stat = os.stat

    def collecting(path: Any, **options: Any) -> os.stat_result:
        if sys._getframe(1).f_code is guard.__code__:
            gc.collect()
        return stat(path, **options)

    gc.disable()
    try:
        MemoryStore(tmp_path / "dropped.db", index=False).put(NS, "k", {"text": "x"})
        monkeypatch.setattr(os, "stat", collecting)
        store = MemoryStore(tmp_path / "m.db", index=False)
    finally:
        gc.enable()
    store.put(NS, "k", {"text": "x"})
    store.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_checkpointer_on_the_same_file_is_refused_before_it_does_harm(tmp_path: Path) -> None:
    """Whoever opens both on one file, as with LangGraph's SqliteStore, is told at the first write, or
    when the file is opened again; nothing is damaged, and without its tables the file opens."""
    path = tmp_path / "agent.db"
    store = MemoryStore(path)
    store.put(NS, "before", {"text": "x"})
    saver = sqlite3.connect(path)
    saver.execute("CREATE TABLE checkpoints (thread_id TEXT)")
    saver.commit()
    for _ in range(2):
        with pytest.raises(DatabaseError, match=r"agent\.db is also the file of a checkpointer"):
            store.put(NS, "after", {"text": "x"})
    store.close()
    saver.close()
    with pytest.raises(DatabaseError, match="file of its own"):
        MemoryStore(path)
    saver = sqlite3.connect(path)
    saver.execute("DROP TABLE checkpoints")
    saver.close()
    with MemoryStore(path) as store:
        assert [item.key for item in store.search(NS)] == ["before"]
