"""The one module that knows the MCP SDK, of which 1.28 to 1.x and 2.x are supported.

2.x renamed its classes, and langchain-mcp-adapters needs 1.x. What both share is the protocol itself, so
the rest of the package answers methods with JSON as the protocol has it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, Final, Protocol, TypeAlias

import anyio
import mcp.types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared import exceptions
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

Json: TypeAlias = dict[str, Any]

METHODS: Final[Mapping[str, str]] = {
    "tools/list": "ListTools",
    "tools/call": "CallTool",
    "resources/list": "ListResources",
    "resources/templates/list": "ListResourceTemplates",
    "resources/read": "ReadResource",
    "prompts/list": "ListPrompts",
    "prompts/get": "GetPrompt",
}
"""What a client may call, and how the SDK's types for it begin."""

INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

sdk: Any = mcp.types
_SECOND: Final = hasattr(exceptions, "MCPError")


class Refusal(Exception):
    """An answer with an error of the protocol: what was asked for is not there, or not as asked."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A request of a client, under way."""

    request: Request | None
    """As it came over HTTP; None on stdio."""
    progress: Callable[[float, float, str], Awaitable[None]]
    """Tells the client how much is done, of how much, and what comes now; nothing where it did not ask."""


Answer: TypeAlias = Callable[[Call, str, Json], Awaitable[Json]]
"""Takes a method of `METHODS` and its parameters; returns the result, or raises `Refusal`."""


class Manager(Protocol):
    """What answers requests over HTTP."""

    def run(self) -> AbstractAsyncContextManager[None]:
        """Work until the end of the ``with``; once."""

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""


def server(answer: Answer, *, version: str, instructions: str) -> Any:
    """Return the SDK's server around a function that answers."""
    made: Any = Server("langmemory", version=version, instructions=instructions)
    for method, name in METHODS.items():
        if _SECOND:
            params = getattr(sdk, f"{name}RequestParams", sdk.PaginatedRequestParams)
            made.add_request_handler(method, params, _second(answer, method, name))
        else:
            request = getattr(sdk, f"{name}Request")
            made.request_handlers[request] = _first(made, answer, method, name)
    return made


def over_http(made: Any, *, streams: bool) -> Manager:
    """Return what answers HTTP requests, each by itself: there are no sessions to take over. An answer is one
    document of JSON, or with ``streams`` a stream of events, in which progress comes before it."""
    manager: Manager = StreamableHTTPSessionManager(
        app=made, stateless=True, json_response=not streams
    )
    return manager


async def over_stdio(made: Any) -> None:
    """Serve the process's stdin and stdout until stdin ends. Whatever else writes to stdout meanwhile, in
    Python or below it, reaches stderr."""
    sys.stdout.flush()
    wire = TextIOWrapper(os.fdopen(os.dup(1), "wb"), encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    received = TextIOWrapper(os.fdopen(os.dup(0), "rb"), encoding="utf-8", errors="replace")
    async with stdio_server(anyio.wrap_file(received), anyio.wrap_file(wire)) as streams:
        await made.run(*streams, made.create_initialization_options())


def _second(answer: Answer, method: str, name: str) -> Callable[[Any, Any], Awaitable[Any]]:
    result = getattr(sdk, f"{name}Result")

    async def handle(context: Any, params: Any) -> Any:
        call = Call(request=context.request, progress=context.session.report_progress)
        try:
            found = await answer(call, method, _plain(params))
        except Refusal as refusal:
            error: Any = exceptions.MCPError
            raise error(refusal.code, refusal.message) from None
        return result.model_validate(found)

    return handle


def _first(made: Any, answer: Answer, method: str, name: str) -> Callable[[Any], Awaitable[Any]]:
    result = getattr(sdk, f"{name}Result")

    async def handle(request: Any) -> Any:
        context = made.request_context
        token = context.meta.progressToken if context.meta else None

        async def progress(done: float, total: float, message: str) -> None:
            if token is not None:
                await context.session.send_progress_notification(
                    token, done, total, message, related_request_id=str(context.request_id)
                )

        call = Call(request=context.request, progress=progress)
        try:
            found = await answer(call, method, _plain(request.params))
        except Refusal as refusal:
            error: Any = exceptions.McpError  # type: ignore[attr-defined]
            details = sdk.ErrorData(code=refusal.code, message=refusal.message)
            raise error(details) from None
        return sdk.ServerResult(result.model_validate(found))

    return handle


def _plain(params: Any) -> Json:
    if params is None:
        return {}
    found: Json = params.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found
