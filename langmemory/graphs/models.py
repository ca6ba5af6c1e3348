"""State, context and models of the graphs: the configured model or its stand-in, and its window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.chat_models import named_chat_model, window_of
from langmemory.config import ModelsConfig
from langmemory.context.budget import REFERENCE_WINDOW, BudgetReport, ContextBudget
from langmemory.context.marking import CLOSE_TAG, NO_MODEL, OPEN_TAG, is_ours, mark_injected
from langmemory.context.summarization import RunningSummary
from langmemory.nodes.memory_state import MemoryState


class NoModel(BaseChatModel):
    """A chat model without a model: it answers with the recalled memory block, or says it is empty.

    The graph runs and remembers with it on a machine without a model.
    """

    @property
    def _llm_type(self) -> str:
        return "langmemory-no-model"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """It never calls a tool."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = "\n".join(m.text for m in messages if isinstance(m, SystemMessage) or is_ours(m))
        block = prompt.rpartition(OPEN_TAG)[2].partition(CLOSE_TAG)[0] if OPEN_TAG in prompt else ""
        lines = block.strip().splitlines()[1:]  # without what the model is told to do with them
        found = (
            "\n".join(["What I remember that may fit:", *lines])
            if lines
            else ("I remember nothing that fits.")
        )
        # Marked, because an echo of memory must not become a memory.
        answer = mark_injected(AIMessage(f"{found}\n\n{NO_MODEL}"), "no model")
        return ChatResult(generations=[ChatGeneration(message=answer)])


CONVERSATION_TOKENS = 8_000
"""For the conversation also in a small window, as far as half of it allows."""


def chat_model(models: ModelsConfig) -> BaseChatModel:
    """Return the model for conversation: ``models.fast``, else ``models.deep``, else `NoModel`.

    Raises:
        ConfigError: the provider needs a package that is not installed.
    """
    name = models.fast or models.deep
    if name is None:
        return NoModel()
    return named_chat_model(name, models)


def budget_for(model: BaseChatModel) -> ContextBudget:
    """Return the budget of a model's window if it is known to be smaller than the usual 128k.

    Raises:
        ConfigError: The window is below the budget's hard minimum.
    """
    window = window_of(model)
    if window is None or window >= REFERENCE_WINDOW:
        return ContextBudget()
    return ContextBudget(
        window_tokens=window, conversation_share=min(0.5, CONVERSATION_TOKENS / window)
    )


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
