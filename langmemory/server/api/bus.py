"""The bus: agents share context, ask, take back, and hand work on.

Who sends is the agent of the token, or the one that a token of the application names in ``Memory-Agent``.
"""

from __future__ import annotations

from typing import Annotated, Any
from uuid import uuid4

from pydantic import BaseModel, Field, model_validator

from langmemory.server.access import Access
from langmemory.server.api.requests import Fields, Id, Key, Labels, Listing, Place
from langmemory.server.problems import Problem
from langmemory.server.replay import derived_key
from langmemory.server.routes import Routes
from langmemory.stores.rooms import MIN_SIMILARITY, MessageOptions
from langmemory.types import (
    BusMessage,
    MessagePriority,
    MessageType,
    Page,
    Privacy,
    SharedType,
    Subscription,
)

routes = Routes("Bus")

Agent = Annotated[str, Field(min_length=1, max_length=200)]
Summary = Annotated[str, Field(min_length=1, max_length=2_000)]
Topic = Annotated[str, Field(min_length=1, max_length=200)]
Several = Annotated[tuple[Summary, ...], Field(max_length=100)]
Keys = Annotated[tuple[Key, ...], Field(max_length=100)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=200)]


class IdPath(Fields):
    """Which message."""

    id: Id


class MessageListing(Listing):
    """Which messages."""

    type: list[MessageType] | None = None
    """May be repeated; without it, every type."""
    topic: Topic | None = None
    reply_to: Id | None = None
    """Only what answers, or takes back, this message."""


class InboxListing(Listing):
    """Which of what waits."""

    type: list[MessageType] | None = None
    """May be repeated; without it, every type."""
    min_priority: MessagePriority = "low"
    """Only what is as pressing."""


class Sending(Fields):
    """What a message has beside what it says."""

    namespace: Labels | None = None
    """Whose agents they are. Without it, what the token is bound to."""
    topic: Topic | None = None
    """A word or two by which others subscribe to it."""
    priority: MessagePriority = "normal"
    details: Annotated[str, Field(max_length=100_000)] = ""
    artifacts: Several = ()
    """Where what it speaks of is: paths, addresses, names."""
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    memories: Keys = ()
    """Keys of memories in the namespace that belong to it."""
    privacy: Privacy = "shared"
    """`private` is for the viewer alone, whatever agent acts for them."""
    ttl_minutes: Annotated[float, Field(gt=0, le=525_600_000)] | None = None
    """Until it expires; without it, a week."""


class Sharing(Sending):
    """What there is to know."""

    summary: Summary
    to: Agent | None = None
    """Name of an agent; without it, all of the namespace."""
    type: SharedType = "finding"
    reply_to: Id | None = None
    """The message that it answers: then it is a `reply`, goes to who sent that, and acknowledges it."""

    @model_validator(mode="after")
    def _check_reply(self) -> Sharing:
        if self.reply_to is not None and not {"to", "type"}.isdisjoint(self.model_fields_set):
            raise ValueError("an answer goes to who asked, as a reply: leave out to and type")
        return self


class Asking(Sending):
    """What there is to answer."""

    question: Summary
    to: Agent | None = None
    """Name of an agent; without it, all of the namespace."""


class HandingOff(Sending):
    """What there is to do."""

    to: Agent
    done: Summary
    """What was done so far."""
    next_steps: Several = ()
    """What is left to do, in order."""


class Acknowledging(Fields):
    """Which messages the agent is done with."""

    ids: Ids
    namespace: Labels | None = None


class Acknowledged(BaseModel):
    """Those it is done with now; what expired, or was never for it, is not among them."""

    ids: list[str]


class TakingBack(Fields):
    """What does not hold."""

    id: Id
    """Of a message of this agent."""
    reason: Summary
    memories: Keys = ()
    """Keys of memories that may rest on it; a review of each is opened."""
    namespace: Labels | None = None


class Subscribing(Fields):
    """What the agent wants of the messages to all: exactly one of topic, sender and query."""

    topic: Topic | None = None
    sender: Agent | None = None
    query: Summary | None = None
    """What it is to be about, in words."""
    min_similarity: Annotated[float, Field(ge=-1, le=1)] = MIN_SIMILARITY
    """A message fits a query where the cosine of their vectors is at least this."""
    namespace: Labels | None = None


class NumberPath(Fields):
    """Which subscription."""

    number: Annotated[int, Field(ge=0, le=2**53)]


