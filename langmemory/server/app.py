"""The application: routes of the API and what runs a server, around one open store."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route, Router, WebSocketRoute

from langmemory.errors import ConfigError, with_extra
from langmemory.server import documentation, inspector
from langmemory.server.access import LOCAL, Access, Grant
from langmemory.server.api import all_routes
from langmemory.server.auth import Doorkeeper
from langmemory.server.mcp.endpoint import PATH, McpEndpoint
from langmemory.server.mounting import surrounding_store, unprotected
from langmemory.server.routes import PREFIX
from langmemory.server.service import Endpoint, Guard, Service
from langmemory.server.settings import ServerSettings
from langmemory.server.streams import EventSocket, EventStream
from langmemory.stores import MemoryStore

if TYPE_CHECKING:
    from langmemory.server.oauth.resource import ProtectedResource
    from langmemory.server.oauth.verifier import TokenVerifier

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
        *documentation.routes(routes),
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
        **({} if mounted else {"": root}),
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
