"""Imports that do not fit: threads that went on in two files, exports that were cut off or altered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langmemory.errors import ImportFormatError
from langmemory.stores import MemoryStore

NS = ("users", "maria")


def talked(*said: str) -> MemoryStore:
    """A store that heard these messages in thread t."""
    store = MemoryStore(":memory:", index=False)
    messages = [{"role": "user", "content": text, "id": text} for text in said]
    store.remember(NS, messages, thread_id="t")
    return store


def turns(store: MemoryStore) -> list[str]:
    """The messages of the thread, in order."""
    rows = store.conn.execute("SELECT key FROM item ORDER BY thread, position")
    return [str(key).removeprefix("t/") for (key,) in rows]


def test_a_thread_that_went_on_in_two_files() -> None:
    """Turns of an imported thread whose place is taken come after those that are there, each turn with
    a place of its own; importing again changes nothing."""
    with talked("hi", "tea", "bye") as here, talked("hi", "coffee", "milk", "bye") as there:
        rows = list(there.admin.export())
        here.admin.import_rows(rows)
        assert here.admin.check() == []
        assert turns(here) == ["hi", "tea", "bye", "coffee", "milk"]
        assert here.admin.import_rows(rows) == 0
        assert turns(here) == ["hi", "tea", "bye", "coffee", "milk"]


def test_an_export_that_is_cut_off() -> None:
    """However few of its rows an export still has, what is imported of it agrees with itself."""
    with talked("hi", "tea") as store:
        store.put(NS, "gone", {"text": "old"})
        store.put(NS, "gone", {"text": "older"})
        store.delete(NS, "gone")
        rows = list(store.admin.export())
    for end in range(len(rows) + 1):
        with MemoryStore(":memory:", index=False) as into:
            into.admin.import_rows(rows[:end])
            assert into.admin.check() == []
            assert into.admin.import_rows(rows) >= 0
            assert into.admin.check() == []


ITEM = {
    "type": "item", "namespace": ["a"], "key": "k", "value": {"text": "x"}, "index": None,
    "created_at": "2024-01-01T00:00:00+00:00", "updated_at": "2024-01-01T00:00:00+00:00",
}  # fmt: skip
CHANGE = {
    "type": "history", "namespace": ["a"], "key": "k", "at": "2024-01-01T00:00:00+00:00",
    "action": "delete", "before": None, "run": None, "reason": None, "life": 1,
}  # fmt: skip
REVIEW = {
    "type": "review", "namespace": ["a"], "id": "q", "about": "x", "question": "?", "items": [],
    "options": {}, "run": "r", "opened_at": "2024-01-01T00:00:00+00:00", "decision": None,
    "decided_run": None,
}  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        {**ITEM, "ttl_minutes": "soon"},
        {**ITEM, "ttl_minutes": float("inf")},
        {**ITEM, "ttl_minutes": 2**70},
        {**ITEM, "thread_id": ["t"]},
        {**ITEM, "owner": {"name": "tom"}},
        {**ITEM, "access_count": 2**70},
        {**CHANGE, "life": "first"},
        {**CHANGE, "life": [1]},
        {**CHANGE, "run": 2**70},
        {**CHANGE, "facets": "none"},
        {**REVIEW, "items": None},
        {**REVIEW, "options": [1]},
        {"type": "entity", "namespace": ["a"], "key": 2**70, "name": "E", "kind": "x", "run": "r"},
    ],
    ids=lambda row: json.dumps(row)[:60],
)
def test_rows_that_were_altered(row: dict[str, Any]) -> None:
    """A value of the wrong type or size is said to be one, and nothing of its batch is stored."""
    with MemoryStore(":memory:", index=False) as store:
        with pytest.raises(ImportFormatError, match=r"no(t from|) .*export"):
            store.admin.import_rows([{**ITEM, "key": "good"}, row])
        assert store.search(()) == []
        assert store.admin.check() == []
