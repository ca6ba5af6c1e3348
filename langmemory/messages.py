"""Messages of a conversation as turns: what of them is stored, under which key, and who said it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from langchain_core.messages import BaseMessage, ChatMessage, convert_to_messages

from langmemory.context import is_injected
from langmemory.errors import InvalidValueError
from langmemory.labels import label_of
from langmemory.redaction import Redactor, redact_credentials, redact_text
from langmemory.timestamps import moment
from langmemory.trust import SOURCES
from langmemory.types import Namespace, Trust

Message = BaseMessage | Mapping[str, Any] | tuple[str, str]
"""A message as `remember` takes it: a LangChain message, a role/content dict, or a (role, content) pair."""


ROLES: Final = {"human": "user", "ai": "assistant", "tool": "tool"}
"""LangChain's message types that are remembered, and what their role is called in the value."""


MESSAGE_KEYS: Final = (
    "role", "content", "name", "id", "type", "tool_call_id", "additional_kwargs",
)  # fmt: skip
"""Keys of a dict that are LangChain's; anything else (``at``, ``speaker``) is read here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A message about to be remembered."""

    key: str
    text: str
    role: str
    speaker: str
    at: datetime
    message_id: str | None
    trust: Trust | None = None
    """Where it comes from, if the message says so."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many passages were taken out of the text, by kind."""


def turn_key(thread_id: str, message_id: str) -> str:
    """Key of a remembered message."""
    return f"{thread_id}/{message_id}"


def turns_of(
    messages: Iterable[Message],
    *,
    thread_id: str,
    at: datetime | None,
    now: datetime,
    redactor: Redactor | None = None,
    owner: str | None = None,
    namespace: Namespace = (),
) -> list[Turn]:
    """The messages worth remembering: what somebody said, or a tool answered.

    System prompts, memories injected for the model and empty messages are left out; of messages
    with one id the first counts. The time of a message is its own (``at`` or ``timestamp``, in the
    dict or in ``additional_kwargs``), else the ``at`` of the call, else now. A message without an
    id is known by its thread, role, text and time.

    Args:
        messages: Of one thread, in order.
        thread_id: Of the thread.
        at: When they were said, where they do not tell.
        now: When else.
        redactor: Takes out of a text what is not to be stored.
        owner: Whose conversation it is: who speaks where a message of the user has no name.
        namespace: Where they are stored; in one's own namespace the user needs no name.

    Raises:
        InvalidValueError: A message has no readable role, content or time, or one was passed where a
            list of them is expected.
    """
    found: dict[str, Turn] = {}
    seen: Counter[str] = Counter()
    for number, raw in enumerate(as_list(messages)):
        message, extra = _normalise(raw, number)
        role = _role(message)
        if role is None or is_injected(message):
            continue
        text = message.text.strip()
        if not text:
            continue
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidValueError(
                f"The text of message {number} holds half of a surrogate pair at character "
                f"{error.start}. Repair it, for example with text.encode('utf-8', 'replace').decode()."
            ) from error
        kept = redact_text(text, redactor)
        if not (text := kept.text.strip()):
            continue
        own = extra.get("at", extra.get("timestamp"))
        said = _time(own, number) if own is not None else at or now
        speaker = message.name or extra.get("speaker") or speaker_of(role, owner, namespace)
        if message.id is None:
            name = nameless(role, text, said.isoformat() if own is not None or at else "", seen)
        else:
            name = message.id
        turn = Turn(
            key=turn_key(thread_id, name),
            text=text,
            role=role,
            speaker=str(speaker),
            at=said,
            message_id=message.id,
            trust=extra.get("trust") if extra.get("trust") in SOURCES else None,
            redacted=kept.counts,
        )
        found.setdefault(turn.key, turn)
    return list(found.values())


