"""A fact that somebody else said too outlives the person who said it first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langmemory.stores import MemoryStore
from tests.stores.change_sets import NS, apply, fact, problems

FIRST, SECOND = datetime(2026, 1, 5, 9, tzinfo=UTC), datetime(2026, 2, 6, 9, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db") as store:
        yield store
        assert problems(store) == []


def say(store: MemoryStore, who: str, at: datetime, text: str, **options: Any) -> str:
    said = [{"role": "user", "name": who.title(), "content": text, "at": at}]
    return store.remember(NS, said, thread_id=f"{who}-{text[:4]}", owner=who, **options)[0]


def learn(store: MemoryStore, text: str, *evidence: str, **facets: Any) -> None:
    """A fact as Mia's reflection adds it."""
    facets = {"owner": "mia", "speaker": "Mia", "valid_at": FIRST, "kind": "semantic", **facets}
    added = fact("fact/1", text, *evidence, **facets)
    value = {**added.value, "speaker": "Mia", "said_at": FIRST.isoformat()}
    if facets.get("privacy") == "private":
        value |= {"owner": "mia", "privacy": "private"}
    apply(store, "reflect/1", added.model_copy(update={"value": value}))


def memory(store: MemoryStore) -> Any:
    found = store.recall("the oven", NS, kinds=["semantic"], limit=5).results
    return found[0].memory if found else None


@pytest.mark.parametrize("first", ["mia", "noor"])
def test_what_another_said_too_becomes_theirs(store: MemoryStore, first: str) -> None:
    """Whoever said a fact first: forgetting one of two who said it leaves it to the other, with the
    other's evidence, owner, name and time, and no trace of the forgotten one."""
    mine = say(store, "mia", FIRST, "The oven upstairs is broken, believe Mia.")
    theirs = say(store, "noor", SECOND, "The oven upstairs is broken.")
    evidence = (mine, theirs) if first == "mia" else (theirs, mine)
    learn(store, "The oven upstairs is broken.", *evidence)
    preview = store.forget(NS, owner="mia", dry_run=True)
    done = store.forget(NS, owner="mia")
    assert preview.kinds == done.kinds == {"episodic": 1}
    assert done.facts_kept == 1
    kept = memory(store)
    assert (kept.text, kept.owner, kept.speaker) == ("The oven upstairs is broken.", "noor", "Noor")
    assert kept.valid_at == SECOND
    assert kept.value["speaker"] == "Noor"
    assert [one.key for one in store.changes.evidence(NS, kept.key)] == [theirs]
    assert store.search(NS, filter={"speaker": "Mia"}) == []
    assert len(store.search(NS, filter={"speaker": "Noor"})) == 2
    assert "Mia" not in str(list(store.changes.history(NS, kept.key)))
    store.forget(NS, owner="noor")
    assert store.search(NS) == []


def test_what_several_others_said_is_nobodys(store: MemoryStore) -> None:
    """A fact that two others said belongs to none of them; it goes with the last of them."""
    keys = [
        say(store, who, at, f"The oven is broken, says {who}.")
        for who, at in (("mia", FIRST), ("noor", SECOND), ("olga", SECOND))
    ]
    learn(store, "The oven is broken.", *keys)
    store.forget(NS, owner="mia")
    assert (memory(store).owner, memory(store).speaker) == (None, "Noor")
    store.forget(NS, owner="noor")
    assert memory(store) is not None
    store.forget(NS, owner="olga")
    assert memory(store) is None


def test_what_nobody_else_said_goes(store: MemoryStore) -> None:
    """A fact of one person's words alone goes with them, and so does a summary."""
    mine = say(store, "mia", FIRST, "The oven is broken.")
    learn(store, "The oven is broken.", mine)
    assert store.forget(NS, owner="mia").kinds == {"episodic": 1, "semantic": 1}
    assert memory(store) is None


def test_a_private_fact_goes_with_its_owner(store: MemoryStore) -> None:
    """A private fact is in the words of its owner, so nobody inherits it, whoever said the same."""
    mine = say(store, "mia", FIRST, "The oven is broken, I broke it.", privacy="private")
    theirs = say(store, "noor", SECOND, "The oven is broken.")
    learn(store, "The oven is broken.", mine, theirs, privacy="private")
    assert store.forget(NS, owner="mia").kinds == {"episodic": 1, "semantic": 1}
    assert memory(store) is None
    assert [item.key for item in store.search(NS)] == [theirs]
