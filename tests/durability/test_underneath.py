"""Changes to the file, its name and its folder while a store has it open."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.errors import DatabaseError

NS = ("a",)

CAPTURED: dict[str, Any] = {"capture_output": True, "text": True}

LOCK = """
import fcntl, sys
with open(sys.argv[1], "rb+") as file:
    try:  # where SQLite's shared lock is, https://sqlite.org/src/file/src/os.h
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        print("locked")
"""


def read_at_once(store: MemoryStore, readers: int) -> list[int]:
    """How many items each of so many threads finds that have a connection at the same time."""
    together = threading.Barrier(readers)
    found: list[int] = []

    def read() -> None:
        with store._core.engine.read() as snapshot:
            together.wait(30)
            found.append(snapshot.stats().items)

    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_another_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store opened by a relative path stays with its file when the process changes directory."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    with MemoryStore("m.db", index=False) as store:
        store.put(NS, "k", {"text": "tea"})
        monkeypatch.chdir(elsewhere)
        assert read_at_once(store, 4) == [1] * 4
        assert store.forget(NS, keys=["k"]).memories == 1
    assert list(elsewhere.iterdir()) == []


def test_a_symbolic_link_that_is_turned(tmp_path: Path) -> None:
    """A store opened through a symbolic link stays with its file when the link leads elsewhere."""
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "m.db")
    MemoryStore(tmp_path / "other.db", index=False).close()
    with MemoryStore(link, index=False) as store:
        store.put(NS, "k", {"text": "tea"})
        link.unlink()
        link.symlink_to(tmp_path / "other.db")
        store.put(NS, "l", {"text": "tea"})
        assert read_at_once(store, 4) == [2] * 4


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_deleted_or_replaced(tmp_path: Path, replaced: bool) -> None:
    """No write is acknowledged that would go into a deleted file, and none is made in its place."""
    path = tmp_path / "m.db"
    store = MemoryStore(path, index=False)
    store.put(NS, "k", {"text": "tea"})
    if replaced:
        MemoryStore(tmp_path / "other.db", index=False).close()
        os.replace(tmp_path / "other.db", path)
    else:
        path.unlink()
    with pytest.raises(DatabaseError, match=r"deleted, or another file put in its place.* anew"):
        store.put(NS, "l", {"text": "tea"})
    with pytest.raises(DatabaseError, match="put in its place"):
        store.forget(NS, keys=["k"])
    assert path.exists() == replaced
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
def test_closing_a_deleted_file(tmp_path: Path) -> None:
    """A store whose file was deleted takes nothing, when it is closed, from the file made anew in its
    place."""
    path = tmp_path / "m.db"
    store = MemoryStore(path, index=False)
    store.put(NS, "k", {"text": "tea"})
    for file in tmp_path.iterdir():
        file.unlink()
    with MemoryStore(path, index=False) as anew:
        anew.put(NS, "anew", {"text": "coffee"})
        before = {file.name for file in tmp_path.iterdir()}
        store.close()
        assert (
            {file.name for file in tmp_path.iterdir()} == before == {"m.db", "m.db-shm", "m.db-wal"}
        )


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be moved there")
def test_a_file_that_was_moved_has_everything(tmp_path: Path) -> None:
    """A file that was renamed while open holds every acknowledged write once the store is closed;
    no WAL stays beside the old name."""
    store = MemoryStore(tmp_path / "m.db", index=False)
    store.put(NS, "k", {"text": "tea"})
    (tmp_path / "m.db").rename(tmp_path / "moved.db")
    with pytest.raises(DatabaseError, match="anew"):
        store.put(NS, "l", {"text": "tea"})
    store.close()
    with MemoryStore(tmp_path / "moved.db", index=False) as moved:
        assert read_at_once(moved, 1) == [1]


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_forgetting_gives_no_lock_away(tmp_path: Path) -> None:
    """To look for remains in the file's bytes does not open the file to others: it stays locked as
    long as the store is open."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=False) as store:
        store.put(NS, "k", {"text": "zanzibar xylophone"})
        assert store.forget(NS, keys=["k"]).words
        found = subprocess.run([sys.executable, "-c", LOCK, str(path)], check=True, **CAPTURED)
        assert found.stdout.strip() == "locked"
