"""Lists, page by page: every place in SQL, whatever changes between two pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp

from langmemory.changes import AddEdge, AddEntity, AddMemory, ChangeSet
from langmemory.errors import ConfigError
from langmemory.ledger.listing import FEW_NAMESPACES
from langmemory.stores import MemoryStore
from langmemory.types import Page

NS = ("memories", "maria")


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with MemoryStore(tmp_path / "memory.db", index=False) as opened:
        yield opened


def everything(read: Callable[..., Page[Any]], limit: int = 3) -> list[Any]:
    """Return all items of a list, page by page."""
    found, cursor = [], None
    while True:
        page = read(cursor=cursor, limit=limit)
        assert len(page.items) <= limit
        found.extend(page.items)
        cursor = page.next
        if cursor is None:
            return found


def fill(store: MemoryStore, namespaces: int) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    ops = []
    for number in range(max(60, 2 * namespaces)):
        value: dict[str, Any] = {"text": f"note {number}", "kind": "procedural"}
        match number % 4:
            case 0:
                value["valid_at"] = (start + timedelta(days=number % 5)).isoformat()
            case 1:
                value["said_at"] = (start + timedelta(days=number % 3)).isoformat()
            case 2:
                value["kind"] = "semantic"
        if number % 7 == 0:
            value["status"] = "archived"
        if number % 5 == 0:
            value |= {"privacy": "private", "owner": "otto"}
        ops.append(PutOp((*NS, f"n{number % namespaces}"), f"k{number}", value))
    store.batch(ops)


@pytest.mark.parametrize("namespaces", [3, 2 * FEW_NAMESPACES])
@pytest.mark.parametrize("viewer", [None, "maria"])
@pytest.mark.parametrize(
    "asked", [{}, {"past": True}, {"kinds": ["procedural"]}, {"statuses": ["archived"]}]
)
def test_pages_are_the_list_in_its_order(
    store: MemoryStore, namespaces: int, viewer: str | None, asked: dict[str, Any]
) -> None:
    """Pages give what one long list gives, and that is ordered by when things became true or were said."""
    fill(store, namespaces)
    face: Any = store if viewer is None else store.for_viewer(viewer)
    whole = face.admin.memories(NS, limit=10_000, **asked)
    assert everything(lambda **place: face.pages.memories(NS, **asked, **place)) == whole
    assert [one.at for one in whole] == sorted((one.at for one in whole), reverse=True)
    assert len(whole) > 3
    if viewer is not None:
        assert all(one.privacy != "private" for one in whole)


def test_what_comes_and_goes_between_pages_hides_nothing(store: MemoryStore) -> None:
    """A memory that was there is given once, although others are added and deleted meanwhile, the last
    one of a page among them."""
    fill(store, 10)
    before = {one.key for one in store.admin.memories(NS, limit=100)}
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = store.pages.memories(NS, cursor=cursor, limit=3)
        seen.extend(one.key for one in page.items)
        store.put(NS, f"new-{len(seen)}", {"text": "new"})
        last = page.items[-1]
        store.delete(last.namespace, last.key)
        cursor = page.next
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert before <= set(seen) | {key for key in before if store.get(NS, key) is not None}
    assert before <= set(seen)


def test_a_span_is_by_the_order_of_the_list(store: MemoryStore) -> None:
    """What was said in a span is found by when it was said, although it was stored today."""
    store.put(NS, "said", {"text": "said then", "said_at": "2024-03-01T10:00:00+01:00"})
    store.put(NS, "odd", {"text": "no time", "said_at": "now"})
    span = {"since": datetime(2024, 3, 1, 9, tzinfo=UTC), "until": datetime(2024, 3, 2, tzinfo=UTC)}
    assert [one.key for one in store.pages.memories(NS, **span).items] == ["said"]
    assert {one.key for one in store.pages.memories(NS).items} == {"said", "odd"}


def test_history_is_read_in_pages(store: MemoryStore) -> None:
    """Pages of a history give what it has as a whole: before and after of each change, also of earlier
    lives of a key, with numbers of their own for a viewer."""
    for life in range(2):
        for number in range(5):
            store.put(NS, "k", {"text": f"{life} {number}"})
        if not life:
            store.delete(NS, "k")
    for face in (store, store.for_viewer("maria")):
        whole = face.changes.history(NS, "k")
        pages = everything(lambda face=face, **place: face.pages.history(NS, "k", **place), 2)
        assert pages == whole
        assert len(whole) == 11
        assert [one.after for one in whole[:5]] == [{"text": f"0 {n}"} for n in range(5)]


def test_runs_and_what_they_changed_are_read_in_pages(store: MemoryStore) -> None:
    """Pages of runs and of the changes of one give what the lists give."""
    for number in range(7):
        store.put(NS, f"k{number}", {"text": f"note {number}"})
        store.changes.remove(NS, f"k{number}", reason="test")
    whole = store.changes.runs(NS, limit=100)
    assert len(whole) == 7
    assert everything(lambda **place: store.pages.runs(NS, **place)) == whole
    assert everything(lambda **place: store.pages.runs(**place)) == whole
    [change] = store.changes.changed_by(whole[0].id)
    assert (change.key, change.before, change.after) == ("k6", {"text": "note 6"}, None)
    assert everything(lambda **place: store.pages.changed_by(whole[0].id, **place)) == [change]


def test_a_cursor_is_of_one_list(store: MemoryStore) -> None:
    """The cursor of a list is refused by another one, and so is one that was made up."""
    fill(store, 3)
    cursor = store.pages.memories(NS, limit=1).next
    assert cursor is not None
    with pytest.raises(ConfigError, match="another list"):
        store.pages.runs(NS, cursor=cursor)
    with pytest.raises(ConfigError, match="none of this file"):
        store.pages.memories(NS, cursor="bWFkZSB1cA")


def test_a_part_of_a_graph_says_what_is_left_out(store: MemoryStore) -> None:
    """Pages of entities and edges give what the graph has as a whole; a limited part of it says that it
    is one."""
    names = [f"Person {number}" for number in range(7)]
    changes: list[Any] = [AddEntity(key=name, name=name, kind="person") for name in names]
    changes.append(AddMemory(key="f", value={"text": ", ".join(names)}, mentions=tuple(names)))
    changes += [
        AddEdge(fact="f", subject=one, relation="knows", object=other)
        for one, other in pairwise(names)
    ]
    store.changes.apply(
        ChangeSet(
            namespace=NS, run_id="r", kind="correction", reason="test", changes=tuple(changes)
        )
    )
    for face in (store, store.for_viewer("maria")):
        graph = face.graph(NS)
        assert everything(graph.some_entities) == sorted(graph.entities(), key=lambda one: one.key)
        assert everything(graph.some_edges) == list(graph.edges())
        few = graph.subgraph(limit=3)
        assert (len(few.entities), few.complete) == (3, False)
        near = graph.subgraph("Person 3", 1, limit=20)
        assert near == graph.subgraph("Person 3", 1)
        assert graph.subgraph("Person 3", 2, limit=2).complete is False
