"""The feed over server-sent events and a WebSocket: who is told what, and what they find after a break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp

from tests.children import ended
from tests.postgres_server import place
from tests.seeds import examples
from tests.server.client import ELSEWHERE, serving, token_of
from tests.server.streams import Stream, following

from starlette.applications import Starlette  # isort: skip

from langmemory.server.app import create_app  # isort: skip
from langmemory.server.service import Service  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

HOME = ("home",)


@asynccontextmanager
async def running(store: MemoryStore, **settings: Any) -> AsyncIterator[Starlette]:
    """Yield the application while it runs."""
    app = create_app(store, settings=ServerSettings(**settings))
    async with app.router.lifespan_context(app):
        yield app


def service_of(app: Starlette) -> Service:
    """Return what the routes of an application share."""
    service: Service = app.state.service
    return service


async def ready(stream: Stream) -> str:
    """Return the cursor with which a stream begins."""
    name, _, cursor = await stream.next()
    assert name == "ready", stream.body
    assert cursor is not None
    return cursor


async def test_a_change_is_sent_as_it_happens(store: MemoryStore) -> None:
    """A stream says from where it starts, then each change once, with its cursor and without text."""
    async with running(store) as app, following(app) as stream:
        await ready(stream)
        assert stream.headers["content-type"] == "text/event-stream"
        assert stream.headers["cache-control"] == "no-store"
        await store.aput(HOME, "tea", {"text": "Maria drinks tea"})
        name, event, cursor = await stream.next()
        assert (name, event["action"], event["id"], event["namespace"]) == (
            "memory", "add", "tea", ["home"],
        )  # fmt: skip
        assert event["cursor"] == cursor
        await store.adelete(HOME, "tea")
        assert (await stream.next())[1]["action"] == "delete"
        assert b"drinks" not in stream.body


async def test_another_process_is_heard(tmp_path: Path) -> None:
    """What another process writes to the file arrives."""
    path = tmp_path / "memory.db"
    code = (
        "import sys; from langmemory.stores import MemoryStore; "
        "MemoryStore(sys.argv[1], index=False).put(('home',), 'elsewhere', {'text': 'tea'})"
    )
    with MemoryStore(path, index=False) as store:
        async with running(store) as app, following(app) as stream:
            await ready(stream)
            assert await asyncio.to_thread(ended, code, place(path)) == 0
            assert await stream.named(1) == ["elsewhere"]


async def test_a_restart_loses_nothing(tmp_path: Path) -> None:
    """Whoever sends the last id they had gets everything since, once and in order, also what happened
    while no server ran; so does one who had no event yet."""
    path = tmp_path / "memory.db"
    with MemoryStore(path, index=False) as store:
        async with running(store) as app, following(app) as stream:
            start = await ready(stream)
            for number in range(3):
                await store.aput(HOME, f"k{number}", {"text": "tea"})
            assert await stream.named(2) == ["k0", "k1"]
            last = stream.events()[2][2]
    with MemoryStore(path, index=False) as store:
        store.put(HOME, "meanwhile", {"text": "tea"})
    with MemoryStore(path, index=False) as store:
        async with running(store) as app, following(app, last_id=last) as stream:
            assert await ready(stream) == last
            await store.aput(HOME, "later", {"text": "tea"})
            assert await stream.named(3) == ["k2", "meanwhile", "later"]
        async with running(store) as app, following(app, after=start) as stream:
            await ready(stream)
            assert await stream.named(5) == ["k0", "k1", "k2", "meanwhile", "later"]


async def test_more_than_the_server_holds(store: MemoryStore) -> None:
    """A reader that was slow for a while gets everything, though the server holds the newest events
    only: the rest is read from the file."""
    async with running(store) as app, following(app) as stream:
        await ready(stream)
        stream.open.clear()
        keys = [f"k{number}" for number in range(2_500)]
        for start in range(0, 2_500, 500):
            part = keys[start : start + 500]
            await store.abatch([PutOp(HOME, key, {"text": "tea"}, index=False) for key in part])
        stream.open.set()
        assert sorted(await stream.named(2_500)) == sorted(keys)


async def test_filters(store: MemoryStore) -> None:
    """A subscriber is told of the namespaces, kinds and types they name."""
    async with running(store) as app, AsyncExitStack() as stack:
        there = await stack.enter_async_context(following(app, namespace="acme/x", type="memory"))
        turns = await stack.enter_async_context(following(app, kind=["episodic", "core"]))
        runs = await stack.enter_async_context(following(app, type="run"))
        for one in (there, turns, runs):
            await ready(one)
        store.put(("acme-corp",), "a", {"text": "tea"})
        store.put(("acme", "x", "y"), "b", {"text": "tea"})
        store.put(("acme",), "c", {"text": "tea", "kind": "episodic"})
        run = store.changes.remove(("acme", "x", "y"), "b", reason="test").run_id
        assert await there.named(2) == ["b", "b"]
        assert await turns.named(1) == ["c"]
        assert await runs.named(1) == [run]


async def test_a_token_decides_what_is_told(store: MemoryStore) -> None:
    """One bound to a viewer is told of nothing that is private to others, at no time, and not of
    runs; one bound to namespaces is told of these. No request can name another viewer."""
    async with running(store) as app, AsyncExitStack() as stack:
        bob = token_of(store, "bob", scope="admin")
        bobs = await stack.enter_async_context(following(app, token=bob))
        here = token_of(store, None, HOME, ("b",), scope="admin")
        placed = await stack.enter_async_context(following(app, token=here))
        for one in (bobs, placed):
            await ready(one)
        maria = store.for_viewer("maria")
        maria.put(HOME, "secret", {"text": "a ring", "privacy": "private"})
        maria.put(HOME, "secret", {"text": "two rings", "privacy": "private"})
        store.changes.remove(HOME, "secret", reason="test")
        maria.put(HOME, "shared", {"text": "tea"})
        store.put(("elsewhere",), "else", {"text": "tea"})
        assert await bobs.named(2) == ["shared", "else"]
        assert "secret" in await placed.named(5)  # three changes, a run, and what is shared
        assert b"else" not in placed.body
        assert b"secret" not in bobs.body
        for query in ({"viewer": "maria"}, {"access_token": bob}, {"type": "run"}, {"type": "job"}):
            async with following(app, token=bob, **query) as refused:
                await refused.ended()
                assert refused.status in (403, 422)
        async with following(app, token=here, namespace="elsewhere") as refused:
            await refused.ended()
            assert refused.status == 403


async def test_who_is_not_let_in(store: MemoryStore) -> None:
    """No token, a forged one, another site's page and a foreign cursor are refused as everywhere."""
    async with running(store) as app:
        for options, status in (
            ({"address": ELSEWHERE}, 401),
            ({"token": "lmt_" + "0" * 12 + "_" + "A" * 43}, 401),
            ({"headers": ((b"origin", b"https://evil.example"),)}, 403),
            ({"last_id": "nonsense"}, 422),
        ):
            async with following(app, **options) as refused:  # type: ignore[arg-type]
                await refused.ended()
                assert refused.status == status


