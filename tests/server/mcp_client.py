"""The MCP SDK's own client, of whichever major is installed, and servers for it to talk to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason='the extra "server" is not installed')
pytest.importorskip("starlette", reason='the extra "server" is not installed')

from mcp import ClientSession, StdioServerParameters
from mcp.client import streamable_http
from mcp.client.stdio import stdio_client

from tests.postgres_server import place

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
RUN = [sys.executable, "-m", "langmemory"]
SECOND = not hasattr(streamable_http, "streamablehttp_client")
"""Whether the SDK is of the second major."""


def command_in(folder: Path) -> list[str]:
    """Return `langmemory` on the memory file of a folder."""
    return [*RUN, "--db", place(folder / "memory.db")]


class Client:
    """A session whose answers are the JSON of the protocol, which both majors share."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session
        self.progress: list[tuple[float, float | None]] = []

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; the answer as it came."""

        async def heard(done: float, total: float | None, _: str | None) -> None:
            self.progress.append((done, total))

        found = await self.session.call_tool(name, arguments, progress_callback=heard)
        return plain(found)

    async def done(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that does not refuse; its structured content."""
        found = await self.call(name, **arguments)
        assert not found.get("isError"), found
        content: dict[str, Any] = found["structuredContent"]
        return content

    async def refused(self, name: str, **arguments: Any) -> str:
        """Call a tool that refuses; what it says."""
        found = await self.call(name, **arguments)
        assert found["isError"], found
        return text_of(found)

    async def read(self, uri: str) -> str:
        """Read a resource."""
        found = plain(await self.session.read_resource(uri))  # type: ignore[arg-type]
        [content] = found["contents"]
        return str(content["text"])


def plain(found: Any) -> dict[str, Any]:
    """Return an answer as JSON."""
    made: dict[str, Any] = found.model_dump(mode="json", by_alias=True, exclude_none=True)
    return made


def text_of(found: dict[str, Any]) -> str:
    """Return the text of a tool's answer."""
    [content] = found["content"]
    return str(content["text"])


@asynccontextmanager
async def over_stdio(
    folder: Path, *options: str, errors: Any = None, home: Path | None = None
) -> AsyncIterator[Client]:
    """Yield a client of `langmemory mcp`, which it starts; with a home, without naming a file."""
    command, environment = command_in(folder), ENVIRONMENT
    if home is not None:
        command, environment = RUN, {"PYTHONPATH": str(ROOT), "HOME": str(home)}
    started = StdioServerParameters(
        command=command[0], args=[*command[1:], "mcp", *options], env=environment, cwd=folder
    )
    more = {} if errors is None else {"errlog": errors}
    async with stdio_client(started, **more) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield Client(session)


@asynccontextmanager
async def over_http(
    address: str, token: str | None = None, *, auth: Any = None
) -> AsyncIterator[Client]:
    """Yield a client of a running server."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with AsyncExitStack() as stack:
        if SECOND:
            import httpx2 as http
        else:
            import httpx as http  # type: ignore[no-redef]
        client = await stack.enter_async_context(
            http.AsyncClient(headers=headers, auth=auth, timeout=30)
        )
        connected = streamable_http.streamable_http_client(address, http_client=client)
        streams = await stack.enter_async_context(connected)
        session = await stack.enter_async_context(ClientSession(*streams[:2]))
        await session.initialize()
        yield Client(session)


@contextmanager
def server(folder: Path, *options: str) -> Iterator[str]:
    """Yield the address of the MCP endpoint of a running `langmemory serve`."""
    process = subprocess.Popen(
        [*command_in(folder), "serve", "--port", "0", "--quiet", *options],
        cwd=folder,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
        found = re.search(r"http://\S+:\d+", first)
        assert found, first
        yield f"{found[0]}/memory/mcp"
    finally:
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        process.stderr.close()
        assert process.wait(30) == 0, rest


@asynccontextmanager
async def in_process(
    store: Any, token: str | None = None, *, query: str = "", **options: Any
) -> AsyncIterator[Client]:
    """Yield a client of the application over a store, without a network."""
    from langmemory.server.app import create_app

    app = create_app(store, **options)
    if SECOND:
        import httpx2 as http
    else:
        import httpx as http  # type: ignore[no-redef]
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        transport = http.ASGITransport(app=app, client=("127.0.0.1", 4711))
        client = await stack.enter_async_context(
            http.AsyncClient(transport=transport, headers=headers, timeout=30)
        )
        connected = streamable_http.streamable_http_client(
            f"http://localhost/memory/mcp{query}", http_client=client
        )
        streams = await stack.enter_async_context(connected)
        session = await stack.enter_async_context(ClientSession(*streams[:2]))
        await session.initialize()
        yield Client(session)
