"""How much, how often and how slowly a client may send."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.server.client import API, problem, serving, token_of

from langmemory.server import service  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.server.service import RateLimit  # isort: skip
from langmemory.server.problems import Problem  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.wire import to_bytes  # isort: skip


async def test_a_large_body_is_refused(store: MemoryStore) -> None:
    """10 MB are refused, whether they are announced or not, and nothing of them is kept."""
    read = 0

    async def unannounced() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(160):
            read += 64 * 1024
            yield b" " * 64 * 1024

    async with serving(store) as client:
        headers = {"Content-Type": "application/json"}
        large = await client.post(f"{API}/recall", content=b" " * 10_000_000, headers=headers)
        assert (large.status_code, problem(large)) == (413, "too-large")
        refused = await client.post(f"{API}/recall", content=unannounced(), headers=headers)
        assert (refused.status_code, problem(refused)) == (413, "too-large")
    assert read < 2_000_000


async def test_a_slow_body_is_refused(store: MemoryStore) -> None:
    """Who sends too slowly is not waited for."""

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(60)

    async with serving(store, settings=ServerSettings(body_timeout_seconds=0.05)) as client:
        headers = {"Content-Type": "application/json"}
        late = await client.post(f"{API}/recall", content=slow(), headers=headers)
    assert (late.status_code, problem(late)) == (408, "too-slow")


def test_a_sender_gets_its_share() -> None:
    """Requests above the rate are refused until time has passed; another sender is not concerned."""
    now = 0.0
    limit = RateLimit(10, clock=lambda: now)
    for _ in range(20):
        limit.take("a")
    with pytest.raises(Problem) as refused:
        limit.take("a")
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (429, "1")
    limit.take("b")
    now = 0.1
    limit.take("a")
    with pytest.raises(Problem):
        limit.take("a")


async def test_tokens_cannot_be_tried_out(store: MemoryStore) -> None:
    """After some wrong tokens an address has to wait before its next wrong one is looked at."""
    token = token_of(store, None)
    async with serving(store) as client:
        wrong = [
            await client.post(
                f"{API}/recall", json={"query": ""}, headers={"Authorization": f"Bearer {n}"}
            )
            for n in range(100)
        ]
        assert {one.status_code for one in wrong} == {401, 429}
        right = {"Authorization": f"Bearer {token}"}
        found = await client.post(f"{API}/recall", json={"query": "cat"}, headers=right)
        assert found.status_code == 200


async def test_exports_leave_room(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many exports at once, two make their next piece at a time; all of them are whole."""
    store.put(("memories",), "tofu", {"text": "Tofu sleeps."})
    running = most = 0
    lock = threading.Lock()

    def counted(rows: Iterator[Any]) -> Iterator[bytes]:
        nonlocal running, most
        for row in rows:
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.01)
            with lock:
                running -= 1
            yield to_bytes(row, Any) + b"\n"

    monkeypatch.setattr(service, "_lines", counted)
    async with serving(store) as client:
        answers = await asyncio.gather(*(client.get(f"{API}/export") for _ in range(8)))
    assert len({len(one.text.splitlines()) for one in answers}) == 1
    assert all('"tofu"' in one.text for one in answers)
    assert most == 2
