"""Conversations of one person are joined in order, so that the one before that is found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from langmemory.citing import note_id
from langmemory.stores import MemoryStore
from langmemory.tools import create_memory_timeline_tool

HOME = ("home",)
BEGAN = datetime(2026, 5, 1, 9, tzinfo=UTC)


def talk(store: MemoryStore, day: int, owner: str, *texts: str, thread: str = "") -> list[str]:
    messages = [
        {"role": "user", "content": text, "at": BEGAN + timedelta(days=day, minutes=minute)}
        for minute, text in enumerate(texts)
    ]
    return store.remember(HOME, messages, thread_id=thread or f"{owner}{day}", owner=owner)


def test_each_conversation_knows_the_one_before_and_after(store: MemoryStore) -> None:
    """By person and day, whatever others say in between, also where a thread goes on for days; page by
    page, and for a viewer by what they may read."""
    first = talk(store, 0, "mia", "The boiler leaks.", "Who repairs it?", thread="long")
    talk(store, 1, "joe", "I bought a drill.")
    second = talk(store, 2, "mia", "The garden needs roses.", thread="long")
    third = talk(store, 3, "mia", "My train leaves at nine.")
    found = store.pages.conversations(HOME).items
    assert [one.owner for one in found] == ["mia", "mia", "joe", "mia"]
    last, middle, alone, oldest = found
    assert (last.previous, last.next) == (second[0], None)
    assert (middle.previous, middle.next) == (first[0], third[0])
    assert (oldest.previous, oldest.next, oldest.turns) == (None, second[0], 2)
    assert (alone.previous, alone.next) == (None, None)
    assert oldest.opening == "The boiler leaks."
    pages, cursor = [], None
    while True:
        page = store.pages.conversations(HOME, limit=1, cursor=cursor)
        pages += page.items
        if (cursor := page.next) is None:
            break
    assert tuple(pages) == found
    store.remember(
        HOME, [{"role": "user", "content": "A secret.", "at": BEGAN}], thread_id="s", owner="joe",
        privacy="private",
    )  # fmt: skip
    assert store.for_viewer("mia").pages.conversations(HOME).items == found
    assert len(store.for_viewer("joe").pages.conversations(HOME).items) == 5


def test_a_timeline_goes_on_in_the_conversation_before(store: MemoryStore) -> None:
    """Of the same person; what others said in between is not part of it."""
    talk(store, 0, "mia", "The boiler leaks.", "Who repairs it?")
    talk(store, 1, "joe", "I bought a drill.")
    key = talk(store, 2, "mia", "The garden needs roses.", "And a hedge.")[0]
    tool = create_memory_timeline_tool(HOME, store=store)
    told = tool.invoke({"id": f"R:{note_id(HOME, key)}", "around": 2})
    assert [line for line in told.splitlines() if "drill" in line] == []
    order = [told.index(part) for part in ("boiler", "repairs", "roses", "hedge")]
    assert order == sorted(order)
    assert "boiler" not in tool.invoke({"id": f"R:{note_id(HOME, key)}", "around": 1})
