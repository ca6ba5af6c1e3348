"""Many clients of one server, for some time, with a kill in between: what was acknowledged, what was told."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx

from langmemory.remote import RemoteMemoryStore
from langmemory.remote.connection import Backoff
from tests.postgres_server import place

ROOT = Path(__file__).parents[2]
TOPICS = ("harbour", "orchard", "violin", "glacier", "market", "lantern", "bicycle", "library")
PATIENT = Backoff(attempts=60, longest_seconds=2.0)
"""Of clients that outlast a restart."""
TIMEOUT_SECONDS = 120.0


class ServerProcess:
    """`langmemory serve`, which can be killed and started again on its port."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port, self.address = folder, "0", ""
        self._place = place(folder / "memory.db")
        self.start()

    def start(self) -> None:
        """Start it, and return when it listens."""
        command = [sys.executable, "-m", "langmemory", "--db", self._place, "serve"]
        self.process = subprocess.Popen(
            [*command, "--quiet", "--port", self._port],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
        )
        assert self.process.stderr is not None
        first = self.process.stderr.readline().decode()
        found = re.search(r"http://\S+?:(\d+)", first)
        assert found, first
        self.address, self._port = found[0], found[1]
        os.set_blocking(self.process.stderr.fileno(), False)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self.process.kill()
        self.process.wait()
        self._close()

    def stop(self) -> None:
        """End it in good order."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.errors()
        self._close()

    def errors(self) -> str:
        """Return what it has logged beside its address."""
        assert self.process.stderr is not None
        return (self.process.stderr.read() or b"").decode()

    def resident_mb(self) -> float:
        """Return its memory at most so far, where the system tells it."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return 0.0
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        assert found
        return int(found[1]) / 1024

    def _close(self) -> None:
        assert self.process.stderr is not None
        self.process.stderr.close()


@dataclass(kw_only=True)
class Ledger:
    """What clients were told."""

    put: dict[str, str] = field(default_factory=dict)
    """Texts by the keys of puts that were acknowledged."""
    said: set[str] = field(default_factory=set)
    """Words of messages that were acknowledged; each stands in one alone."""
    calls: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    """Calls that failed, and answers that were wrong."""


class Client:
    """One client, which does now this and now that."""

    def __init__(self, number: int, address: str, ledger: Ledger) -> None:
        self._number, self._ledger, self._n = number, ledger, 0
        self._random = Random(number)
        self._store = RemoteMemoryStore(address, timeout_seconds=TIMEOUT_SECONDS, backoff=PATIENT)
        self._http = httpx.AsyncClient(base_url=address, timeout=TIMEOUT_SECONDS)
        self._mine: list[str] = []
        self._place = ("soak", f"c{number}")

    async def run(self, over: asyncio.Event) -> None:
        """Call until it is over; the call that is under way then is finished."""
        calls: list[Callable[[], Awaitable[None]]] = [
            self.put, self.put, self.get, self.recall, self.remember, self.search, self.mcp,
        ]  # fmt: skip
        while not over.is_set():
            call = self._random.choice(calls)
            self._n += 1
            try:
                await call()
            except Exception as error:  # any is a finding
                self._ledger.problems.append(f"{call.__name__}: {type(error).__name__}: {error}")
            self._ledger.calls[call.__name__] += 1
        await self._store.aclose()
        await self._http.aclose()

    def _text(self) -> str:
        return f"The {self._random.choice(TOPICS)} of w{self._number}x{self._n}"

    async def put(self) -> None:
        """Put something new."""
        key, text = f"k{self._number}-{self._n}", self._text()
        await self._store.aput(self._place, key, {"text": text})
        self._ledger.put[key] = text
        self._mine.append(key)

    async def get(self) -> None:
        """Get what was put before."""
        if not self._mine:
            return
        key = self._random.choice(self._mine)
        found = await self._store.aget(self._place, key)
        if found is None or found.value["text"] != self._ledger.put[key]:
            self._ledger.problems.append(f"get: {key} is {found}")

    async def recall(self) -> None:
        """Recall."""
        await self._store.arecall(f"Which {self._random.choice(TOPICS)} is it?", self._place)

    async def search(self) -> None:
        """Search, with a filter."""
        await self._store.asearch(self._place, query=self._random.choice(TOPICS), limit=5)

    async def remember(self) -> None:
        """Say something that nobody else says."""
        text = self._text()
        message = {"role": "user", "content": text, "id": f"m{self._number}-{self._n}"}
        await self._store.aremember(self._place, [message], thread_id=f"t{self._number}")
        self._ledger.said.add(text)

    async def mcp(self) -> None:
        """Recall as an agent over MCP does."""
        asked = {"name": "recall", "arguments": {"query": self._random.choice(TOPICS)}}
        body = {"jsonrpc": "2.0", "id": self._n, "method": "tools/call", "params": asked}
        headers = {"Accept": "application/json, text/event-stream"}
        answer = await _sent(
            lambda: self._http.post("/memory/mcp", json=body, headers=headers), PATIENT
        )
        if answer.status_code != 200 or '"isError":true' in answer.text.replace(" ", ""):
            self._ledger.problems.append(f"mcp: {answer.status_code} {answer.text:.200}")


async def _sent(send: Callable[[], Awaitable[httpx.Response]], backoff: Backoff) -> httpx.Response:
    """Return the answer to a request, sent again while nobody answers."""
    for attempt in range(1, backoff.attempts):
        try:
            answer = await send()
        except httpx.TransportError:
            pass
        else:
            if answer.status_code not in (429, 503):
                return answer
        await asyncio.sleep(backoff.seconds(attempt, None))
    return await send()


class Follower:
    """A subscriber that comes back after each break with the cursor of its last event."""

    def __init__(self, address: str, namespace: str) -> None:
        self._url, self.namespace = f"{address}/memory/events", namespace
        self.first: str | None = None
        """The cursor it began with."""
        self.heard: list[tuple[str, str, str]] = []
        """Action, id and cursor of each event."""
        self.connections = 0

    async def run(self) -> None:
        """Follow until cancelled."""
        params = {"namespace": self.namespace, "type": "memory"}
        timeout = httpx.Timeout(TIMEOUT_SECONDS)
        async with httpx.AsyncClient(timeout=timeout) as client:
            while True:
                last = self.heard[-1][2] if self.heard else self.first
                headers = {} if last is None else {"Last-Event-ID": last}
                try:
                    async with client.stream(
                        "GET", self._url, params=params, headers=headers
                    ) as answer:
                        if answer.status_code == 200:
                            self.connections += 1
                            await self._take(answer)
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.2)

    async def _take(self, answer: httpx.Response) -> None:
        fields: dict[str, str] = {}
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            if name:
                fields[name] = value
            elif not line and "data" in fields:
                self._event(fields)
                fields = {}

    def _event(self, fields: dict[str, str]) -> None:
        data: dict[str, Any] = json.loads(fields["data"])
        if fields["event"] == "memory":
            self.heard.append((data["action"], data["id"], fields["id"]))
        elif fields["event"] == "ready" and self.first is None:
            self.first = fields["id"]