class Subscriptions(BaseModel):
    """What an agent wants of the messages to all; nothing: all of them."""

    items: list[Subscription]


def _options(access: Access, body: Sending) -> MessageOptions:
    """Return the options of a message. Its id follows from the Idempotency-Key, so that it is sent once, also
    across a restart."""
    found: Any = {name: getattr(body, name) for name in Sending.model_fields if name != "namespace"}
    found["id"] = derived_key(access.sender, access.idempotency_key, uuid4().hex)
    options: MessageOptions = found
    return options


@routes("GET", "/bus/messages", scope="read")
def list_messages(access: Access, *, query: MessageListing) -> Page[BusMessage]:
    """List messages with their receipts, newest first.

    For an agent what it sent, what was sent to it, and what went to all; without one everything."""
    bus = access.bus(query.namespace, named=False)
    return bus.messages(
        limit=query.limit, after=query.cursor, types=query.type, topic=query.topic,
        reply_to=query.reply_to,
    )  # fmt: skip


@routes("GET", "/bus/messages/{id:path}", scope="read")
def get_message(access: Access, *, path: IdPath, query: Place) -> BusMessage:
    """Return one message with its receipts."""
    return access.bus(query.namespace, named=False).message(path.id)


@routes("POST", "/bus/messages", scope="write", status=201)
def share_context(access: Access, *, body: Sharing) -> BusMessage:
    """Tell another agent, or all, what this one knows; or answer a message."""
    bus, options = access.bus(body.namespace), _options(access, body)
    if body.reply_to is not None:
        return bus.reply(body.reply_to, body.summary, **options)
    return bus.share(body.summary, to=body.to, type=body.type, **options)


@routes("POST", "/bus/requests", scope="write", status=201)
def request_context(access: Access, *, body: Asking) -> BusMessage:
    """Ask another agent, or all, something. Answers come to the inbox, with the id of this as `reply_to`."""
    options = _options(access, body)
    return access.bus(body.namespace).request(body.question, to=body.to, **options)


@routes("POST", "/bus/handoffs", scope="write", status=201)
def hand_off(access: Access, *, body: HandingOff) -> BusMessage:
    """Hand work on to another agent, which takes it up when it starts next."""
    bus, options = access.bus(body.namespace), _options(access, body)
    return bus.handoff(body.to, body.done, next_steps=body.next_steps, **options)


@routes("GET", "/bus/inbox", scope="read")
def get_inbox(access: Access, *, query: InboxListing) -> Page[BusMessage]:
    """List what the agent has yet to acknowledge, in the order of sending.

    It is given out again until it is acknowledged, taken back or expired; a cursor acknowledges nothing."""
    return access.bus(query.namespace).inbox(
        limit=query.limit, after=query.cursor, min_priority=query.min_priority, types=query.type
    )


@routes("POST", "/bus/acknowledgements", scope="write")
def acknowledge_messages(access: Access, *, body: Acknowledging) -> Acknowledged:
    """Say that the agent is done with messages: it is not given them again."""
    return Acknowledged(ids=list(access.bus(body.namespace).acknowledge(body.ids)))


@routes("POST", "/bus/invalidations", scope="write")
def invalidate_context(access: Access, *, body: TakingBack) -> BusMessage:
    """Take back a message of the agent, and tell who saw it. Memories that may rest on it are put to review,
    and stay."""
    bus = access.bus(body.namespace)
    return bus.invalidate(body.id, reason=body.reason, memories=body.memories)


@routes("GET", "/bus/subscriptions", scope="read")
def list_subscriptions(access: Access, *, query: Place) -> Subscriptions:
    """List what the agent wants of the messages to all, the oldest first."""
    return Subscriptions(items=access.bus(query.namespace).subscriptions())


@routes("POST", "/bus/subscriptions", scope="write", status=201)
def subscribe_context(access: Access, *, body: Subscribing) -> Subscription:
    """Want of the messages to all only some. Repeating it changes nothing."""
    return access.bus(body.namespace).subscribe(
        topic=body.topic, sender=body.sender, query=body.query, min_similarity=body.min_similarity
    )


@routes("DELETE", "/bus/subscriptions/{number}", scope="write")
def delete_subscription(access: Access, *, path: NumberPath, query: Place) -> None:
    """End a subscription of the agent."""
    if not access.bus(query.namespace).unsubscribe(path.number):
        raise Problem(404, "not-found", f"There is no subscription {path.number} of this agent.")
