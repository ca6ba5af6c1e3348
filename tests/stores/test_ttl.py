"""TTL: in minutes, by default, by put, prolonged by reading, swept; on a clock the test turns."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, PutOp, SearchOp

from langmemory.changes import ChangeSet, RemoveMemory
from langmemory.errors import ClosedStoreError, ConfigError
from langmemory.operations import core
from langmemory.stores import MemoryStore
from langmemory.stores.memory_store import Sweeper

NS = ("a",)


class Clock:
    """Microseconds that pass when told to."""

    def __init__(self) -> None:
        self.us = 1_700_000_000_000_000

    def __call__(self) -> int:
        return self.us

    def pass_minutes(self, minutes: float) -> None:
        self.us += int(minutes * 60_000_000)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(core, "now_us", made)
    return made


def test_what_is_remembered_lives_as_long_as_what_is_put(tmp_path: Path) -> None:
    """The default time to live is that of turns, too."""
    with MemoryStore(tmp_path / "m.db", ttl={"default_ttl": 10}) as store:
        store.put(NS, "put", {"text": "x"})
        (turn,) = store.remember(NS, [("user", "hello")], thread_id="t")
        statement = "SELECT key, ttl_minutes, expires_at - created_at FROM item ORDER BY key"
        assert store.conn.execute(statement).fetchall() == [
            ("put", 10, 600_000_000),
            (turn, 10, 600_000_000),
        ]


def keys(store: MemoryStore, **search: Any) -> set[str]:
    return {item.key for item in store.search(NS, **{"limit": 99, **search})}


async def test_default_explicit_and_none(tmp_path: Path, clock: Clock) -> None:
    """default_ttl holds where a put says nothing, its own ttl where it does, ttl=None lives on."""
    with MemoryStore(tmp_path / "m.db", index=False, ttl={"default_ttl": 10}) as store:
        store.put(NS, "default", {})
        await store.aput(NS, "short", {}, ttl=1)
        store.put(NS, "none", {}, ttl=None)
        clock.pass_minutes(5)
        assert store.sweep_ttl() == 1
        assert keys(store) == {"default", "none"}
        clock.pass_minutes(6)
        assert await store.sweep_ttl() == 1
        assert keys(store) == {"none"}


async def test_reading_prolongs_only_what_was_read(tmp_path: Path, clock: Clock) -> None:
    """refresh_ttl of a get or search starts anew the TTL of the items it returned, of no others;
    items without a TTL get none."""
    with MemoryStore(tmp_path / "m.db", index=False, ttl={"refresh_on_read": False}) as store:
        for key in ("got", "searched", "unread", "plain_read"):
            store.put(NS, key, {"kind": key}, ttl=10)
        store.put(NS, "forever", {"kind": "forever"})
        clock.pass_minutes(6)
        await store.aget(NS, "got", refresh_ttl=True)
        store.search(NS, filter={"kind": {"$in": ["searched", "forever"]}}, refresh_ttl=True)
        store.get(NS, "plain_read")
        clock.pass_minutes(6)
        assert store.sweep_ttl() == 2
        assert keys(store) == {"got", "searched", "forever"}
        clock.pass_minutes(1_000)
        assert store.sweep_ttl() == 2
        assert keys(store) == {"forever"}


def test_omit_expired(tmp_path: Path, clock: Clock) -> None:
    """With omit_expired no read sees an expired item that is not swept yet, nor revives it."""
    ttl = {"omit_expired": True, "refresh_on_read": True}
    with MemoryStore(tmp_path / "m.db", ttl=ttl) as store:  # type: ignore[arg-type]
        store.put(NS, "k", {"text": "apple"}, ttl=1)
        store.put(NS, "other", {"text": "apple"})
        clock.pass_minutes(2)
        results = store.batch(
            [
                GetOp(NS, "k"),
                SearchOp(NS),
                SearchOp(NS, query="apple"),
                SearchOp(NS, {"text": "apple"}),
            ]
        )
        assert results[0] is None
        assert [[item.key for item in found] for found in results[1:]] == [["other"]] * 3  # type: ignore[union-attr]
        assert store.sweep_ttl() == 1


def test_a_later_page_omits_what_expired(tmp_path: Path, clock: Clock) -> None:
    """With omit_expired an item that expires after the first page is not on the second."""
    with MemoryStore(tmp_path / "m.db", ttl={"omit_expired": True}) as store:
        for n in range(100):
            store.put(NS, f"k{n}", {"text": "apple"}, ttl=1 if n % 2 else None)
        first = keys(store, query="apple", limit=20)
        assert len(first) == 20
        clock.pass_minutes(2)
        second = keys(store, query="apple", limit=20, offset=20)
        assert second
        assert all(int(key[1:]) % 2 == 0 for key in second - first)
        assert not first & second


def test_expired_text_is_gone_for_good(tmp_path: Path, clock: Clock) -> None:
    """An expiry leaves no text in the history; that it was there, and when, stays."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.put(NS, "k", {"text": "secret one"}, ttl=1)
        store.put(NS, "k", {"text": "secret two"}, ttl=1)
        clock.pass_minutes(2)
        store.sweep_ttl()
        entries = store.changes.history(NS, "k")
        assert [entry.action for entry in entries] == ["add", "update", "expire"]
        assert all(entry.before is None and entry.after is None for entry in entries)


