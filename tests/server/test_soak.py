"""Many clients at once, and a crash among them: no error, no acknowledged write lost, no event missed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason='the extra "server" is not installed')
pytest.importorskip("starlette", reason='the extra "server" is not installed')
pytest.importorskip("uvicorn", reason='the extra "server" is not installed')

from langmemory.stores import MemoryStore
from tests.server.soak import Client, Follower, Ledger, ServerProcess

pytestmark = [pytest.mark.integration, pytest.mark.thorough]

SECONDS = float(os.environ.get("LANGMEMORY_SOAK_SECONDS", 3))
LONG = SECONDS >= 30
SORTS = ("put", "recall", "remember", "search", "mcp")
CLIENTS, FOLLOWERS = (200, 20) if LONG else (12, 3)


async def test_clients_outlast_a_crash(tmp_path: Path) -> None:
    """Clients read and write, over REST and MCP, while the server is killed and started again. No call
    fails, each acknowledged write is there once, and subscribers have heard every event once, in order.
    LANGMEMORY_SOAK_SECONDS=60: 200 clients for a minute."""
    server, ledger, over = ServerProcess(tmp_path), Ledger(), asyncio.Event()
    everyone = Follower(server.address, "soak")
    followers = [everyone, *(Follower(server.address, f"soak/c{n}") for n in range(FOLLOWERS - 1))]
    following = [asyncio.create_task(one.run()) for one in followers]
    async with asyncio.timeout(60):
        while any(one.first is None for one in followers):
            await asyncio.sleep(0.05)
    clients = [Client(n, server.address, ledger) for n in range(CLIENTS)]
    running = [asyncio.create_task(one.run(over)) for one in clients]
    await asyncio.gather(asyncio.sleep(SECONDS / 2), each_called(ledger))
    before = ledger.calls.copy()
    first_mb = server.resident_mb()
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)
    await asyncio.gather(asyncio.sleep(SECONDS / 2), each_called(ledger, before))
    over.set()
    await asyncio.gather(*running)
    resident_mb = server.resident_mb()

    with MemoryStore(tmp_path / "memory.db") as store:
        truth = {one: heard_of(store, one) for one in followers}
        async with asyncio.timeout(60):
            while any(len(one.heard) < len(truth[one]) for one in followers):
                await asyncio.sleep(0.1)
        await asyncio.sleep(0.5)  # for one too many
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        await asyncio.to_thread(server.stop)
        print(
            f"\n{ledger.calls.total()} calls, {before.total()} before the kill, {dict(ledger.calls)}; "
            f"{len(everyone.heard)} events; at most {first_mb:.0f} and {resident_mb:.0f} MB"
        )
        assert not ledger.problems, (len(ledger.problems), ledger.problems[:5])
        rows = list(store.admin.export(("soak",), history=False))
        kept = [one["value"] for one in rows if one.get("type") == "item"]
        texts = [one.get("text") or one["content"] for one in kept]
        assert len(texts) == len(set(texts))
        assert set(texts) >= {*ledger.put.values(), *ledger.said}
        for one in followers:
            assert [event[:2] for event in one.heard] == truth[one]
            assert one.connections >= 2


async def each_called(ledger: Ledger, before: Mapping[str, int] | None = None) -> None:
    """Return when there were calls of each sort, and more than before."""
    async with asyncio.timeout(60):
        while any(ledger.calls[name] <= (before or {}).get(name, 0) for name in SORTS):
            await asyncio.sleep(0.05)


def heard_of(store: MemoryStore, follower: Follower) -> list[tuple[str, str]]:
    """Return what a follower is to have heard since it began."""
    found: list[tuple[str, str]] = []
    cursor, more = follower.first, True
    place = tuple(follower.namespace.split("/"))
    while more:
        page = store.feed.read(after=cursor, namespaces=[place], types=["memory"])
        found += [(one.action, one.id) for one in page.events]
        cursor, more = page.next, page.more
    return found
