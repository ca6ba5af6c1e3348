"""The endpoint ``/memory/mcp``: MCP over Streamable HTTP, through the same door as REST."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import TaskGroup, TaskStatus
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from langmemory import __version__
from langmemory.declaring.fields import QueryLabels
from langmemory.documents.project import checked_name, namespace_of
from langmemory.server.access import RANK, Access, Grant
from langmemory.server.problems import Problem, invalid
from langmemory.server.service import Service, pieces

if TYPE_CHECKING:
    from langmemory.server.mcp.sdk import Call, Manager
    from langmemory.server.mcp.tools import Tool
    from langmemory.server.oauth.resource import ProtectedResource

PATH: Final = "/mcp"
_LABELS: Final[TypeAdapter[Any]] = TypeAdapter(QueryLabels)


class McpEndpoint:
    """The ASGI application. Each request is answered by itself, for the token it bears.

    The SDK takes a second to be imported, so that is done for the first request.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._tasks: TaskGroup | None = None
        self._managers: dict[bool, Manager] = {}
        """By whether they stream."""
        self._starting = anyio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer until the end of the ``with``, as part of the application's lifespan."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks, self._managers = None, {}
                tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["langmemory.route"] = "/memory/mcp"
        service, request = self._service, Request(scope, receive)
        grant = await service.let_in(request, service.oauth)
        if request.method != "POST":
            raise Problem(
                "method", "Here is no stream and no session: POST each message.",
                headers={"Allow": "POST"}
            )  # fmt: skip
        access = Access(application=service.opened(), grant=grant)
        scope["langmemory.access"] = replace(access, grant=_narrowed(access, request))
        settings = service.settings
        parts = pieces(
            request,
            limit_bytes=settings.body_limit_bytes,
            timeout_seconds=settings.body_timeout_seconds,
        )
        body = b"".join([one async for one in parts])
        managers = await self._started()
        name, tool = _tool_called(body)
        scope["langmemory.tool"] = name
        if service.oauth is not None and grant.from_issuer and tool is not None:
            _check_scope(grant, tool, service.oauth)
        # Only what changes something tells of progress. Other answers are no stream: of those that begin at
        # once Caddy loses some by HTTP/1.1, since Go closes a request at the first flush (golang/go#15527).
        streams = tool is not None and tool.scope != "read" and b'"progressToken"' in body
        given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return given.pop() if given else await receive()

        await managers[streams].handle_request(scope, again, send)

    async def _started(self) -> dict[bool, Manager]:
        async with self._starting:
            if not self._managers:
                tasks = self._tasks
                if tasks is None:
                    raise Problem("unavailable", "The server starts or stops.")
                made: dict[bool, Manager] = await run_in_threadpool(self._made)
                for manager in made.values():
                    await tasks.start(_run, manager)
                self._managers = made
            return self._managers

    def _made(self) -> dict[bool, Manager]:
        from langmemory.server.mcp import sdk
        from langmemory.server.mcp.answering import INSTRUCTIONS, answering

        answer = answering(_access_of, self._service.replays.clear)
        server = sdk.server(answer, version=__version__, instructions=INSTRUCTIONS)
        return {streams: sdk.over_http(server, streams=streams) for streams in (False, True)}


async def _run(manager: Manager, *, task_status: TaskStatus[None]) -> None:
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()


def _tool_called(body: bytes) -> tuple[str, Tool] | tuple[None, None]:
    """Return the tool that a message calls, with its name; None where it calls none, or is none, of which
    the SDK says what is wrong."""
    from langmemory.server.mcp.tools import tool_named

    try:
        call = from_json(body)
        name = call["params"]["name"]
        tool = tool_named(name) if call["method"] == "tools/call" else None
    except (ValueError, TypeError, KeyError):
        return None, None
    return (None, None) if tool is None else (name, tool)


def _check_scope(grant: Grant, tool: Tool, oauth: ProtectedResource) -> None:
    """Refuse what an access token does not allow in the way by which a client learns what to ask the issuer
    for. A token of langmemory cannot get more; there the tool itself refuses.

    Raises:
        Problem: The scope of the token does not suffice.
    """
    if RANK[grant.scope] < RANK[tool.scope]:
        raise oauth.insufficient(tool.scope)


def _access_of(call: Call) -> Access:
    assert call.request is not None
    access: Access = call.request.scope["langmemory.access"]
    return access


def _narrowed(access: Access, request: Request) -> Grant:
    """Return what the sender gets: of a namespace in the address that alone, as the agent there, with the
    projects there.

    They were written there by whoever set up the client; a model chooses no address.
    """
    unknown = request.query_params.keys() - {"namespace", "agent", "project"}
    if unknown:
        raise Problem("invalid", f"There is no parameter {min(unknown)!r:.80}.")
    given = request.query_params.getlist("namespace")
    grant = access.grant.as_agent(request.query_params.get("agent"))
    projects = tuple(request.query_params.getlist("project"))
    for name in projects:
        access.within(namespace_of(checked_name(name)), f"project {name!r}")
    if not given:
        return replace(grant, projects=projects)
    try:
        labels = _LABELS.validate_python(given)
    except ValidationError as error:
        raise invalid("query", error) from None
    return grant.at(access.place(labels, exact=True), projects)
