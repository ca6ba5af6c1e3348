"""The bus of a `RemoteMemoryStore`: it is that of the file behind the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.client import token_of

from langmemory import RemoteMemoryStore  # isort: skip
from langmemory.errors import (  # isort: skip
    AccessError,
    ConfigError,
    InvalidValueError,
    MessageNotFoundError,
    OwnershipError,
)
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving as served  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.parts.team import create_swarm_tools  # isort: skip

TEAM = ("team", "shop")


@pytest.fixture
def address(store: MemoryStore) -> Iterator[str]:
    """Of a server over the store."""
    with served(create_app(store)) as found:
        yield found


@pytest.fixture
def remote(address: str) -> Iterator[RemoteMemoryStore]:
    """A client of the server, on the same machine."""
    with RemoteMemoryStore(address) as found:
        yield found


def test_agents_on_two_machines_share_one_bus(
    remote: RemoteMemoryStore, store: MemoryStore
) -> None:
    """Whatever one sends over the server the other reads from the file, and the other way round."""
    store.put(TEAM, "plan", {"text": "First the schema"})
    there, here = remote.bus(TEAM, agent="there"), store.bus(TEAM, agent="here")
    sent = there.share(
        "x", to="here", type="warning", topic="t", priority="high", details="d", artifacts=("a",),
        confidence=0.5, memories=["plan"], ttl_minutes=60,
    )  # fmt: skip
    assert sent == here.message(sent.id)
    asked = here.request("?")
    assert [one.id for one in there.inbox().items] == [asked.id]
    answer = there.reply(asked.id, "!")
    assert (answer.type, answer.recipient) == ("reply", "here")
    assert there.messages(reply_to=asked.id).items == here.messages(reply_to=asked.id).items
    handed = there.handoff("here", "half", next_steps=["rest"])
    assert here.inbox(types=["handoff"]).items[0].next_steps == ("rest",)
    assert there.invalidate(handed.id, reason="no").state == "invalidated"
    wanted = there.subscribe(query="lunch")
    assert there.subscriptions() == [wanted]
    assert there.unsubscribe(wanted.id)
    assert not there.unsubscribe(wanted.id)
    here.share("to all")
    assert there.acknowledge([there.inbox().items[0].id, "nothing"]) != ()
    assert there.acknowledge([]) == ()
    assert there.inbox().items == ()
    pages, after = [], None
    while True:
        page = there.messages(limit=2, cursor=after)
        pages += page.items
        after = page.next
        if after is None:
            break
    assert len(pages) == len({one.id for one in pages}) == len(there.messages().items)


async def test_the_async_twins_do_the_same(remote: RemoteMemoryStore) -> None:
    """Every call has a twin on the event loop, and the swarm tools use them."""
    a, b = remote.bus(TEAM, agent="a"), remote.bus(TEAM, agent="b")
    asked = await a.arequest("x?", to="b")
    await b.areply(asked.id, "y")
    await a.ahandoff("b", "done")
    await a.ashare("z")
    wanted = await b.asubscribe(topic="t")
    assert await b.asubscriptions() == [wanted]
    assert await b.aunsubscribe(wanted.id)
    waiting = (await b.ainbox()).items
    assert len(await b.aacknowledge([one.id for one in waiting])) == 2
    await a.ainvalidate(waiting[0].id, reason="no")
    assert (await a.amessage(waiting[0].id)).state == "invalidated"
    assert len((await a.amessages()).items) == 5
    tools = {one.name: one for one in create_swarm_tools(TEAM, agent="b", store=remote)}
    assert "from a to b" in await tools["context_inbox"].ainvoke({})
    assert tools["context_share"].invoke({"summary": "x", "to": "a"}).startswith("Sent to a")


def test_errors_are_those_of_the_local_store(
    remote: RemoteMemoryStore, address: str, store: MemoryStore
) -> None:
    """What is wrong raises the same error; who may not be an agent is told how to become one."""
    bus = remote.bus(TEAM, agent="a")
    calls: tuple[tuple[Any, Any], ...] = (
        (lambda: bus.message("nothing"), MessageNotFoundError),
        (lambda: bus.reply("nothing", "x"), MessageNotFoundError),
        (lambda: bus.share("x", memories=["nothing"]), InvalidValueError),
        (lambda: bus.subscribe(), InvalidValueError),
        (lambda: bus.acknowledge("nothing"), InvalidValueError),
        (lambda: bus.share("x", owner="maria"), ConfigError),
        (lambda: remote.bus(TEAM, agent=""), ConfigError),
    )
    for call, error in calls:
        with pytest.raises(error):
            call()
    sent = store.bus(TEAM, agent="b").share("x")
    with pytest.raises(OwnershipError, match="b, who alone"):
        bus.invalidate(sent.id, reason="no")
    of_a = RemoteMemoryStore(address, token=token_of(store, None, TEAM, agent="a"))
    assert of_a.bus(TEAM).share("y").sender == "a"
    with pytest.raises(AccessError, match="bound to another agent"):
        of_a.bus(TEAM, agent="b").share("y")


def test_another_viewer_sees_nothing(remote: RemoteMemoryStore) -> None:
    """An application binds each run to a person over one token; their agents share what is theirs alone."""
    maria, ben = remote.for_viewer("maria"), remote.for_viewer("ben")
    maria.bus(TEAM, agent="a").share("secret", privacy="private")
    assert len(maria.bus(TEAM, agent="b").inbox().items) == 1
    assert ben.bus(TEAM, agent="b").inbox().items == ()
    assert ben.bus(TEAM).messages().items == ()
