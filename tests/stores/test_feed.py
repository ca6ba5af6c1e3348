"""`store.feed`: what happened, for whoever asks, read on from a cursor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.changes import AddMemory, ChangeSet, OpenReview
from langmemory.errors import ConfigError
from langmemory.ports.jobs import NewJob
from langmemory.stores import MemoryStore
from langmemory.stores.face import StoreFace
from langmemory.types import FeedEvent

HOME = ("home",)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """An empty memory file."""
    with MemoryStore(tmp_path / "memory.db", index=False) as opened:
        yield opened


def told(store: StoreFace, **options: object) -> list[tuple[str, str, str]]:
    """Return (type, action, id) of all events."""
    return [(one.type, one.action, one.id) for one in store.feed.read(**options).events]  # type: ignore[arg-type]


def enqueued(store: MemoryStore) -> int:
    """Put a job into the queue and return its id."""
    job = NewJob(kind="test", lock="home", thread=None, payload={}, config={}, wait_seconds=3600)
    return store.jobs.enqueue(job, lambda _: None).result().id


def test_every_change_is_an_event(store: MemoryStore) -> None:
    """Memories, runs and reviews are told of in order, with namespace, kind and run and without text."""
    store.put(HOME, "tea", {"text": "Maria drinks tea"})
    store.put(HOME, "tea", {"text": "Maria drinks coffee"})
    run = store.changes.remove(HOME, "tea", reason="wrong").run_id
    store.changes.undo(run)
    assert told(store, types=["memory"]) == [
        ("memory", "add", "tea"),
        ("memory", "update", "tea"),
        ("memory", "delete", "tea"),
        ("memory", "restore", "tea"),
    ]
    runs = store.feed.read(types=["run"]).events
    assert [(one.id == run, one.action) for one in runs].count((True, "done")) == 1
    assert (True, "undone") in [(one.id == run, one.action) for one in runs]
    gone = store.feed.read(types=["memory"]).events[2]
    assert (gone.namespace, gone.kind, gone.run_id) == (HOME, "semantic", run)
    assert "drinks" not in repr(store.feed.read().events)


def test_reviews_and_jobs_are_events(store: MemoryStore) -> None:
    """A question is told of when it is opened and decided, a job at each of its states."""
    store.changes.apply(
        ChangeSet(
            namespace=HOME,
            run_id="r1",
            kind="maintenance",
            reason="test",
            changes=(
                AddMemory(key="a", value={"text": "tea"}),
                OpenReview(
                    id="v1", about="approval", question="Keep it?", memories=("a",),
                    options={"keep": ()},
                ),
            ),
        )
    )  # fmt: skip
    store.changes.decide("v1", "keep")
    assert told(store, types=["review"]) == [
        ("review", "opened", "v1"),
        ("review", "decided", "v1"),
    ]
    first, second = enqueued(store), enqueued(store)
    store.jobs.drop([first])  # what is deleted leaves no trace here either
    assert told(store, types=["job"]) == [("job", "pending", str(second))]


def test_reading_on_after_a_restart_loses_nothing(tmp_path: Path) -> None:
    """From any cursor exactly the events behind it follow, page by page, also in another process's
    store on the file; `moved_since` says whether there are any."""
    path = tmp_path / "memory.db"
    with MemoryStore(path, index=False) as store:
        start = store.feed.end()
        assert not store.feed.moved_since(start)
        for number in range(5):
            store.put(HOME, f"k{number}", {"text": "tea"})
            store.changes.remove(HOME, f"k{number}", reason="test")
        events = store.feed.read(after=start).events
    assert len(events) == 15
    with MemoryStore(path, index=False) as store:
        assert store.feed.moved_since(start)
        for place, event in enumerate(events):
            found: list[FeedEvent] = []
            page = store.feed.read(after=event.cursor, limit=2)
            while page.events:
                found += page.events
                page = store.feed.read(after=page.next, limit=2)
            assert [(one.type, one.action, one.id) for one in found] == [
                (one.type, one.action, one.id) for one in events[place + 1 :]
            ]


def test_filters(store: MemoryStore) -> None:
    """Namespaces count by whole labels, kinds are those of memories, and what is unknown is refused."""
    store.put(("acme",), "a", {"text": "tea"})
    store.put(("acme-corp",), "b", {"text": "tea"})
    store.put(("acme", "x"), "c", {"text": "tea", "kind": "episodic"})
    assert [one[2] for one in told(store, namespaces=[("acme",)])] == ["a", "c"]
    assert [one[2] for one in told(store, kinds=["episodic"])] == ["c"]
    for wrong in ({"types": ["nonsense"]}, {"kinds": []}, {"namespaces": []}, {"after": "x"}):
        with pytest.raises(ConfigError):
            store.feed.read(**wrong)  # type: ignore[arg-type]


def test_a_viewer_is_not_told_of_others_private_memories(store: MemoryStore) -> None:
    """Neither that one was added, changed or deleted; nor of runs and jobs; the owner is told."""
    maria, bob = store.for_viewer("maria"), store.for_viewer("bob")
    maria.put(HOME, "secret", {"text": "a gift", "privacy": "private"})
    maria.put(HOME, "secret", {"text": "a ring", "privacy": "private"})
    maria.delete(HOME, "secret")
    maria.put(HOME, "open", {"text": "tea"})
    assert told(bob) == told(store.for_anyone()) == [("memory", "add", "open")]
    assert [one[2] for one in told(maria)] == ["secret"] * 3 + ["open"]
    with pytest.raises(ConfigError, match="everybody's memory"):
        bob.feed.read(types=["run"])


def test_a_change_of_privacy(store: MemoryStore) -> None:
    """Once a memory is private, nothing of it is told to others, what was told of before included. Once
    it is shared, others are told of that change and of later ones, and of no earlier one."""
    maria, bob = store.for_viewer("maria"), store.for_viewer("bob")
    start = store.feed.end()
    maria.put(HOME, "k", {"text": "tea"})
    assert told(bob, after=start) == [("memory", "add", "k")]
    maria.put(HOME, "k", {"text": "tea", "privacy": "private"})
    maria.put(HOME, "k", {"text": "green tea", "privacy": "private"})
    assert told(bob, after=start) == []
    maria.put(HOME, "k", {"text": "tea", "privacy": "shared"})
    maria.put(HOME, "k", {"text": "black tea", "privacy": "shared"})
    assert told(bob, after=start) == [("memory", "update", "k")] * 2
    assert len(told(maria, after=start)) == 5


def test_what_is_forgotten(store: MemoryStore) -> None:
    """A viewer is not told what was forgotten; the application is, under a sealed key."""
    store.put(HOME, "gift", {"text": "a ring", "owner": "maria"})
    store.forget(HOME, owner="maria")
    assert told(store.for_viewer("bob")) == []
    events = [one for one in told(store, types=["memory"]) if one[1] == "forget"]
    assert events
    assert "gift" not in repr(store.feed.read().events)


def test_a_cursor_tells_nothing(store: MemoryStore) -> None:
    """Of two cursors nobody can tell whether anything happened between them; one of another file, or a
    changed one, is refused."""
    first, second = store.feed.end(), store.feed.end()
    assert first != second
    assert len(first) == len(second)
    with MemoryStore(":memory:", index=False) as other:
        foreign = other.feed.end()
    for wrong in (
        foreign,
        first[:-1],
        first[:20] + ("A" if first[20] != "A" else "B") + first[21:],
    ):
        with pytest.raises(ConfigError, match="none of this file"):
            store.feed.read(after=wrong)
