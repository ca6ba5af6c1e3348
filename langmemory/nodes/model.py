"""ModelNode: the model answers, with memories in its prompt and the window in budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, Final

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
)
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool

from langmemory.answers import calls_in_text
from langmemory.arguments import one_of
from langmemory.chat_models import bounded, check_model
from langmemory.context.budget import BudgetReport, ContextBudget
from langmemory.context.citations import Citations
from langmemory.context.tokens import DEFAULT_COUNTER, TokenCounter, count_text
from langmemory.context.turns import (
    Placement,
    block_message,
    fit_tool_outputs,
    turn_starts,
    with_block,
    with_missing_results,
)
from langmemory.nodes.state import value_of
from langmemory.nodes.strip_citations import StripCitations
from langmemory.pluralize import count_noun

DEFAULT_PROMPT = """\
You are a helpful assistant with a long-term memory. What you remember about the person you talk \
to, if anything, stands below. Use it when it helps, and never claim to remember more than that."""


MOST_CALLS_IN_TEXT: Final = 4
"""Rounds of tool calls in a turn after which a text that looks like a call is an answer."""


class ModelNode(Runnable[Any, dict[str, Any]]):
    """Ask the model: system prompt, core memory, memory block, summary, conversation.

    A tool call that a small model writes as its answer is made. One without a result, after a failure or
    because the person continued, gets a result that says so. If the conversation exceeds its share of the
    budget, old tool outputs are trimmed and then cleared. If a prompt would use the reserve, it loses its
    oldest turns; the report says so, and recall still finds them.

    Args:
        model: any LangChain chat model.
        tools: bound to the model when there are any.
        prompt: the system prompt; core memory and the memory block follow it.
        budget: division of the model's window.
        input_key: state key of the messages to send, when it is set there.
        messages_key: state key of the conversation, to which the answer is added.
        citations: whether the ids of memories are removed from the answer and its stream (``strip``,
            ``off``) or stay in it (``keep``).
        placement: the position of the memory block: at the end of the ``system`` prompt, or in a
            ``message`` of its own before the person's last one, outside of privileged instructions.
        token_counter: counts the prompt.

    State it writes: the answer, and ``budget``: how full the window was.

    Raises:
        ConfigError: `model` is not a chat model.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        tools: Sequence[BaseTool | Callable[..., Any]] = (),
        prompt: str = DEFAULT_PROMPT,
        budget: ContextBudget | None = None,
        input_key: str = "summarized_messages",
        messages_key: str = "messages",
        citations: Citations = "strip",
        placement: Placement = "system",
        token_counter: TokenCounter = DEFAULT_COUNTER,
        name: str = "model",
    ) -> None:
        check_model(model)
        budget = ContextBudget() if budget is None else budget
        reserve = budget.window_tokens - budget.hard_limit_tokens
        model = bounded(model, reserve, temperature=None) if reserve else model
        bound = model.bind_tools(list(tools)) if tools else model
        self.has_tools = bool(tools)
        keep = one_of("citations", citations, Citations) == "keep"
        self.model: Runnable[LanguageModelInput, BaseMessage] = (
            bound if keep else StripCitations(bound)
        )
        self.prompt = prompt
        self.placement = one_of("placement", placement, Placement)
        self.budget = budget
        self.input_key = input_key
        self.messages_key = messages_key
        self.token_counter = token_counter
        self.name = name

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        prompt, report = self._prepare(input)
        answer = self._with_calls(self.model.invoke(prompt, config), prompt)
        return {self.messages_key: [answer], "budget": report}

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        prompt, report = self._prepare(input)
        answer = self._with_calls(await self.model.ainvoke(prompt, config), prompt)
        return {self.messages_key: [answer], "budget": report}

    def _with_calls(self, answer: BaseMessage, prompt: Sequence[AnyMessage]) -> BaseMessage:
        """Return the answer; where its text is a call of a tool, that call is made. A model that goes on so
        is stopped after `MOST_CALLS_IN_TEXT`."""
        if not self.has_tools or not isinstance(answer, AIMessage) or answer.tool_calls:
            return answer
        since = takewhile(lambda one: not isinstance(one, HumanMessage), reversed(prompt))
        made = sum(isinstance(one, AIMessage) and bool(one.tool_calls) for one in since)
        calls = calls_in_text(answer.text) if made < MOST_CALLS_IN_TEXT else []
        return answer.model_copy(update={"content": "", "tool_calls": calls}) if calls else answer

    def _prepare(self, state: Any) -> tuple[list[AnyMessage], BudgetReport]:
        core = "\n\n".join(filter(None, (self.prompt, value_of(state, "core_memory"))))
        memories = value_of(state, "memory_block", {}).get("text")
        apart = bool(memories) and self.placement == "message"
        parts = (core,) if apart else (core, memories)
        system = SystemMessage("\n\n".join(filter(None, parts)))
        before: list[AnyMessage] = [system, block_message(memories)] if apart else [system]
        room = self.budget.hard_limit_tokens - self.token_counter(before)
        messages = with_missing_results(
            value_of(state, self.input_key) or value_of(state, self.messages_key, [])
        )
        kept = newest_turns(self._trimmed(messages), room, self.token_counter)
        core_tokens = count_text(core, self.token_counter)
        report = self.budget.report(
            core_tokens=core_tokens,
            retrieved_tokens=self.token_counter(before) - core_tokens,
            conversation_tokens=self.token_counter(kept),
        )
        left_out = len(messages) - len(kept)
        if left_out:
            oldest = count_noun(left_out, "oldest message")
            report["notices"].append(f"the {oldest} did not fit: within reach of recall only")
        prompt = _one_system_message(system, kept)
        return (with_block(prompt, memories) if apart else prompt), report

    def _trimmed(self, messages: list[AnyMessage]) -> list[AnyMessage]:
        return fit_tool_outputs(
            messages, max_tokens=self.budget.conversation_tokens, token_counter=self.token_counter
        )


def _one_system_message(system: SystemMessage, messages: list[AnyMessage]) -> list[AnyMessage]:
    """Put a summary into the system message: some providers accept only one."""
    leading = list(takewhile(lambda message: isinstance(message, SystemMessage), messages))
    text = "\n\n".join(message.text for message in (system, *leading))
    return [SystemMessage(text), *messages[len(leading) :]]


def newest_turns(
    messages: list[AnyMessage], max_tokens: int, token_counter: TokenCounter
) -> list[AnyMessage]:
    """Return as many whole turns from the end as fit; always the last one, and a summary before them."""
    if token_counter(messages) <= max_tokens:
        return messages
    starts = turn_starts(messages) or [0]
    head = [message for message in messages[: starts[0]] if isinstance(message, SystemMessage)]
    for start in starts:
        kept = [*head, *messages[start:]]
        if token_counter(kept) <= max_tokens:
            return kept
    return [*head, *messages[starts[-1] :]]
