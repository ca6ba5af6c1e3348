"""One memory that a model names by a short id, the messages it rests on, and those around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from langgraph.store.base import BaseStore, Item, SearchItem

from langmemory.citing import ID_CHARS, digest
from langmemory.context.disclosure import note_line
from langmemory.context.notes import note_of
from langmemory.context.tokens import count_text, longest
from langmemory.errors import InvalidValueError
from langmemory.nodes.access import changes_of, readable
from langmemory.nodes.state import RecalledMemory, value_of
from langmemory.operations.conversing import conversing_of
from langmemory.stores.face import AwareStore
from langmemory.types import Memory, Namespace

SCAN = 10_000
"""So many memories are looked through for a short id that is not in the memory block."""

PAGE = 500
OTHERS = 100
"""So many messages of others are looked past for the conversation before."""

LONG_ID_CHARS = 2 * ID_CHARS
"""Hex digits by which memories of one short id are told apart: 64 bits, which no two share."""

LINE_TOKENS = 60
"""Of a memory that an ambiguous id may mean."""

_SHORT = re.compile(
    rf"[\[(]?\s*(?:[MGR]\s*:\s*)?([0-9a-f]{{{ID_CHARS},64}})\s*[\])]?", re.IGNORECASE
)


def is_short_id(text: str) -> bool:
    """Whether a text is an id as a model is shown it, such as ``R:1a2b3c4d``."""
    return _SHORT.fullmatch(text.strip()) is not None


def find(store: BaseStore, namespace: Namespace, id: str, viewer: str | None, state: Any) -> Item:
    """The memory a model means by `id`.

    Raises:
        InvalidValueError: there is none, it is somebody else's private one, or it may be several.
    """
    name = id.strip()
    item = store.get(namespace, name) if name else None
    short = _SHORT.fullmatch(name)
    if item is None and short is not None:
        found = _of_short_id(store, namespace, short[1].lower(), state)
        found = [one for one in found if readable(one.value, viewer)]
        if len(found) > 1:
            raise InvalidValueError(_ambiguous(id, found))
        item = found[0] if found else None
    if item is None or not readable(item.value, viewer):
        raise InvalidValueError(
            f"There is no memory {id!r}. Use an id you were shown, such as R:1a2b3c4d, or look "
            f"the memory up first with a search."
        )
    return item


def read_memory(store: BaseStore, item: Item) -> Item | Memory:
    """Return the memory with what the store knows of it beyond its value, such as since when it is true."""
    facets = conversing_of(store)
    whole_id = digest(item.namespace, item.key)
    return item if facets is None else next(iter(facets.labelled(item.namespace, whole_id)), item)


def evidence_of(store: BaseStore, item: Item, viewer: str | None) -> list[Item]:
    """Return the evidence of a memory, as far as it is there and the viewer may read it."""
    keys = item.value.get("evidence")
    keys = [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []
    changes = changes_of(store)
    if changes is not None:
        keys += [memory.key for memory in changes.evidence(item.namespace, item.key)]
    found = [store.get(item.namespace, key) for key in dict.fromkeys(keys)]
    return [each for each in found if each is not None and readable(each.value, viewer)]


def said_around(
    store: BaseStore, item: Item, id: str, viewer: str | None, around: int
) -> tuple[list[dict[str, Any]], int]:
    """Return the messages around a memory, oldest first, and the place of the one in the middle: itself, or
    the first that it was made from. Where its conversation does not reach so far back, those before it are of
    the conversation that the same person had before.

    Raises:
        InvalidValueError: it is part of no conversation, or too far back in one.
    """
    made_from = evidence_of(store, item, viewer)
    said = next((one for one in [*made_from, item] if one.value.get("thread_id")), None)
    if said is None:
        raise InvalidValueError(
            f"Memory {id} is not part of a conversation. Use get_memory to read it."
        )
    of_thread = {"thread_id": said.value["thread_id"]}
    found = store.search(said.namespace, filter=of_thread, limit=SCAN)
    # Beside turns, which have a role, a thread has summaries of them.
    turns = _in_order(
        [
            turn
            for turn in found
            if ("role" in turn.value) == ("role" in said.value) and readable(turn.value, viewer)
        ]
    )
    place = next((at for at, turn in enumerate(turns) if turn["key"] == said.key), None)
    if place is None:
        raise InvalidValueError(
            f"Memory {id} is too far back in its conversation to look around it. Use "
            f"conversation_search with its date."
        )
    if isinstance(store, AwareStore) and place < around:
        before = _said_before(store, said.namespace, turns[0], around - place)
        turns, place = [*before, *turns], place + len(before)
    first = max(place - around, 0)
    return turns[first : place + around + 1], place - first


def _said_before(
    store: AwareStore, namespace: Namespace, turn: Mapping[str, Any], most: int
) -> list[dict[str, Any]]:
    """Return the last messages of the same person before a conversation began, oldest first."""
    first = store.admin.memory(namespace, turn["key"])
    found: list[Memory] = store.admin.memories(
        namespace, kinds=["episodic"], until=turn["valid_at"], limit=most + OTHERS
    )
    own = [one for one in found if "role" in one.value and first and one.owner == first.owner]
    return [
        {"namespace": one.namespace, "key": one.key, "value": one.value, "valid_at": one.at}
        for one in reversed(own[:most])
    ]


def _of_short_id(store: BaseStore, namespace: Namespace, id: str, state: Any) -> list[Item]:
    """Return the memories of a short id: all, in a store that has an index of ids; else what the memory
    block shows, or all of it that is among the newest `SCAN` memories."""
    facets = conversing_of(store)
    if facets is not None:
        named = [store.get(one.namespace, one.key) for one in facets.labelled(namespace, id)]
        return [item for item in named if item is not None]
    recalled: list[RecalledMemory] = value_of(state, "recalled", [])
    for entry in recalled:
        place = tuple(entry["namespace"])
        if digest(place, entry["key"]).startswith(id) and place[: len(namespace)] == namespace:
            shown = store.get(place, entry["key"])
            return [] if shown is None else [shown]
    return [
        item for item in _items(store, namespace) if digest(item.namespace, item.key).startswith(id)
    ]


def _ambiguous(id: str, found: list[Item]) -> str:
    lines = []
    for item in found:
        note = note_of(item)
        line = note_line(note).replace(note.id, digest(item.namespace, item.key)[:LONG_ID_CHARS], 1)
        lines.append(longest(line, lambda text: count_text(text) <= LINE_TOKENS) or line)
    listed = "\n".join(lines)
    return f"{id!r} may mean {len(found)} memories. Call again with the longer id:\n{listed}"


def _in_order(found: list[SearchItem]) -> list[dict[str, Any]]:
    """Messages of a thread, oldest first, with times that keep them so.

    Stores list items the newest first or the oldest first, and messages of one turn share a time.
    """
    dated = [(note_of(turn).at or turn.created_at, turn) for turn in reversed(found)]
    dated.sort(key=lambda pair: pair[0])
    return [
        {
            "namespace": turn.namespace,
            "key": turn.key,
            "value": turn.value,
            "valid_at": at + timedelta(microseconds=place),
        }
        for place, (at, turn) in enumerate(dated)
    ]


def _items(store: BaseStore, namespace: Namespace) -> Iterator[SearchItem]:
    for offset in range(0, SCAN, PAGE):
        page = store.search(namespace, limit=PAGE, offset=offset)
        yield from page
        if len(page) < PAGE:
            return
