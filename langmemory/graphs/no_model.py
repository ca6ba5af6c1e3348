"""NoModel: stands in for a chat model when none is configured, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

from langmemory.context.marking import CLOSE_TAG, NO_MODEL, OPEN_TAG, is_ours, mark_injected


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
