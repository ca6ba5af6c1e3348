"""A mistyped question to a store: found in `recall` and `search`, and nothing of others is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.stores.face import bound
from langmemory.types import Recall

MINE, OTHERS = ("memories", "ada"), ("memories", "ben")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db") as store:
        for n, text in enumerate(("Katharina bakes bread.", "Lena rows.", "Tea is in the jar.")):
            store.put(MINE, f"k{n}", {"text": text})
        store.put(OTHERS, "k", {"text": "Thaddeus owes me money."})
        yield store


def meant(recall: Recall) -> object:
    return recall.trace.intent.get("spelling")


def test_recall_and_search_read_what_was_meant(store: MemoryStore) -> None:
    """Both find what a mistyped name is about; recall tells how it was read."""
    found = store.recall("What about Kahtarina?", MINE, limit=1, explain=True)
    assert found.results[0].text == "Katharina bakes bread."
    assert meant(found) == {"kahtarina": ["katharina"]}
    assert store.search(MINE, query="kahtarina", limit=1)[0].key == "k0"


def test_words_of_another_namespace_are_not_meant(store: MemoryStore) -> None:
    """A word that only somebody else's private memory contains corrects no question."""
    asked = "What about Tahddeus?"
    assert meant(store.recall(asked, MINE, explain=True)) is None
    assert meant(store.recall(asked, OTHERS, explain=True)) == {"tahddeus": ["thaddeus"]}
    assert meant(store.recall(asked, ("memories",), explain=True)) == {"tahddeus": ["thaddeus"]}


def test_private_words_are_told_to_their_owner_alone(store: MemoryStore) -> None:
    """A name that stands only in a private memory is no reading for another viewer."""
    turn = {"role": "user", "content": "Oswaldina is my surprise guest."}
    store.remember(MINE, [turn], thread_id="t", owner="ada", privacy="private")
    asked = "Who is Owsaldina?"
    assert meant(store.for_viewer("ada").recall(asked, MINE, explain=True)) == {
        "owsaldina": ["oswaldina"]
    }
    assert meant(store.for_viewer("ben").recall(asked, MINE, explain=True)) is None
    # Nor does a private memory that holds what was typed keep others from being understood.
    turn = {"role": "user", "content": "Kahtarina, oddly spelled, is my secret."}
    store.remember(MINE, [turn], thread_id="u", owner="ada", privacy="private")
    asked_by = {
        viewer: meant(bound(store, viewer).recall("What about Kahtarina?", MINE, explain=True))
        for viewer in ("ada", "ben")
    }
    assert asked_by == {"ada": None, "ben": {"kahtarina": ["katharina"]}}
    assert meant(store.recall(asked, MINE, filter={"text": "none"}, explain=True)) is None


def test_the_past_is_asked_for_in_its_own_words(store: MemoryStore) -> None:
    """Recall as of an earlier moment reads a mistyped name as well."""
    now = datetime.now(UTC)
    found = store.recall("What about Kahtarina?", MINE, known_at=now, explain=True)
    assert meant(found) == {"kahtarina": ["katharina"]}


def test_a_store_of_words_alone_is_searched_for_what_was_typed(tmp_path: Path) -> None:
    """Without vectors `search` looks up the words as they stand; `recall` reads them."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        store.put(MINE, "k", {"text": "Katharina bakes bread."})
        assert not store.search(MINE, query="kahtarina")
        assert store.recall("kahtarina", MINE).results[0].memory.key == "k"
