"""Export and import: everything a file knows, into any other file, as often as one likes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    ChangeSet,
    DecideReview,
    Facets,
    LinkEntities,
    MarkReflected,
    OpenReview,
    SetStatus,
    Supersede,
    UnlinkEntities,
    UpdateMemory,
)
from langmemory.config import load_config
from langmemory.context.citations import Usage
from langmemory.errors import ImportFormatError, UndoRefusedError
from langmemory.ledger import items
from langmemory.ledger.transfer import transfer
from langmemory.operations import core
from langmemory.stores import MemoryStore
from tests.indexed import holding
from tests.places import locked
from tests.stores.embedders import WordEmbeddings

NS = ("users", "maria")


def fill(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bit of everything: facets, TTL, fields, history, lives of one key, a thread."""
    now = iter(range(1_700_000_000_000_000, 1_800_000_000_000_000, 1_000_001))
    monkeypatch.setattr(core, "now_us", lambda: next(now))
    store.put(NS, "again", {"text": "a first life"})
    store.delete(NS, "again")
    store.put(NS, "plain", {"text": "one", "big": 10**30, 'odd "key"': [None, 0.1, {"é": {}}]})
    store.put(NS, "plain", {"text": "two", "big": 10**30})
    store.put(NS, "ttl", {"text": "soon gone"}, ttl=30)
    store.put(NS, "hidden", {"text": "not indexed"}, index=False)
    store.put(("b",), "fields", {"text": "x", "other": "zebra"}, index=["other"])
    store.put(NS, "dead", {"text": "deleted"})
    store.delete(NS, "dead")
    store.put(NS, "again", {"text": "a second life"})
    store.remember(NS, [("user", "likes walnuts"), ("ai", "noted"), ("user", "bye")], thread_id="t")
    with store._core.engine.write() as connection:
        connection.execute(
            "UPDATE item SET kind = 'procedural', owner = 'tom', privacy = 'private', pinned = 1, "
            "status = 'superseded', priority = 'mandate', importance = 0.9, confidence = 0.3, "
            "verified = 1, invalid_at = 5, expired_at = 6, superseded_by = 'ttl', access_count = 7, "
            "accessed_at = 8 WHERE key = 'plain'"
        )


def contents(store: MemoryStore) -> list[dict[str, Any]]:
    """The export without what names the moment and the ids of one file."""
    rows = [json.loads(json.dumps(row)) for row in store.admin.export()]
    assert rows[0]["type"] == "meta"
    for row in rows:
        row.pop("life", None)
    return sorted(rows[1:], key=lambda row: json.dumps(row, sort_keys=True))


def histories(store: MemoryStore) -> dict[str, list[Any]]:
    return {
        key: [
            (entry.action, entry.at, entry.before, entry.after)
            for entry in store.changes.history(NS, key)
        ]
        for key in ("again", "plain", "ttl", "hidden", "dead", "nobody")
    }


@pytest.mark.parametrize("model", ["same", "another", "none"])
def test_round_trip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    """A file restored from an export, also under another model or none, exports the same rows, has
    the same histories (of deleted items and earlier lives too), and finds the same words."""
    index: Any = {
        "same": None, "another": {"embed": WordEmbeddings(), "dims": 16}, "none": False,
    }[model]  # fmt: skip
    with MemoryStore(tmp_path / "a.db") as old, MemoryStore(tmp_path / "b.db", index=index) as new:
        fill(old, monkeypatch)
        rows = [json.loads(json.dumps(row)) for row in old.admin.export()]
        assert new.admin.import_rows(iter(rows)) == 8
        assert contents(new) == contents(old)
        assert histories(new) == histories(old)
        for query in ("walnuts", "zebra", "second life", "march", "deleted", "not indexed"):
            assert found(new, query) == found(old, query)
        before = new.stats()
        assert new.admin.import_rows(iter(rows)) == 0
        assert contents(new) == contents(old)
        assert new.stats() == before
        assert new.admin.check() == []
        assert new.remember(NS, [("user", "likes walnuts")], thread_id="t") == []
        assert len(new.remember(NS, [("user", "news")], thread_id="t")) == 1


