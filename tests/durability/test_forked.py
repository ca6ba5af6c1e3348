"""A process that was forked while its parent had the file open: SQLite's locks are per process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.embeddings import StaticEmbedder, static
from langmemory.errors import ClosedStoreError, DatabaseError

NS = ("a",)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def in_child(call: Callable[[], str]) -> tuple[int, int]:
    """(pid, descriptor of what it will say) of a forked child; it dies when it hangs."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:  # nothing may escape into a second pytest
        signal.alarm(20)
        try:
            said = call()
        except BaseException as error:
            said = repr(error)
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    return pid, reading


def said(child: tuple[int, int]) -> str:
    pid, reading = child
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return text


def test_a_childs_own_store_outlives_the_parents(tmp_path: Path) -> None:
    """Everybody sees a forked child's writes through its own store, also when the parent closes the
    file meanwhile."""
    path = tmp_path / "m.db"
    parent = MemoryStore(path, index=False)
    parent.put(NS, "parent", {})
    parent.search(NS)  # an idle reader
    waiting, go_on = os.pipe()
    opened, open_for_use = os.pipe()

    def write() -> str:
        own = MemoryStore(path, index=False)
        own.put(NS, "before", {})
        os.write(open_for_use, b"x")
        os.read(waiting, 1)
        own.put(NS, "after", {})
        return " ".join(sorted(item.key for item in own.search(NS)))  # never closed: killed

    child = in_child(write)
    os.read(opened, 1)
    parent.close()
    os.write(go_on, b"x")
    assert said(child) == "after before parent"
    with MemoryStore(path, index=False) as store:
        assert {item.key for item in store.search(NS)} == {"parent", "before", "after"}


def test_a_fork_beside_a_write(tmp_path: Path) -> None:
    """Forked while another thread writes, a child is told so at once: by the parent's store, and by a
    store of its own on that file; another file works."""
    path = tmp_path / "m.db"
    store = MemoryStore(path, index=False)
    began, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with store._core.engine.write():
            began.set()
            may_end.wait(30)

    thread = threading.Thread(target=write)
    thread.start()
    began.wait(30)

    def use() -> str:
        with pytest.raises(ClosedStoreError, match="forked"):
            store.put(NS, "k", {})
        with pytest.raises(DatabaseError, match="in use by another thread"):
            MemoryStore(path, index=False)
        with MemoryStore(tmp_path / "other.db", index=False) as other:
            other.put(NS, "k", {})
        return "told"

    child = in_child(use)
    try:
        assert said(child) == "told"
    finally:
        may_end.set()
        thread.join()
    store.put(NS, "after", {})
    store.close()


def test_a_fork_while_the_embedder_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forked while another thread reads the embedded model, a child reads it for itself."""
    monkeypatch.setattr(static, "_loaded", None)
    reading, may_end = threading.Event(), threading.Event()
    read = static._read
    parent = os.getpid()

    def slowly() -> Any:
        if os.getpid() == parent:
            reading.set()
            may_end.wait(20)
        return read()

    monkeypatch.setattr(static, "_read", slowly)
    thread = threading.Thread(target=lambda: StaticEmbedder().embed_query("tea"))
    thread.start()
    assert reading.wait(20)
    child = in_child(lambda: str(StaticEmbedder().embed_query("tea").shape))
    assert said(child) == "(256,)"
    may_end.set()
    thread.join()
