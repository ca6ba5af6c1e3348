"""Event streams as tests read them: the application is called in this process, as a server calls it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message

PATIENCE_SECONDS = 20


class Stream:
    """One open stream of server-sent events."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.over = False
        self.open = asyncio.Event()
        """Cleared, the reader takes nothing more."""
        self.open.set()
        self._changed = asyncio.Condition()
        self._taken = self._parsed = 0
        self._events: list[tuple[str, dict[str, Any], str | None]] = []

    async def take(self, message: Message) -> None:
        """Accept what the server sends, as slowly as the reader reads."""
        await self.open.wait()
        async with self._changed:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.headers = {k.decode(): v.decode() for k, v in message["headers"]}
            else:
                self.body += message["body"]
                self.over = not message.get("more_body", False)
            self._changed.notify_all()

    def events(self) -> list[tuple[str, dict[str, Any], str | None]]:
        """Return (name, data, id) of each event so far."""
        *whole, rest = self.body[self._parsed :].decode().split("\n\n")
        for block in whole:
            fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
            if "data" in fields:
                found = (fields["event"], json.loads(fields["data"]), fields.get("id"))
                self._events.append(found)
        self._parsed = len(self.body) - len(rest.encode())
        return self._events

    async def next(self) -> tuple[str, dict[str, Any], str | None]:
        """Return the next event, waiting for it."""
        async with self._changed, asyncio.timeout(PATIENCE_SECONDS):
            await self._changed.wait_for(lambda: len(self.events()) > self._taken)
        self._taken += 1
        return self.events()[self._taken - 1]

    async def ended(self) -> None:
        """Wait until the server has sent all there is."""
        async with self._changed, asyncio.timeout(PATIENCE_SECONDS):
            await self._changed.wait_for(lambda: self.over)

    async def named(self, count: int) -> list[str]:
        """Return the ids of what the next events are about."""
        return [(await self.next())[1]["id"] for _ in range(count)]


@asynccontextmanager
async def following(
    app: ASGIApp,
    *,
    token: str | None = None,
    last_id: str | None = None,
    address: str = "127.0.0.1",
    headers: tuple[tuple[bytes, bytes], ...] = (),
    **query: Any,
) -> AsyncIterator[Stream]:
    """Yield a stream of ``/memory/events``; it is left at the end."""
    stream, left = Stream(), asyncio.Event()
    sent = [(b"host", b"localhost"), *headers]
    if token is not None:
        sent.append((b"authorization", f"Bearer {token}".encode()))
    if last_id is not None:
        sent.append((b"last-event-id", last_id.encode()))
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "path": "/memory/events", "raw_path": b"/memory/events", "root_path": "",
        "query_string": urlencode(query, doseq=True).encode(), "headers": sent,
        "client": (address, 4711), "server": ("localhost", 80),
    }  # fmt: skip

    async def receive() -> Message:
        await left.wait()
        return {"type": "http.disconnect"}

    running = asyncio.create_task(app(scope, receive, stream.take))  # type: ignore[arg-type]
    try:
        yield stream
    finally:
        left.set()
        stream.open.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running