def found(store: MemoryStore, query: str) -> set[tuple[str, str]]:
    with store._core.engine.read() as snapshot:
        found = items.memories(snapshot.connection, holding(store, query))
        return {(one.key.partition("/")[0], one.text) for one in found}


def derive(store: MemoryStore) -> None:
    """Everything that stands beside items: runs, graph, evidence, reviews, an undo."""
    turns = store.remember(NS, [("user", "I moved"), ("user", "to Zürich")], thread_id="talk")
    for run, changes in {
        "r1": (
            AddEntity(key="m", name="Maria", kind="person", aliases=("Mia",)),
            AddEntity(key="n", name="M."), AddEntity(key="z", name="Zürich", kind="place"),
            AddMemory(key="f1", value={"text": "Maria lives in Bern", "fact_kind": "fact"}),
            AddMemory(key="f2", value={"text": "Maria lives in Zürich", "fact_kind": "fact"},
                      evidence=tuple(turns), mentions=("m",), facets=Facets(confidence=0.4)),
            AddEdge(fact="f2", subject="m", relation="lives_in", object="z"),
            AddEdge(fact="f1", subject="m", relation="lives_in", literal="Bern"),
            LinkEntities(key="m", same_as="z"), LinkEntities(key="n", same_as="z"),
            MarkReflected(keys=tuple(turns)),
        ),
        "r2": (
            UnlinkEntities(key="m"),
            Supersede(key="f1", by="f2", invalid_at=datetime(2020, 1, 1, tzinfo=UTC)),
            OpenReview(id="q1", about="a", question="?", memories=("f1",), options={
                "away": (SetStatus(key="f1", status="archived", reason="old"),), "stay": ()}),
            OpenReview(id="q2", about="b", question="??", memories=("f2",), options={"stay": ()}),
        ),
        "r3": (UpdateMemory(key="f2", facets=Facets(pinned=True)), DecideReview(id="q2", option="stay")),
        "r4": (UpdateMemory(key="f2", facets=Facets(pinned=False)),),
    }.items():  # fmt: skip
        store.changes.apply(
            ChangeSet(namespace=NS, run_id=run, kind="reflection", reason="a talk", changes=changes)
        )
    store.changes.undo("r4")


def test_what_stands_beside_items(tmp_path: Path) -> None:
    """Runs, entities, links, evidence, edges and reviews come along, once: in the restored file the
    same questions are open, the same runs can be undone, and nothing is learned twice."""
    with MemoryStore(tmp_path / "a.db") as old, MemoryStore(tmp_path / "b.db") as new:
        derive(old)
        rows = [json.loads(json.dumps(row)) for row in old.admin.export()]
        new.admin.import_rows(rows)
        new.admin.import_rows(rows)
        assert contents(new) == contents(old)
        assert new.admin.check() == []
        assert new.changes.reviews(open_only=False) == old.changes.reviews(open_only=False)
        for store in (old, new):
            store.changes.decide("q1", "stay")
            store.changes.undo("r3")
            with pytest.raises(UndoRefusedError, match="run r2"):
                store.changes.undo("r1")
        assert known(new) == known(old)
        assert [one.facets for one in new.changes.history(NS, "f2")] == [
            one.facets for one in old.changes.history(NS, "f2")
        ]


def known(store: MemoryStore) -> list[dict[str, Any]]:
    """Return the present state without times and ids made by the store."""
    rows = contents(store)
    for row in rows:
        row.pop("updated_at", None)
        row.pop("decided_run", None)
    return [row for row in rows if row["type"] not in ("history", "run", "reflected")]


def test_an_export_of_what_is_known_now(tmp_path: Path) -> None:
    """Without history an export tells nothing of what happened; it can be imported."""
    with MemoryStore(tmp_path / "a.db") as old, MemoryStore(tmp_path / "b.db") as new:
        derive(old)
        rows = list(old.admin.export(history=False))
        assert not {row["type"] for row in rows} & {"history", "run", "reflected"}
        new.admin.import_rows(rows)
        assert known(new) == known(old)


