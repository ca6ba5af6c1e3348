"""get_memory, memory_timeline, memory_archive, conversation_search: one memory in full, the messages
around it, its archive, and messages between two dates.

The model names a memory by the id it was shown, ``R:1a2b3c4d``, or by its whole key. A `MemoryStore`
has an index of these ids; in other stores what the memory block shows is found through the graph's
state, and the rest by looking through the newest memories. An id that fits two memories is never
guessed: the answer names both by longer ones.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.store.base import BaseStore
from pydantic import BaseModel, Field

from langmemory.context.notes import notes_of
from langmemory.context.render import full, timeline
from langmemory.nodes.access import (
    RecallRequest,
    StoreAccess,
    archive,
    count_marks,
)
from langmemory.nodes.lookup import evidence_of, find, read_memory, said_around
from langmemory.nodes.namespaces import NamespaceTemplate, viewer_of
from langmemory.nodes.node import run_of
from langmemory.steps import Steps
from langmemory.tools.answering import State, lines, memory_tool, refuse
from langmemory.types import Recall

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
    results = sorted(recall.results, key=lambda result: result.at)
    told = lines(notes_of(result.memory for result in results), recall.query, EXCERPT_TOKENS)
    return told or "Nothing was said about that. Try other words or a wider time."


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