def as_sent(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return messages as a server takes them: role, text and, where they tell, id, name and time.

    Those that `turns_of` leaves out are left out.

    Raises:
        InvalidValueError: As of `turns_of`.
    """
    found: list[dict[str, Any]] = []
    for number, raw in enumerate(as_list(messages)):
        message, extra = _normalise(raw, number)
        role = _role(message)
        if role is None or is_injected(message) or not message.text.strip():
            continue
        own = extra.get("at", extra.get("timestamp"))
        name = message.name or extra.get("speaker")
        one = {
            "role": role,
            "content": str(message.text),
            "id": message.id,
            "name": None if name is None else str(name),
            "at": None if own is None else _time(own, number).isoformat(),
            "trust": extra.get("trust"),
        }
        found.append({key: value for key, value in one.items() if value is not None})
    return found


def as_list(messages: Iterable[Message]) -> list[Message]:
    """The messages, unless they are one: its letters, keys or fields are none.

    Raises:
        InvalidValueError: They are a single message.
    """
    if isinstance(messages, str | Mapping | BaseMessage):
        raise InvalidValueError(
            f"The messages are a {type(messages).__name__}; pass a list of them, such as "
            '[{"role": "user", "content": "…"}].'
        )
    return list(messages)


def nameless(role: str, text: str, time: str, seen: Counter[str]) -> str:
    """The name of a message without an id: who said what and when, and how often that was ``seen``
    before it, which is counted."""
    # A hash of a password can be guessed: credentials are no part of it, whoever redacts later.
    mark = f"{role}\0{redact_credentials(text).text}\0{time}"
    seen[mark] += 1
    return hash_identity(f"{mark}\0{seen[mark]}")


NAMELESS: Final = re.compile("[0-9a-f]{20}")
"""The ids that `nameless` gives, here and in the nodes: no id that a client gives looks like it."""


def hash_identity(identity: str) -> str:
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _role(message: BaseMessage) -> str | None:
    """The speaker as the value names them; None for messages that nobody said."""
    if isinstance(message, ChatMessage):
        return {"ai": "assistant", "human": "user", "system": None}.get(message.role, message.role)
    return ROLES.get(message.type.removesuffix("MessageChunk").lower())


def _normalise(raw: Message, number: int) -> tuple[BaseMessage, Mapping[str, Any]]:
    if isinstance(raw, BaseMessage):
        return raw, raw.additional_kwargs
    extra: Mapping[str, Any] = {}
    if isinstance(raw, Mapping):
        extra = raw
        raw = {
            key: value
            for key, value in raw.items()
            if key in MESSAGE_KEYS and (value is not None or key == "content")
        }
        if "tool" in (raw.get("role"), raw.get("type")):
            raw.setdefault("tool_call_id", "")  # LangChain insists on it, nothing here needs it
    try:
        return convert_to_messages([raw])[0], extra
    except (ValueError, NotImplementedError, KeyError, TypeError) as error:
        raise InvalidValueError(
            f"Message {number} is not one: {error}. Pass LangChain messages or dicts with role and "
            "content."
        ) from error


def _time(value: Any, number: int) -> datetime:
    said_at = moment(value, or_seconds=True)
    if said_at is None:
        raise InvalidValueError(
            f"The time of message {number} is {value!r:.80}. Use ISO 8601, a datetime, or seconds "
            "since 1970."
        )
    return said_at


def turn_value(thread_id: str, turn: Turn, facets: Mapping[str, Any]) -> dict[str, Any]:
    """The stored value of a turn. One that is not shared says so itself, for those who read values."""
    return {
        "role": turn.role,
        "content": turn.text,
        "speaker": turn.speaker,
        "at": turn.at.isoformat(),
        "thread_id": thread_id,
        "message_id": turn.message_id,
        **({} if turn.trust is None else {"trust": turn.trust}),
        **(facets if facets["privacy"] != "shared" else {}),
    }


ANONYMOUS: Final = frozenset({"user", "human"})
"""The name of a speaker without one; with an owner it is the owner."""


def is_own(namespace: Namespace, owner: str) -> bool:
    """Whether a namespace is one person's: a label of it is their id."""
    return owner in namespace or label_of(owner) in namespace


def speaker_of(role: str, owner: str | None, namespace: Namespace) -> str:
    """Return who says a message without a name: where several people share a namespace, its owner."""
    if role.casefold() in ANONYMOUS and owner and not is_own(namespace, owner):
        return owner
    return role
