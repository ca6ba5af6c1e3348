"""Summarizing a conversation that outgrows its window: node and functions.

A drop-in for ``langmem.short_term``: the same names, parameters, results and cut points, wherever
those are right. Where they are not, this differs on purpose:

* a tool call and all its results stay together or leave together;
* the person's last message stays, word for word;
* a summary found among the messages is merged into the new one, never shown beside it;
* the result keeps to ``max_tokens`` also when only summary, system message and new messages
  together exceed it, or when the model's summary is longer than agreed;
* when the model fails, the conversation stays whole, and result, state and log say so.

What leaves the window is not lost: `RememberNode` has stored it word for word, and recall finds it.
`RECALL_FINAL_SUMMARY_PROMPT` says so to the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AnyMessage, RemoveMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.prompts.chat import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langmemory.chat_models import as_chat_model, bounded, check_model
from langmemory.context.summarization import (
    DEFAULT_EXISTING_SUMMARY_PROMPT,
    DEFAULT_FINAL_SUMMARY_PROMPT,
    DEFAULT_INITIAL_SUMMARY_PROMPT,
    GROUNDED_EXISTING_SUMMARY_PROMPT,
    GROUNDED_INITIAL_SUMMARY_PROMPT,
    RECALL_FINAL_SUMMARY_PROMPT,
    Plan,
    RunningSummary,
    Settings,
    SummarizationResult,
    plan,
)
from langmemory.context.tokens import TokenCounter
from langmemory.nodes.state import value_of
from langmemory.steps import Steps, arun_steps, awaiting, blocking, call, run_steps

__all__ = [
    "GROUNDED_EXISTING_SUMMARY_PROMPT",
    "GROUNDED_INITIAL_SUMMARY_PROMPT",
    "RECALL_FINAL_SUMMARY_PROMPT",
    "RunningSummary",
    "SummarizationNode",
    "SummarizationResult",
    "asummarize_messages",
    "summarize_messages",
]


def _summarize_messages(
    messages: list[AnyMessage],
    *,
    running_summary: RunningSummary | Mapping[str, Any] | None,
    model: LanguageModelLike | str,
    max_tokens: int,
    max_tokens_before_summary: int | None = None,
    max_summary_tokens: int = 256,
    token_counter: TokenCounter = count_tokens_approximately,
    initial_summary_prompt: ChatPromptTemplate = DEFAULT_INITIAL_SUMMARY_PROMPT,
    existing_summary_prompt: ChatPromptTemplate = DEFAULT_EXISTING_SUMMARY_PROMPT,
    final_prompt: ChatPromptTemplate = DEFAULT_FINAL_SUMMARY_PROMPT,
    summary_window: int | None = None,
    keep_turns: int | None = None,
    summarised_turns: int | None = None,
    grounded: bool = False,
) -> Steps[SummarizationResult]:
    """Replace the oldest messages by a summary when there are too many tokens.

    Args:
        messages: the conversation, oldest first; every message but a leading system message needs
            an id. The leading system message is never summarized.
        running_summary: what the last call returned, also as the dict a checkpointer may make of
            it. Messages it covers are left out, and a new summary extends it.
        model: writes the summaries; also its name ("ollama:qwen3:8b").
        max_tokens: most tokens of the result after a summarization, and of the messages given to
            `model`, of which the oldest are dropped when there are more.
        max_tokens_before_summary: tokens of new messages that start a summarization and, at least,
            go into it; default `max_tokens`.
        max_summary_tokens: tokens set aside for the summary. `model` is not told: bind the limit
            to it. A longer summary is cut only if the result would otherwise exceed `max_tokens`.
        token_counter: tokens of a list of messages.
        initial_summary_prompt, existing_summary_prompt, final_prompt: templates for the first
            summary, for extending one, and for putting the result together.
        summary_window: tokens of the oldest messages that a summarization takes at least, more only
            as far as the rest has to fit; None takes all that led to it. The existing summary then
            counts towards `max_tokens_before_summary`. (LangMem's, after its release 0.0.30.) It
            has no say beside `keep_turns`.
        keep_turns: None summarizes as LangMem does, as much as the trigger allows, which leaves
            little. A number leaves so many of the newest turns word for word, as far as they fit,
            and summarizes also when half as many again have gathered.
        summarised_turns: age in turns up to which the summary covers a conversation whose messages
            are all still in `messages`: it is made anew of these, and what is older is reached by
            recall only. None extends one summary for ever.
        grounded: leave sentences out of the summary that have a number, date or name that nobody said,
            or no word of the conversation, and orders. LangMem believes the model.

    Raises:
        ValueError: a message has no id or was summarized before (ids must be unique), or
            `max_summary_tokens` is not below `max_tokens`, or a number is not above 0.
        ConfigError: no model has that name, or its package is missing.
    """
    prepared = plan(
        messages,
        running_summary,
        Settings(
            max_tokens=max_tokens,
            max_tokens_before_summary=max_tokens_before_summary,
            max_summary_tokens=max_summary_tokens,
            token_counter=token_counter,
            initial_summary_prompt=initial_summary_prompt,
            existing_summary_prompt=existing_summary_prompt,
            final_prompt=final_prompt,
            summary_window=summary_window,
            keep_turns=keep_turns,
            summarised_turns=summarised_turns,
            grounded=grounded,
        ),
    )
    return _steps(prepared, model)


summarize_messages = blocking(_summarize_messages)
asummarize_messages = awaiting(_summarize_messages)


def _steps(prepared: Plan, model: LanguageModelLike | str) -> Steps[SummarizationResult]:
    if prepared.prompt is None:
        return prepared.unchanged()
    model = _model(model)
    try:
        answer = yield call(model, "invoke", prepared.prompt)
    except GraphBubbleUp:  # an interrupt is no failure
        raise
    except Exception as error:  # any model, any failure: the conversation must go on
        return prepared.failed(error)
    return prepared.summarized(answer)


def _model(model: LanguageModelLike | str) -> LanguageModelLike:
    """The model, also by its name: a name asked would be a failure like any, and told to nobody."""
    if isinstance(model, str):
        return bounded(as_chat_model(model))
    check_model(model)
    return bounded(model)


class SummarizationNode(Runnable[Any, dict[str, Any]]):
    """Keep the messages of a graph within `max_tokens`; arguments as of `summarize_messages`.

    Reads the messages and ``context["running_summary"]`` from the state (dict or pydantic), writes

    * `output_messages_key`: the messages to call the model with. By default another key than
      `input_messages_key`, so that the full history stays in state; with the same key the history
      itself is replaced;
    * ``context``: as it was, with ``running_summary``, and with ``summarization_error`` while the
      last attempt failed.
    """

    def __init__(
        self,
        *,
        model: LanguageModelLike | str,
        max_tokens: int,
        max_tokens_before_summary: int | None = None,
        max_summary_tokens: int = 256,
        token_counter: TokenCounter = count_tokens_approximately,
        initial_summary_prompt: ChatPromptTemplate = DEFAULT_INITIAL_SUMMARY_PROMPT,
        existing_summary_prompt: ChatPromptTemplate = DEFAULT_EXISTING_SUMMARY_PROMPT,
        final_prompt: ChatPromptTemplate = DEFAULT_FINAL_SUMMARY_PROMPT,
        input_messages_key: str = "messages",
        output_messages_key: str = "summarized_messages",
        name: str = "summarization",
        summary_window: int | None = None,
        keep_turns: int | None = None,
        summarised_turns: int | None = None,
        grounded: bool = False,
    ) -> None:
        self.name = name
        self.model = _model(model)
        self.max_tokens = max_tokens
        self.max_tokens_before_summary = max_tokens_before_summary
        self.max_summary_tokens = max_summary_tokens
        self.token_counter = token_counter
        self.initial_summary_prompt = initial_summary_prompt
        self.existing_summary_prompt = existing_summary_prompt
        self.final_prompt = final_prompt
        self.input_messages_key = input_messages_key
        self.output_messages_key = output_messages_key
        self.summary_window = summary_window
        self.keep_turns = keep_turns
        self.summarised_turns = summarised_turns
        self.grounded = grounded

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        prepared, context = self._prepare(input)
        return self._apply(context, run_steps(_steps(prepared, self.model)))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        prepared, context = self._prepare(input)
        return self._apply(context, await arun_steps(_steps(prepared, self.model)))

    def _prepare(self, state: Any) -> tuple[Plan, dict[str, Any]]:
        messages = value_of(state, self.input_messages_key)
        if messages is None:
            raise ValueError(
                f"Missing required field `{self.input_messages_key}` in the input: set "
                f"input_messages_key to the state key that holds the messages"
            )
        context = dict(value_of(state, "context", {}))
        settings = Settings(**{one.name: getattr(self, one.name) for one in fields(Settings)})
        return plan(messages, context.get("running_summary"), settings), context

    def _apply(self, context: dict[str, Any], result: SummarizationResult) -> dict[str, Any]:
        messages: list[Any] = result.messages
        after = {name: context[name] for name in context if name != "summarization_error"}
        if result.error is not None:
            after["summarization_error"] = result.error
        if result.running_summary is not None:
            after["running_summary"] = result.running_summary
            if self.input_messages_key == self.output_messages_key:
                messages = [RemoveMessage(REMOVE_ALL_MESSAGES), *messages]
        update: dict[str, Any] = {self.output_messages_key: messages}
        if after != context or result.running_summary is not None:
            update["context"] = after
        return update
