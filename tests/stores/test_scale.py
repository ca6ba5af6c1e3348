"""Work grows with what it is about, not with its square: counted in SQLite's own steps, since a clock
tells nothing on a busy machine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest
from langgraph.store.base import PutOp

from langmemory import pacing
from langmemory.changes import MarkReflected, OpenReview
from langmemory.config import load_config
from langmemory.engines.sqlite.connection import Connection
from langmemory.errors import DatabaseError
from langmemory.ledger import reembedding
from langmemory.ledger.indexing import resolve_indexing
from langmemory.ledger.settings import ModelSetting
from langmemory.ledger.transfer import transfer
from langmemory.operations import core
from langmemory.operations.gathering import Gathering
from langmemory.stores import MemoryStore, reembed
from tests.stores.change_sets import NS, apply, fact
from tests.stores.embedders import WordEmbeddings

AT = datetime(2026, 1, 1, tzinfo=UTC)


def steps(connection: Connection, call: Callable[[], Any]) -> int:
    """About how many instructions a connection carries out during a call."""
    count = 0

    def tick() -> bool:
        nonlocal count
        count += 1
        return False

    connection.set_progress_handler(tick, 20)
    try:
        call()
    finally:
        connection.set_progress_handler(None)
    return count


def turns(count: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"turn {n}", "id": str(n), "at": AT} for n in range(count)]


@pytest.mark.sqlite("counts SQLite's instructions")
def test_import_into_a_long_thread(tmp_path: Path) -> None:
    """An imported turn finds its place without a look at every turn of its thread."""
    with MemoryStore(tmp_path / "from.db", index=False) as store:
        store.remember(NS, turns(1), thread_id="t")
        rows = [row | {"key": "another"} if "key" in row else row for row in store.admin.export()]
    took = []
    for length in (5, 1_500):
        with MemoryStore(tmp_path / f"{length}.db", index=False) as store:
            store.remember(NS, turns(length), thread_id="t")
            writer = store._core.engine.database._writer
            took.append(steps(writer, lambda: store.admin.import_rows(rows)))
    assert took[1] < 1.5 * took[0]


@pytest.mark.sqlite("counts SQLite's instructions")
def test_export_for_a_viewer(tmp_path: Path) -> None:
    """Whether a viewer may know why a run did what it did is asked once a run, however many
    memories it changed."""
    took = []
    for count in (100, 400):
        with MemoryStore(tmp_path / f"{count}.db", index=False) as store:
            apply(store, "r", *(fact(f"f{n}", f"fact {n}") for n in range(count)))
            with store._core.engine.read() as snapshot:
                rows = transfer.export_rows(lambda: nullcontext(snapshot.connection), viewer="ida")
                took.append(steps(snapshot.connection, lambda: list(rows)))  # noqa: B023
    assert took[1] < 6 * took[0]


@pytest.mark.sqlite("counts SQLite's instructions")
def test_forget_very_many(tmp_path: Path) -> None:
    """Four times the memories, and questions about them, take about four times as long to forget."""
    took = []
    for count in (50, 200):
        with MemoryStore(tmp_path / f"{count}.db", index=False) as store:
            apply(
                store,
                "r",
                *(fact(f"f{n}", f"fact {n}", owner="ida") for n in range(count)),
                *(
                    OpenReview(
                        id=f"v{n}", about="duplicate", question="?", memories=(f"f{n}",), options={}
                    )
                    for n in range(count)
                ),
            )
            writer = store._core.engine.database._writer
            before = list(store.admin.export())
            assert steps(writer, lambda: store.forget(NS, owner="ida", dry_run=True)) == 0
            assert list(store.admin.export())[1:] == before[1:]
            took.append(steps(writer, partial(store.forget, NS, owner="ida")))
            assert store.search(NS) == []
            assert store.changes.reviews(NS) == []
    assert took[1] < 6 * took[0]


@pytest.mark.sqlite("counts SQLite's instructions")
def test_the_next_batch_of_a_long_thread(tmp_path: Path) -> None:
    """A run that goes on from its last batch does not look at every turn that was read before it, be
    the thread named or not."""
    took: dict[bool, list[int]] = {False: [], True: []}
    for count in (200, 2_000):
        with MemoryStore(tmp_path / f"{count}.db", index=False) as store:
            said = [
                one | {"at": AT + n * timedelta(minutes=1)} for n, one in enumerate(turns(count))
            ]
            keys = store.remember(NS, said, thread_id="t")
            read = MarkReflected(keys=tuple(keys[: count - 100]))
            apply(store, "r", read)
            last = Gathering(store).next_batch(NS, batch_tokens=50)
            assert last is not None
            apply(store, "s", MarkReflected(keys=tuple(turn.key for turn in last.turns)))
            [reader] = store._core.engine.database._idle
            for named in took:
                following = partial(
                    Gathering(store).next_batch, NS, "t" if named else None, after=last
                )
                took[named].append(steps(reader, following))
                batch = following()
                assert batch is not None
                assert batch.turns[0].key == keys[count - 100 + len(last.turns)]
    for few, many in took.values():
        assert many < 2 * few


@pytest.mark.sqlite("counts SQLite's instructions")
def test_a_batch_of_a_reembed(tmp_path: Path) -> None:
    """The next batch of a reembed is found without a look at all that is done."""
    indexing = resolve_indexing({"embed": WordEmbeddings(8), "dims": 8}, load_config())
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.batch(PutOp(NS, str(n), {"text": "x"}) for n in range(2_000))
        with store._core.engine.write() as connection:
            reembedding._begin(connection, "another")
            connection.execute("INSERT INTO reembed_done SELECT id, updated_at FROM item")
            connection.execute("DELETE FROM reembed_done WHERE item > 1990")
            found: list[int] = []

            def search(after: int) -> Callable[[], None]:
                return lambda: found.append(len(reembedding._next(connection, indexing, after)))

            whole, rest = (steps(connection, search(after)) for after in (0, 1_990))
    assert found == [10, 10]
    assert rest < whole / 10


@pytest.mark.sqlite("counts the rows that SQLite changes in a statement")
def test_the_end_of_a_reembed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new vectors take their place some at a time, so that the memory this needs does not grow
    with the file."""
    swap, changed = reembedding._swap, []

    def watched(connection: Connection, model: str) -> ModelSetting:
        counts: list[tuple[str, int]] = []

        def count(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
            counts.append((sql, connection.total_changes()))
            return True

        connection.exec_trace = count
        try:
            setting = swap(connection, model)
        finally:
            connection.exec_trace = None
        changed.extend(
            after - before
            for (sql, before), (_, after) in pairwise(counts)
            if " INTO vector " in sql
        )
        return setting

    monkeypatch.setattr(reembedding, "_swap", watched)
    monkeypatch.setattr(reembedding, "SWAPPED_AT_ONCE", 10)
    new = {"embed": WordEmbeddings(24, "words-b"), "dims": 24}
    with MemoryStore(tmp_path / "m.db", index={"embed": WordEmbeddings(16), "dims": 16}) as store:
        store.batch(PutOp(NS, str(n), {"text": f"word{n}"}) for n in range(35))
        reembed(str(tmp_path / "m.db"), index=new)
    assert sum(changed) == 35
    assert max(changed) <= 10
    with MemoryStore(tmp_path / "m.db", index=new) as store:
        assert store.admin.check() == []
        assert store.search(NS, query='{"text": "word7"}', limit=1)[0].key == "7"


def test_what_deletes_very_many_lets_others_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep and delete_namespace take a transaction for some items at a time. Others write in
    between; what they prolong or put there meanwhile stays."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        other = MemoryStore(tmp_path / "m.db", index=False)

        class Between:
            """Who writes whenever the store waits."""

            monotonic = staticmethod(lambda: 0.0)
            calls = 0

            @classmethod
            def sleep(cls, seconds: float) -> None:
                cls.calls += 1
                other.put(("swept",), "9", {"prolonged": True}, ttl=None)
                other.put(("deleted",), f"new {cls.calls}", {})
                other.delete(("deleted",), "8")

        for n in range(10):
            store.put(("swept",), str(n), {}, ttl=1)
            store.put(("deleted",), str(n), {})
        now = core.now_us()
        monkeypatch.setattr(core, "now_us", lambda: now + 120_000_000)
        monkeypatch.setattr(core, "REMOVED_AT_ONCE", 3)
        monkeypatch.setattr(pacing, "time", Between)
        assert store.sweep_ttl() == 9
        assert [item.key for item in store.search(("swept",))] == ["9"]
        pauses = Between.calls
        assert pauses >= 2
        before = {item.key for item in store.search(("deleted",), limit=99)}
        assert store.admin.delete_namespace(("deleted",)) == len(before) == 9 + pauses
        left = {item.key for item in store.search(("deleted",), limit=99)}
        assert left == {f"new {n}" for n in range(pauses + 1, Between.calls + 1)}
        assert left
        other.close()


def test_long_texts_are_imported_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are taken together as far as their values are not too long together."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        for n in range(6):
            store.put(NS, str(n), {"text": "long " * (40 if n % 2 else 1)})
        rows = list(store.admin.export())
    monkeypatch.setattr(transfer, "BATCH_CHARACTERS", 200)
    batches = list(transfer.in_batches(rows))
    assert [row for batch in batches for row in batch] == rows
    items = [[row["key"] for row in batch if row["type"] == "item"] for batch in batches]
    assert items == [["0", "1"], ["2", "3"], ["4", "5"]]


@pytest.mark.sqlite("raises an error of SQLite")
def test_a_disk_error_amid_a_large_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only a part of a namespace could be deleted, the error says how much is gone, the rest is
    there as it was, and deleting it again finishes."""
    removing, calls = core.remove, 0

    def fail_once(*args: Any, **options: Any) -> core.Pages:
        nonlocal calls
        calls += 1
        pages = removing(*args, **options)
        if calls == 3:
            raise apsw.FullError
        return pages

    with MemoryStore(tmp_path / "m.db", index=False) as store:
        for n in range(10):
            store.put(NS, str(n), {"text": "tea"})
        monkeypatch.setattr(core, "REMOVED_AT_ONCE", 3)
        monkeypatch.setattr(core, "remove", fail_once)
        with pytest.raises(DatabaseError, match=r"6 of 10 items are deleted.*disk .* is full"):
            store.admin.delete_namespace(NS)
        assert len(store.search(NS, query="tea")) == 4
        assert store.admin.check() == []
        assert store.admin.delete_namespace(NS) == 4


ONE = ("people", "p0")


def people(path: Path, count: int) -> MemoryStore:
    """A file with some notes of each of many people, one of them deleted, and one expired."""
    store = MemoryStore(path, index=False)
    for person in range(count):
        namespace = ("people", f"p{person}")
        notes = [
            PutOp((*namespace, "core"), f"k{n}", {"text": f"note {n}", "score": n, "tag": "x"})
            for n in range(5)
        ]
        store.batch([*notes, PutOp(namespace, "gone", {"text": "note"})])
    store.delete(ONE, "gone")
    return store


ASKED_OF_ONE: dict[str, Callable[[MemoryStore], Any]] = {
    "a filter": lambda store: store.search(ONE, filter={"tag": "x"}),
    "a range": lambda store: store.search(ONE, filter={"score": {"$gt": 1}}),
    "a part of a text": lambda store: store.search(ONE, filter={"text": {"$contains": "note"}}),
    "words and a range": lambda store: store.search(
        ONE, query="note", filter={"score": {"$gt": 1}}
    ),
    "an export": lambda store: list(store.admin.export(ONE)),
    "then": lambda store: store.recall("note", ONE, known_at=AT + timedelta(days=36_500)).results,
    "a sweep": lambda store: [store.sweep_ttl(), store.sweep_ttl()],
}


@pytest.mark.sqlite("counts SQLite's instructions")
@pytest.mark.parametrize("what", ASKED_OF_ONE)
def test_what_is_asked_of_one_of_many_people(tmp_path: Path, what: str) -> None:
    """A query for one person takes no longer in a file with hundreds of others."""
    took = []
    for count in (2, 300):
        with people(tmp_path / f"{count}.db", count) as store:
            store.get(ONE, "k1")
            [reader] = store._core.engine.database._idle
            writer = store._core.engine.database._writer
            call = partial(ASKED_OF_ONE[what], store)
            assert call()
            written: list[int] = []
            read = steps(reader, lambda: written.append(steps(writer, call)))  # noqa: B023
            took.append(read + written[0])
    assert took[1] <= 2 * took[0] + 5


@pytest.mark.sqlite("counts SQLite's instructions")
def test_what_few_may_read_is_listed(tmp_path: Path) -> None:
    """A viewer who may read little of a namespace gets it listed without a look at the rest."""
    took = []
    for count in (600, 3_000):
        with MemoryStore(tmp_path / f"{count}.db", index=False) as store:
            store.batch(
                PutOp(NS, str(n), {"text": "x", "privacy": "private", "owner": f"p{n // 3}"})
                for n in range(count)
            )
            call = partial(store.for_viewer("p7").search, NS, limit=2)
            assert [one.key for one in call()] == ["23", "22"]
            [reader] = store._core.engine.database._idle
            took.append(steps(reader, call))
    assert took[1] <= 2 * took[0] + 5
