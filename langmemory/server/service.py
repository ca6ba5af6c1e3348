"""Service: one request from the door to the answer, the same way for every route."""

from __future__ import annotations

import inspect
import logging
import tempfile
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anyio import CapacityLimiter, to_thread
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langmemory.events import Event
from langmemory.server.access import Access, Grant, named_in
from langmemory.server.auth import Doorkeeper
from langmemory.server.hub import Hub
from langmemory.server.limits import FAILURES_PER_SECOND, RateLimit, pieces
from langmemory.server.metrics import Metrics
from langmemory.server.problems import Problem, invalid, problem_of
from langmemory.server.replay import Replays
from langmemory.server.routes import Route, Upload, takes_several
from langmemory.server.settings import ServerSettings
from langmemory.server.tags import is_known, tag_of, tags_in
from langmemory.stores import MemoryStore
from langmemory.wire import adapter, to_bytes

if TYPE_CHECKING:
    from langmemory.server.oauth.resource import ProtectedResource

logger = logging.getLogger("langmemory.server")

ModelT = TypeVar("ModelT", bound=BaseModel)

REQUEST: Final = Event(name="request", counts=lambda _: {}, logger=logger)
"""One line for each request: route, status, token and milliseconds; no path, no query, no text."""

METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
"""Of every answer that does not set them itself."""


@dataclass(kw_only=True)
class Service:
    """What all routes of one server share."""

    settings: ServerSettings
    doorkeeper: Doorkeeper
    metrics: Metrics = field(default_factory=Metrics)
    replays: Replays = field(default_factory=Replays)
    oauth: ProtectedResource | None = None
    """Takes access tokens at the MCP endpoint."""
    store: MemoryStore | None = None
    """Open from the start of the application to its end."""
    followers: Hub | None = None
    """There while the store is open."""
    streaming: CapacityLimiter | None = None
    """Likewise: exports make their next piece two at a time, so that recalls have room beside them."""

    def __post_init__(self) -> None:
        self.requests = RateLimit(self.settings.requests_per_second)
        self.failures = RateLimit(FAILURES_PER_SECOND)

    def opened(self) -> MemoryStore:
        """Return the store.

        Raises:
            Problem: The server starts or stops.
        """
        if self.store is None:
            raise Problem(
                503, "unavailable", "The server starts or stops.", headers={"Retry-After": "1"}
            )
        return self.store

    def hub(self) -> Hub:
        """Return who follows the feed.

        Raises:
            Problem: The server starts or stops.
        """
        self.opened()
        assert self.followers is not None
        return self.followers

    async def let_in(
        self, connection: HTTPConnection, oauth: ProtectedResource | None = None
    ) -> Grant:
        """Return what the sender of a request may do, on behalf of whom ``Memory-Viewer`` names and as the
        agent in ``Memory-Agent``, and count it; ``oauth`` takes access tokens, too.

        Raises:
            Problem: They may not come in, ask too often, or may not act on this person's behalf or as this
                agent.
        """
        address = connection.client.host if connection.client else ""
        try:
            grant = await self.doorkeeper.grant(connection, self.opened(), oauth)
        except Problem as problem:
            if problem.status == 401:
                self.failures.take(address)
            raise
        self.requests.take(grant.id)
        connection.scope["langmemory.grant"] = grant.id
        viewer = named_in(connection.headers, "Memory-Viewer")
        agent = named_in(connection.headers, "Memory-Agent")
        return grant.as_agent(agent).on_behalf_of(viewer)

    @asynccontextmanager
    async def opening(
        self, open_store: Callable[[], AbstractAsyncContextManager[MemoryStore]]
    ) -> AsyncIterator[None]:
        """Keep the store open, as the lifespan of an application."""
        async with open_store() as store:
            self.store, self.followers = store, Hub(store)
            self.streaming = CapacityLimiter(2)
            try:
                yield
            finally:
                self.followers.close()
                self.store = self.followers = None


