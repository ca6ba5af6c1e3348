"""get_memory, memory_timeline, memory_archive, conversation_search: one memory in full, the messages
around it, its archive, and messages between two dates.

The model names a memory by the id it was shown, ``R:1a2b3c4d``, or by its whole key. A `MemoryStore`
has an index of these ids; in other stores what the memory block shows is found through the graph's
state, and the rest by looking through the newest memories. An id that fits two memories is never
guessed: the answer names both by longer ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.prebuilt import InjectedState
from langgraph.store.base import BaseStore, Item, SearchItem
from pydantic import BaseModel, Field

from langmemory.context.disclosure import as_much, line_head, note_line
from langmemory.context.notes import ID_CHARS, Note, digest, note_of, notes_of
from langmemory.context.render import full, timeline
from langmemory.context.tokens import count_text, longest
from langmemory.nodes.access import (
    RecallRequest,
    StoreAccess,
    archive,
    changes_of,
    count_marks,
    readable,
)
from langmemory.nodes.namespaces import NamespaceTemplate, viewer_of
from langmemory.nodes.node import run_of
from langmemory.nodes.state import RecalledMemory, value_of
from langmemory.operations.conversing import conversing_of
from langmemory.recall.excerpt import Excerpts
from langmemory.steps import Steps
from langmemory.tools.answering import memory_tool, refuse
from langmemory.types import Memory, Namespace, Recall

SCAN = 10_000
"""So many memories are looked through for a short id that is not in the memory block."""

PAGE = 500

LONG_ID_CHARS = 2 * ID_CHARS
"""Hex digits by which memories of one short id are told apart: 64 bits, which no two share."""

LINE_TOKENS = 60
"""Of a memory that an ambiguous id may mean."""

_SHORT = re.compile(
    rf"[\[(]?\s*(?:[MGR]\s*:\s*)?([0-9a-f]{{{ID_CHARS},64}})\s*[\])]?", re.IGNORECASE
)

State = Annotated[Any, InjectedState]
"""The graph's state; None when the tool is called outside a graph."""

_ID = Field(description="As shown, such as R:1a2b3c4d.")


class GetMemory(BaseModel):
    id: str = _ID


class MemoryTimeline(BaseModel):
    id: str = _ID
    around: int = Field(5, ge=1, le=50, description="Messages before it, and after it.")


class MemoryArchive(BaseModel):
    id: str = _ID
    reason: str


def create_get_memory_tool(
    namespace: tuple[str, ...] | str,
    *,
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
    name: str = "get_memory",
) -> StructuredTool:
    """Return a tool that shows one memory in full, with its evidence.

    Args:
        namespace: template of the prefix it may be in, see `langmemory.nodes.NamespaceTemplate`.
        viewer: template of the person whose private memories may be shown; None shows all.
        store: used instead of the graph's store, or outside a graph.
    """
    template = NamespaceTemplate(namespace)

    def get_memory(config: RunnableConfig, id: str, state: State = None) -> str:
        source, scope = run_of(config, store, name, viewer)
        who = viewer_of(viewer, scope)
        item = find(source, template.resolve(scope), id, who, state)
        memory = read_memory(source, item)
        count_marks(source, [memory], "referenced")
        return full(memory, evidence_of(source, item, who)).text

    return memory_tool(
        name=name,
        description="Read a memory in full, with the messages it rests on, where the line you were "
        "shown is not enough.",
        arguments=GetMemory,
        work=get_memory,
    )


def create_memory_timeline_tool(
    namespace: tuple[str, ...] | str,
    *,
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
    name: str = "memory_timeline",
) -> StructuredTool:
    """Return a tool that shows the messages before and after a memory, in the same thread; for a memory
    derived from messages, those around the first of them.

    Args: see `create_get_memory_tool`.
    """
    template = NamespaceTemplate(namespace)

    def memory_timeline(
        config: RunnableConfig, id: str, around: int = 5, state: State = None
    ) -> str:
        source, scope = run_of(config, store, name, viewer)
        who = viewer_of(viewer, scope)
        item = find(source, template.resolve(scope), id, who, state)
        turns, place = said_around(source, item, id, who, around)
        return timeline(turns[place], turns).text

    return memory_tool(
        name=name,
        description="See what was said right before and after a memory.",
        arguments=MemoryTimeline,
        work=memory_timeline,
    )