async def test_a_revoked_or_expired_token_ends_its_stream(store: MemoryStore) -> None:
    """Nothing that happens afterwards is sent, and the stream ends with the reason; others go on."""
    now = datetime.now(UTC)
    first, kept = (store.tokens.create(scope="read") for _ in range(2))
    brief = store.tokens.create(scope="read", expires_at=now + timedelta(hours=1))
    async with running(store) as app, AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(following(app, token=secret))
            for _, secret in (first, brief, kept)
        ]
        for one in streams:
            await ready(one)
        store.tokens.revoke(first[0].id)
        service_of(app).hub().clock = lambda: now + timedelta(hours=2)
        store.put(HOME, "later", {"text": "tea"})
        assert await streams[2].named(1) == ["later"]
        for one in streams[:2]:
            assert (await one.next())[:2] == ("end", {"reason": "token"})
            assert b"later" not in one.body


async def test_a_slow_reader_is_dropped(
    store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    """A reader that accepts nothing for too long is given up, with the reason in the log, and keeps
    nobody else waiting."""
    async with running(store, event_send_seconds=0.05) as app, AsyncExitStack() as stack:
        slow = await stack.enter_async_context(following(app))
        quick = await stack.enter_async_context(following(app))
        for one in (slow, quick):
            await ready(one)
        slow.open.clear()
        store.put(HOME, "k", {"text": "tea"})
        assert await quick.named(1) == ["k"]
        async with asyncio.timeout(20):
            while len(service_of(app).hub().subscriptions) == 2:
                await asyncio.sleep(0.01)
        assert "subscriber_dropped reason=slow token=local" in caplog.text


async def test_a_heartbeat(store: MemoryStore) -> None:
    """A stream on which nothing happens says that it is alive, and tells nothing by it."""
    async with running(store, event_heartbeat_seconds=0.02) as app, following(app) as stream:
        await ready(stream)
        async with asyncio.timeout(20):
            while stream.body.count(b"\n: \n") < 3:
                await asyncio.sleep(0.01)
        assert len(stream.events()) == 1


async def test_many_idle_subscribers(store: MemoryStore) -> None:
    """They share one reader of the file, each gets an event that comes, and none stays behind when
    they leave."""
    many = examples(1_000, first=100)
    async with running(store) as app:
        hub = service_of(app).hub()
        async with AsyncExitStack() as stack:
            streams = [await stack.enter_async_context(following(app)) for _ in range(many)]
            for one in streams:
                await ready(one)
            assert len(hub.subscriptions) == many
            assert len({one.channel for one in hub.subscriptions}) == 1
            store.put(HOME, "k", {"text": "tea"})
            assert [await one.named(1) for one in streams] == [["k"]] * many
        assert hub.subscriptions == []


async def test_the_end_of_the_server(store: MemoryStore) -> None:
    """When the server stops, streams end with that reason, so that it need not wait for them."""
    async with running(store) as app, following(app) as stream:
        await ready(stream)
        service_of(app).hub().close()
        assert (await stream.next())[:2] == ("end", {"reason": "shutdown"})
        await stream.ended()
        async with following(app) as late:
            await ready(late)
            assert (await late.next())[0] == "end"


async def test_a_head_request_does_not_wait(store: MemoryStore) -> None:
    """There is no stream to a request for headers alone."""
    async with serving(store) as client:
        assert (await client.head("/memory/events")).status_code == 405
