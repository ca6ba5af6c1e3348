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
    SystemMessage,
    ToolCall,
)
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool

from langmemory.answers import answer_text, calls_in_text
from langmemory.arguments import one_of
from langmemory.chat_models import bounded, check_model
from langmemory.context.budget import BudgetReport, ContextBudget
from langmemory.context.citations import Citations
from langmemory.context.tokens import DEFAULT_COUNTER, TokenCounter, count_text
from langmemory.context.turns import (
    Placement,
    block_message,
    fit_tool_outputs,
    is_human,
    turn_starts,
    with_block,
    with_missing_results,
    without_calls,
)
from langmemory.nodes.state import value_of
from langmemory.nodes.strip_citations import StripCitations
from langmemory.pluralize import count_noun

DEFAULT_PROMPT = (
    "You are a helpful assistant. Notes about the person you talk to may stand below. "
    "Use them when they help."
)
"""Small models that were told more answered by repeating the question."""
MOST_CALLS_IN_TEXT: Final = 4
"""Rounds of tool calls in a turn after which a call that is written as an answer is not made."""


class ModelNode(Runnable[Any, dict[str, Any]]):
    """Ask the model: system prompt, core memory, memory block, summary, conversation.

    A tool call that a small model writes as its answer is made. Where it writes the same one again, or goes
    on after `MOST_CALLS_IN_TEXT` rounds, or says nothing at all, it is asked once more, without tools and
    with their results as text. A call without a result, after a failure or because the person continued,
    gets a result that says so. If the conversation exceeds its share of the budget, old tool outputs are
    trimmed and then cleared. If a prompt would use the reserve, it loses its oldest turns; the report says
    so, and recall still finds them.

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
        keep = one_of("citations", citations, Citations) == "keep"

        def answering(model: Runnable[LanguageModelInput, Any]) -> Runnable[Any, BaseMessage]:
            return model if keep else StripCitations(model)

        self.model = answering(model.bind_tools(list(tools)) if tools else model)
        self.without_tools = answering(model) if tools else None
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
        if answer is None and self.without_tools:
            answer = self.without_tools.invoke(without_calls(prompt), config)
        return {self.messages_key: [answer], "budget": report}

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        prompt, report = self._prepare(input)
        answer = self._with_calls(await self.model.ainvoke(prompt, config), prompt)
        if answer is None and self.without_tools:
            answer = await self.without_tools.ainvoke(without_calls(prompt), config)
        return {self.messages_key: [answer], "budget": report}

    def _with_calls(self, answer: BaseMessage, prompt: Sequence[AnyMessage]) -> BaseMessage | None:
        """Return the answer; where its text is a call of a tool, that call is made. None: the call will not
        be made, or the model has said nothing in this turn."""
        if not self.without_tools or not isinstance(answer, AIMessage) or answer.tool_calls:
            return answer
        earlier = [
            one
            for one in takewhile(lambda one: not is_human(one), reversed(prompt))
            if isinstance(one, AIMessage)
        ]
        calls = calls_in_text(answer.text)
        if not calls:
            return answer if any(map(answer_text, (answer, *earlier))) else None
        made = [_what(one.tool_calls) for one in earlier if one.tool_calls]
        if len(made) >= MOST_CALLS_IN_TEXT or _what(calls) in made:
            return None
        return answer.model_copy(update={"content": "", "tool_calls": calls})

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


def _what(calls: Sequence[ToolCall]) -> list[tuple[str, Any]]:
    """Return the tools that are called, and with what."""
    return [(one["name"], one["args"]) for one in calls]


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