def create_memory_archive_tool(
    namespace: tuple[str, ...] | str,
    *,
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
    name: str = "memory_archive",
) -> StructuredTool:
    """Return a tool that archives a memory: it can be read by id, but is not recalled any more.

    Args: see `create_get_memory_tool`.
    """
    template = NamespaceTemplate(namespace)

    def memory_archive(config: RunnableConfig, id: str, reason: str, state: State = None) -> str:
        source, scope = run_of(config, store, name, viewer)
        item = find(source, template.resolve(scope), id, viewer_of(viewer, scope), state)
        if item.value.get("kind") == "core":
            raise refuse("A core memory block is not archived; edit it with core_memory_replace.")
        archive(source, item, reason=reason)
        return f"Archived memory {id}. It is kept but no longer recalled."

    return memory_tool(
        name=name,
        description="Put away a memory that is outdated: it is kept, but will not come up again.",
        arguments=MemoryArchive,
        work=memory_archive,
    )


def find(store: BaseStore, namespace: Namespace, id: str, viewer: str | None, state: Any) -> Item:
    """The memory a model means by `id`.

    Raises:
        ToolException: there is none, it is somebody else's private one, or it may be several.
    """
    name = id.strip()
    item = store.get(namespace, name) if name else None
    short = _SHORT.fullmatch(name)
    if item is None and short is not None:
        found = _of_short_id(store, namespace, short[1].lower(), state)
        found = [one for one in found if readable(one.value, viewer)]
        if len(found) > 1:
            raise refuse(_ambiguous(id, found))
        item = found[0] if found else None
    if item is None or not readable(item.value, viewer):
        raise refuse(
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
    the first that it was made from.

    Raises:
        ToolException: it is part of no conversation, or too far back in one.
    """
    made_from = evidence_of(store, item, viewer)
    said = next((one for one in [*made_from, item] if one.value.get("thread_id")), None)
    if said is None:
        raise refuse(f"Memory {id} is not part of a conversation. Use get_memory to read it.")
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
        raise refuse(
            f"Memory {id} is too far back in its conversation to look around it. Use "
            f"conversation_search with its date."
        )
    first = max(place - around, 0)
    return turns[first : place + around + 1], place - first


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


EXCERPT_TOKENS = 200
"""A longer message is cut to the part that fits the query; get_memory shows all of it."""


class ConversationSearch(BaseModel):
    query: str
    since: str | None = Field(None, description="First day, as YYYY-MM-DD.")
    until: str | None = Field(None, description="Last day.")
    limit: int = Field(10, ge=1, le=50)


def create_conversation_search_tool(
    namespace: tuple[str, ...] | str,
    *,
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
    name: str = "conversation_search",
) -> StructuredTool:
    """Return a tool that finds messages of this and earlier conversations, oldest first.

    Args:
        namespace: template of the prefix to search, see `langmemory.nodes.NamespaceTemplate`.
        viewer: template of the person whose private memories may be shown; None shows all.
        store: used instead of the graph's store, or outside a graph.
    """
    template = NamespaceTemplate(namespace)

    def conversation_search(
        config: RunnableConfig,
        query: str,
        since: str | None = None,
        until: str | None = None,
        limit: int = 10,
    ) -> Steps[str]:
        if not query.strip():
            raise refuse("query is empty. Say what to look for.")
        first, last = _day(since, "since"), _day(until, "until")
        if first and last and first > last:
            raise refuse(f"since ({since}) is after until ({until}). Swap them.")
        source, scope = run_of(config, store, name, viewer)
        wanted = RecallRequest(
            query=query,
            namespace=template.resolve(scope),
            viewer=viewer_of(viewer, scope),
            options={
                "limit": limit,
                "kinds": ("episodic",),
                "since": _midnight(first) if first else None,
                "until": _midnight(last + timedelta(days=1)) if last and last < date.max else None,
            },
        )
        return _lines((yield from StoreAccess(source).recall_steps(wanted)))

    return memory_tool(
        name=name,
        description="Search all that was said in this and earlier conversations, also between two days.",
        arguments=ConversationSearch,
        work=conversation_search,
    )


def _lines(recall: Recall) -> str:
    if not len(recall):
        return "Nothing was said about that. Try other words or a wider time."
    results = sorted(recall.results, key=lambda result: result.at)
    notes = notes_of(result.memory for result in results)
    excerpts = Excerpts(recall.query)
    return "\n".join(_line(note, excerpts) for note in notes)


def _line(note: Note, excerpts: Excerpts) -> str:
    head = line_head(note)
    text = as_much(note, lambda part: count_text(head + part) <= EXCERPT_TOKENS, excerpts)
    return note_line(note) if text is None else head + text


def _day(text: str | None, argument: str) -> date | None:
    if text is None or not text.strip():
        return None
    try:
        return datetime.fromisoformat(text.strip()).date()
    except ValueError:
        raise refuse(
            f"{argument} is {text!r}, which is no date. Write it as YYYY-MM-DD, for example "
            f"2026-03-31."
        ) from None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
