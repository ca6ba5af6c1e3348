"""The bus of a remote store: what `store.bus` does, over the API."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from langmemory.errors import ConfigError, InvalidValueError, ServerError
from langmemory.remote.connection import Request, part, place
from langmemory.remote.rooms import AgentRoom, plain
from langmemory.stores.rooms import MIN_SIMILARITY, MessageOptions
from langmemory.twins import Steps, awaiting, blocking
from langmemory.types import (
    BusMessage,
    MessagePriority,
    MessageType,
    Page,
    SharedType,
    Subscription,
)


class RemoteBus(AgentRoom):
    """Messages between the agents of one namespace, as one of them sends and receives them; see the bus of
    `MemoryStore`."""

    __slots__ = ()

    def _send(self, path: str, options: MessageOptions, **body: Any) -> Steps[BusMessage]:
        given: dict[str, Any] = dict(options)
        own = [name for name in ("owner", "id") if given.pop(name, None) is not None]
        if own:
            raise ConfigError(
                f"{own[0]} is for a file on this machine: over a server the viewer of the store owns a "
                "message, and its id is the server's."
            )
        return self._post(path, BusMessage, **body, **given)

    def _share(
        self,
        summary: str,
        *,
        to: str | None = None,
        type: SharedType = "finding",
        **options: Unpack[MessageOptions],
    ) -> Steps[BusMessage]:
        """Tell another agent, or all, what this one knows."""
        return self._send("/bus/messages", options, summary=summary, to=to, type=type)

    share, ashare = blocking(_share), awaiting(_share)

    def _request(
        self, question: str, *, to: str | None = None, **options: Unpack[MessageOptions]
    ) -> Steps[BusMessage]:
        """Ask another agent, or all, something."""
        return self._send("/bus/requests", options, question=question, to=to)

    request, arequest = blocking(_request), awaiting(_request)

    def _reply(
        self, message_id: str, answer: str, **options: Unpack[MessageOptions]
    ) -> Steps[BusMessage]:
        """Answer a message, and acknowledge it."""
        return self._send("/bus/messages", options, summary=answer, reply_to=message_id)

    reply, areply = blocking(_reply), awaiting(_reply)

    def _handoff(
        self,
        to: str,
        done: str,
        *,
        next_steps: Sequence[str] = (),
        **options: Unpack[MessageOptions],
    ) -> Steps[BusMessage]:
        """Hand work on to another agent."""
        return self._send("/bus/handoffs", options, to=to, done=done, next_steps=next_steps)

    handoff, ahandoff = blocking(_handoff), awaiting(_handoff)

    def _invalidate(
        self, message_id: str, *, reason: str, memories: Sequence[str] = ()
    ) -> Steps[BusMessage]:
        """Take back a message of this agent, and tell who saw it."""
        return self._post(
            "/bus/invalidations", BusMessage, id=message_id, reason=reason, memories=memories
        )

    invalidate, ainvalidate = blocking(_invalidate), awaiting(_invalidate)

    def _inbox(
        self,
        *,
        limit: int = 20,
        after: str | None = None,
        min_priority: MessagePriority = "low",
        types: Sequence[MessageType] | None = None,
    ) -> Steps[Page[BusMessage]]:
        """Return what this agent has yet to acknowledge, in the order of sending; 200 at most at a time."""
        return self._get(
            "/bus/inbox", Page[BusMessage], limit=min(limit, 200), cursor=after,
            min_priority=min_priority, type=plain(types),
        )  # fmt: skip

    inbox, ainbox = blocking(_inbox), awaiting(_inbox)

    def _acknowledge(self, message_ids: Iterable[str]) -> Steps[tuple[str, ...]]:
        """Say that this agent is done with messages; return those that it is done with."""
        if isinstance(message_ids, str):
            raise InvalidValueError("message_ids is one text; pass a list of texts.")
        ids = list(message_ids)
        if not ids:
            return ()
        answer: dict[str, list[str]] = yield from self._post(
            "/bus/acknowledgements", dict[str, list[str]], ids=ids
        )
        return tuple(answer["ids"])

    acknowledge, aacknowledge = blocking(_acknowledge), awaiting(_acknowledge)

    def _messages(
        self,
        *,
        limit: int = 50,
        after: str | None = None,
        types: Sequence[MessageType] | None = None,
        topic: str | None = None,
        reply_to: str | None = None,
    ) -> Steps[Page[BusMessage]]:
        """Return messages with their receipts, the newest first; 200 at most at a time."""
        return self._get(
            "/bus/messages", Page[BusMessage], limit=min(limit, 200), cursor=after,
            type=plain(types), topic=topic, reply_to=reply_to,
        )  # fmt: skip

    messages, amessages = blocking(_messages), awaiting(_messages)

    def _message(self, message_id: str) -> Steps[BusMessage]:
        """Return one message with its receipts."""
        return self._get(f"/bus/messages/{part(message_id)}", BusMessage)

    message, amessage = blocking(_message), awaiting(_message)

    def _subscribe(
        self,
        *,
        topic: str | None = None,
        sender: str | None = None,
        query: str | None = None,
        min_similarity: float = MIN_SIMILARITY,
    ) -> Steps[Subscription]:
        """Want of the messages to all only some: by exactly one of topic, sender and query."""
        return self._post(
            "/bus/subscriptions", Subscription,
            topic=topic, sender=sender, query=query, min_similarity=min_similarity,
        )  # fmt: skip

    subscribe, asubscribe = blocking(_subscribe), awaiting(_subscribe)

    def _subscriptions(self) -> Steps[list[Subscription]]:
        """Return what this agent wants of the messages to all; nothing: all of them."""
        return [*(yield from self._items("/bus/subscriptions", Subscription))]

    subscriptions, asubscriptions = blocking(_subscriptions), awaiting(_subscriptions)

    def _unsubscribe(self, subscription_id: int) -> Steps[bool]:
        """End a subscription of this agent; return whether it was there."""
        try:
            yield from self._connection.request(
                Request.of(
                    "DELETE", f"/bus/subscriptions/{subscription_id}", viewer=self._viewer,
                    agent=self.agent, query={"namespace": place(self.namespace)},
                )
            )  # fmt: skip
        except ServerError as error:
            if error.kind != "not-found":
                raise
            return False
        return True

    unsubscribe, aunsubscribe = blocking(_unsubscribe), awaiting(_unsubscribe)
