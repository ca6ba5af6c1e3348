"""create_memory_searcher: the memories that a conversation concerns, found by a model's queries."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from string import Template
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.store.base import SearchItem

from langmemory.chat_models import as_chat_model
from langmemory.errors import ExtractionError
from langmemory.formation.asking.asker import Asker, Question
from langmemory.formation.asking.json_answers import json_object
from langmemory.formation.prompts import prompt
from langmemory.messages import as_list
from langmemory.nodes.access import StoreAccess
from langmemory.nodes.namespaces import NamespaceTemplate, viewer_of
from langmemory.nodes.node import run_of
from langmemory.parts.langmem.memory_manager import check_input, conversation
from langmemory.steps import Steps, arun_steps, call, run_steps, thread_call
from langmemory.types import Namespace

QUERY_CHARS = 2_000
"""So much of the end of a conversation is a query where no model writes one."""

SCHEMA = {
    "title": "Queries",
    "type": "object",
    "properties": {"queries": {"type": "array", "items": {"type": "string"}}},
    "required": ["queries"],
}
"""Of the answer that `query_question` reads."""


def query_question(
    input: Mapping[str, Any], *, limit: int, instructions: str = ""
) -> Question[list[str]]:
    """Return the question to a model for up to ``limit`` queries; it may write none."""
    form = Template(prompt("queries")).substitute(limit=limit)
    return Question(
        messages=(
            SystemMessage(f"{instructions}\n\n{form}".strip()),
            HumanMessage(conversation(input.get("messages") or ()) or "(none)"),
        ),
        read=lambda raw: [
            query
            for query in json_object(raw, field="queries").value["queries"]
            if isinstance(query, str) and query.strip()
        ][:limit],
    )


def message_texts(input: Mapping[str, Any]) -> list[str]:
    """The conversation's own words: the last message, and the end of all of it."""
    messages = as_list(input.get("messages") or ())
    last, whole = conversation(messages[-1:]), conversation(messages)
    return list(dict.fromkeys(text[-QUERY_CHARS:] for text in (last, whole) if text))


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
        self._asker = Asker(model, SCHEMA)
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
            question = query_question(input, limit=QUERIES, instructions=self._prompt)
            asked = (yield call(self._asker, "ask", question, config)).value
        except ExtractionError as error:
            logger.warning("queries_failed error=%s", type(error).__name__)
            asked = []
        store, scope = run_of(config, None, "memory searcher", VIEWER)
        in_force, viewer = StoreAccess(store).in_force, viewer_of(VIEWER, scope)
        where = self.namespace.resolve(scope)
        found: dict[tuple[Namespace, str], SearchItem] = {}
        for query in asked or message_texts(input):
            items = yield call(store, "search", where, query=query, limit=FOUND)
            shown = yield thread_call(in_force, items, viewer)
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
