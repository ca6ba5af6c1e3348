"""A model that cites, and a memory with one thing to cite."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from langmemory import MemoryStore
from langmemory.context import note_id

ANNA = ("memories", "anna")
QUESTION = "What do I like to drink, tea or coffee?"
LABEL = re.compile(r"[MGR]:[0-9a-f]{8}")


def tea_drinker(folder: Path) -> MemoryStore:
    """Return a store that knows what Anna likes to drink."""
    store = MemoryStore(folder / "memory.db")
    store.remember(ANNA, [HumanMessage("I like to drink tea.")], thread_id="old")
    return store


def cite(prompt: list[BaseMessage]) -> str:
    """Answer with the first id that stands in the prompt, twice."""
    labels = LABEL.findall("\n".join(one.text for one in prompt))
    return f"You like tea [{labels[0]}], not coffee [{labels[0]}]." if labels else "I do not know."


def run(thread: str = "new") -> Any:
    return {"configurable": {"thread_id": thread, "user_id": "anna"}}


def asking(text: str = QUESTION) -> Any:
    return {"messages": [HumanMessage(text)]}


def twins(namespace: tuple[str, ...]) -> tuple[str, str]:
    """Return two keys of a namespace that have one short id."""
    seen: dict[str, str] = {}
    for number in itertools.count():
        key = f"k{number}"
        before = seen.setdefault(note_id(namespace, key), key)
        if before != key:
            return before, key
    raise AssertionError
