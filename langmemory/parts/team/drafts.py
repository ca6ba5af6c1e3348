"""Drafts: messages of the bus as they are sent, with their arguments checked and without credentials."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, TypedDict

from langmemory.arguments import check_agent, one_of
from langmemory.declaring import LOCAL, ONCE
from langmemory.declaring.fields import Details, Keys, Minutes, Share, Summaries, Topic
from langmemory.errors import ConfigError, InvalidValueError
from langmemory.namespaces import check_namespace
from langmemory.operations.core import checked_ttl
from langmemory.redaction import Redactor, redact_and_log
from langmemory.types import BusMessage, MessagePriority, MessageType, Namespace, Privacy

SUMMARY_CHARACTERS: Final = 2_000
DETAILS_CHARACTERS: Final = 100_000
TOPIC_CHARACTERS: Final = 200
TTL_MINUTES: Final = 7 * 24 * 60.0
"""How long a message lives that does not say itself."""
LISTED: Final = 100
"""Artifacts, memories and next steps that one message has at most, each."""


class MessageOptions(TypedDict, total=False):
    """What a message may have beside what it says."""

    topic: Topic | None
    """A word or two by which others subscribe to it."""
    priority: MessagePriority
    details: Details
    artifacts: Summaries
    """Where what it speaks of is: paths, addresses, names."""
    confidence: Share | None
    """0 (guess) to 1 (certain)."""
    memories: Keys
    """Keys of memories in the namespace of the bus that belong to it. With somebody's private memory the
    message becomes private to them."""
    owner: Annotated[str | None, LOCAL]
    """Whose it is, where the application sends it; a viewer's are theirs."""
    privacy: Privacy
    """Who may read it; ``private`` is for its owner alone, whatever agent acts for them."""
    ttl_minutes: Minutes | None
    """Until it expires; None is a week."""
    id: Annotated[str, ONCE]
    """By which it is known. Sending a message again under its id sends nothing."""


def drafted(
    type: MessageType,
    summary: str,
    to: str | None,
    options: MessageOptions,
    *,
    reply_to: str | None,
    sender: str,
    namespace: Namespace,
    owner: str | None,
    redactor: Redactor | None,
    at: datetime,
) -> BusMessage:
    """Return a message.

    Raises:
        InvalidValueError: What it says is wrong.
        ConfigError: An option is none of those there are.
    """
    unknown = options.keys() - MessageOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"There is no option {min(unknown)!r} of a message.")

    ttl = checked_ttl(options.get("ttl_minutes"), "ttl_minutes")
    confidence, topic = options.get("confidence"), options.get("topic")
    if confidence is not None and not 0 <= confidence <= 1:
        raise InvalidValueError(f"confidence is {confidence!r}; it must be from 0 to 1.")
    details = text("details", options.get("details") or "", DETAILS_CHARACTERS, empty=True)
    return BusMessage(
        id=text("id", options.get("id") or new_id(), 200),
        namespace=check_namespace(namespace, written=True),
        sender=sender,
        recipient=None if to is None else recipient(to),
        type=type,
        summary=redact_and_log(text("summary", summary, SUMMARY_CHARACTERS), redactor),
        priority=one_of("priority", options.get("priority", "normal"), MessagePriority),
        topic=text("topic", topic, TOPIC_CHARACTERS).strip() if topic else None,
        details=redact_and_log(details, redactor),
        artifacts=texts("artifacts", options.get("artifacts", ())),
        confidence=None if confidence is None else float(confidence),
        memories=texts("memories", options.get("memories", ())),
        reply_to=reply_to,
        owner=owner,
        privacy=one_of("privacy", options.get("privacy", "shared"), Privacy),
        created_at=at,
        expires_at=at + timedelta(minutes=TTL_MINUTES if ttl is None else ttl),
    )


def new_id() -> str:
    """Return an id for a message."""
    return secrets.token_hex(8)


def recipient(name: Any) -> str:
    """Return the name of an agent, checked.

    Raises:
        InvalidValueError: It is none.
    """
    try:
        return check_agent("The recipient", name)
    except ConfigError as error:  # a model may have chosen it
        raise InvalidValueError(str(error)) from None


def text(name: str, value: Any, characters: int, *, empty: bool = False) -> str:
    """Return a text of a message, checked.

    Raises:
        InvalidValueError: It is none, says nothing, or is too long.
    """
    if not isinstance(value, str) or (not value.strip() and not empty):
        raise InvalidValueError(f"{name} is {value!r:.80}; it must be a text that says something.")
    if len(value) > characters:
        raise InvalidValueError(
            f"{name} has {len(value):,} characters; a message has {characters:,} at most there. Put the rest "
            "into a file or a memory, and name that."
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValueError(
            f"{name} has half of a surrogate pair; send whole characters."
        ) from None
    return value


def texts(name: str, values: Iterable[str], *, most: int | None = LISTED) -> tuple[str, ...]:
    """Return texts of a message, checked, each once.

    Raises:
        InvalidValueError: One is none, or there are too many.
    """
    if isinstance(values, str):
        raise InvalidValueError(f"{name} is one text; pass a list of texts.")
    found = tuple(dict.fromkeys(text(name, one, SUMMARY_CHARACTERS) for one in values))
    if most is not None and len(found) > most:
        raise InvalidValueError(f"{name} has {len(found)} entries; {most} at most can be named.")
    return found