class Endpoint:
    """The ASGI application of one route."""

    def __init__(self, service: Service, route: Route) -> None:
        self._service, self._route = service, route
        self._asynchronous = inspect.iscoroutinefunction(route.handler)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["langmemory.route"] = self._route.template
        request = Request(scope, receive)
        response = await self._answer(request)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        service, route = self._service, self._route
        grant = await service.let_in(request)
        grant.check_scope(route.scope)
        given: dict[str, Any] = {}
        if "path" in route.models:
            given["path"] = validated(route.models["path"], "path", dict(request.path_params))
        query = query_of(request, route.models.get("query"))
        if "query" in route.models:
            given["query"] = validated(route.models["query"], "query", query)
        elif query:
            raise Problem(422, "invalid", f"There is no parameter {next(iter(query))!r:.80}.")
        access = Access(
            application=service.opened(),
            grant=grant,
            if_match=tags_in(request.headers.get("if-match")),
            if_none_match=None
            if route.method == "GET"
            else tags_in(request.headers.get("if-none-match"), weak=True),
            idempotency_key=request.headers.get("idempotency-key"),
        )
        if route.uploads:
            return await self._upload(request, access, given)
        raw = b""
        if "body" in route.models:
            raw = await self._body(request)
            given["body"] = validated(route.models["body"], "body", _parsed(raw))
        if route.method != "POST" or access.idempotency_key is None:
            return await self._call(request, access, given)
        key, sender = access.idempotency_key, access.sender
        identity = b"\0".join((request.url.path.encode(), request.url.query.encode(), raw))
        known = service.replays.begin(sender, key, identity)
        if known is not None:
            return Response(
                known.body, known.status_code, {**known.headers, "Idempotent-Replayed": "true"}
            )
        try:
            response = await self._call(request, access, given)
        except BaseException:
            service.replays.fail(sender, key)
            raise
        service.replays.end(sender, key, response)
        return response

    async def _body(self, request: Request) -> bytes:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Problem(415, "media-type", "Send the body as application/json.")
        settings = self._service.settings
        parts = pieces(
            request,
            limit_bytes=settings.body_limit_bytes,
            timeout_seconds=settings.body_timeout_seconds,
        )
        return b"".join([one async for one in parts])

    async def _upload(self, request: Request, access: Access, given: dict[str, Any]) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        lines = self._route.uploads is Upload
        if lines and kind != "application/x-ndjson":
            raise Problem(415, "media-type", "Send the body as application/x-ndjson.")
        settings = self._service.settings
        limit = settings.import_limit_bytes if lines else settings.document_limit_bytes
        with tempfile.TemporaryDirectory(prefix="langmemory-") as folder:
            file = Path(folder) / "upload"
            with file.open("wb") as stream:
                async for piece in pieces(
                    request,
                    limit_bytes=limit,
                    timeout_seconds=settings.body_timeout_seconds,
                ):
                    await run_in_threadpool(stream.write, piece)
            return await self._call(request, access, {**given, "body": file})

    async def _call(self, request: Request, access: Access, given: dict[str, Any]) -> Response:
        route = self._route
        handler = route.handler
        if self._asynchronous:
            value = await handler(access, **given)
        else:
            value = await run_in_threadpool(handler, access, **given)
        if getattr(value, "forgets", False):
            self._service.replays.clear()
        if route.streams:
            return StreamingResponse(
                self._streamed(_lines(value)), media_type="application/x-ndjson"
            )
        if route.answer is None:
            return Response(status_code=route.status)
        headers = {}
        if route.conditional and (tag := tag_of(value)) is not None:
            headers["ETag"] = tag
            if route.method == "GET" and is_known(tag, request.headers.get("if-none-match")):
                return Response(status_code=304, headers=headers)
        return Response(
            to_bytes(value, route.answer), route.status, headers, media_type="application/json"
        )

    async def _streamed(self, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
        while True:
            piece = await to_thread.run_sync(next, pieces, None, limiter=self._service.streaming)
            if piece is None:
                return
            yield piece


def query_of(connection: HTTPConnection, model: type[BaseModel] | None) -> dict[str, Any]:
    """Return the parameters of a request, as lists where the model of the query takes several.

    Raises:
        Problem: Another one is given twice.
    """
    found: dict[str, Any] = {}
    for name, value in connection.query_params.multi_items():
        if model is not None and name in model.model_fields and takes_several(model, name):
            found.setdefault(name, []).append(value)
        elif name in found:
            raise Problem(422, "invalid", f"query/{name} is given twice.")
        else:
            found[name] = value
    return found


def validated(model: type[ModelT], part: str, given: Any) -> ModelT:
    """Return a part of a request as its model.

    Raises:
        Problem: It is none.
    """
    try:
        checked: ModelT = adapter(model).validate_python(given)
    except ValidationError as error:
        raise invalid(part, error) from None
    return checked


def _parsed(raw: bytes) -> Any:
    try:
        return from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise Problem(400, "malformed", f"The body is no JSON: {error}.") from None


def _lines(rows: Iterator[Any]) -> Iterator[bytes]:
    """Yield JSON lines, some hundred at a time."""
    kept: list[bytes] = []
    for row in rows:
        kept.append(to_bytes(row, Any) + b"\n")
        if len(kept) == 200:
            yield b"".join(kept)
            kept.clear()
    yield b"".join(kept)


class Guard:
    """Around all routes: names and origins are checked, whatever goes wrong becomes a problem, and each
    answer gets its headers, its line in the log and its place in the metrics."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
            return
        started, status = perf_counter(), 0
        kind: str | None = None
        metrics = self._service.metrics
        metrics.under_way += 1

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = list(message.get("headers", ()))
                known = {name.lower() for name, _ in headers}
                message = {
                    **message,
                    "headers": headers + [one for one in HEADERS if one[0] not in known],
                }
            await send(message)

        try:
            self._service.doorkeeper.check_origin(HTTPConnection(scope))
            await self._app(scope, receive, sending)
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                log_failure(error)
                problem = Problem(500, "internal", "The server failed; its log says where.")
            kind = problem.kind
            if (
                status
            ):  # the answer has begun: it can only be cut off, and nobody is to log a message
                raise ConnectionAbortedError(type(error).__name__) from None
            await problem.response()(scope, receive, sending)
        finally:
            metrics.under_way -= 1
            seconds = perf_counter() - started
            route = scope.get("langmemory.route", "other")
            # A client may send any word as its method: each would be kept among the metrics.
            method = scope["method"] if scope["method"] in METHODS else "other"
            metrics.count(method, route, status, seconds, kind)
            if logger.isEnabledFor(logging.INFO):
                fields = {"method": method, "route": route, "status": status}
                if (grant := scope.get("langmemory.grant")) is not None:
                    fields["token"] = grant
                if kind is not None:
                    fields["problem"] = kind
                REQUEST.log(fields, seconds * 1_000)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._service.doorkeeper.check_origin(HTTPConnection(scope))
        except Problem:
            await send({"type": "websocket.close", "code": 1008})
            return
        await self._app(scope, receive, send)


def log_failure(error: Exception) -> None:
    """Log where something failed; its message may hold what somebody said."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("request_failed error=%s\n%s", type(error).__name__, frames)
