"""A `put` over a memory that does not hold: put away, superseded, or never approved."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory.changes import AddEdge, AddEntity, AddMemory, Change, SetStatus, Supersede
from langmemory.errors import UndoRefusedError
from langmemory.operations.gathering import Gathering
from langmemory.stores import MemoryStore
from langmemory.types import Memory
from tests.stores.change_sets import NS, apply, problems

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def _archived(store: MemoryStore) -> str:
    return store.changes.archive(NS, "home", reason="no use").run_id


def _rejected(store: MemoryStore) -> str:
    return apply(store, "end", SetStatus(key="home", status="archived")).run_id


def _superseded(store: MemoryStore) -> str:
    return apply(store, "end", Supersede(key="home", by="other", invalid_at=MAY)).run_id


def _waiting(store: MemoryStore) -> str:
    return apply(store, "end", SetStatus(key="home", status="pending")).run_id


END = pytest.mark.parametrize("end", [_archived, _rejected, _superseded, _waiting])


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    found = MemoryStore(tmp_path / "m.db")
    changes: tuple[Change, ...] = (
        AddEntity(key="person/lena", name="Lena", kind="person"),
        AddEntity(key="place/bonn", name="Bonn", kind="place"),
        AddMemory(key="home", value={"text": "Lena lives in Bonn."}, mentions=("person/lena",)),
        AddEdge(fact="home", subject="person/lena", relation="lives_in", object="place/bonn"),
        AddMemory(key="other", value={"text": "It rains."}),
    )
    apply(found, "learned", *changes)
    return found


def home(store: MemoryStore) -> Memory:
    with Gathering(store).knowledge(NS) as knowledge:
        found = knowledge.by_key("home")
    assert found is not None
    return found.memory


@END
def test_what_somebody_says_anew_holds(
    store: MemoryStore, end: Callable[[MemoryStore], str]
) -> None:
    """Other words put under the key of a memory that does not hold are recalled; nothing of its end
    is left but in the history, where it is what it was; the run that ended it is refused its undo."""
    run = end(store)
    ended, then = home(store), datetime.now(UTC)
    assert ended.status != "active"
    store.put(NS, "home", {"text": "Lena has a flat in Kiel."})
    now = home(store)
    assert (now.status, now.superseded_by, now.expired_at, now.invalid_at) == (
        "active", None, None, None,
    )  # fmt: skip
    assert store.recall("a flat in Kiel", NS).results[0].memory.key == "home"
    put = [one for one in store.changes.history(NS, "home") if one.run_id is None][-1]
    assert put.facets["status"] == ended.status
    past = {one.memory.key for one in store.recall("Lena", NS, known_at=then).results}
    assert "home" not in past
    with pytest.raises(UndoRefusedError, match="written by the application"):
        store.changes.undo(run)
    assert problems(store) == []


@END
def test_what_it_had_claimed_does_not_come_back_with_other_words(
    store: MemoryStore, end: Callable[[MemoryStore], str]
) -> None:
    """The claims of what was over stay over; the graph of a time when they held has them still."""
    then = datetime.now(UTC)
    end(store)
    store.put(NS, "home", {"text": "Lena has a cat."})
    assert store.graph(NS).edges(past=True) == ()
    [edge] = store.graph(NS, known_at=then).edges("Lena")
    assert (edge.relation, edge.fact, edge.status) == ("lives_in", "home", "active")
    store.delete(NS, "home")
    [edge] = store.graph(NS, known_at=then).edges("Lena")
    assert edge.relation == "lives_in"
    assert problems(store) == []


@END
def test_what_stands_beside_the_words_lets_nothing_hold_again(
    store: MemoryStore, end: Callable[[MemoryStore], str]
) -> None:
    """An application that puts every value back with an entry more changes no memory's standing, nor
    the graph."""
    end(store)
    ended, edges = home(store), store.graph(NS).edges(past=True)
    store.put(NS, "home", {**ended.value, "seen": True})
    now = home(store)
    assert (now.status, now.superseded_by, now.invalid_at, now.expired_at) == (
        ended.status, ended.superseded_by, ended.invalid_at, ended.expired_at,
    )  # fmt: skip
    assert store.graph(NS).edges(past=True) == edges


def test_a_value_that_does_not_say_archived_any_more_is_not(store: MemoryStore) -> None:
    """An archived memory has its status in its value. A put of the same words without it restores
    the memory and its claims."""
    edges = store.graph(NS).edges()
    store.changes.archive(NS, "home", reason="no use")
    assert store.graph(NS).edges() == ()
    store.put(NS, "home", {"text": "Lena lives in Bonn."})
    assert home(store).status == "active"
    assert store.graph(NS).edges() == edges != ()
    assert home(store).expired_at is None


def test_a_value_may_say_itself_how_it_stands(store: MemoryStore) -> None:
    """A status that a value names is its status, with the times that go with it."""
    store.put(NS, "home", {"text": "Lena lives in Kiel.", "status": "archived"})
    assert home(store).status == "archived"
    assert home(store).expired_at is not None
    store.put(NS, "home", {"text": "Lena lives in Kiel.", "status": "active"})
    assert (home(store).status, home(store).expired_at) == ("active", None)
