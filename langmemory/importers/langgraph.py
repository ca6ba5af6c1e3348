"""Messages as LangChain and LangGraph write them to JSON.

Read are: a list of messages, `{"messages": [...]}`, a thread state (`{"values": {"messages":
[...]}, ...}` as `get_state` of the SDK returns it) and a list of states (`get_history`). A message
may be in `model_dump`, `messages_to_dict`, `dumpd` or role/content form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from langmemory.errors import ImportFormatError
from langmemory.importers.json_stream import iterate_array
from langmemory.importers.message import ImportedMessage, MessageReader


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
        yield _message(reader, f"line {line}", element, thread=default_thread, at=None)


def _read_states(
    reader: MessageReader, states: list[tuple[int, Any]], default_thread: str
) -> Iterator[ImportedMessage]:
    seen: set[tuple[str, object]] = set()
    for line, state in states:
        where = f"line {line}"
        if not isinstance(state, dict):
            raise reader.error(where, f"{type(state).__name__}; expected a thread state")
        messages = (state.get("values") or state).get("messages", [])
        if not isinstance(messages, list):
            raise reader.error(where, "messages is not a list")
        thread = _thread_id(state) or default_thread
        for position, message in enumerate(messages):
            identity = (thread, _fields(message).get("id") or position)
            if identity not in seen:
                seen.add(identity)
                place = f"{where}, message {position + 1}"
                at = state.get("created_at")
                yield _message(reader, place, message, thread=thread, at=at)


def _message(
    reader: MessageReader, where: str, message: Any, *, thread: str, at: object
) -> ImportedMessage:
    if not isinstance(message, dict):
        raise reader.error(where, f"{type(message).__name__}; expected a message object")
    fields = _fields(message)
    return reader.message(
        where=where,
        role=fields.get("role") or _role(fields.get("type")),
        content=fields.get("content"),
        thread=thread,
        id=fields.get("id"),
        at=fields.get("at") or at,
        name=fields.get("name"),
    )


def _fields(message: Any) -> dict[str, Any]:
    """The flat fields of a message in any of LangChain's serialisations."""
    if not isinstance(message, dict):
        return {}
    if message.get("lc") and isinstance(message.get("kwargs"), dict):  # dumpd
        return {"type": message.get("id", [""])[-1], **message["kwargs"]}
    if isinstance(message.get("data"), dict):  # messages_to_dict
        return {"type": message.get("type"), **message["data"]}
    return message


def _role(message_type: object) -> object:
    """`AIMessageChunk` and `AIMessage` are `ai`; the short names stay as they are."""
    if not isinstance(message_type, str):
        return message_type
    return message_type.removesuffix("Chunk").removesuffix("Message").lower()


def _is_state(element: Any) -> bool:
    return isinstance(element, dict) and ("values" in element or "messages" in element)


def _thread_id(state: dict[str, Any]) -> str | None:
    configurable = (state.get("config") or {}).get("configurable")
    for place in (
        state,
        state.get("checkpoint"),
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
        raise ImportFormatError(f"{file.name}: not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ImportFormatError(
            f"{file.name}, line {error.lineno}: not JSON ({error.msg})"
        ) from None
