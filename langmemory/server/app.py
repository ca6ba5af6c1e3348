"""The application: routes of the API, streams of the feed, and what runs a server, around one open store.

A stream lets somebody in as any request does, by the Authorization header: an address with a token in it
would stand in logs and histories. It says ``ready`` first, with the cursor of that moment. The application
may be mounted in a LangGraph server (``http.app``).
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic import Field
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route, Router, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from langmemory.declaring.fields import Fields, QueryLabels
from langmemory.errors import ConfigError, with_extra
from langmemory.server import inspector, openapi
from langmemory.server.access import LOCAL, Access, Grant
from langmemory.server.api import all_routes
from langmemory.server.auth import Doorkeeper
from langmemory.server.hub import Hub, Interest, Reason, Subscription
from langmemory.server.mcp.endpoint import PATH, McpEndpoint
from langmemory.server.oauth.settings import is_loopback
from langmemory.server.problems import Problem, problem_of
from langmemory.server.routes import PREFIX
from langmemory.server.service import Endpoint, Guard, Service, query_of, validated
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore
from langmemory.types import FeedEvent, FeedType, Kind
from langmemory.wire import to_bytes

if TYPE_CHECKING:
    from langmemory.server.oauth.resource import ProtectedResource
    from langmemory.server.oauth.verifier import TokenVerifier

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
        scope["langmemory.route"] = "/memory/ws"
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


@asynccontextmanager
async def surrounding_store() -> AsyncIterator[MemoryStore]:
    """Yield the store of the LangGraph server around; where it names none, the configured memory file.

    Raises:
        ConfigError: The server's store is of another kind.
    """
    loaded = sys.modules.get("langgraph_api.store")
    if loaded is None or loaded.CUSTOM_STORE is None:
        from langmemory.graphs.server import open_store

        async with open_store() as opened:
            yield opened
        return
    store = await loaded.get_store()  # the server closes it
    if not isinstance(store, MemoryStore):
        raise ConfigError(
            f"The store of this LangGraph server is a {type(store).__name__}, and the memory API needs a "
            'MemoryStore. Name one in langgraph.json: "store": {"path": "./store.py:open_store"}.'
        )
    yield store


def unprotected() -> str | None:
    """Return why the LangGraph server around lets everybody reach the application; None where it does not,
    or where there is none.

    It does unless ``enable_custom_route_auth`` stands beside ``app`` in langgraph.json, and is open to
    others unless it listens on loopback. Where it listens it says in ``LANGGRAPH_API_URL``.
    """
    http = os.environ.get("LANGGRAPH_HTTP")
    if not http or json.loads(http).get("enable_custom_route_auth"):
        return None
    host = urlsplit(os.environ.get("LANGGRAPH_API_URL", "")).hostname
    if host is not None and is_loopback(host):
        return None
    return (
        f"This LangGraph server listens on {host or 'an unknown address'}, and lets everybody reach the app "
        'of "http" in langgraph.json. So memory is closed there. Set "enable_custom_route_auth": true beside '
        '"app", or let the server listen on 127.0.0.1.'
    )


OpenStore = Callable[[], AbstractAsyncContextManager[MemoryStore]]


def create_app(
    store: MemoryStore | OpenStore | None = None,
    *,
    settings: ServerSettings | None = None,
    local: Grant | None = LOCAL,
    mounted: bool = False,
    verifier: TokenVerifier | None = None,
) -> Starlette:
    """Return the ASGI application.

    Args:
        store: An open store, which stays open; or what opens one for as long as the application runs.
            None takes that of the LangGraph server around, or opens the configured file.
        settings: None takes the defaults.
        local: What somebody at this machine may do without a token.
        mounted: It runs inside another server, such as LangGraph's (``http.app`` in langgraph.json). It
            then has no routes but below ``/api/v1/memory`` and ``/memory``, always asks for a token, and
            leaves names of hosts to the server around it. Where that one is open to others and lets
            everybody reach the application, it refuses all requests.
        verifier: Verifies the access tokens that the settings' ``oauth`` speaks of, instead of as JWTs by the
            issuer's keys.
    """
    settings = settings or ServerSettings()
    doorkeeper = Doorkeeper.of(settings, local=local)
    if mounted:
        doorkeeper = replace(doorkeeper, local=None, hosts=None, closed=unprotected())
    oauth = _resource(settings, verifier, mounted=mounted)
    service = Service(settings=settings, doorkeeper=doorkeeper, oauth=oauth)
    mcp = McpEndpoint(service)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with service.opening(_opener(store)), mcp.running():
            yield

    routes = all_routes()
    api = [
        *openapi.pages_of(routes),
        *(
            Route(one.path, Endpoint(service, one), methods=[one.method])
            for part in routes
            for one in part.declared
        ),
    ]
    status = _status_routes(service)
    shown = [*status, *_streams(service), Route(PATH, mcp), *inspector.routes()]
    root = status
    if oauth is not None:
        shown, root = [*shown, oauth.own_route()], [*status, *oauth.root_routes()]
    places: dict[str, Sequence[Route | WebSocketRoute]] = {
        PREFIX: api,
        "/memory": shown,
        **({} if mounted else {"": [Route("/", inspector.to_page), *root]}),
    }
    app = Starlette(
        routes=[
            Route("/memory", Guard(Route("/memory", inspector.to_page).app, service)),
            *(_guarded(prefix, routes, service) for prefix, routes in places.items()),
        ],
        lifespan=lifespan,
    )
    app.state.service = service
    return app


def _resource(
    settings: ServerSettings, verifier: TokenVerifier | None, *, mounted: bool
) -> ProtectedResource | None:
    """Return the MCP endpoint as OAuth sees it, if the settings ask for that."""
    if settings.oauth is None:
        if verifier is not None:
            raise ConfigError(
                "A verifier needs ServerSettings(oauth=OAuthSettings(issuer=…, resource=…)), which say where "
                "clients get a token."
            )
        return None
    try:
        from langmemory.server.oauth.resource import ProtectedResource
    except ImportError as error:
        raise ConfigError(f"OAuth needs {error.name}: {with_extra('server')}") from error
    return ProtectedResource(settings.oauth, verifier=verifier, mounted=mounted)


def _guarded(prefix: str, routes: Sequence[Route | WebSocketRoute], service: Service) -> Mount:
    """Return routes below a prefix. In their paths a line break is a character as any other, as in keys;
    for Starlette it ends a path."""
    mount = Mount(prefix, Guard(Router(routes, redirect_slashes=False), service))
    matching: list[Mount | Route | WebSocketRoute] = [mount, *routes]
    for one in matching:
        one.path_regex = re.compile(one.path_regex.pattern, re.DOTALL)
    return mount


def _opener(store: MemoryStore | OpenStore | None) -> OpenStore:
    if isinstance(store, MemoryStore):
        opened = store

        @asynccontextmanager
        async def as_it_is() -> AsyncIterator[MemoryStore]:
            yield opened

        return as_it_is
    return store or surrounding_store


def _status_routes(service: Service) -> list[Route]:
    """Return what tells whether the server runs, and how."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        store = service.opened()
        await run_in_threadpool(store.jobs.counts)  # reads the file
        return PlainTextResponse("ok\n")

    async def metrics(request: Request) -> Response:
        grant = await service.let_in(request)
        # Counts of what everybody does: they tell a viewer how much others do.
        store = Access(application=service.opened(), grant=grant).whole(anywhere=True)
        jobs = await run_in_threadpool(store.jobs.counts)
        gauges = {
            f"jobs_{state}": float(jobs.get(state, 0)) for state in ("pending", "running", "dead")
        }
        return PlainTextResponse(
            service.metrics.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8"
        )

    return [Route(f"/{one.__name__}", one) for one in (healthz, readyz, metrics)]


def _streams(service: Service) -> list[Route | WebSocketRoute]:
    events = Route("/events", EventStream(service), methods=["GET"])
    events.methods = {"GET"}  # not HEAD, which would wait for an end that does not come
    return [events, WebSocketRoute("/ws", EventSocket(service))]
