"""conversation_search: find messages about a subject, between two dates."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.store.base import BaseStore
from pydantic import BaseModel, Field

from langmemory.context.disclosure import as_much, line_head, note_line
from langmemory.context.notes import Note, notes_of
from langmemory.context.tokens import count_text
from langmemory.nodes.access import RecallRequest, StoreAccess
from langmemory.nodes.namespaces import NamespaceTemplate, viewer_of
from langmemory.nodes.node import run_of
from langmemory.recall.excerpt import Excerpts
from langmemory.steps import Steps
from langmemory.tools.answering import memory_tool, refuse
from langmemory.types import Recall

LINE_TOKENS = 200
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
    text = as_much(note, lambda part: count_text(head + part) <= LINE_TOKENS, excerpts)
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
