"""Conversations of one person are joined in order, so that the one before that is found."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest

from langmemory.citing import note_id
from langmemory.ledger import conversations
from langmemory.stores import MemoryStore
from langmemory.tools import create_memory_timeline_tool
from langmemory.types import Conversation

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


def every_page(store: MemoryStore, limit: int, viewer: str | None) -> list[Conversation]:
    seen = store if viewer is None else store.for_viewer(viewer)
    found, cursor = [], None
    while True:
        page = seen.pages.conversations((), limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        found += page.items
        if (cursor := page.next) is None:
            return found


def test_pages_are_what_all_turns_say(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several people, threads, days and namespaces, told out of order: however long a page is, and however
    many turns are read at once, they are those that grouping all turns gives."""
    monkeypatch.setattr(conversations, "_TURNS", 7)
    choice = random.Random(4)
    said = defaultdict(list)
    for number in range(120):
        space = ("home", choice.choice("ab"))
        owner, privacy = choice.choice([(None, "shared"), ("mia", "private"), ("joe", "shared")])
        day, thread = choice.randrange(9), f"{owner}{choice.randrange(2)}"
        at = BEGAN + timedelta(days=day, seconds=choice.randrange(5))
        [key] = store.remember(
            space, [{"role": "user", "content": f"Turn {number}.", "at": at}], thread_id=thread,
            owner=owner, privacy=privacy,
        )  # fmt: skip
        said[space, owner, thread, day].append((at, number, key))
    for viewer in (None, "mia", "joe"):
        expected = []
        for space in (("home", "a"), ("home", "b")):
            for owner in (None, "mia", "joe") if viewer != "joe" else (None, "joe"):
                talks = sorted(
                    (min(turns)[0], min(turn[1] for turn in turns), len(turns), where)
                    for where, turns in said.items()
                    if where[:2] == (space, owner)
                )
                keys = {one[1]: key for turns in said.values() for *one, key in turns}
                firsts = [None, *(keys[one[1]] for one in talks), None]
                expected += [
                    (began, number, turns, before, after)
                    for (began, number, turns, _), before, after in zip(
                        talks, firsts, firsts[2:], strict=False
                    )
                ]
        expected = [(one[0], *one[2:]) for one in sorted(expected, reverse=True)]
        for limit in (1, 4, 50):
            found = every_page(store, limit, viewer)
            assert [(o.began_at, o.turns, o.previous, o.next) for o in found] == expected
