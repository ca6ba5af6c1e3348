"""Errors of the disk after a transaction is done: they are not told as if nothing were written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from langmemory import MemoryStore
from langmemory.engines.sqlite import connection, engine
from langmemory.engines.sqlite.engine import check
from langmemory.errors import DatabaseError, ForgettingError
from langmemory.operations.forgetting import complete_forgetting
from langmemory.projections.journal import Journal, JournalFiles
from tests.stores.change_sets import apply, fact
from tests.waiting import until

NS = ("memories", "maria")


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes there")
def test_a_checkpoint_that_fails_fails_no_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A put whose commit is done stays a success where the WAL cannot be written back just then; all
    of it is in the file once it can."""
    import resource

    path = tmp_path / "m.db"
    with MemoryStore(path, index=False) as store:
        for n in range(20):
            store.put(NS, f"k{n}", {"text": "x" * 100_000})
        database = store._core.engine.database
        assert database.empty_wal()
        monkeypatch.setattr(connection, "CHECKPOINT_PAGES", 1)
        database._written_back = True  # this commit is to write back what is left
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size // 4, hard))
        try:
            store.put(NS, "later", {"text": "y" * 5_000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not database._written_back
        assert (tmp_path / "m.db-wal").stat().st_size > 0
        store.put(NS, "last", {"text": "z"})
    with MemoryStore(path, index=False) as store, store._core.engine.read() as snapshot:
        assert {"later", "last"} <= {item.key for item in store.search(NS, limit=99)}
        assert check(snapshot.connection) == []


def test_forgetting_that_cannot_be_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk fails after the memories are gone, the error says that they are; forgotten once
    more, it is proved."""

    def fail(*_: object) -> Any:
        raise apsw.IOError("disk I/O error")

    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.put(NS, "k", {"text": "zanzibar"})
        for step in ("found_terms", "found_in_bytes"):
            with monkeypatch.context() as patch:
                patch.setattr(engine, step, fail)
                with pytest.raises(ForgettingError, match=r"The memories are gone, but .*again"):
                    store.forget(NS, keys=["k"])
            assert store.get(NS, "k") is None
        store.forget(NS, keys=["k"])


def test_an_undo_whose_journal_cannot_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An undo that is written is told as such, also where the file cannot be read afterwards, to see
    whether there is a journal; a forgetting says that it could not be read. The store that opens the file
    next and can read it lets the journal follow."""

    def fail(self: Journal) -> Any:
        raise DatabaseError("The disk reported an error")

    path, folder = tmp_path / "m.db", tmp_path / "journal"
    with MemoryStore(path, index=False) as store:
        for run in ("r", "s"):
            apply(store, run, fact(f"fact/{run}", f"tea {run}"))
        JournalFiles(folder).rebuild(store.journal)
        assert list(folder.rglob("*.md"))
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "folders", fail)
            assert store.changes.undo("r").run_id == "undo/r"
            with pytest.raises(ForgettingError, match=r"are gone, but .* could not be read"):
                store.forget(NS, keys=["fact/s"])
            complete_forgetting(store._core)  # does not take the journal for followed
        assert store.search(NS) == []
        assert list(folder.rglob("*.md"))
    with MemoryStore(path, index=False) as store:
        until(lambda: not list(folder.rglob("*.md")))
