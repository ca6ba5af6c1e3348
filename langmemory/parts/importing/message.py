"""One message as every importer hands it on, and how foreign spellings become it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from langchain_core.messages import AIMessage, HumanMessage

from langmemory.context import is_injected
from langmemory.errors import ImportFormatError
from langmemory.timestamps import moment
from langmemory.values import whole_characters

Role = Literal["user", "assistant", "system", "tool"]

ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
"""The names of the four roles in OpenAI, LangChain and ChatGPT."""

TEXT_BLOCKS = ("text", "input_text", "output_text")


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedMessage:
    """One message of a conversation file."""

    role: Role
    content: str
    thread: str
    id: str
    """The file's own id, or a hash of thread, position, role and text: stable on re-import."""
    at: datetime | None = None
    """When it was said, with timezone; None if the file does not tell."""
    name: str | None = None
    """Who said it, as displayed."""
    injected: bool = False
    """Whether a program put it there, such as a summary of the conversation."""
    unread: str = ""
    """What of it cannot be read, and why."""
    outcome: bool = False
    """Whether it says in a line how the call of a tool ended."""

    @property
    def spoken(self) -> bool:
        """Whether somebody said something, or it is an outcome: not a system prompt, a tool result, an empty
        text or what a program put among the messages."""
        is_speech = self.role in ("user", "assistant") or self.outcome
        return is_speech and bool(self.content.strip()) and not self.injected


@dataclass(kw_only=True, slots=True)
class MessageReader:
    """Turns the parts of foreign messages into `ImportedMessage`, counting positions by thread."""

    file: str
    """Name of the file, for errors."""
    positions: Counter[str] = field(default_factory=Counter)

    def message(
        self,
        *,
        where: str,
        role: object,
        content: object,
        thread: str,
        id: object = None,
        at: object = None,
        name: object = None,
        injected: bool = False,
        unread: str = "",
        outcome: bool = False,
    ) -> ImportedMessage:
        """Build the message found at `where` ("line 3"); raises `ImportFormatError` naming it."""
        known_role = ROLES.get(role) if isinstance(role, str) else None
        if known_role is None:
            expected = ", ".join(ROLES)
            raise self.error(where, f"role is {role!r}; expected one of {expected}")
        text = text_of(content)
        if text is None:
            kind = type(content).__name__
            raise self.error(where, f"content is {kind}; expected text or a list of content blocks")
        text, thread = whole_characters(text), whole_characters(thread)
        position = self.positions[thread]
        self.positions[thread] += 1
        return ImportedMessage(
            role=known_role,
            content=text,
            thread=thread,
            id=whole_characters(str(id)) if id else stable_id(thread, position, known_role, text),
            at=self._time(where, at),
            name=whole_characters(name) if isinstance(name, str) and name else None,
            injected=injected,
            unread=unread and f"{where}: {unread}",
            outcome=outcome,
        )

    def dumped(
        self, where: str, message: Mapping[str, Any], *, thread: str, at: object = None
    ) -> ImportedMessage:
        """A message in role/content form or any of LangChain's serialisations; `at` is when it was
        said if it does not know that itself."""
        fields = fields_of(message)
        role = fields.get("role") or _role(fields.get("type"))
        content = fields.get("content")
        told = (fields.get(one) for one in ("at", "timestamp", "created_at"))
        own = next(filter(None, told), None) or _kept_time(fields)
        return self.message(
            where=where,
            role=role,
            content=content,
            thread=thread,
            id=fields.get("id"),
            at=own or at,
            name=fields.get("name"),
            injected=_injected(role, text_of(content), fields),
        )

    def _time(self, where: str, value: object) -> datetime | None:
        """An ISO 8601 text or Unix seconds as a datetime; without a timezone it counts as UTC."""
        if value is None or value == "":
            return None
        said_at = moment(value, or_seconds=True)
        if said_at is None:
            raise self.error(
                where,
                f"the time is {value!r}; expected ISO 8601 such as 2026-01-11T19:42:00+01:00, or "
                "seconds since 1970",
            )
        return said_at

    def check(self, where: str, name: str, value: object, kind: type, expected: str) -> None:
        """Raise `ImportFormatError` unless a field that the file's structure rests on is of its type,
        or missing."""
        if value is not None and not isinstance(value, kind):
            raise self.error(where, f"{name} is {value!r:.80}; expected {expected}")

    def error(self, where: str, problem: str) -> ImportFormatError:
        return ImportFormatError(f"{self.file}, {where}: {problem}")


def fields_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The flat fields of a message in any of LangChain's serialisations."""
    if message.get("lc") and isinstance(message.get("kwargs"), dict):  # dumpd
        path = message.get("id")
        return {"type": path[-1] if isinstance(path, list) and path else "", **message["kwargs"]}
    if isinstance(message.get("data"), dict):  # messages_to_dict
        return {"type": message.get("type"), **message["data"]}
    return message


def _kept_time(fields: Mapping[str, Any]) -> datetime | None:
    """The time an application keeps where `MemoryStore.remember` reads it. What cannot be read as one
    there is something else's."""
    kwargs = fields.get("additional_kwargs")
    if not isinstance(kwargs, dict):
        return None
    return moment(kwargs.get("at") or kwargs.get("timestamp"), or_seconds=True)


def _role(message_type: object) -> object:
    """`AIMessageChunk` and `AIMessage` are `ai`; the short names stay as they are."""
    if not isinstance(message_type, str):
        return message_type
    return message_type.removesuffix("Chunk").removesuffix("Message").lower()


def _injected(role: object, text: str | None, fields: Mapping[str, Any]) -> bool:
    """Whether a program wrote the message, by its marks or its text."""
    marks = {
        name: fields[name]
        for name in ("additional_kwargs", "response_metadata")
        if isinstance(fields.get(name), dict)
    }
    kind = AIMessage if role in ("ai", "assistant") else HumanMessage
    return is_injected(kind(text or "", **marks))


def stable_id(thread: str, position: int, role: str, content: str) -> str:
    """16 hex digits of SHA-256 over thread, 0-based position in it, role and text."""
    parts = "\0".join((thread, str(position), role, content))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def text_of(content: object) -> str | None:
    """Text of a message's content: the text itself, or its text blocks joined by blank lines.

    Images, tool calls and other blocks without text are left out; None if it is neither.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [block if isinstance(block, str) else _block_text(block) for block in content]
    return "\n\n".join(text for text in texts if text)


def _block_text(block: Any) -> str:
    if isinstance(block, dict) and block.get("type", "text") in TEXT_BLOCKS:
        text = block.get("text")
        return text if isinstance(text, str) else ""
    return ""
