"""Documents beside what was said, in one namespace: neither takes the places of the other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.recall import layers
from langmemory.types import Recall

TEAM = ("team",)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAID = (
    "We decided to take the ferry on Friday because flying is too dear.",
    "Bo gets seasick on every boat.",
    "My sister Ida lives in Kiel.",
    "Ida wants to see the harbour before breakfast.",
)
MANUAL = """# Ferry

## Booking

A cabin is booked at the counter in hall two. Book it two days before.

## Luggage

Each passenger may bring three bags.

## Pets

Dogs wait in the kennel on deck five.
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    """A namespace with talk and a manual, each as if it crowded the other."""
    monkeypatch.setattr(layers, "CROWDS_FROM", 0)
    monkeypatch.setattr(layers, "CROWDS_TIMES", 0)
    with MemoryStore(tmp_path / "memory.db") as found:
        found.remember(TEAM, [("user", text) for text in SAID], thread_id="t", at=NOW)
        found.documents.add(text=MANUAL, name="ferry.md", namespace=TEAM)
        yield found


def kinds(recall: Recall) -> list[str]:
    return [one.memory.kind for one in recall.results]


def test_the_likelier_layer_comes_first_and_the_other_fills(store: MemoryStore) -> None:
    """A question to the manual begins with all of the manual, one to what was said with that; nothing is left
    out while there is room, and no score rises."""
    manual = store.recall("How many bags may a passenger bring?", TEAM, now=NOW)
    said = store.recall("Where does my sister live?", TEAM, now=NOW)
    assert "three bags" in manual.results[0].text
    assert "Kiel" in said.results[0].text
    assert kinds(said) == sorted(kinds(said))  # "episodic" before "resource"
    for found in (manual, said):
        scores = [one.score for one in found.results]
        assert scores == sorted(scores, reverse=True)
        assert set(kinds(found)) == {"episodic", "resource"}
        assert len({one.memory.key for one in found.results}) == len(found)
        assert len(found.trace.questions) == 1


def test_layers_of_about_one_size_are_ranked_as_one(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question may be for both, and neither takes the places of the other."""
    monkeypatch.undo()
    assert store.recall("Where does my sister live?", TEAM, now=NOW).trace.questions == {}
    assert not layers.crowds(1_900, 2_753)
    assert layers.crowds(20_838, 2_175)
    assert layers.crowds(100, 500)
    assert not layers.crowds(0, 500)
    assert not layers.crowds(3, 40)


def test_one_layer_is_ranked_as_before(store: MemoryStore) -> None:
    """Where documents lie elsewhere, or only one layer is asked for, nothing is looked at twice."""
    store.remember(("ana",), [("user", text) for text in SAID], thread_id="t", at=NOW)
    asked = "Where does my sister live?"
    assert store.recall(asked, ("ana",), now=NOW).trace.questions == {}
    assert store.recall(asked, TEAM, now=NOW, kinds=["episodic"]).trace.questions == {}
    assert store.recall(asked, TEAM, now=NOW, kinds=["resource"]).trace.questions == {}
    assert len(store.recall(asked, (), now=NOW).trace.questions) == 1


def test_a_message_is_taken_apart_between_the_layers(store: MemoryStore) -> None:
    """Two questions, one for each layer, are looked up by themselves; two for the same one together."""
    both = "Why did we decide to take the ferry, and how is a cabin booked?"
    found = store.recall(both, TEAM, now=NOW, limit=4)
    why, how = found.trace.questions.items()
    assert (why[0], how[0]) == ("Why did we decide to take the ferry?", "how is a cabin booked?")
    assert why[1] < 0.5 < how[1]
    shown = " ".join(one.text for one in found.results[:2])
    assert "flying is too dear" in shown
    assert "hall two" in shown
    same = "Where does my sister live, and who gets seasick?"
    assert list(store.recall(same, TEAM, now=NOW).trace.questions) == [same]


def test_options_hold_for_both_layers(store: MemoryStore) -> None:
    """What a thread was given is not given again; keys, limit and known_at count for the whole answer."""
    asked = "How many bags may a passenger bring?"
    first = store.recall(asked, TEAM, now=NOW, thread_id="a", limit=2)
    again = store.recall(asked, TEAM, now=NOW, thread_id="a")
    keys = {one.memory.key for one in first.results}
    assert len(first) == 2
    assert keys.isdisjoint(one.memory.key for one in again.results)
    without = store.recall(asked, TEAM, now=NOW, exclude=keys)
    assert keys.isdisjoint(one.memory.key for one in without.results)
    assert len(store.recall(asked, TEAM, now=NOW, limit=0)) == 0
    known = store.recall(asked, TEAM, now=NOW, known_at=datetime.now(UTC))
    assert "three bags" in known.results[0].text
    gated = store.recall("Thanks!", TEAM, now=NOW, min_score="auto")
    assert len(gated) == 0


def test_search_pages_hold_everything_once(store: MemoryStore) -> None:
    """`search` ranks the layers apart as well; its pages neither overlap nor leave anything out."""
    asked = "How many bags may a passenger bring?"
    pages = [store.search(TEAM, query=asked, limit=3, offset=n) for n in (0, 3, 6, 9)]
    keys = [one.key for page in pages for one in page]
    assert "three bags" in str(pages[0][0].value)
    assert len(keys) == len(set(keys)) >= len(SAID) + 3
    said = store.search(TEAM, query="Where does my sister live?", limit=3)
    assert "Kiel" in str(said[0].value)


async def test_async_is_alike(store: MemoryStore) -> None:
    """`arecall` answers as `recall` does."""
    asked = "Why did we decide to take the ferry, and how is a cabin booked?"
    there = await store.arecall(asked, TEAM, now=NOW)
    assert there.results == store.recall(asked, TEAM, now=NOW).results
