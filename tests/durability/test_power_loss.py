"""The power goes, or the disk fails: no acknowledged write is lost, every file opens, each error is clear."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest
from langchain_core.messages import HumanMessage

from langmemory import MemoryStore
from langmemory.engines.sqlite import connection
from langmemory.engines.sqlite.engine import check
from langmemory.errors import LangMemoryError
from tests.durability.disk import NAME, REAL, Disk, failing_disk

pytestmark = [pytest.mark.thorough, pytest.mark.sqlite("a VFS of SQLite")]

CUTS = int(os.environ.get("LANGMEMORY_POWER_CUTS", "40"))
CALLS = int(os.environ.get("LANGMEMORY_DISK_ERRORS", "40"))
"""Up to which call of the file layer each fails once; the default tries so many, spread over 2,000."""
NS = ("a",)
State = dict[str, str | None]
"""The text of each key; None where it is gone."""


@dataclass
class Load:
    """A mixed load: what is acknowledged, and what is under way."""

    store: MemoryStore
    rng: random.Random
    acknowledged: State = field(default_factory=dict)
    under_way: State = field(default_factory=dict)
    count: int = 0

    def step(self) -> None:
        """Do one more thing."""
        self.count += 1
        text = f"note {self.count} of Mia" + " and so on" * self.rng.choice((1, 1, 400))
        key = f"k{self.rng.randrange(12)}"
        match self.rng.choice(("put", "put", "put", "delete", "remember", "recall", "forget")):
            case "put":
                self.under_way = {key: text}
                self.store.put(NS, key, {"text": text})
            case "delete":
                self.under_way = {key: None}
                self.store.delete(NS, key)
            case "remember":
                said = HumanMessage(text, id=f"m{self.count}")
                self.under_way = {f"m{self.count}": text}
                self.store.remember(NS, [said], thread_id="t")
            case "recall":
                self.store.recall("what does Mia note", NS)
            case "forget":
                if self.acknowledged.get(key) is not None:
                    self.under_way = {key: None}
                    self.store.forget(NS, keys=[key], purge=self.rng.choice(("now", "later")))
        self.acknowledged |= self.under_way
        self.under_way = {}


def texts(store: MemoryStore) -> State:
    """What is in the store."""
    return {
        item.key.rpartition("/")[2]: item.value.get("text", item.value.get("content"))
        for item in store.search(NS, limit=10_000)
    }


def differences(found: State, acknowledged: State, under_way: State) -> list[str]:
    """Keys that are neither as acknowledged nor as the change under way makes them."""
    return [
        key
        for key in found.keys() | acknowledged.keys() | under_way.keys()
        if found.get(key) != acknowledged.get(key)
        and not (key in under_way and found.get(key) == under_way[key])
    ]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """With checkpoints after few pages, and every read through the file layer."""
    monkeypatch.setattr(connection, "CHECKPOINT_PAGES", 60)
    monkeypatch.setattr(connection, "MAPPED_BYTES", 0)
    with failing_disk() as found:
        yield found


def test_the_power_goes(tmp_path: Path, disk: Disk) -> None:
    """At random calls of the file layer the power goes: what was not synced is there in part, in torn pages.
    The file opens, agrees with itself, and has every acknowledged write."""
    rng = random.Random(7)
    cuts: list[tuple[dict[str, bytes], State, State]] = []
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store:
        load = Load(store, rng)

        def cut(call: str) -> None:
            if rng.random() < 0.05 and call in ("write", "sync", "truncate"):
                state = dict(load.acknowledged), dict(load.under_way)
                cuts.append((disk.after_power_loss(path, rng), *state))

        done = 0
        while done < CUTS:
            disk.before = cut
            load.step()
            disk.before = lambda call: None
            for number, (files, acknowledged, under_way) in enumerate(cuts, done):
                verify(tmp_path / "cut.db", files, acknowledged, under_way, number)
            done += len(cuts)
            cuts.clear()


def verify(
    path: Path, files: dict[str, bytes], acknowledged: State, under_way: State, number: int
) -> None:
    """Open what a cut left, on the real disk."""
    apsw.set_default_vfs(REAL)
    try:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        for suffix, data in files.items():
            Path(f"{path}{suffix}").write_bytes(data)
        with MemoryStore(path) as store:
            wrong = differences(texts(store), acknowledged, under_way)
            assert wrong == [], f"cut {number}: {wrong}"
            with store._core.engine.read() as snapshot:
                assert check(snapshot.connection) == [], f"cut {number}"
    finally:
        apsw.set_default_vfs(NAME)


def test_the_disk_fails_at_a_call(tmp_path: Path, disk: Disk) -> None:
    """Each call of the file layer fails once, with an error of the disk or a full one. What fails says so,
    answers are right or errors, and nothing acknowledged is lost."""
    base = tmp_path / "base.db"
    with MemoryStore(base) as store:
        load = Load(store, random.Random(3))
        for _ in range(25):
            load.step()
    calls = range(1, 2001, max(1, 2000 // CALLS))
    failed = 0
    for number in calls:
        path = Path(shutil.copy(base, tmp_path / f"{number}.db"))
        failed += _fail_once(path, disk, number, dict(load.acknowledged))
        for file in tmp_path.glob(f"{number}.db*"):
            file.unlink()
    assert failed > len(calls) // 4, "the load has too few calls"


def _fail_once(path: Path, disk: Disk, number: int, acknowledged: State) -> bool:
    """Run a load in which one call fails; return whether something reported it."""
    left = number

    def fail(call: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise apsw.FullError() if call == "write" and number % 2 else apsw.IOError()

    told = False
    disk.before = fail
    try:
        store = MemoryStore(path)
    except LangMemoryError as error:
        check_clear(error)
        disk.before = lambda call: None
        store, told = MemoryStore(path), True
    with store:
        load = Load(store, random.Random(number), acknowledged, count=number * 1000)
        for _ in range(40):
            if left <= 0:
                break
            try:
                load.step()
            except LangMemoryError as error:
                check_clear(error)
                told = True
        disk.before = lambda call: None
        under_way = load.under_way
        assert differences(texts(store), acknowledged, under_way) == [], number
        store.put(NS, "after", {"text": "after"})
    with MemoryStore(path) as store, store._core.engine.read() as snapshot:
        found = texts(store)
        assert found.pop("after") == "after"
        assert differences(found, acknowledged, under_way) == [], number
        assert check(snapshot.connection) == [], number
    return told


def check_clear(error: LangMemoryError) -> None:
    """The message names the disk, what cannot be opened, or what of a forgetting is not done; and no journal,
    since there is none."""
    assert "journal in" not in str(error), error
    assert any(
        word in str(error)
        for word in ("disk", "Disk", "cannot be opened", "memories are gone, but")
    ), error
