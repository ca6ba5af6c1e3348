"""Old tool outputs: first trimmed, then cleared, so that the conversation itself can stay.

Results of tools are the largest and soonest stale part of an agent's window. The calls stay, so the
model still knows what it did; results it has not answered to yet are never touched. Results that never
came are filled in.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from langmemory.context.tokens import DEFAULT_COUNTER, TokenCounter
from langmemory.context.turns import tool_call_ids
from langmemory.pluralize import counted

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


def trimmed(text: str, chars: int) -> str:
    """Beginning and end of `text` with a note of what is missing; `text` itself if short enough."""
    if len(text) <= chars:
        return text
    tail = chars // 4
    missing = counted(len(text) - chars, "character")
    return f"{text[: chars - tail]}\n[{missing} trimmed]\n{text[len(text) - tail :]}"
