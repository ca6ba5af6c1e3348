"""Queries by which the memories are found that a conversation concerns."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage

from langmemory.formation.asking.asker import Question
from langmemory.formation.asking.json_answers import json_object
from langmemory.formation.prompts import prompt
from langmemory.messages import as_list
from langmemory.parts.langmem.memory_manager import conversation

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
