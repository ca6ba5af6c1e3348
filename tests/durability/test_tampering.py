"""Edits behind the back of the store are named, and what a store does itself is not."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from benchmarks import tamper
from langmemory import MemoryStore, build_reflection_graph
from langmemory.errors import ConfigError
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.ledger import heads
from langmemory.ledger.tables import schema

KEY = b"k" * 32
NS = ("memories", "mia")


def head_of(store: MemoryStore) -> heads.Head:
    with store._core.engine.read() as snapshot:
        return heads.take(snapshot.connection, KEY)


def differences(store: MemoryStore, head: heads.Head) -> list[heads.Difference]:
    with store._core.engine.read() as snapshot:
        return list(heads.differences(snapshot.connection, KEY, head))


@pytest.mark.sqlite("edits a file")
def test_nine_of_nine_edits_are_named(tmp_path: Path) -> None:
    """Each of nine edits is named where a head is there, as the page on checking shows."""
    rows = list(tamper.measure(tmp_path))
    assert [row.edit for row in rows if not row.with_head] == []
    assert len(rows) == 9
    page = (Path(__file__).parents[2] / "docs/how-to/tampering.md").read_text("utf-8")
    assert tamper.table(rows) in page


def test_what_a_store_does_is_no_tampering(store: MemoryStore) -> None:
    """Whatever a store does after a head stands in the record: nothing differs, and a new edit does."""
    for n in range(6):
        store.put(NS, f"k{n}", {"text": f"Mia keeps box {n}"})
    store.remember(NS, [HumanMessage("I am Mia. I live in Bonn.", id="1")], thread_id="t")
    head = head_of(store)
    store.put(NS, "k0", {"text": "Mia keeps box 0 in the attic"})
    store.delete(NS, "k1")
    store.put(NS, "new", {"text": "Mia has a cat"}, ttl=5)
    store.remember(NS, [HumanMessage("I moved to Rome. My sister is Ida.", id="2")], thread_id="t")
    store.recall("where does Mia live", NS)
    store.get(NS, "k2")
    later = datetime.now(UTC) + timedelta(400)
    build_reflection_graph(store).invoke({"namespace": NS})
    build_maintenance_graph(store, now=lambda: later).invoke({})
    assert differences(store, head) == []
    store.forget(NS, keys=["k3"])
    assert differences(store, head) == []
    with store._core.engine.write() as connection:
        connection.execute("UPDATE item SET owner = 'eve' WHERE key = 'k4'")
    assert [one.sure for one in differences(store, head)] == [False]


def test_every_column_that_means_something_is_covered(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head covers columns as they are declared: one that is added to the list is covered by itself."""
    left_out = set(schema.ITEM.names) - set(heads.columns())
    assert {"speaker", "owner", "privacy", "status", "value", "valid_at"} <= set(heads.columns())
    assert all(
        one.part in ("upkeep", "place") or one.type == "blob" or one.name == "id"
        for one in schema.ITEM.columns if one.name in left_out
    )  # fmt: skip
    store.put(NS, "k", {"text": "tea"})
    with monkeypatch.context() as patch:  # a head of a version that had fewer columns
        patch.setattr(heads, "columns", lambda: ["key", "owner"])
        older = head_of(store)
    assert differences(store, older) == []
    for name in ("speaker", "owner", "superseded_by"):
        head = head_of(store)
        with store._core.engine.write() as connection:
            connection.execute(f"UPDATE item SET {name} = 'eve'")
        assert len(differences(store, head)) == 1, name


def test_a_head_is_of_its_key(store: MemoryStore) -> None:
    """One that was edited, cut off, or sealed with another key is refused; it says no word of a memory."""
    store.put(NS, "k", {"text": "zanzibar"})
    text = heads.dump(head_of(store))
    assert "zanzibar" not in text
    assert heads.load(text, KEY) == head_of(store)
    edited = json.dumps(json.loads(text) | {"items": {}})
    for wrong, key in ((edited, KEY), (text[:40], KEY), ("[]", KEY), (text, b"x" * 32)):
        with pytest.raises(ConfigError):
            heads.load(wrong, key)
