"""MemoryState: what the memory nodes keep in a graph's state. Inherit it in your own graph's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from langgraph.graph import MessagesState

from langmemory.context.citations import tally

USAGE_LIMIT = 200
"""So many memories are counted per thread; those shown longest ago drop out."""


def latest_usage(before: list[Any], new: list[Any]) -> list[Any]:
    """Add up `Usage` counts; the memories shown last stand last. A LangGraph reducer."""
    shown = {(*one["namespace"], one["key"]) for one in new}
    counts = tally(before, new)
    counts.sort(key=lambda one: (*one["namespace"], one["key"]) in shown)
    return counts[-USAGE_LIMIT:]


class MemoryState(MessagesState, total=False):
    """Messages, and what memory says about them. Every key is meant to be read in Studio."""

    memory_block: dict[str, Any]
    """What the model is shown from memory this turn: text, tokens, entries, what was omitted."""
    core_memory: str
    """The core blocks as the model is shown them."""
    recalled: list[dict[str, Any]]
    """The memories the block is made from, best first, with scores and their parts."""
    recall_trace: dict[str, Any]
    """How the last recall went: query, topic shift, counts, milliseconds."""
    topic: str
    """Query of the last fresh recall; a turn far from it starts a new block."""
    remembered_id: str
    """Id of the last message that is safely in the store."""
    memory_usage: Annotated[list[dict[str, Any]], latest_usage]
    """How often memories were shown in this thread and cited by an answer, each a `Usage`."""


def value_of(state: Any, name: str, default: Any = None) -> Any:
    """A key of a graph's state, which may be a dict, a dataclass or a pydantic model."""
    found = state.get(name) if isinstance(state, Mapping) else getattr(state, name, None)
    return default if found is None else found
