"""Streams: the feed as server-sent events and over a WebSocket.

Both let somebody in as any request does, by the Authorization header: an address with a token in it would
stand in logs and histories. Both say ``ready`` first, with the cursor of that moment.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import Final

from pydantic import Field
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from langmemory.declaring.fields import Fields, QueryLabels
from langmemory.server.access import Access
from langmemory.server.hub import Hub, Interest, Reason, Subscription
from langmemory.server.problems import Problem, problem_of
from langmemory.server.service import Service, query_of, validated
from langmemory.types import FeedEvent, FeedType, Kind
from langmemory.wire import to_bytes

logger = logging.getLogger("langmemory.server")

RETRY_MS: Final = 2_000
"""How long a browser waits until it connects again."""
CODES: Final[dict[Reason, int]] = {
    "gone": 1000, "shutdown": 1001, "token": 1008, "failed": 1011, "slow": 1013,
}  # fmt: skip
"""Why a WebSocket was closed, as RFC 6455 numbers it."""


class EventQuery(Fields):
    """Which events."""

    namespace: QueryLabels | None = None
    """As everywhere. Without it, everything that the token reaches."""
    type: list[FeedType] | None = None
    """May be repeated; without it, all that the token allows."""
    kind: list[Kind] | None = None
    """Of memories. May be repeated; without ``type`` it leaves out everything but memories."""
    after: str | None = Field(default=None, max_length=200)
    """The cursor to read on from, for those who cannot send ``Last-Event-ID``, which counts first."""


async def subscribe(service: Service, connection: HTTPConnection) -> tuple[Hub, Subscription]:
    """Let somebody in and return what they asked to be told of.

    Raises:
        Problem: They may not come in, or not be told of it.
        ConfigError: The cursor is none of this file.
    """
    grant = await service.let_in(connection)
    grant.check_scope("read")
    query = validated(EventQuery, "query", query_of(connection, EventQuery))
    access = Access(application=service.opened(), grant=grant)
    namespaces = grant.namespaces or ((),)
    if query.namespace is not None:
        namespaces = (access.place(query.namespace),)
    allowed: list[FeedType] = ["memory", "review", "message"]
    if grant.viewer is None:
        allowed.append("run")
        if grant.scope == "admin" and not grant.namespaces:
            allowed.append("job")
    refused = [one for one in query.type or () if one not in allowed]
    if refused:
        raise Problem(
            403,
            "event-type",
            f"Your token is not told of {', '.join(refused)}. Runs need one without a viewer; jobs one of "
            "scope admin besides, for the whole file.",
        )
    wanted = query.type or (["memory"] if query.kind else allowed)
    interest = Interest(
        viewer=grant.viewer,
        namespaces=namespaces,
        types=tuple(sorted(set(wanted))),
        kinds=None if query.kind is None else tuple(sorted(set(query.kind))),
    )
    after = connection.headers.get("last-event-id") or query.after
    hub = service.hub()
    return hub, await hub.subscribe(interest, token=grant.id, after=after)


def _event(name: str, data: bytes, cursor: str | None = None) -> bytes:
    """Return one server-sent event. JSON has no line breaks."""
    id = b"" if cursor is None else b"id: %s\n" % cursor.encode()
    return b"%sevent: %s\ndata: %s\n\n" % (id, name.encode(), data)


class EventStream:
    """``/memory/events``: server-sent events."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["langmemory.route"] = "/memory/events"
        hub, subscription = await subscribe(self._service, HTTPConnection(scope))
        settings = self._service.settings
        headers = [
            (b"content-type", b"text/event-stream"),
            (b"x-accel-buffering", b"no"),  # else nginx keeps events until it has some kilobytes
        ]

        async def told(text: bytes, *, more: bool = True) -> None:
            async with asyncio.timeout(settings.event_send_seconds):
                await send({"type": "http.response.body", "body": text, "more_body": more})

        async def listen() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            subscription.end("gone")

        listener = asyncio.create_task(listen())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            ready = _event("ready", b"{}", subscription.cursor)
            await told(b"retry: %d\n%s" % (RETRY_MS, ready))
            async for batch in subscription.batches(settings.event_heartbeat_seconds):
                text = b"".join(
                    _event(one.type, to_bytes(one, FeedEvent), one.cursor) for one in batch
                )
                await told(text or b": \n\n")
            reason = json.dumps({"reason": subscription.reason}).encode()
            await told(_event("end", reason), more=False)
        except TimeoutError:
            _drop(subscription)
        finally:
            listener.cancel()
            hub.leave(subscription)


class EventSocket:
    """``/memory/ws``: each event is one message of JSON. What the client sends is not read."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        try:
            hub, subscription = await subscribe(self._service, socket)
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            await _refuse(socket, problem)
            return
        settings = self._service.settings

        async def told(text: str) -> None:
            async with asyncio.timeout(settings.event_send_seconds):
                await socket.send_text(text)

        async def listen() -> None:
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass
            subscription.end("gone")

        listener: asyncio.Task[None] | None = None
        try:
            await socket.accept()
            listener = asyncio.create_task(listen())
            await told(json.dumps({"type": "ready", "cursor": subscription.cursor}))
            async for batch in subscription.batches(settings.event_heartbeat_seconds):
                for one in batch:
                    await told(to_bytes(one, FeedEvent).decode())
            if subscription.reason != "gone":
                await _close(socket, subscription, settings.event_send_seconds)
        except TimeoutError:
            _drop(subscription)
            await _close(socket, subscription, settings.event_send_seconds)
        except WebSocketDisconnect:
            pass
        finally:
            if listener is not None:
                listener.cancel()
            hub.leave(subscription)


def _drop(subscription: Subscription) -> None:
    """Give up a reader that takes too long."""
    subscription.end("slow")
    logger.warning("subscriber_dropped reason=slow token=%s", subscription.token)


async def _close(socket: WebSocket, subscription: Subscription, within_seconds: float) -> None:
    reason = subscription.reason or "failed"
    with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):  # it may be gone by now
        async with asyncio.timeout(within_seconds):
            await socket.close(CODES[reason], reason)


async def _refuse(socket: WebSocket, problem: Problem) -> None:
    """Answer the handshake with a problem, where the server can; else with 403."""
    if "websocket.http.response" in socket.scope.get("extensions", {}):
        await socket.send_denial_response(problem.response())
    else:
        await socket.close(1008, problem.kind)
