"""Conversations and what was said of them, as an optimizing model reads them: quoted data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages

from langmemory.context.escape import one_line, quoted_lines
from langmemory.errors import ConfigError


def shown(trajectories: Any) -> str:
    """Return trajectories as text; empty where there are none.

    Raises:
        ConfigError: They are neither text nor a list of conversations.
    """
    if isinstance(trajectories, str):
        return "\n".join(quoted_lines(trajectories)) if trajectories.strip() else ""
    return "\n\n".join(
        "\n".join([f"# Session {number}", *_messages(messages), *_feedback(feedback, number)])
        for number, (messages, feedback) in enumerate(_pairs(trajectories), 1)
    )


def _pairs(given: Any) -> Iterator[tuple[Any, Any]]:
    if given is None:
        return
    if not isinstance(given, Sequence):
        raise ConfigError(
            f"trajectories is a {type(given).__name__}; pass a list of (messages, feedback), or a text."
        )
    one_pair = isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], list)
    if one_pair and not isinstance(given[1], list):
        given = [given]
    if given and all(_is_message(one) for one in given):
        given = [given]
    for one in given:
        if isinstance(one, tuple) and len(one) in (1, 2) and not _is_message(one):
            yield one[0], one[1] if len(one) == 2 else None
        elif isinstance(one, list) and len(one) == 2 and not _is_message(one[0]):
            yield one[0], one[1]
        else:
            yield one, None


def _is_message(one: Any) -> bool:
    pair = isinstance(one, tuple) and len(one) == 2 and all(isinstance(each, str) for each in one)
    return isinstance(one, BaseMessage) or pair or (isinstance(one, Mapping) and "role" in one)


def _messages(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield from quoted_lines(given)
        return
    if not isinstance(given, Sequence):
        raise ConfigError(f"A trajectory is a {type(given).__name__}; pass a list of messages.")
    try:
        messages = convert_to_messages([_whole(one) for one in given])
    except (ValueError, NotImplementedError, KeyError, TypeError) as error:
        raise ConfigError(f"A trajectory has what is no message: {error}.") from error
    for message in messages:
        status = f" ({message.status})" if isinstance(message, ToolMessage) else ""
        yield f"{one_line(message.name or message.type)}{status}:"
        yield from quoted_lines(str(message.text))
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            arguments = json.dumps(call["args"], ensure_ascii=False, default=str)
            yield f"| (calls {one_line(call['name'])} {one_line(arguments)})"


def _whole(one: Any) -> Any:
    """Return a message as LangChain takes it: of a tool's, the call it answers is of no account here."""
    if isinstance(one, Mapping) and one.get("role") == "tool":
        return {"tool_call_id": "", **one}
    return one


def _feedback(feedback: Any, number: int) -> list[str]:
    if feedback is None or feedback == "" or feedback == {}:
        return []
    text = (
        feedback
        if isinstance(feedback, str)
        else json.dumps(feedback, ensure_ascii=False, default=str)
    )
    return [f"Feedback on session {number}:", *quoted_lines(text)]
