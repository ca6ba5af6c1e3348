"""Messages as LangChain and LangGraph write them to JSON.

Read are: a list of messages, `{"messages": [...]}`, a thread state (`{"values": {"messages":
[...]}, ...}` as `get_state` of the SDK returns it), a checkpoint (`channel_values`) and a list of
states (`get_history`). A message may be in `model_dump`, `messages_to_dict`, `dumpd` or role/content
form.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from langmemory.errors import ImportFormatError
from langmemory.parts.importing.json_stream import NOT_UTF8, UNREADABLE, iterate_array
from langmemory.parts.importing.message import ImportedMessage, MessageReader, fields_of

STATE_KEYS = frozenset({"messages", "values", "channel_values", "checkpoint"})
"""One of them stands in every state."""


def read_langgraph(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the messages of a list or of the states of a thread, each message once.

    Messages carry no time of their own: it is the `created_at` of the first state that has them,
    or None. Without a thread id they belong to one named after the file.
    """
    reader = MessageReader(file=file.name)
    default_thread = Path(file.name).stem
    if _first_character(file) == "{":
        yield from _read_states(reader, [(1, _load_object(file))], default_thread)
        return
    elements = iterate_array(file)
    for line, element in elements:
        if _is_state(element):
            # Histories are newest first, and the first state to have a message dates it.
            states = [(line, element), *elements]
            yield from _read_states(reader, states[::-1], default_thread)
            return
        yield from _message(reader, f"line {line}", element, thread=default_thread, at=None)


def _read_states(
    reader: MessageReader, states: list[tuple[int, Any]], default_thread: str
) -> Iterator[ImportedMessage]:
    seen: set[tuple[str, object]] = set()
    for line, state in states:
        where = f"line {line}"
        if not isinstance(state, dict):
            raise reader.error(where, f"{type(state).__name__}; expected a thread state")
        messages = _messages(state)
        if not isinstance(messages, list):
            raise reader.error(where, "messages is not a list")
        config = state.get("config")
        reader.check(where, "config", config, dict, "an object with configurable")
        configurable = (config or {}).get("configurable")
        reader.check(where, "configurable", configurable, dict, "an object with thread_id")
        thread = _thread_id(state) or default_thread
        occurrences: Counter[str] = Counter()
        for position, message in enumerate(messages):
            identity = (thread, _identity(message, occurrences))
            if identity not in seen:
                seen.add(identity)
                place = f"{where}, message {position + 1}"
                yield from _message(reader, place, message, thread=thread, at=_time(state))


def _message(
    reader: MessageReader, where: str, message: Any, *, thread: str, at: object
) -> Iterator[ImportedMessage]:
    """The message; none if it is an order to remove another, which is in dumps of updates."""
    if not isinstance(message, dict):
        raise reader.error(where, f"{type(message).__name__}; expected a message object")
    if fields_of(message).get("type") not in ("remove", "RemoveMessage"):
        yield reader.dumped(where, message, thread=thread, at=at)


def _identity(message: Any, occurrences: Counter[str]) -> object:
    """Return the identity of a message from state to state: its id, else who says what, and how often
    that was ``said`` before it in its state, which is counted."""
    fields: Mapping[str, Any] = fields_of(message) if isinstance(message, dict) else {}
    if fields.get("id"):
        return fields["id"]
    words = repr([fields.get(name) for name in ("role", "type", "content")])
    occurrences[words] += 1
    return words, occurrences[words]


def _checkpoint(state: dict[str, Any]) -> dict[str, Any]:
    """The checkpoint within a state as a checkpointer lists it; empty in others."""
    found = state.get("checkpoint")
    return found if isinstance(found, dict) else {}


def _messages(state: dict[str, Any]) -> Any:
    for place in (
        state.get("values"),
        state.get("channel_values"),
        _checkpoint(state).get("channel_values"),
        state,
    ):
        if isinstance(place, dict) and "messages" in place:
            return place["messages"]
    return []


def _time(state: dict[str, Any]) -> object:
    """When a state or a checkpoint was written."""
    return state.get("created_at") or state.get("ts") or _checkpoint(state).get("ts")


def _is_state(element: Any) -> bool:
    return isinstance(element, dict) and not STATE_KEYS.isdisjoint(element)


def _thread_id(state: dict[str, Any]) -> str | None:
    configurable = (state.get("config") or {}).get("configurable")
    for place in (
        state,
        _checkpoint(state),
        configurable,
        state.get("metadata"),
    ):
        if isinstance(place, dict) and place.get("thread_id"):
            return str(place["thread_id"])
    return None


def _first_character(file: BinaryIO) -> str:
    head = file.read(1 << 12).decode("utf-8-sig", errors="replace").lstrip()
    file.seek(0)
    return head[:1]


def _load_object(file: BinaryIO) -> Any:
    try:
        return json.loads(file.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ImportFormatError(f"{file.name}: {NOT_UTF8}") from None
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg})"
        if error.msg == "Extra data":
            problem = "more after the first object; put several states into one JSON array"
        raise ImportFormatError(f"{file.name}, line {error.lineno}: {problem}") from None
    except (ValueError, RecursionError):
        raise ImportFormatError(f"{file.name}: {UNREADABLE}") from None
