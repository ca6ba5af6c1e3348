"""The keyword arm: what a budget on scored rows may and may not leave out."""

from __future__ import annotations

import pytest
from langgraph.store.base import PutOp

from langmemory import MemoryStore
from langmemory.sqlite import keywords


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """Two thousand items of somebody else, one of ours, and a budget of fifty rows."""
    monkeypatch.setattr(keywords, "SCORED_ROWS", 50)
    store = MemoryStore(":memory:", index=False)
    tart = [" tart" if n % 40 == 0 else "" for n in range(2000)]
    store.batch([PutOp(("other",), f"k{n}", {"text": f"red apple{tart[n]}"}) for n in range(2000)])
    store.put(("mine",), "x", {"text": "my apple"})
    return store


def test_a_small_namespace_is_searched_by_every_word(store: MemoryStore) -> None:
    """Words that are frequent in other people's memories still find one's own."""
    assert [item.key for item in store.search(("mine",), query="red tart apple pie")] == ["x"]


def test_a_large_namespace_is_searched_by_its_rarest_words(store: MemoryStore) -> None:
    """Rows with the rare word come first, and all words count for their score."""
    found = store.search(("other",), query="red tart apple", limit=50)
    assert len(found) == 50
    assert all("tart" in item.value["text"] for item in found)
