"""Messages that come again with every call, from clients that keep the conversation themselves.

With a checkpointer a message keeps its id, and the state says which one was remembered last. Without
one, or where all messages are replaced, the client sends the whole conversation each time and LangGraph
gives its messages new ids. What stands before the person's last message is then known by who said what,
in the same thread; and the thread, where the run names none, by what was said in it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Iterable, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.store.base import Item

from langmemory.context.marking import is_injected
from langmemory.context.stripping import without_citations
from langmemory.context.summarization import answer_text
from langmemory.context.turns import is_human
from langmemory.nodes.namespaces import RunScope
from langmemory.redaction import Redactor, redacted


def longest_said(
    scope: RunScope, messages: Sequence[BaseMessage], redactor: Redactor | None
) -> tuple[str, str] | None:
    """Role and words, as they are stored, that tell of which thread a run is that names none: of the
    messages before the person's last one the longest, which hardly stands in another. None where there
    is none, or no need."""
    if scope.thread_id is not None:
        return None
    said = (
        _words(message)
        for message in messages[: _last_human(messages)]
        if isinstance(message, HumanMessage | AIMessage) and not is_injected(message)
    )
    role, text = max(said, key=lambda words: len(words[1]), default=("", ""))
    return (role, redacted(text, redactor).text.strip()) if text else None


def may_repeat(remembered_id: str | None, messages: Sequence[BaseMessage]) -> bool:
    """Whether a call before this one may have remembered some of the messages under other ids: one
    that left no ``remembered_id`` in the state, or that of a message which is gone."""
    if remembered_id and any(message.id == remembered_id for message in reversed(messages)):
        return False
    return _last_human(messages) > 0


def latest_of(messages: Sequence[BaseMessage]) -> frozenset[str | None]:
    """Ids of the person's last message, with or without words, and of what follows it: whatever it says,
    it is said now."""
    return frozenset(message.id for message in messages[_last_human(messages) :])


def stored_keys(
    messages: Sequence[BaseMessage], stored: Iterable[Item], latest: Container[str | None]
) -> list[str | None]:
    """For each message the key under which it is stored, None for what is new.

    Args:
        messages: of a call, oldest first.
        stored: the turns of the thread, in any order.
        latest: ids of those that are not known by their words, see `latest_of`.
    """
    by_id: dict[str, str] = {}
    by_words: defaultdict[tuple[str, str], deque[str]] = defaultdict(deque)
    for item in stored:
        role, text, name = (item.value.get(each) for each in ("role", "content", "message_id"))
        if isinstance(name, str):
            by_id[name] = item.key
        if isinstance(role, str) and isinstance(text, str):
            by_words[role, text].append(item.key)
    keys: list[str | None] = []
    for message in messages:
        key = by_id.get(message.id) if message.id else None
        same = by_words[_words(message)]
        if key is not None and key in same:
            same.remove(key)
        elif key is None and message.id not in latest and same:
            key = same.popleft()
        keys.append(key)
    return keys


def without_stored(messages: Sequence[BaseMessage], stored: Iterable[Item]) -> list[BaseMessage]:
    """The messages whose ids are not among the stored, of the same thread, whatever they say: whoever
    said them may have edited them since."""
    known = {item.value.get("message_id") for item in stored}
    return [message for message in messages if message.id not in known]


def spoken(answer: AIMessage) -> str:
    """Return an answer without its citations, which are for this prompt alone, and without
    the thoughts that small models put in front of it."""
    return without_citations(answer_text(answer))


def _words(message: BaseMessage) -> tuple[str, str]:
    """Role and text as `RememberNode` stores them."""
    if isinstance(message, AIMessage):
        return "assistant", spoken(message).strip()
    return "user" if isinstance(message, HumanMessage) else message.type, message.text.strip()


def _last_human(messages: Sequence[BaseMessage]) -> int:
    return max((at for at, message in enumerate(messages) if is_human(message)), default=0)
