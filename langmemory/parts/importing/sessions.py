"""Sessions of coding agents: the transcripts of Claude Code, Codex, OpenClaw and Cursor, line by line.

What people and models said becomes messages, in a thread named ``project@branch/program/session``. Of tools
only outcomes do: a call that failed, and the next one of the same command that succeeded. What a program put
among the messages, what a subagent was told, and the output of a tool that succeeded are left out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple

from langmemory.context.marking import one_line
from langmemory.errors import ImportFormatError
from langmemory.parts.importing.json_stream import raw_lines
from langmemory.parts.importing.message import ImportedMessage, MessageReader, stable_id, text_of

SessionFormat = Literal["claude-code", "codex", "openclaw", "cursor"]

COMMAND_CHARACTERS: Final = 200
OUTPUT_CHARACTERS: Final = 300
"""Of a call that failed: of what was called, and of the end of what it answered."""

_BY_PROGRAM: Final = re.compile(
    r"\s*<(?:command-\w+|local-command-\w+|bash-\w+|system-reminder|user-prompt-submit-hook|task-notification|"
    r"ide_\w+)>"
)
"""Begins what Claude Code itself puts among the messages of the user."""
_USER_QUERY: Final = re.compile(r"\s*<user_query>\s*(.*?)\s*</user_query>\s*", re.DOTALL)
"""Encloses what a person typed in Cursor."""
_EXIT_CODE: Final = re.compile(r"exit(?:ed with)?[ _]code\W{1,3}(\d+)", re.IGNORECASE)

Role = Literal["user", "assistant", "call", "result"]
_CODEX_ROLES: Final[Mapping[str, Role]] = {"UserMessage": "user", "AgentMessage": "assistant"}


class Call(NamedTuple):
    """What one line says: somebody spoke, a tool was called, or a call was answered."""

    role: Role
    text: str
    id: str = ""
    """Of the message; of a call and its result, that of the call."""
    tool: str = ""
    failed: bool = False


class Head(NamedTuple):
    """What a transcript says of its session; the thread of its messages is named after it."""

    session: str = ""
    folder: str = ""
    branch: str = ""


def thread_of(program: str, session: str, folder: str, branch: str = "") -> str:
    """Return the name of a session's thread; see `project_of`."""
    at = "@" if branch in ("", "HEAD") else f"@{branch}"  # HEAD: of no repository, or no branch
    return f"{project_of(folder)}{at}/{program}/{session}"


def project_of(folder: str) -> str:
    """Return what a folder is called: the repository that it is in, where it is there, else its last part."""
    place = Path(folder.replace("\\", "/") or "unknown")
    inside = (one for one in (place, *place.parents) if (one / ".git").exists())
    return next(inside, place).name or "unknown"


@dataclass(kw_only=True, slots=True)
class Outcomes:
    """Which calls of tools are worth remembering."""

    calls: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By id: tool and what was called, as long as it was not answered."""
    failing: set[tuple[str, str]] = field(default_factory=set)
    """Tools and commands whose last call failed."""

    def note(self, event: Call) -> str:
        """Take in a call or a result; return what is to be remembered, or nothing."""
        if event.role == "call":
            self.calls[event.id] = (event.tool, event.text)
            return ""
        tool, called = self.calls.pop(event.id, (event.tool, ""))
        if not tool:  # the call is not in what was read
            return ""
        command = (tool, next(iter(called.split()), ""))
        said = one_line(called)[:COMMAND_CHARACTERS]
        if event.failed:
            self.failing.add(command)
            return f"{tool} failed: {said} | {one_line(event.text)[-OUTPUT_CHARACTERS:]}"
        if command not in self.failing:
            return ""
        self.failing.discard(command)
        return f"{tool} succeeded after it had failed: {said}"


def read_session(file: BinaryIO, format: SessionFormat) -> Iterator[ImportedMessage]:
    """Stream the messages of a transcript, from the place where the file stands: what was read of it before
    need not be read again."""
    place = file.tell()
    file.seek(0)
    head = head_of(file, format)
    file.seek(place)
    thread = thread_of(format, *head)
    path = Path(file.name)
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None
    reader, outcomes = MessageReader(file=file.name), Outcomes()
    before = ("", "")
    for number, line in _lines(file):
        if line is None:
            where = f"line {number}"
            yield reader.message(
                where=where, role="system", content="", thread=thread, unread="not a JSON object"
            )
            continue
        at = line.get("timestamp") or written
        for event in EVENTS[format](line):
            is_speech = event.role in ("user", "assistant")
            text = event.text if is_speech else outcomes.note(event)
            # Some versions of Codex write what was said in two forms.
            if not text.strip() or (event.role, text) == before:
                continue
            before = (event.role, text)
            # By the time, since positions change with the place that reading begins at.
            stamp = str(line.get("timestamp") or "")
            yield reader.message(
                where=f"line {number}",
                role=event.role if is_speech else "tool",
                content=text,
                thread=thread,
                id=event.id or message_id(thread, stamp, event.role, text),
                at=at,
                name=None if is_speech else event.tool or text.split(maxsplit=1)[0],
                outcome=not is_speech,
            )


def _lines(file: BinaryIO) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield the objects of a transcript with the numbers of their lines, and None for a line that is none: a
    program that was killed leaves half a line. The last one may still be written, and is left out then."""
    for number, raw in raw_lines(file):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            if raw.strip() and raw.endswith(b"\n"):
                yield number, None
            continue
        yield number, line if isinstance(line, dict) else None


