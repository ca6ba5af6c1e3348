"""The format of a file, found by looking at its beginning, and the readers of each format."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal

from langmemory.errors import ImportFormatError
from langmemory.ledger.transfer.transfer import row_types
from langmemory.parts.importing.chatgpt import read_chatgpt, read_claude
from langmemory.parts.importing.json_stream import NOT_UTF8, iterate_array, iterate_lines, raw_lines
from langmemory.parts.importing.langgraph import STATE_KEYS, read_langgraph
from langmemory.parts.importing.mbox import FROM, begins_mail, read_mbox
from langmemory.parts.importing.message import ImportedMessage, MessageReader, fields_of
from langmemory.parts.importing.sessions import EVENTS, read_session, session_format
from langmemory.parts.importing.slack import is_slack, read_slack
from langmemory.parts.importing.whatsapp import is_whatsapp, read_whatsapp

Format = Literal[
    "messages", "langgraph", "chatgpt", "claude", "slack", "whatsapp", "mbox", "export",
    "claude-code", "codex", "openclaw", "cursor",
]  # fmt: skip
"""JSONL of messages, LangChain or LangGraph JSON, ChatGPT's and Claude's conversations.json, a day of a Slack
export, a chat of WhatsApp, mail, our own export, sessions of coding agents."""


def read_jsonl(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the messages of a file with one object per line: role, content, at, thread, name, id.

    A line may also be a message as LangChain dumps it. Without `thread` a message belongs to one named
    after the file.
    """
    reader = MessageReader(file=file.name)
    default_thread = Path(file.name).stem
    for number, line in iterate_lines(file):
        thread = str(line.get("thread") or line.get("thread_id") or default_thread)
        yield reader.dumped(f"line {number}", line, thread=thread)


def read_rows(file: BinaryIO) -> Iterator[dict[str, Any]]:
    """Stream the rows for `Admin.import_rows`, which knows what each must contain.

    No row is too long: whatever was exported can be imported.
    """
    known = row_types()
    for number, row in iterate_lines(file, limited=False):
        if row.get("type") not in known:
            raise ImportFormatError(
                f"{file.name}, line {number}: type is {row.get('type')!r}; "
                f"expected one of {', '.join(sorted(known))}"
            )
        yield row


READERS: dict[Format, Callable[[BinaryIO], Iterator[ImportedMessage]]] = {
    "messages": read_jsonl,
    "langgraph": read_langgraph,
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "slack": read_slack,
    "whatsapp": read_whatsapp,
    "mbox": read_mbox,
    **{format: partial(read_session, format=format) for format in EVENTS},
}

EXPECTED = (
    "expected JSONL of messages (role, content, at, thread), LangChain or LangGraph messages "
    "as JSON, ChatGPT's or Claude's conversations.json, a day of a Slack export, a WhatsApp chat, mail as "
    "mbox, a session of Claude Code, Codex, OpenClaw or Cursor, or a langmemory export"
)

HEAD_BYTES = 1 << 12


def read_messages(file: BinaryIO, format: Format) -> Iterator[ImportedMessage]:
    """Stream the messages of a conversation file opened in binary mode.

    Raises `ImportFormatError` naming file, line and what was expected.
    """
    return READERS[format](file)


def detect(file: BinaryIO) -> Format:
    """The format of a file opened in binary mode, which is left at its beginning."""
    head = file.read(HEAD_BYTES)
    file.seek(0)
    if head.startswith(b"PK\x03\x04"):
        raise ImportFormatError(
            f"{file.name} is a zip archive: unpack it, and import what is inside (of ChatGPT and Claude "
            "conversations.json; `langmemory seed FOLDER` takes a whole Slack export)"
        )
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # PowerShell's redirection
        raise ImportFormatError(f"{file.name} is UTF-16, {NOT_UTF8}")
    text, lines = head.decode("utf-8-sig", errors="replace").lstrip(), head.lstrip().splitlines()
    if not text and len(head) < HEAD_BYTES:
        raise ImportFormatError(f"{file.name} is empty; {EXPECTED}")
    header = [one for one in lines[1:] if one.strip() and not one.startswith(FROM)]
    if lines and begins_mail(lines[0], header):
        return "mbox"
    if is_whatsapp(text):
        return "whatsapp"
    try:
        if text.startswith("["):
            return _of_array(file)
        if text.startswith("{"):
            return _of_object(file, text)
    finally:
        file.seek(0)
    raise ImportFormatError(f"{file.name}, line 1: found {text[:20]!r}; {EXPECTED}")


def _of_array(file: BinaryIO) -> Format:
    line, first = next(iterate_array(file), (1, {"messages": []}))
    keys = set(first) if isinstance(first, dict) else set()
    if "mapping" in keys:
        return "chatgpt"
    if "chat_messages" in keys:
        return "claude"
    if is_slack(first):
        return "slack"
    if keys & {"role", "type", "lc", *STATE_KEYS}:
        return "langgraph"
    raise _unknown(file, line, first)


def _of_object(file: BinaryIO, head: str) -> Format:
    lines = ((number, line.removeprefix(codecs.BOM_UTF8)) for number, line in raw_lines(file))
    number, first_line = next((number, line) for number, line in lines if line.strip())
    try:
        first = json.loads(first_line)
    except UnicodeDecodeError:
        raise ImportFormatError(f"{file.name}, line {number}: {NOT_UTF8}") from None
    except (ValueError, RecursionError):
        # An object over several lines is one thread; anything else is a broken first line.
        if any(f'"{key}"' in head for key in STATE_KEYS):
            return "langgraph"
        problem = f"line {number}: not a JSON object; {EXPECTED}"
        raise ImportFormatError(f"{file.name}, {problem}") from None
    if first.get("type") in row_types():
        return "export"
    if session := session_format(first):
        return session
    if "content" in fields_of(first):
        return "messages"
    if not STATE_KEYS.isdisjoint(first):
        return "langgraph"
    raise _unknown(file, number, first)


def _unknown(file: BinaryIO, line: int, value: Any) -> ImportFormatError:
    found = f"keys {', '.join(value) or '(none)'}" if isinstance(value, dict) else repr(value)[:40]
    return ImportFormatError(f"{file.name}, line {line}: found {found}; {EXPECTED}")
