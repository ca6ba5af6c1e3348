"""Service: one request from the door to the answer, the same way for every route; its limits, and metrics as
Prometheus reads them. No label of a metric holds what somebody said."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import tempfile
import traceback
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anyio import CapacityLimiter, to_thread
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langmemory.events import Event
from langmemory.server.access import Access, Grant, is_known, named_in, tag_of, tags_in
from langmemory.server.audit import Audit
from langmemory.server.auth import Doorkeeper
from langmemory.server.hub import Hub
from langmemory.server.problems import Problem, invalid, problem_of
from langmemory.server.replay import Replays
from langmemory.server.routes import Route, Upload, takes_several
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore
from langmemory.wire import adapter, to_bytes

if TYPE_CHECKING:
    from langmemory.server.oauth.resource import ProtectedResource

KNOWN: Final = 10_000
"""Senders that are kept in mind."""
BURST_SECONDS: Final = 2.0
"""So many seconds' requests may come at once."""
PIECE_BYTES: Final = 64 * 1024
FAILURES_PER_SECOND: Final = 20.0
"""Wrong tokens that one address may try, on average."""


class RateLimit:
    """A token bucket for each sender. One event loop uses it."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._per_second, self._clock = per_second, clock
        self._most = max(per_second * BURST_SECONDS, 1.0)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, sender: str) -> None:
        """Count a request.

        Raises:
            Problem: It is one too many.
        """
        left, now = self._refilled(sender)
        if left < 1:
            wait = max(1, math.ceil((1 - left) / self._per_second))
            raise Problem(
                "too-many-requests",
                f"More than {self._per_second:g} requests a second; wait {wait} s.",
                headers={"Retry-After": str(wait)},
            )
        self._left[sender] = (left - 1, now)
        self._left.move_to_end(sender)
        if len(self._left) > KNOWN:
            self._left.popitem(last=False)

    def _refilled(self, sender: str) -> tuple[float, float]:
        now = self._clock()
        left, since = self._left.get(sender, (self._most, now))
        return min(self._most, left + (now - since) * self._per_second), now


async def pieces(
    request: Request, *, limit_bytes: int, timeout_seconds: float
) -> AsyncIterator[bytes]:
    """Yield the body of a request as it comes.

    Raises:
        Problem: It holds more than ``limit_bytes``, or 64 KiB of it took longer than
            ``timeout_seconds``.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit_bytes:
        raise _too_large(limit_bytes)
    stream = request.stream().__aiter__()
    loop = asyncio.get_running_loop()
    size, due_at, due_bytes = 0, loop.time() + timeout_seconds, PIECE_BYTES
    while True:
        try:
            async with asyncio.timeout_at(due_at):
                piece = await anext(stream, None)
        except TimeoutError:
            raise Problem(
                "too-slow",
                f"The body came too slowly: 64 KiB may take {timeout_seconds:g} s.",
                headers={"Connection": "close"},
            ) from None
        except ClientDisconnect:
            raise Problem("malformed", "The body ended early.") from None
        if piece is None:
            return
        size += len(piece)
        if size > limit_bytes:
            raise _too_large(limit_bytes)
        if size >= due_bytes:
            due_at, due_bytes = loop.time() + timeout_seconds, size + PIECE_BYTES
        yield piece


def _too_large(limit_bytes: int) -> Problem:
    return Problem(
        "too-large", f"The body is larger than {limit_bytes:,} bytes. Send less at a time."
    )


BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""

Labels = tuple[str, str]
"""Method and route."""


class Metrics:
    """The figures of one server. One event loop counts."""

    def __init__(self) -> None:
        self.under_way = 0
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._refused: dict[str, int] = defaultdict(int)
        self._within: dict[Labels, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[Labels, float] = defaultdict(float)

    def count(self, method: str, route: str, status: int, seconds: float, kind: str | None) -> None:
        """Count a request that was answered; ``kind`` is the problem it was refused with."""
        self._requests[method, route, status] += 1
        self._seconds[method, route] += seconds
        place = next((n for n, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
        self._within[method, route][place] += 1
        if kind is not None:
            self._refused[kind] += 1

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all of it in Prometheus' text format, with some figures of the file."""
        return "\n".join([*self._lines(gauges), ""])

    def _lines(self, gauges: Mapping[str, float]) -> Iterator[str]:
        yield "# HELP langmemory_requests_total Requests that were answered."
        yield "# TYPE langmemory_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"langmemory_requests_total{{{labels}}} {count}"
        yield "# HELP langmemory_refused_total Requests that were refused, by problem."
        yield "# TYPE langmemory_refused_total counter"
        for kind, count in sorted(self._refused.items()):
            yield f'langmemory_refused_total{{problem="{kind}"}} {count}'
        yield "# HELP langmemory_request_seconds Time to answer a request."
        yield "# TYPE langmemory_request_seconds histogram"
        for (method, route), counts in sorted(self._within.items()):
            labels, below = f'method="{method}",route="{route}"', 0
            for most, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                below += count
                yield f'langmemory_request_seconds_bucket{{{labels},le="{most}"}} {below}'
            yield f"langmemory_request_seconds_sum{{{labels}}} {self._seconds[method, route]:.6f}"
            yield f"langmemory_request_seconds_count{{{labels}}} {below}"
        yield "# TYPE langmemory_requests_under_way gauge"
        yield f"langmemory_requests_under_way {self.under_way}"
        for name, value in gauges.items():
            yield f"# TYPE langmemory_{name} gauge"
            yield f"langmemory_{name} {value:g}"


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
        self.audit = None if self.settings.audit is None else Audit(self.settings.audit)

    def opened(self) -> MemoryStore:
        """Return the store.

        Raises:
            Problem: The server starts or stops.
        """
        if self.store is None:
            raise Problem(
                "unavailable", "The server starts or stops.", headers={"Retry-After": "1"}
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
        acting = grant.as_agent(agent).on_behalf_of(viewer)
        connection.scope["langmemory.acting"] = {"viewer": acting.viewer, "agent": acting.agent}
        return acting

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
            raise Problem("invalid", f"There is no parameter {next(iter(query))!r:.80}.")
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
            raise Problem("media-type", "Send the body as application/json.")
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
            raise Problem("media-type", "Send the body as application/x-ndjson.")
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
            raise Problem("invalid", f"query/{name} is given twice.")
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
        raise Problem("malformed", f"The body is no JSON: {error}.") from None


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
                problem = Problem("internal", "The server failed; its log says where.")
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
            self._audit(scope, method, status, seconds, kind)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = perf_counter(), 101

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "websocket.http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._service.doorkeeper.check_origin(HTTPConnection(scope))
            await self._app(scope, receive, sending)
        except Problem:
            status = 403
            await send({"type": "websocket.close", "code": 1008})
        finally:
            self._audit(scope, "GET", status, perf_counter() - started, None)

    def _audit(
        self, scope: Scope, method: str, status: int, seconds: float, kind: str | None
    ) -> None:
        """Add a request to the audit log, if there is one."""
        if self._service.audit is None:
            return
        known = {
            "token": scope.get("langmemory.grant"), **scope.get("langmemory.acting", {}),
            "address": scope["client"][0] if scope.get("client") else None, "method": method,
            "route": scope.get("langmemory.route", "other"), "tool": scope.get("langmemory.tool"),
            "status": status, "problem": kind, "ms": round(seconds * 1_000, 1),
        }  # fmt: skip
        self._service.audit.add({name: one for name, one in known.items() if one is not None})


def log_failure(error: Exception) -> None:
    """Log where something failed; its message may hold what somebody said."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("request_failed error=%s\n%s", type(error).__name__, frames)