def test_text_that_was_deleted_goes_with_its_ttl(tmp_path: Path, clock: Clock) -> None:
    """A memory deleted or removed before its TTL ended stays in the history until then and no
    longer; an undo brings back the rest without it."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        for key, ttl in (("deleted", 2), ("removed", 2), ("kept", None), ("later", 9)):
            store.put(NS, key, {"text": f"said in {key}", "owner": "ana"}, ttl=ttl)
        store.put(NS, "deleted", {"text": "said at last"}, ttl=2)
        store.delete(NS, "deleted")
        store.delete(NS, "later")
        changes = tuple(RemoveMemory(key=key) for key in ("removed", "kept"))
        plan = ChangeSet(
            namespace=NS, run_id="r", kind="maintenance", reason="old", changes=changes
        )
        store.changes.apply(plan)
        store.sweep_ttl()
        texts = [entry.before for entry in store.changes.history(NS, "deleted")]
        assert texts == [
            None,
            {"text": "said in deleted", "owner": "ana"},
            {"text": "said at last"},
        ]

        clock.pass_minutes(3)
        assert store.sweep_ttl() == 0
        for key in ("deleted", "removed"):
            assert store.changes.history(NS, key)[-1].action == "expire"
            assert all(entry.before is None for entry in store.changes.history(NS, key))
        assert store.changes.history(NS, "later")[-1].before == {
            "text": "said in later",
            "owner": "ana",
        }
        before = len(store.changes.history(NS, "deleted"))
        store.sweep_ttl()
        assert len(store.changes.history(NS, "deleted")) == before
        done = store.changes.undo("r")
        assert (store.get(NS, "removed"), done.changed) == (None, ("kept",))
        assert store.get(NS, "kept") is not None
        rows = list(store.admin.export())
    assert "said in removed" not in repr(rows)
    with MemoryStore(tmp_path / "other.db", index=False) as other:
        other.admin.import_rows(rows)
        assert [item.key for item in other.search(NS)] == ["kept"]


@pytest.mark.parametrize(
    ("ttl", "message"),
    [
        ({"defualt_ttl": 5}, "Unknown key 'defualt_ttl' in the ttl config.*default_ttl"),
        ({"default_ttl": "5"}, "default_ttl of ttl is '5'"),
        ({"default_ttl": -1}, "default_ttl of ttl is -1"),
        ({"sweep_interval_minutes": True}, "sweep_interval_minutes of ttl is True"),
        ({"refresh_on_read": "no"}, "refresh_on_read of ttl is 'no'"),
        ({"omit_expired": 0}, "omit_expired of ttl is 0"),
        ([], "ttl is \\[\\]; it must be a dict with some of refresh_on_read, omit_expired"),
    ],
)
def test_a_wrong_ttl_config_is_refused(tmp_path: Path, ttl: Any, message: str) -> None:
    """An unknown key or a value of the wrong type is an error that names it, and what is allowed;
    nothing is opened."""
    with pytest.raises(ConfigError, match=message):
        MemoryStore(tmp_path / "m.db", ttl=ttl)
    assert not (tmp_path / "m.db").exists()


@pytest.mark.parametrize("ttl", [0, -1, math.nan, math.inf, 1e12, "60"])
def test_impossible_ttls(ttl: Any) -> None:
    """A TTL nobody can mean is refused with the range, and nothing is written."""
    store = MemoryStore(":memory:", index=False)
    with pytest.raises(ConfigError, match="must be above 0 and at most"):
        store.batch([PutOp(NS, "k", {}, ttl=ttl)])
    assert store.search(NS) == []


def test_sweeper_runs_until_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweeper deletes in the background, reports when it has stopped, and survives a cancelled
    handle."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        swept = threading.Event()
        real = store._core.engine.write
        store.put(NS, "k", {}, ttl=1e-6)

        def write(*, retried: bool) -> object:
            swept.set()
            return real(retried=retried)

        monkeypatch.setattr(store._core.engine, "write", write)
        handle = store.start_ttl_sweeper(sweep_interval_minutes=1e-4)
        assert store.start_ttl_sweeper() is handle
        assert swept.wait(10)
        assert store.stop_ttl_sweeper(timeout=10)
        assert handle.done()
        assert keys(store) == set()
        store.start_ttl_sweeper(sweep_interval_minutes=5).cancel()
        assert store.stop_ttl_sweeper(timeout=10)


def test_a_sweeper_that_is_due_in_a_thousand_years(tmp_path: Path) -> None:
    """An interval longer than a thread can wait does not end the sweeper."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        handle = store.start_ttl_sweeper(sweep_interval_minutes=1e300)
        with pytest.raises(TimeoutError):
            handle.result(timeout=0.2)
        assert store._sweeper is not None
        assert store._sweeper.running
        assert store.stop_ttl_sweeper(timeout=10)
        assert handle.done()


def test_closing_beside_a_sweep(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A sweeper whose store was closed in the middle of a long sweep stops without a complaint."""

    def sweep() -> int:
        raise ClosedStoreError("closed")

    sweeper = Sweeper(sweep, 0.0001)
    sweeper.handle.result(timeout=30)
    assert sweeper.stop(30)
    assert caplog.records == []
