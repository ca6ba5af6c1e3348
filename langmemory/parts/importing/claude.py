"""Claude's data export, `conversations.json`: a list of conversations, each a list of messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from langmemory.parts.importing.json_stream import iterate_array
from langmemory.parts.importing.message import ImportedMessage, MessageReader


def read_claude(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the messages; the conversation's id is the thread.

    Of a message only what was said counts: not its tool calls, its reasoning, and attached files.
    """
    reader = MessageReader(file=file.name)
    for number, (line, conversation) in enumerate(iterate_array(file), start=1):
        where = f"line {line}, conversation {number}"
        found = conversation.get("chat_messages") if isinstance(conversation, dict) else None
        if not isinstance(found, list):
            raise reader.error(
                where, "no chat_messages; expected a conversation of a Claude export"
            )
        thread = str(conversation.get("uuid") or f"conversation-{number}")
        for position, message in enumerate(found, start=1):
            place = f"{where}, message {position}"
            if not isinstance(message, dict):
                raise reader.error(place, f"{type(message).__name__}; expected a message object")
            yield _message(reader, place, message, thread, conversation.get("created_at"))


def _message(
    reader: MessageReader, where: str, message: dict[str, Any], thread: str, at: object
) -> ImportedMessage:
    sender = message.get("sender")
    return reader.message(
        where=where,
        role=sender,
        content=message.get("content") or message.get("text"),
        thread=thread,
        id=message.get("uuid"),
        at=message.get("created_at") or at,
        name="Claude" if sender == "assistant" else None,
    )
