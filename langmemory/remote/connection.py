"""Requests to one server: timeouts, what is sent again and when, sync and async, and from a refusal to the
error that the same call raises of a file on this machine."""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote
from uuid import uuid4
from weakref import WeakKeyDictionary

import httpx
from langgraph.store.base import InvalidNamespaceError

from langmemory import errors
from langmemory.errors import (
    AccessError,
    ConfigError,
    LangMemoryError,
    ServerError,
    ServerUnreachableError,
)
from langmemory.labels import join_labels
from langmemory.steps import Steps, Wait
from langmemory.types import Namespace
from langmemory.values import to_json
from langmemory.wire import adapter

BY_KIND: Final[dict[str, type[LangMemoryError]]] = {
    "changed-meanwhile": errors.ChangedMeanwhileError,
    "conflict": errors.ChangeError,
    "import-format": errors.ImportFormatError,
    "invalid": errors.InvalidValueError,
    "model-unavailable": errors.ModelUnavailableError,
    "namespace-needed": errors.ConfigError,
    "ownership": errors.OwnershipError,
}
"""For problems that do not name the error they stand for."""


def kind_of(response: httpx.Response) -> str:
    """Return the word for programs of a refusal; empty where something else than langmemory refused."""
    return str(_problem(response).get("type", "")).rpartition(":")[2]


def error_of(response: httpx.Response, address: str) -> Exception:
    """Return the error that a refusal stands for, with what the server says is the next step."""
    status, problem = response.status_code, _problem(response)
    if not problem:
        return ServerError(_strange(response, address), status=status)
    kind, detail = kind_of(response), str(problem.get("detail", ""))
    named = problem.get("error")
    if named == InvalidNamespaceError.__name__:
        return InvalidNamespaceError(detail)
    cls = getattr(errors, str(named), None) or BY_KIND.get(kind)
    if isinstance(cls, type) and issubclass(cls, LangMemoryError):
        if issubclass(cls, errors.DamagedFileError):
            return cls(detail, ())
        if not issubclass(cls, ServerError):
            return cls(detail)
    refused = AccessError if status in (401, 403) else ServerError
    return refused(f"{detail} ({address} answered {status}.)", status=status, kind=kind)


def _strange(response: httpx.Response, address: str) -> str:
    status = response.status_code
    if response.is_redirect:
        return (
            f"{address} answers with a redirect to {response.headers.get('location', '')!r:.200}. Pass "
            "that address, if it is yours."
        )
    return (
        f"{address} answers {status}, and not as langmemory's server does. Is it its address, without "
        "/api/v1/memory? If a proxy stands before it, look into the log of the proxy."
    )


