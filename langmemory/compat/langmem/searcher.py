"""create_memory_searcher: the memories that a conversation concerns, found by a model's queries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.store.base import BaseStore, SearchItem

from langmemory.chat_models import as_chat_model
from langmemory.compat.langmem import queries
from langmemory.compat.langmem.memory_manager import check_input
from langmemory.errors import ExtractionError
from langmemory.formation.asking.asker import Asker, Question
from langmemory.nodes.access import StoreAccess
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, viewer_of
from langmemory.nodes.node import run_of
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
        config = ensure_config(config)
        check_input(input)
        try:
            asked = self._asker.ask(self._question(input), config).value
        except ExtractionError as error:
            asked = _unasked(error)
        store, where, scope = self._place(config)
        found = [
            store.search(where, query=one, limit=FOUND) for one in asked or queries.said(input)
        ]
        return _sorted(_shown(store, each, scope) for each in found)

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[SearchItem]:
        """`invoke` without blocking the loop."""
        config = ensure_config(config)
        check_input(input)
        try:
            asked = (await self._asker.aask(self._question(input), config)).value
        except ExtractionError as error:
            asked = _unasked(error)
        store, where, scope = self._place(config)
        found = [
            await store.asearch(where, query=one, limit=FOUND)
            for one in asked or queries.said(input)
        ]
        return _sorted([await asyncio.to_thread(_shown, store, each, scope) for each in found])

    def _place(self, config: RunnableConfig) -> tuple[BaseStore, Namespace, RunScope]:
        store, scope = run_of(config, None, "memory searcher", VIEWER)
        return store, self.namespace.resolve(scope), scope

    def _question(self, input: Mapping[str, Any]) -> Question[list[str]]:
        return queries.asked(input, limit=QUERIES, instructions=self._prompt)


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


def _unasked(error: ExtractionError) -> list[str]:
    logger.warning("queries_failed error=%s", type(error).__name__)
    return []


def _shown(store: BaseStore, found: list[SearchItem], scope: RunScope) -> list[SearchItem]:
    return StoreAccess(store).in_force(found, viewer_of(VIEWER, scope))


def _sorted(searches: Iterable[Sequence[SearchItem]]) -> list[SearchItem]:
    """What the searches found, each once, best first."""
    found = {(item.namespace, item.key): item for each in searches for item in each}
    return sorted(
        found.values(), key=lambda item: 0 if item.score is None else item.score, reverse=True
    )
