"""create_memory_searcher: the memories that a conversation concerns, found by a model's queries."""

from __future__ import annotations

import logging
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.store.base import SearchItem

from langmemory.chat_models import as_chat_model
from langmemory.errors import ExtractionError
from langmemory.formation.asking.asker import Asker
from langmemory.nodes.access import StoreAccess
from langmemory.nodes.namespaces import NamespaceTemplate, viewer_of
from langmemory.nodes.node import run_of
from langmemory.parts.langmem import queries
from langmemory.parts.langmem.memory_manager import check_input
from langmemory.steps import Steps, arun_steps, call, run_steps, threaded
from langmemory.types import Namespace

SEARCH = "Search for distinct memories relevant to different aspects of the provided context."
QUERIES = 5
"""So many a model may write."""
FOUND = 10
"""Memories each of them finds."""
VIEWER = "{user_id|}"
"""Template of the person who may read what is private to them."""

logger = logging.getLogger("langmemory.reflection")


class MemorySearcher(Runnable[Any, list[SearchItem]]):
    """``invoke({"messages": […]}, config)`` returns items of the graph's store, best first. What is
    private to others, or holds no more, is not among them. See `create_memory_searcher`."""

    def __init__(self, model: BaseChatModel, prompt: str, namespace: tuple[str, ...] | str) -> None:
        self._asker = Asker(model, queries.SCHEMA)
        self._prompt = prompt
        self.namespace = NamespaceTemplate(namespace)

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[SearchItem]:
        """The memories.

        Raises:
            ConfigError: There is no store, a variable of the namespace is missing, or the input is no
                dict.
            ModelUnavailableError: The model could not be asked. Where its answers cannot be used, or it
                asks for nothing, the conversation's last words are the query.
        """
        return run_steps(self._steps(input, ensure_config(config)))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[SearchItem]:
        """`invoke` without blocking the loop."""
        return await arun_steps(self._steps(input, ensure_config(config)))

    def _steps(self, input: Any, config: RunnableConfig) -> Steps[list[SearchItem]]:
        check_input(input)
        try:
            question = queries.query_question(input, limit=QUERIES, instructions=self._prompt)
            asked = (yield call(self._asker, "ask", question, config)).value
        except ExtractionError as error:
            logger.warning("queries_failed error=%s", type(error).__name__)
            asked = []
        store, scope = run_of(config, None, "memory searcher", VIEWER)
        in_force, viewer = StoreAccess(store).in_force, viewer_of(VIEWER, scope)
        where = self.namespace.resolve(scope)
        found: dict[tuple[Namespace, str], SearchItem] = {}
        for query in asked or queries.message_texts(input):
            items = yield call(store, "search", where, query=query, limit=FOUND)
            shown = yield threaded(in_force, items, viewer)
            found |= {(item.namespace, item.key): item for item in shown}
        return sorted(found.values(), key=lambda item: item.score or 0, reverse=True)


def create_memory_searcher(
    model: str | BaseChatModel,
    prompt: str = SEARCH,
    *,
    namespace: tuple[str, ...] = ("memories", "{langgraph_user_id}"),
) -> MemorySearcher:
    """A runnable that finds memories for a conversation; LangMem's signature.

    Args:
        model: Writes the queries: a chat model, or its name as ``langchain`` knows it.
        prompt: What it is to look for.
        namespace: Where memories are, with what is below it; variables in braces come from the run.

    Raises:
        ConfigError: The model's package is missing.
    """
    return MemorySearcher(as_chat_model(model), prompt, namespace)