def message_id(thread: str, at: str, role: str, text: str) -> str:
    """Return the id of a message to which its program gave none; ``at`` is the time it gave, or empty."""
    return stable_id(f"{thread}/{at}", 0, role, text)


HEAD_LINES: Final = 50
"""Lines in which a transcript says what its session is."""


def head_of(file: BinaryIO, format: SessionFormat) -> Head:
    """Return what a transcript says of its session in its first lines."""
    head = Head()
    for number, line in _lines(file):
        found = HEADS[format](line or {})
        head = Head(*(one or other for one, other in zip(head, found, strict=True)))
        if head.folder or number >= HEAD_LINES:
            break
    path = Path(file.name)
    folder = head.folder or (_folder_named(path) if format == "cursor" else "")
    return head._replace(session=head.session or path.stem, folder=folder)


def _folder_named(transcript: Path) -> str:
    """Return the folder after which Cursor named that of a transcript, with a hyphen for every other sign:
    the one that is there, else the end of its name."""
    parts = transcript.parts
    if "agent-transcripts" not in parts:
        return ""
    name = parts[parts.index("agent-transcripts") - 1]
    waiting = [Path(transcript.anchor)]
    while waiting:
        above = waiting.pop()
        try:
            below = [one for one in above.iterdir() if one.is_dir()]
        except OSError:
            continue
        for one in below:
            written = re.sub(r"\W|_", "-", one.relative_to(transcript.anchor).as_posix())
            if written == name:
                return str(one)
            if name.startswith(f"{written}-"):
                waiting.append(one)
    return name.rpartition("-")[2]


class Transcript(NamedTuple):
    """A session that a program keeps on this machine."""

    format: SessionFormat
    path: Path


def transcripts(folder: Path) -> Iterator[Transcript]:
    """Yield the transcripts of sessions in a folder, or below it, that programs keep at home."""
    for format, store in STORES.items():
        for path in sorted(store.home.glob(store.pattern)):
            try:
                with path.open("rb") as file:
                    head = head_of(file, format)
            except (OSError, ImportFormatError):
                continue  # of which folder it is cannot be read
            if head.folder and Path(head.folder).is_relative_to(folder):
                yield Transcript(format, path)


class Store(NamedTuple):
    """Where a program keeps what is its own."""

    variable: str
    """Names the folder, where it is set."""
    default: str
    pattern: str
    """Of the transcripts in it."""

    @property
    def home(self) -> Path:
        """The folder."""
        return Path(os.environ.get(self.variable) or self.default).expanduser()


STORES: Final[Mapping[SessionFormat, Store]] = {
    "claude-code": Store("CLAUDE_CONFIG_DIR", "~/.claude", "projects/*/*.jsonl"),
    "codex": Store("CODEX_HOME", "~/.codex", "sessions/**/*.jsonl"),
    "openclaw": Store("OPENCLAW_STATE_DIR", "~/.openclaw", "agents/*/sessions/*.jsonl"),
    "cursor": Store("CURSOR_HOME", "~/.cursor", "projects/*/agent-transcripts/**/*.jsonl"),
}


def _claude_code_head(line: Mapping[str, Any]) -> Head:
    return Head(_text(line.get("sessionId")), _text(line.get("cwd")), _text(line.get("gitBranch")))


def _codex_head(line: Mapping[str, Any]) -> Head:
    if line.get("type") != "session_meta":
        return Head()
    meta = _object(line.get("payload"))
    git = _object(meta.get("git"))
    return Head(_text(meta.get("id")), _text(meta.get("cwd")), _text(git.get("branch")))


def _openclaw_head(line: Mapping[str, Any]) -> Head:
    if line.get("type") != "session":
        return Head()
    return Head(_text(line.get("id")), _text(line.get("cwd")))


