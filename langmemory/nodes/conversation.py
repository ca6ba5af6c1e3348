"""The messages of a run: whose they are, and which of them are stored already.

`messages_of` reads them from a graph's state, whatever form the application keeps them in, and gives each
an id. Where several people share a thread, a turn whose run failed is remembered by the next run; it must
not become another person's (`Thread`).

With a checkpointer a message keeps its id, and the state says which one was remembered last. Without
one, or where all messages are replaced, the client sends the whole conversation each time and LangGraph
gives its messages new ids. What stands before the person's last message is then known by who said what,
in the same thread; and the thread, where the run names none, by what was said in it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)
from langgraph.store.base import Item

from langmemory.answers import answer_text
from langmemory.context.citations import without_citations
from langmemory.context.marking import is_injected
from langmemory.context.turns import is_human
from langmemory.errors import InvalidValueError
from langmemory.messages import ROLES, nameless
from langmemory.nodes.namespaces import AUTHENTICATED, RunScope
from langmemory.nodes.state import Voice, value_of
from langmemory.redaction import Redactor, redact_text


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
    return (role, redact_text(text, redactor).text.strip()) if text else None


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """The n messages of a thread as a run sees them, and whose each is."""

    messages: list[AnyMessage]
    who: str
    """Whose run it is; empty when it does not say."""
    speakers: list[str]
    """n: of each message, who said it, or whom it answers: by `message_speakers`, else ``who``."""
    own_ids: frozenset[str | None]
    """Ids of the messages that nobody else said, and that answer nobody else. A message is anybody's
    where its run, or this one, did not say for whom it was."""

    @classmethod
    def of(cls, messages: list[AnyMessage], message_speakers: Sequence[Voice], who: str) -> Thread:
        known, speaker = _speakers(message_speakers), who
        speakers = []
        for message in messages:
            if is_human(message):
                speaker = known.get(message.id or "", who)
            speakers.append(speaker)
        own = (
            message.id
            for message, speaker in zip(messages, speakers, strict=True)
            if speaker == who or not (speaker and who)
        )
        return cls(messages=messages, who=who, speakers=speakers, own_ids=frozenset(own))


def speaker_of(scope: RunScope) -> str:
    """The person a run says it is for; empty when it does not say."""
    return str(scope.value("user_id") or scope.value(AUTHENTICATED) or "")


def heard(
    message_speakers: Sequence[Voice], messages: Sequence[AnyMessage], who: str
) -> list[Voice]:
    """Return `message_speakers` with the new ones of `messages`, which `who` said. What is not among these
    any more is left out."""
    known = _speakers(message_speakers)
    now: list[Voice] = []
    for message in messages:
        if is_human(message) and message.id:
            speaker = known.get(message.id, who)
            if not now or now[-1]["who"] != speaker:
                now.append({"who": speaker, "ids": []})
            now[-1]["ids"].append(message.id)
    return now


def _speakers(message_speakers: Sequence[Voice]) -> dict[str, str]:
    """Who said the message of an id."""
    return {id: voice["who"] for voice in message_speakers for id in voice["ids"]}


def messages_of(state: Any, key: str) -> list[AnyMessage]:
    """The messages under a state key, each with an id.

    One without an id is known by who said what, and by how often that was said before it; the key
    it is remembered under is the one that `MemoryStore.remember` gives it.

    Raises:
        InvalidValueError: something there is no message.
    """
    held: list[Any] = list(value_of(state, key, []))
    try:
        messages: Any = convert_to_messages(held)
    except (ValueError, NotImplementedError, KeyError, TypeError) as error:
        raise InvalidValueError(
            f"The state key {key!r} holds something that is no message: "
            f"{str(error).partition(chr(10))[0]:.200} Keep LangChain messages there, or dicts with "
            f"role and content, or set messages_key."
        ) from error
    said: Counter[str] = Counter()
    return [message if message.id else _identified(message, said) for message in messages]


def with_answer_of_tools(state: Any, messages: list[AnyMessage]) -> list[AnyMessage]:
    """The messages of a run that has ended; results of tools that end them are what the assistant answered.

    So does a run whose tool returns directly, and one that answers in a structure, which is a call of a
    tool, too (LangChain's `ToolStrategy`): there the answer is what the call says, not its result.
    """
    end = len(messages)
    while end and isinstance(messages[end - 1], ToolMessage):
        end -= 1
    caller = messages[end - 1] if end else None
    if end == len(messages) or not isinstance(caller, AIMessage):
        return messages
    results = cast("list[ToolMessage]", messages[end:])
    said: dict[str | None, Any]
    if value_of(state, "structured_response") is not None:
        # LangChain puts it in front of the results of tools that were called beside it.
        arguments = {call["id"]: call["args"] for call in caller.tool_calls}
        structure = arguments.get(results[0].tool_call_id)
        said = {results[0].id: json.dumps(structure, ensure_ascii=False, default=str)}
    else:
        said = {one.id: one.content for one in results if one.status != "error"}
    return [
        AIMessage(said[one.id], id=one.id, name=caller.name) if one.id in said else one
        for one in messages
    ]


def place_after(messages: Sequence[BaseMessage], id: str | None) -> int:
    """Where what comes after the message of this id begins; 0 where it is not among them."""
    return max((at for at, one in enumerate(messages, start=1) if id and one.id == id), default=0)


def _identified(message: AnyMessage, said: Counter[str]) -> AnyMessage:
    role = ROLES.get(message.type, message.type)
    name = nameless(role, message.text.strip(), "", said)
    return message.model_copy(update={"id": name})