def test_only_a_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exporting a prefix takes what is in it and below it, histories included, and nothing else."""
    with MemoryStore(tmp_path / "a.db", index=False) as store:
        fill(store, monkeypatch)
        rows = list(store.admin.export(("b",)))
    assert {tuple(row["namespace"]) for row in rows[1:]} == {("b",)}
    assert {row["type"] for row in rows} == {"meta", "item", "history"}


def test_an_import_destroys_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file holds another value under the same key, the import is an update in the history:
    what was there before can still be read."""
    with MemoryStore(tmp_path / "a.db", index=False) as old:
        fill(old, monkeypatch)
        rows = list(old.admin.export())
    with MemoryStore(tmp_path / "b.db", index=False) as new:
        new.put(NS, "plain", {"text": "mine"})
        new.put(NS, "untouched", {"text": "mine too"})
        new.admin.import_rows(rows)
        entries = new.changes.history(NS, "plain")
        assert [entry.action for entry in entries] == ["add", "update"]
        assert (entries[1].before, entries[1].reason) == ({"text": "mine"}, "import")
        assert new.get(NS, "plain").value["text"] == "two"  # type: ignore[union-attr]
        assert new.get(NS, "untouched") is not None


GOOD: dict[str, Any] = {
    "type": "item", "namespace": ["a"], "key": "k", "value": {"x": 1},
    "created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-01T00:00:00+00:00",
}  # fmt: skip
CHANGE: dict[str, Any] = {
    "type": "history", "namespace": ["a"], "key": "k", "at": "2026-01-01T00:00:00+00:00",
    "action": "add", "before": None, "run": None, "reason": None,
}  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        {"role": "user", "content": "a message"},
        "text",
        {**GOOD, "type": ["item"]},
        {"type": "meta", "format": "something else", "version": 1},
        {"type": "meta", "format": "langmemory-export", "version": 99},
        {**GOOD, "created_at": "yesterday"},
        {**GOOD, "value": ["no", "dict"]},
        {**GOOD, "namespace": "a"},
        {**GOOD, "namespace": []},
        {**GOOD, "namespace": ["a.b"]},
        {**GOOD, "key": 1},
        {**GOOD, "kind": "gossip"},
        {**GOOD, "importance": "very"},
        {key: value for key, value in GOOD.items() if key != "updated_at"},
        {**CHANGE, "action": "explode"},
        {**CHANGE, "at": 5},
        {key: value for key, value in CHANGE.items() if key != "before"},
        {"type": "run", "namespace": ["a"], "id": "r"},
        {"type": "evidence", "namespace": ["a"], "key": "good"},
        {"type": "review", "namespace": ["a"], "id": "q", "opened_at": 5},
        {"type": "edge", "namespace": "a", "key": "good", "run": "r"},
        {"type": "entity", "namespace": ["a"], "key": "e", "name": None, "kind": "x", "run": "r"},
    ],
)
def test_rows_of_something_else(row: Any) -> None:
    """A row that no export writes is an error that shows it, and its batch is not stored."""
    store = MemoryStore(":memory:", index=False)
    with pytest.raises(ImportFormatError):
        store.admin.import_rows([{**GOOD, "key": "good"}, row])
    assert store.search(()) == []


@pytest.mark.parametrize("version", range(1, transfer.VERSION + 1))
def test_every_earlier_version_is_read(version: int) -> None:
    """An export of an earlier langmemory, without the types of rows it did not know, is taken as it
    is; usage counted here since stays."""
    meta = {"type": "meta", "format": "langmemory-export", "version": version}
    with MemoryStore(":memory:", index=False) as store:
        assert store.admin.import_rows([meta, GOOD, CHANGE]) == 1
        count: Usage = {
            "namespace": ["a"], "key": "k", "loaded": 2, "referenced": 1, "succeeded": 1,
            "read_tokens": 9, "discovery_tokens": 0,
        }  # fmt: skip
        store.admin.count_usage([count])
        [used] = store.admin.usage()
        assert "usage" in {row["type"] for row in store.admin.export()}
        assert store.admin.import_rows([meta, GOOD, CHANGE]) == 0
        assert store.admin.usage() == [used]


