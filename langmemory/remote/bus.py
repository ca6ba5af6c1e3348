"""The bus of a remote store: what `store.bus` does, over the API."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from langmemory.arguments import check_agent
from langmemory.errors import ConfigError, ServerError
from langmemory.namespaces import check_namespace
from langmemory.remote.connection import Connection, Request, part, place
from langmemory.stores.rooms import MIN_SIMILARITY, MessageOptions
from langmemory.twins import Steps, awaiting, blocking
from langmemory.types import (
    BusMessage,
    MessagePriority,
    MessageType,
    Namespace,
    Page,
    SharedType,
    Subscription,
)


class RemoteBus:
    """Messages between the agents of one namespace, as one of them sends and receives them; see the bus of
    `MemoryStore`.

    Without ``agent`` it is the agent that the token is bound to, if to any. A token of the application may
    name one; a token that is bound to a viewer or to another agent is refused with it.
    """

    __slots__ = ("_connection", "_viewer", "agent", "namespace")

    def __init__(
        self, connection: Connection, viewer: str | None, namespace: Namespace, agent: str | None
    ) -> None:
        self._connection, self._viewer = connection, viewer
        self.namespace = check_namespace(namespace, may_be_empty=True)
        self.agent = None if agent is None else check_agent("agent", agent)

    def _get(self, path: str, of: Any, **query: Any) -> Steps[Any]:
        return self._connection.ask(
            "GET", path, of, viewer=self._viewer, agent=self.agent,
            query={"namespace": place(self.namespace), **query},
        )  # fmt: skip

    def _post(self, path: str, of: Any, **body: Any) -> Steps[Any]:
        where = list(self.namespace) or None
        return self._connection.ask(
            "POST", path, of, viewer=self._viewer, agent=self.agent, writes=True,
            body={"namespace": where, **{name: _plain(value) for name, value in body.items()}},
        )  # fmt: skip

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
            min_priority=min_priority, type=_plain(types),
        )  # fmt: skip

    inbox, ainbox = blocking(_inbox), awaiting(_inbox)

    def _acknowledge(self, message_ids: Iterable[str]) -> Steps[tuple[str, ...]]:
        """Say that this agent is done with messages; return those that it is done with."""
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
            type=_plain(types), topic=topic, reply_to=reply_to,
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
        answer = yield from self._get("/bus/subscriptions", dict[str, list[Subscription]])
        found: list[Subscription] = answer["items"]
        return found

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


def _plain(value: Any) -> Any:
    """Return an argument as JSON has it."""
    return list(value) if isinstance(value, tuple | set | frozenset) else value
