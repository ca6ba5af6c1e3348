"""Text that a program put among the messages, so that it is never remembered as said.

Without it memories feed on themselves: a recalled sentence is stored as a new turn, recalled twice
as strongly, stored again (one audited store held 668 copies of one sentence). Everything this
package injects is marked; whatever writes memories skips messages for which `is_injected` is true,
which knows the marks of LangChain's packages, too.
"""

from __future__ import annotations

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
