"""MemoryState: the state keys of the memory nodes. Inherit it in the state of your graph."""

from __future__ import annotations

from typing import Annotated

from langgraph.graph import MessagesState

from langmemory.context.citations import Usage
from langmemory.context.disclosure import BlockState
from langmemory.nodes.state import InternalState, RecalledMemory, RecallTrace, latest_usage


class MemoryState(MessagesState, total=False):
    """Messages and the keys of memory. All keys but `INTERNAL` are for readers in Studio."""

    memory_block: BlockState
    """The memory block of this turn: text, tokens, entries, omitted memories."""
    core_memory: str
    """The core blocks as the model sees them."""
    recalled: list[RecalledMemory]
    """The memories of the block, best first, with scores and their parts."""
    recall_trace: RecallTrace
    """The last recall: query, topic, counts, milliseconds, failures."""
    memory_usage: Annotated[list[Usage], latest_usage]
    """How often memories were shown in this thread, cited by an answer, and cited by one that was
    not corrected."""
    redacted: dict[str, int]
    """Counts of replaced credentials in the last stored messages, by kind: {"password": 1}."""
    memory_internal: InternalState
    """The nodes' own state."""