def _claude_code(line: Mapping[str, Any]) -> Iterator[Call]:
    message = _object(line.get("message"))
    role = line.get("type")
    by_program = any(
        line.get(one) for one in ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
    )
    if by_program or role not in ("user", "assistant"):
        return
    blocks = _blocks(message.get("content"))
    said = [
        one
        for one in blocks
        if one.get("type") == "text" and not _BY_PROGRAM.match(_text(one.get("text")))
    ]
    if text := text_of(said):
        yield Call(role, text, id=_text(line.get("uuid")))
    for one in blocks:
        if one.get("type") == "tool_use":
            yield Call(
                "call", call_text(one.get("input")), _text(one.get("id")), _text(one.get("name"))
            )
        elif one.get("type") == "tool_result":
            failed = one.get("is_error") is True
            yield Call(
                "result",
                text_of(one.get("content")) or "",
                _text(one.get("tool_use_id")),
                "",
                failed,
            )


def _codex(line: Mapping[str, Any]) -> Iterator[Call]:
    said = _object(line.get("payload"))
    match line.get("type"), said.get("type"):
        case "event_msg", "user_message":
            yield Call("user", _text(said.get("message")))
        case "event_msg", "agent_message":
            yield Call("assistant", _text(said.get("message")))
        case "event_msg", "item_completed":
            item = _object(said.get("item"))
            role = _CODEX_ROLES.get(_text(item.get("type")))
            if role is not None:
                texts = (_text(one.get("text")) for one in _blocks(item.get("content")))
                yield Call(role, "\n\n".join(filter(None, texts)), _text(item.get("id")))
        case "response_item", "function_call" | "custom_tool_call":
            given = said.get("arguments", said.get("input"))
            yield Call(
                "call", call_text(given), _text(said.get("call_id")), _text(said.get("name"))
            )
        case "response_item", "function_call_output" | "custom_tool_call_output":
            output = said.get("output")
            text = output if isinstance(output, str) else text_of(output) or json.dumps(output)
            code = _EXIT_CODE.search(text)
            failed = code is not None and code[1] != "0"
            yield Call("result", text, _text(said.get("call_id")), "", failed)


def _openclaw(line: Mapping[str, Any]) -> Iterator[Call]:
    message = _object(line.get("message"))
    role = message.get("role")
    if line.get("type") != "message":
        return
    content = message.get("content")
    if role == "toolResult":
        failed, tool = message.get("isError") is True, _text(message.get("toolName"))
        yield Call("result", text_of(content) or "", _text(message.get("toolCallId")), tool, failed)
    elif role in ("user", "assistant"):
        yield Call(role, text_of(content) or "", _text(line.get("id")))
        for one in _blocks(content):
            if one.get("type") == "toolCall":
                yield Call(
                    "call",
                    call_text(one.get("arguments")),
                    _text(one.get("id")),
                    _text(one.get("name")),
                )


def _cursor(line: Mapping[str, Any]) -> Iterator[Call]:
    role = line.get("role")
    text = text_of(_object(line.get("message")).get("content")) or ""
    if role in ("user", "assistant"):
        typed = _USER_QUERY.search(text)
        yield Call(role, typed[1] if typed and role == "user" else text)


EVENTS: Final[Mapping[SessionFormat, Callable[[Mapping[str, Any]], Iterator[Call]]]] = {
    "claude-code": _claude_code, "codex": _codex, "openclaw": _openclaw, "cursor": _cursor,
}  # fmt: skip
HEADS: Final[Mapping[SessionFormat, Callable[[Mapping[str, Any]], Head]]] = {
    "claude-code": _claude_code_head, "codex": _codex_head, "openclaw": _openclaw_head,
    "cursor": lambda _: Head(),
}  # fmt: skip


def session_format(line: Mapping[str, Any]) -> SessionFormat | None:
    """Return the program whose transcript has such a line; None where it is none's."""
    if "type" in line and not {"sessionId", "leafUuid", "snapshot"}.isdisjoint(line):
        return "claude-code"
    if line.get("type") == "session_meta" and isinstance(line.get("payload"), dict):
        return "codex"
    if line.get("type") == "session" and {"id", "version"} <= line.keys():
        return "openclaw"
    if {"role", "message"} <= line.keys() and "content" in _object(line["message"]):
        return "cursor"
    return None


def call_text(given: object) -> str:
    """Return what a tool was called with, as one reads it: its command or file, else all of it."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return str(given)
    found = _object(given)
    named = (
        found.get(one) for one in ("command", "cmd", "file_path", "path", "query", "url", "pattern")
    )
    value = next((one for one in named if one), given)
    if isinstance(value, list):
        parts = [str(one) for one in value]
        return parts[2] if parts[1:2] in (["-c"], ["-lc"]) and len(parts) == 3 else " ".join(parts)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""
