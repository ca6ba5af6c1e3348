"""search_memory: the model searches memories. Calls are as in LangMem."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.store.base import BaseStore, SearchItem
from pydantic import create_model

from langmemory.nodes.access import GROWTH, StoreAccess
from langmemory.nodes.namespaces import NamespaceTemplate, viewer_of
from langmemory.nodes.node import run_of
from langmemory.steps import Steps, call, threaded
from langmemory.tools.answering import memory_tool, refuse


def create_search_memory_tool(
    namespace: tuple[str, ...] | str,
    *,
    instructions: str = "",
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
    response_format: Literal["content", "content_and_artifact"] = "content",
    name: str = "search_memory",
) -> StructuredTool:
    """Return a tool that lets the model search memories, with LangMem's signature and answers.

    It answers with the found items as JSON.

    Args:
        namespace: template of the prefix to search; its variables come from the run, see
            `langmemory.nodes.NamespaceTemplate`.
        instructions: tells the model when to use it.
        viewer: template of the person whose private memories may be shown; None shows all.
        store: used instead of the graph's store, or outside a graph.
        response_format: ``content_and_artifact`` also hands the items themselves to the program.
    """
    template = NamespaceTemplate(namespace)
    fields: dict[str, Any] = {
        "query": (str, ...),
        "limit": (int, 10),
        "offset": (int, 0),
        "filter": (dict | None, None),
    }
    arguments = create_model(name, **fields)

    # What is not in force any more must not take the places of what is: more is searched for then.
    def search_memory(
        config: RunnableConfig, query: str, limit: int = 10, offset: int = 0, filter: Any = None
    ) -> Steps[Any]:
        if limit < 0 or offset < 0:
            raise refuse(f"limit is {limit} and offset {offset}. Use 0 or more.")
        source, scope = run_of(config, store, name, viewer)
        where, asked = template.resolve(scope), limit + offset
        in_force, who = StoreAccess(source).in_force, viewer_of(viewer, scope)
        while True:
            with _filter_explained(filter):
                found = yield call(source, "search", where, query=query, limit=asked, filter=filter)
            shown: list[SearchItem] = yield threaded(in_force, found, who)
            if len(shown) >= limit + offset or len(found) < asked:
                break
            asked *= GROWTH
        shown = shown[offset : offset + limit]
        items = [item.dict() for item in shown]
        text = json.dumps(items, ensure_ascii=False, separators=(",", ":"))
        return (text, shown) if response_format == "content_and_artifact" else text

    return memory_tool(
        name=name,
        description=(
            "Search your long-term memories for information relevant to your current context. "
            f"{instructions}"
        ),
        arguments=arguments,
        work=search_memory,
        response_format=response_format,
    )


@contextmanager
def _filter_explained(filter: Any) -> Iterator[None]:
    """A filter the store cannot do anything with is the model's to correct."""
    try:
        yield
    except (TypeError, ValueError) as error:  # what LangGraph's stores raise for one
        if not filter:
            raise
        raise refuse(
            f"filter is {filter!r:.200}, which cannot be used: {error} Name fields with the value "
            f"they must have, as in {{'kind': 'fact'}}, or leave it out."
        ) from error
