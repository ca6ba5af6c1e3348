"""One message as every importer hands it on, and how foreign spellings become it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, cast

from langmemory.errors import ImportFormatError

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
"""What OpenAI, LangChain and ChatGPT call the four roles."""

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

    @property
    def spoken(self) -> bool:
        """Whether somebody said something: not a system prompt, a tool result or an empty text."""
        return self.role in ("user", "assistant") and bool(self.content.strip())


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
        position = self.positions[thread]
        self.positions[thread] += 1
        return ImportedMessage(
            role=known_role,
            content=text,
            thread=thread,
            id=str(id) if id else stable_id(thread, position, known_role, text),
            at=self.time(where, at),
            name=name if isinstance(name, str) and name else None,
        )

    def time(self, where: str, value: object) -> datetime | None:
        """An ISO 8601 text or Unix seconds as a datetime; without a timezone it counts as UTC."""
        if value is None or value == "":
            return None
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, UTC)
            parsed = datetime.fromisoformat(cast(str, value))
        except (TypeError, ValueError, OverflowError, OSError):
            raise self.error(
                where,
                f"the time is {value!r}; expected ISO 8601 such as 2026-01-11T19:42:00+01:00",
            ) from None
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)

    def error(self, where: str, problem: str) -> ImportFormatError:
        return ImportFormatError(f"{self.file}, {where}: {problem}")


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