def _problem(response: httpx.Response) -> dict[str, Any]:
    if not response.headers.get("content-type", "").startswith("application/problem+json"):
        return {}
    try:
        found = json.loads(response.content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


T = TypeVar("T")

API: Final = "/api/v1/memory"
PAGE: Final = 200
"""Rows that are asked for at a time."""
NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""After these the server has seen nothing of the request."""
CONNECTIONS: Final = 32
"""Requests of one event loop, or of all threads, that are under way at a time."""
IDLE_SECONDS: Final = 4
"""How long a connection is kept that nobody uses: less than uvicorn does, which closes it after five."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backoff:
    """How often, and after what time, a request is sent again."""

    attempts: int = 8
    """In all; 1 sends nothing again. With eight, a server may be away for some six seconds."""
    first_seconds: float = 0.1
    """The longest wait after the first attempt; it doubles with each further one."""
    longest_seconds: float = 10.0
    jitter: Callable[[], float] = random.random
    """Returns the share of the longest wait, 0 to 1, so that clients do not come back together."""

    def seconds(self, attempt: int, asked: float | None) -> float:
        """Return how long to wait after an attempt, counted from 1; ``asked`` is what the server wants."""
        longest = min(self.first_seconds * 2.0 ** (attempt - 1), self.longest_seconds)
        return min(asked or 0.0, self.longest_seconds) + longest * self.jitter()


class _LoopClient:
    """The client of one event loop."""

    __slots__ = ("httpx", "places")

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.httpx = client
        # Others wait here: httpcore's pool goes through all that wait with each request.
        self.places = asyncio.Semaphore(CONNECTIONS)


class Connection:
    """The server as all stores of one `RemoteMemoryStore` and its rooms use it."""

    def __init__(
        self,
        address: str,
        *,
        token: str | None,
        timeout_seconds: float,
        connect_timeout_seconds: float,
        backoff: Backoff,
        verify: ssl.SSLContext | bool,
    ) -> None:
        self.address = _checked_address(address)
        self._backoff = backoff
        if self.address.startswith("https:") and not isinstance(verify, ssl.SSLContext):
            verify = httpx.create_ssl_context(verify=verify)  # once: it reads files
        elif self.address.startswith("http:"):
            verify = False
        self._options: dict[str, Any] = {
            "base_url": self.address + API,
            "headers": {} if token is None else {"Authorization": f"Bearer {_checked(token)}"},
            "timeout": httpx.Timeout(timeout_seconds, connect=connect_timeout_seconds),
            "limits": httpx.Limits(max_connections=CONNECTIONS, keepalive_expiry=IDLE_SECONDS),
            "verify": verify,
        }
        self._client = httpx.Client(**self._options)
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClient] = (
            WeakKeyDictionary()
        )

    def close(self) -> None:
        """Close what sync calls use."""
        self._client.close()

    async def aclose(self) -> None:
        """Close what sync calls use, and what this event loop uses."""
        self._client.close()
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.httpx.aclose()

    async def _send(self, sent: Mapping[str, Any]) -> httpx.Response:
        """Send a request by the client of this event loop: its connections can be used on no other."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = _LoopClient(httpx.AsyncClient(**self._options))
        async with client.places:
            return await client.httpx.request(**sent)

    def request(self, request: Request) -> Steps[bytes]:
        """Send a request, again where that is safe and may help, and return the body of the answer.

        Raises:
            ServerUnreachableError: No answer came.
            LangMemoryError: The server refused; which error it is depends on why.
        """
        attempt = 0
        while True:
            attempt += 1
            last = attempt >= self._backoff.attempts
            asked: float | None = None
            try:
                response: httpx.Response = yield Wait(
                    lambda: self._client.request(**request.sent),
                    lambda: self._send(request.sent),
                )
            except httpx.TransportError as error:
                if last or not (request.repeatable or isinstance(error, NOT_SENT)):
                    raise self._unreachable(error, attempt) from error
            else:
                if response.status_code < 300:
                    return response.content
                if last or not _passes(response, request.repeatable):
                    raise error_of(response, self.address)
                asked = retry_after(response)
            seconds = self._backoff.seconds(attempt, asked)
            yield Wait(lambda: time.sleep(seconds), lambda: asyncio.sleep(seconds))  # noqa: B023

    def ask(
        self,
        method: str,
        path: str,
        of: Any,
        *,
        viewer: str | None,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        writes: bool = False,
        agent: str | None = None,
    ) -> Steps[Any]:
        """Return what a route answers, as a value of the type ``of``.

        Args:
            method: Of the route.
            path: Of the route, below `API`; see `part`.
            of: Type of the answer; None for none.
            viewer: On whose behalf; None as the token says.
            query: Parameters; those that are None are left out.
            body: What is sent as JSON.
            writes: Whether it changes something. A POST then gets an Idempotency-Key, so that it is done
                once, however often it is sent.
            agent: As which agent on the bus; None as the token says.
        """
        raw = yield from self.request(
            Request.of(
                method, path, viewer=viewer, query=query, body=body, writes=writes, agent=agent
            )
        )
        return None if of is None else adapter(of).validate_json(raw)

    def listed(
        self,
        path: str,
        of: type[T],
        *,
        viewer: str | None,
        query: Mapping[str, Any] | None = None,
        limit: int | None = None,
    ) -> Steps[list[T]]:
        """Return all rows of a list, or the first so many."""
        found: list[T] = []
        cursor: str | None = None
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            page = yield from self.ask(
                "GET", path, dict[str, Any], viewer=viewer,
                query={**(query or {}), "limit": size, "cursor": cursor},
            )  # fmt: skip
            found += adapter(list[of]).validate_python(page["items"])  # type: ignore[valid-type]
            cursor = page["next"]
            if cursor is None:
                break
        return found

    def download(self, path: str, *, viewer: str | None, query: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the rows of a route that answers with JSON lines, as they come."""
        request = Request.of("GET", path, viewer=viewer, query=query)
        with self._streaming(request.sent) as response:
            for line in response.iter_lines():
                yield json.loads(line)

    def upload(self, path: str, rows: Iterable[Mapping[str, Any]], *, viewer: str | None) -> Any:
        """Send rows as JSON lines, as they come, and return the answer. It is sent once."""
        request = Request.of("POST", path, viewer=viewer)
        headers = {**request.sent["headers"], "Content-Type": "application/x-ndjson"}
        lines = (to_json(row).encode() + b"\n" for row in rows)
        with self._streaming({**request.sent, "headers": headers, "content": lines}) as response:
            return json.loads(response.read())

    @contextmanager
    def _streaming(self, sent: Mapping[str, Any]) -> Iterator[httpx.Response]:
        try:
            with self._client.stream(**sent) as response:
                if response.status_code >= 300:
                    response.read()
                    raise error_of(response, self.address)
                yield response
        except httpx.TransportError as error:
            raise self._unreachable(error, 1) from error

    def _unreachable(self, error: httpx.TransportError, attempts: int) -> ServerUnreachableError:
        why = str(error) or type(error).__name__
        times = "once" if attempts == 1 else f"{attempts} times"
        return ServerUnreachableError(
            f"{self.address} could not be reached ({why}); it was tried {times}. Is the server running "
            "(`langmemory serve`), and is this its address?"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request, as often as it is sent."""

    sent: Mapping[str, Any]
    """As httpx takes it."""
    repeatable: bool
    """Whether sending it twice does no more than sending it once."""

    @classmethod
    def of(
        cls,
        method: str,
        path: str,
        *,
        viewer: str | None,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        writes: bool = False,
        agent: str | None = None,
        data: bytes | None = None,
    ) -> Request:
        """See `Connection.ask`. ``data`` is sent as it is."""
        headers = {}
        content = data
        if viewer is not None:
            headers["Memory-Viewer"] = json.dumps(viewer)
        if agent is not None:
            headers["Memory-Agent"] = json.dumps(agent)
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = to_json(body, finite=True).encode()
        if writes and method == "POST":
            headers["Idempotency-Key"] = uuid4().hex
        sent = {"method": method, "url": path, "headers": headers, "content": content}
        return cls(
            sent={**sent, "params": _parameters(query or {})},
            repeatable=not writes or method == "POST" or data is not None,
        )


def part(text: str) -> str:
    """Return a key, name or id as it stands in a path. No text is none of them, as the server will say."""
    return quote(str(text), safe="").replace(".", "%2E")  # "." and ".." would mean another path


def place(namespace: Namespace) -> str | None:
    """Return a namespace as parameters have it; None for the whole file."""
    return join_labels(namespace) if namespace else None


def _parameters(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in query.items():
        several = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        for one in several:
            if isinstance(one, bool):
                found.append((name, str(one).lower()))
            elif isinstance(one, datetime):
                found.append((name, one.isoformat()))
            elif one is not None:
                found.append((name, str(one)))
    return found


def _passes(response: httpx.Response, repeatable: bool) -> bool:
    """Whether what stood in the way of a request may be gone soon."""
    if response.status_code in (429, 503) or kind_of(response) == "under-way":
        return True  # nothing of it was done, or it is being done
    return repeatable and response.status_code in (502, 504)


def retry_after(response: httpx.Response) -> float | None:
    """Return after how many seconds a server wants to be asked again, if it says so."""
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:  # none, or a date
        return None
    return seconds if seconds >= 0 else None


def _checked_address(address: str) -> str:
    """Return the address without a slash at its end."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, TypeError):
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(
            f"The address of the server is {address!r:.80}; pass one such as http://127.0.0.1:8765."
        )
    if url.userinfo or url.query or url.fragment:
        raise ConfigError(
            "The address of the server holds a password, a query or a fragment; pass the address alone, "
            "and token= beside it."
        )
    return str(url).rstrip("/").removesuffix(API)


def _checked(token: str) -> str:
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        raise ConfigError(
            "The token is not one: it is empty, or holds spaces, line ends or letters beyond ASCII. Pass "
            "what `langmemory token create` printed."
        )
    return token


def sendable(value: Any) -> Any:
    """Return an argument as JSON has it: collections of any kind as lists."""
    return list(value) if isinstance(value, tuple | set | frozenset) else value
