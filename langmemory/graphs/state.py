"""State and context of the chat graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from langchain_core.messages import AnyMessage
from pydantic import Field
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.context.budget import BudgetReport
from langmemory.context.summarization import RunningSummary
from langmemory.nodes.state import MemoryState


@dataclass(kw_only=True)
class ChatContext:
    """The user of a run. (Studio shows this as a form.)"""

    user_id: Annotated[
        str | None,
        Field(
            description="Whose memories are read and written: any name or id without a period. "
            'Left empty, it is config["configurable"]["user_id"], or else the default of the graph.'
        ),
    ] = None
    project: Annotated[
        str | None,
        Field(
            description="The project at hand, by its name (`langmemory projects list`); empty for none."
        ),
    ] = None


class SummaryContext(TypedDict, total=False):
    """The state of `SummarizationNode`. (Typed, so that LangGraph knows it may restore it.)"""

    running_summary: RunningSummary
    summarization_error: str
    """The reason why the last attempt failed."""


class ChatState(MemoryState, total=False):
    """The state of the chat graph, per thread, as Studio shows it."""

    summarized_messages: list[AnyMessage]
    """The conversation as the model sees it: a summary of old messages, the rest verbatim."""
    context: SummaryContext
    budget: BudgetReport
    """The share of the model's window that each part used."""
