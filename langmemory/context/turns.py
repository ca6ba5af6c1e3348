"""Turns and tool exchanges: the pieces a conversation may be divided into, and the memory block among them.

A *turn* is a message of a person and everything up to the next one. An *exchange* is an AI message
with all the results of its tool calls: providers reject a call without its results and a result
without its call, so an exchange stays or leaves as one. Results of tools are the largest and soonest
stale part of a window: they are trimmed, then cleared, while the calls stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import Any, Literal

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langmemory.context.marking import is_injected, mark_injected
from langmemory.context.tokens import DEFAULT_COUNTER, TokenCounter
from langmemory.pluralize import count_noun

Placement = Literal["system", "message"]
"""``system``: at the end of the system prompt. ``message``: in a message of its own before the person's
last one, so that what anybody once said does not stand among privileged instructions."""


def is_human(message: BaseMessage) -> bool:
    """Whether a person said it: a human message that nobody injected."""
    return isinstance(message, HumanMessage) and not is_injected(message)


def turn_starts(messages: Sequence[AnyMessage]) -> list[int]:
    """Index of the first message of each turn, oldest first."""
    return [index for index, message in enumerate(messages) if is_human(message)]


def tool_call_ids(message: AnyMessage) -> set[str]:
    """Ids of every tool call a message makes, those with unparsable arguments included."""
    if not isinstance(message, AIMessage):
        return set()
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    return {call["id"] for call in calls if call["id"]}


def exchange_ends(messages: Sequence[AnyMessage]) -> list[int]:
    """For every message the index of the last message it must stay together with.

    ``ends[i] == i`` is a place to cut after `i`. Results may be apart from their call and exchanges
    may overlap; a result whose call is missing belongs to what precedes it. A call still waiting
    for results reaches to the end, ``len(messages)``, unless a person has spoken since: then it was
    abandoned.
    """
    count = len(messages)
    needs = list(range(count))
    caller: dict[str, int] = {}  # small local models use the same ids again in every turn
    waiting: dict[str, int] = {}
    for index, message in enumerate(messages):
        if is_human(message):
            waiting.clear()
        for id in tool_call_ids(message):
            caller[id] = waiting[id] = index
        if isinstance(message, ToolMessage):
            waiting.pop(message.tool_call_id, None)
            owner = caller.get(message.tool_call_id, max(index - 1, 0))
            needs[owner] = max(needs[owner], index)
    for index in waiting.values():
        needs[index] = count

    ends: list[int] = []
    while (start := len(ends)) < count:
        end = index = start
        while index <= end and index < count:
            end = max(end, needs[index])
            index += 1
        ends += [end] * (index - start)
    return ends


def block_message(text: str) -> HumanMessage:
    """Return a memory block as a message of its own, marked so that nothing remembers it as said."""
    return mark_injected(HumanMessage(text), "memories")


def with_block(messages: Sequence[AnyMessage], text: str) -> list[AnyMessage]:
    """Return the messages with a memory block before the person's last one, or else before the first
    that is no system message."""
    humans = (at for at, one in enumerate(messages) if is_human(one))
    place = max(humans, default=None)
    if place is None:
        others = (at for at, one in enumerate(messages) if not isinstance(one, SystemMessage))
        place = next(others, len(messages))
    return [*messages[:place], block_message(text), *messages[place:]]


TRIMMED_CHARS = 800
"""Length of a trimmed output: three quarters from its beginning, the rest from its end."""

CLEARED = "[old tool output cleared; call the tool again if it is needed]"

NO_RESULT = "[no result: the call was broken off; call the tool again if it is needed]"


def fit_tool_outputs(
    messages: Sequence[AnyMessage],
    *,
    max_tokens: int,
    token_counter: TokenCounter = DEFAULT_COUNTER,
) -> list[AnyMessage]:
    """`messages` with as many old tool outputs trimmed, then cleared, as `max_tokens` needs.

    Oldest first, and no further than necessary: all are trimmed before the first one is cleared.
    Messages are copied, never changed. When even clearing all is not enough, the result is still
    too long; summarising is the next step.
    """
    fitted = list(messages)
    excess = token_counter(messages) - max_tokens
    last_ai = max((i for i, m in enumerate(fitted) if isinstance(m, AIMessage)), default=0)
    for step in ("trim", "clear"):
        for index, message in enumerate(fitted[:last_ai]):
            if excess <= 0:
                return fitted
            if not isinstance(message, ToolMessage):
                continue
            text = trimmed(message.text, TRIMMED_CHARS) if step == "trim" else CLEARED
            short = message.model_copy(update={"content": text})
            saved = token_counter([message]) - token_counter([short])
            if saved > 0:
                fitted[index] = short
                excess -= saved
    return fitted


def with_missing_results(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """`messages` with a result for every tool call that has none, behind the results of its siblings.

    A tool failed, or a person went on instead of approving the call. It stays in the thread, where
    providers would refuse it, and with it everything that is said later.
    """
    there = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    complete: list[AnyMessage] = []
    missing: list[AnyMessage] = []
    for message in messages:
        if not isinstance(message, ToolMessage):
            complete += missing
            missing = [
                ToolMessage(NO_RESULT, tool_call_id=id)
                for id in sorted(tool_call_ids(message) - there)
            ]
        complete.append(message)
    return complete + missing


def without_calls(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return a conversation without its tool calls, for a model that has no tools: one that sees calls writes
    more of them. What the tools answered in the last turn stands below what the person said."""
    asked = max(turn_starts(messages), default=-1)
    answers = [
        indent(one.text, "| ")
        for one in messages[asked + 1 :]
        if isinstance(one, ToolMessage) and one.status != "error" and one.content != NO_RESULT
    ]
    found = "\n".join(("\n\nFound for this:", *dict.fromkeys(answers))) if answers else ""
    plain: list[AnyMessage] = []
    for at, one in enumerate(messages):
        if tool_call_ids(one):
            plain += [AIMessage(one.text)] if one.text.strip() else []
        elif at == asked and found:
            content: Any = one.content
            content = (
                f"{content}{found}"
                if isinstance(content, str)
                else [*content, {"type": "text", "text": found}]
            )
            plain.append(one.model_copy(update={"content": content}))
        elif not isinstance(one, ToolMessage):
            plain.append(one)
    return plain


def trimmed(text: str, chars: int) -> str:
    """Beginning and end of `text` with a note of what is missing; `text` itself if short enough."""
    if len(text) <= chars:
        return text
    tail = chars // 4
    missing = count_noun(len(text) - chars, "character")
    return f"{text[: chars - tail]}\n[{missing} trimmed]\n{text[len(text) - tail :]}"
