"""The messages of a graph's state, in whatever form the application keeps them.

LangGraph's ``add_messages`` makes LangChain messages of everything and gives each an id. A state key
of one's own does neither: it may hold dicts, or messages that nobody gave an id, and every node has
to see the same ones in them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ToolMessage,
    convert_to_messages,
)

from langmemory.errors import InvalidValueError
from langmemory.messages import ROLES, nameless
from langmemory.nodes.state import value_of


def messages_of(state: Any, key: str) -> list[AnyMessage]:
    """The messages under a state key, each with an id.

    One without an id is known by who said what, and by how often that was said before it; the key
    it is remembered under is the one that `MemoryStore.remember` gives it.

    Raises:
        InvalidValueError: something there is no message.
    """
    held: list[Any] = list(value_of(state, key, []))
    try:
        messages: Any = convert_to_messages(held)
    except (ValueError, NotImplementedError, KeyError, TypeError) as error:
        raise InvalidValueError(
            f"The state key {key!r} holds something that is no message: "
            f"{str(error).partition(chr(10))[0]:.200} Keep LangChain messages there, or dicts with "
            f"role and content, or set messages_key."
        ) from error
    said: Counter[str] = Counter()
    return [message if message.id else _identified(message, said) for message in messages]


def with_answer_of_tools(state: Any, messages: list[AnyMessage]) -> list[AnyMessage]:
    """The messages of a run that has ended; results of tools that end them are what the assistant answered.

    So does a run whose tool returns directly, and one that answers in a structure, which is a call of a
    tool, too (LangChain's `ToolStrategy`): there the answer is what the call says, not its result.
    """
    end = len(messages)
    while end and isinstance(messages[end - 1], ToolMessage):
        end -= 1
    caller = messages[end - 1] if end else None
    if end == len(messages) or not isinstance(caller, AIMessage):
        return messages
    results = cast("list[ToolMessage]", messages[end:])
    said: dict[str | None, Any]
    if value_of(state, "structured_response") is not None:
        # LangChain puts it in front of the results of tools that were called beside it.
        arguments = {call["id"]: call["args"] for call in caller.tool_calls}
        structure = arguments.get(results[0].tool_call_id)
        said = {results[0].id: json.dumps(structure, ensure_ascii=False, default=str)}
    else:
        said = {one.id: one.content for one in results if one.status != "error"}
    return [
        AIMessage(said[one.id], id=one.id, name=caller.name) if one.id in said else one
        for one in messages
    ]


def place_after(messages: Sequence[BaseMessage], id: str | None) -> int:
    """Where what comes after the message of this id begins; 0 where it is not among them."""
    return max((at for at, one in enumerate(messages, start=1) if id and one.id == id), default=0)


def _identified(message: AnyMessage, said: Counter[str]) -> AnyMessage:
    role = ROLES.get(message.type, message.type)
    name = nameless(role, message.text.strip(), "", said)
    return message.model_copy(update={"id": name})
