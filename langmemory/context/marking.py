"""Marks on text that a program put among the messages, and stored text made harmless in a prompt.

Without the marks memories feed on themselves: a recalled sentence is stored as a new turn, recalled twice
as strongly, stored again (one audited store held 668 copies of one sentence). Everything this
package injects is marked; whatever writes memories skips messages for which `is_injected` is true,
which knows the marks of LangChain's packages, too.

Anybody's words may be in memory. Shown to a model they must stay quoted data: unable to close their block,
to open a line of their own, or to look like a mark.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

MARK = "langmemory"
"""Key in a message's ``additional_kwargs``; no chat model integration sends it to a provider."""

MIDDLEWARE_MARK = "lc_source"
"""Key in ``additional_kwargs`` with which the middleware of LangChain and deepagents marks human
messages of its own: summaries of the conversation, pinned skills, a grader's verdict."""

HANDOFF_MARK = "__is_handoff_back"
"""Key in ``response_metadata`` of langgraph-supervisor's "Transferring back to supervisor"."""

OPEN_TAG = "<recalled_memories>"
CLOSE_TAG = "</recalled_memories>"
OPEN_INBOX = "<inbox>"
CLOSE_INBOX = "</inbox>"
OPEN_LINKED = "<linked>"
CLOSE_LINKED = "</linked>"
OPEN_SESSION = "<session>"
CLOSE_SESSION = "</session>"

NO_MODEL = (
    "No chat model is configured, so nobody thinks about your message; it is remembered all the "
    'same. Set models.fast in config/memory.json, for example to "ollama:llama3.1", to get answers.'
)
"""How the answers of `langmemory.graphs.NoModel` end, which are an echo of memory."""

MessageT = TypeVar("MessageT", bound=BaseMessage)


def mark_injected(message: MessageT, source: str = "memories", **details: Any) -> MessageT:
    """A copy of `message` marked as put there by `source`; `details` must be JSON values."""
    mark = {"injected": source, **details}
    return message.model_copy(
        update={"additional_kwargs": {**message.additional_kwargs, MARK: mark}}
    )


def injected_details(message: BaseMessage) -> dict[str, Any]:
    """The mark's content, ``{"injected": source, ...}``; empty when there is none."""
    mark = message.additional_kwargs.get(MARK)
    return mark if isinstance(mark, dict) and "injected" in mark else {}


def text_of(message: BaseMessage) -> str:
    """``message.text``, for whoever asks every message of a thread: LangChain makes an object of its
    own of it each time."""
    content = message.content
    return content if isinstance(content, str) else message.text


def is_injected(message: BaseMessage) -> bool:
    """Whether a program, not a person or model, wrote this message: langmemory (`is_ours`), or
    middleware of LangChain, whose summaries stand there as if the person had said them."""
    return (
        is_ours(message)
        or (isinstance(message, HumanMessage) and MIDDLEWARE_MARK in message.additional_kwargs)
        or HANDOFF_MARK in message.response_metadata
    )


def is_ours(message: BaseMessage) -> bool:
    """Whether langmemory wrote this message.

    A client that sends messages back through an API may lose ``additional_kwargs``; a message that
    is one whole memory block, inbox, session or context of a task is recognised by its tags then, and
    an answer without a model by how it ends.
    """
    if injected_details(message):
        return True
    text = text_of(message).strip()
    if isinstance(message, AIMessage) and text.endswith(NO_MODEL):
        return True
    tags = (
        (OPEN_TAG, CLOSE_TAG), (OPEN_INBOX, CLOSE_INBOX), (OPEN_LINKED, CLOSE_LINKED),
        (OPEN_SESSION, CLOSE_SESSION),
    )  # fmt: skip
    return any(text.startswith(first) and text.endswith(last) for first, last in tags)


_INVISIBLE = re.compile(
    # Zero-width space, word joiner, BOM, soft hyphen; bidirectional controls (text that reads
    # otherwise than it is); tag characters and further variation selectors (ASCII smuggling). ZWJ,
    # ZWNJ and the first variation selectors stay: scripts and emoji need them.
    "[\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_LINE_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_ROLE = re.compile(
    r"^(\W*(?:system|developer|assistant|user|human|ai|tool|function|model)[^\w:：]*)[:：][\s:：]*",
    re.IGNORECASE,
)
_ANGLE = re.compile("[<＜﹤]")
_BRACKET = re.compile(
    # One that begins an id of ours ("[M:", "[ g :") or a chat template's marker ("[INST]").
    r"[\[［〔【]\s*(?=[A-Za-zＡ-Ｚａ-ｚ]\s*[:：]"
    r"|/?(?:INST|SYS|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])",
    re.IGNORECASE,
)
_CITATION = re.compile(r"\b([A-Za-zＡ-Ｚａ-ｚ])\s*[:：]\s*(?=[0-9a-fA-F]{8})")


_SUSPECT = re.compile(
    # All that the patterns above begin with or need: most texts have none of it.
    "[\x00-\x1f\x7f-\x9f\u2028\u2029:：<＜﹤\\[［〔【"
    "\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)


def one_line(text: str) -> str:
    """`text` on a single line, unable to pose as anything but text."""
    if _SUSPECT.search(text) is None:
        return " ".join(text.split())
    lines = " ".join(part for part in map(_harmless, _LINE_BREAK.split(text)) if part)
    return _harmless(lines)  # "M:" and the digits of an id may have stood on two lines


def quoted_lines(text: str) -> list[str]:
    """`text` with its line breaks kept, each line behind a quotation bar."""
    return [f"| {_harmless(line)}".rstrip() for line in _LINE_BREAK.split(text)]


def _harmless(line: str) -> str:
    line = _CONTROL.sub(" ", _INVISIBLE.sub("", line))
    line = _ROLE.sub(lambda role: f"{role[1].rstrip()} - ", line)
    line = _ANGLE.sub("&lt;", line)
    line = _BRACKET.sub("(", line)
    line = _CITATION.sub(r"\1 ", line)
    return " ".join(line.split())