def test_a_newer_version_is_refused_before_anything_is_stored() -> None:
    """An older langmemory says that it must be upgraded, and has not stored half of an export; so a
    new type of row needs a new version."""
    meta = {"type": "meta", "format": "langmemory-export", "version": transfer.VERSION + 1}
    rows = [meta, *({**GOOD, "key": str(n)} for n in range(2000)), {"type": "of a later version"}]
    with MemoryStore(":memory:", index=False) as store:
        with pytest.raises(ImportFormatError, match=f"up to version {transfer.VERSION}. Upgrade"):
            store.admin.import_rows(rows)
        assert store.stats().items == 0
    assert transfer.VERSION == 6
    assert transfer.row_types() == {
        "meta", "item", "history", "run", "entity", "link", "alias", "evidence", "mention", "edge",
        "reflected", "usage", "citation", "review", "removed", "secret",
    }  # fmt: skip


def test_the_last_of_two_rows_counts() -> None:
    """One item twice in a file, as when exports are joined, is one item."""
    store = MemoryStore(":memory:")
    store.admin.import_rows([GOOD, {**GOOD, "value": {"x": 2}}])
    assert [item.value for item in store.search(("a",))] == [{"x": 2}]


def test_rows_made_by_hand() -> None:
    """A row with a thread but without place, speaker or time of its own is an item like any other,
    and the thread goes on."""
    store = MemoryStore(":memory:")
    assert store.admin.import_rows([{**GOOD, "thread_id": "t"}]) == 1
    assert len(store.remember(("a",), [("user", "x"), ("user", "y")], thread_id="t")) == 2
    store.put(("a",), "k", {"x": 3})
    store.delete(("a",), "k")
    assert store.admin.check() == []


def test_many_batches(tmp_path: Path) -> None:
    """More items than one transaction takes arrive whole."""
    with (
        MemoryStore(tmp_path / "a.db", index=False) as old,
        MemoryStore(tmp_path / "b.db", index=False) as new,
    ):
        old.batch(PutOp(("a",), f"k{n}", {"n": n}) for n in range(1100))
        assert new.admin.import_rows(old.admin.export()) == 1100
        assert contents(new) == contents(old)


def test_counts_that_are_still_in_memory_are_exported(tmp_path: Path) -> None:
    """An export has the usage counted, and the accesses made, right before it; where they cannot be
    written, it has the rest."""
    path, config = tmp_path / "m.db", load_config()
    database = config.database.model_copy(update={"busy_timeout_ms": 10})
    config = config.model_copy(update={"database": database})
    with MemoryStore(path, config=config) as store:
        store.put(NS, "k", {"text": "tea"})
        counted = Usage(
            namespace=list(NS), key="k", id="1", loaded=1, referenced=1, succeeded=0,
            read_tokens=3, discovery_tokens=0,
        )  # fmt: skip
        store.admin.count_usage([counted])
        store.recall("tea", NS)
        by_type = {row["type"]: row for row in store.admin.export(NS)}
        assert by_type["usage"]["referenced"] == 1
        assert by_type["item"]["access_count"] == 1
        store.admin.count_usage([counted])
        store._core.workers.later(lambda connection: None).result(10)  # the background has written
        with locked(path):
            assert [row["key"] for row in store.admin.export(NS) if row["type"] == "item"] == ["k"]


def test_a_slow_export_does_not_hold_up_the_file(tmp_path: Path) -> None:
    """Between two rows of an export nobody reads an older state: the WAL can be emptied, and the export
    has every memory that was there when it began and none that came later."""
    with MemoryStore(tmp_path / "memory.db") as store:
        for n in range(700):
            store.put(("a",), f"k{n}", {"text": f"number {n}"})
        exported = store.admin.export()
        keys = [next(exported).get("key") for _ in range(10)]
        store.put(("a",), "later", {"text": "later"})
        assert store._core.engine.empty_wal()
        keys += [row["key"] for row in exported if row["type"] == "item"]
    assert {f"k{n}" for n in range(700)} <= set(keys)
    assert "later" not in keys
