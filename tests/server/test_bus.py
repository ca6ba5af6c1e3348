"""The bus over REST: who sends is bound by the token, what waits is given out until it is acknowledged."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.server.client import API, ELSEWHERE, problem, serving, token_of

from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

TEAM = ("team", "shop")
BUS = f"{API}/bus"


def as_agent(name: str) -> dict[str, str]:
    """Return the header by which the application names an agent."""
    return {"Memory-Agent": f'"{name}"'}


def bearer(token: str) -> dict[str, str]:
    """Return the header of a token."""
    return {"Authorization": f"Bearer {token}"}


async def sent(client: httpx.AsyncClient, agent: str, **body: Any) -> dict[str, Any]:
    """Share something, and return the message."""
    body = {"namespace": list(TEAM), **body}
    response = await client.post(f"{BUS}/messages", json=body, headers=as_agent(agent))
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def waiting(client: httpx.AsyncClient, agent: str, **query: Any) -> list[dict[str, Any]]:
    """Return what is in an inbox."""
    query = {"namespace": "/".join(TEAM), **query}
    response = await client.get(f"{BUS}/inbox", params=query, headers=as_agent(agent))
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["items"]
    return found


async def test_a_list_shows_whoever_looks_on_everything(store: MemoryStore) -> None:
    """Without an agent all messages of a namespace and below it are listed with state and receipts, page by
    page; an agent sees what concerns it."""
    async with serving(store) as client:
        for n in range(5):
            await sent(client, "a", summary=f"m{n}", to="b")
        await waiting(client, "b", limit=2)
        first = (
            await client.get(f"{BUS}/messages", params={"namespace": "team", "limit": 3})
        ).json()
        rest = await client.get(f"{BUS}/messages", params={"limit": 3, "cursor": first["next"]})
        every = [*first["items"], *rest.json()["items"]]
        assert [one["summary"] for one in every] == ["m4", "m3", "m2", "m1", "m0"]
        assert [len(one["receipts"]) for one in every] == [0, 0, 0, 1, 1]
        assert rest.json()["next"] is None
        one = await client.get(f"{BUS}/messages/{every[0]['id']}")
        assert one.json() == every[0]
        third = await client.get(
            f"{BUS}/messages", params={"namespace": "team/shop"}, headers=as_agent("c")
        )
        assert third.json()["items"] == []
        assert problem(await client.get(f"{BUS}/messages", params={"cursor": "x"})) == "invalid"
        assert problem(await client.get(f"{BUS}/messages/nothing")) == "not-found"


async def test_nobody_sends_as_another(store: MemoryStore) -> None:
    """A token that is bound to an agent is that agent; a token of a viewer names none; no body chooses."""
    bound_ = bearer(token_of(store, None, TEAM, agent="a"))
    viewers = bearer(token_of(store, "maria", TEAM))
    of_both = bearer(token_of(store, "maria", TEAM, agent="a"))
    applications = bearer(token_of(store, None, TEAM))
    body = {"summary": "x"}
    settings = ServerSettings(allowed_hosts=("localhost",))
    async with serving(store, settings=settings, address=ELSEWHERE) as client:

        async def send(headers: dict[str, str], body: dict[str, Any] = body) -> httpx.Response:
            return await client.post(f"{BUS}/messages", json=body, headers=headers)

        assert (await send(bound_)).json()["sender"] == "a"
        assert problem(await send({**bound_, **as_agent("b")})) == "agent"
        assert problem(await send(viewers)) == "agent-needed"
        assert problem(await send({**viewers, **as_agent("b")})) == "agent"
        assert (await send(of_both)).json()["owner"] == "maria"
        assert (await send({**applications, **as_agent("b")})).json()["sender"] == "b"
        on_behalf = {**applications, **as_agent("b"), "Memory-Viewer": '"ben"'}
        assert (await send(on_behalf)).json()["owner"] == "ben"
        assert problem(await send({**applications, "Memory-Agent": "b"})) == "malformed"
        assert problem(await send({**applications, **as_agent("")})) == "invalid"
        assert problem(await send(bound_, {**body, "sender": "b"})) == "invalid"
        assert problem(await send(bound_, {**body, "agent": "b"})) == "invalid"
        assert problem(await send(bound_, {**body, "owner": "ben"})) == "invalid"
        assert problem(await send(bound_, {**body, "namespace": ["other"]})) == "namespace"
        rights = (await client.get(f"{API}/rights", headers=of_both)).json()
        assert (rights["agent"], rights["viewer"]) == ("a", "maria")


async def test_a_reader_cannot_send(store: MemoryStore) -> None:
    """Reading an inbox needs the scope read, everything else on the bus the scope write."""
    token = token_of(store, None, TEAM, scope="read", agent="a")
    async with serving(store, token=token) as client:
        assert (await client.get(f"{BUS}/inbox")).status_code == 200
        for path in ("messages", "requests", "handoffs", "acknowledgements", "invalidations"):
            assert problem(await client.post(f"{BUS}/{path}", json={})) == "scope"


async def test_another_viewer_is_shown_nothing(store: MemoryStore) -> None:
    """Over the inbox, the list, one message, an answer and events, what is private is not there."""
    store.for_viewer("maria").bus(TEAM, agent="a").share("secret", privacy="private", id="hers")
    token = token_of(store, "ben", agent="a")
    async with serving(store, token=token) as client:
        where = {"namespace": "team/shop"}
        for path in ("inbox", "messages"):
            assert (await client.get(f"{BUS}/{path}", params=where)).json()["items"] == []
        assert problem(await client.get(f"{BUS}/messages/hers", params=where)) == "not-found"
        answer = {"namespace": list(TEAM), "answer": "?", "message_id": "hers"}
        assert problem(await client.post(f"{BUS}/replies", json=answer)) == "not-found"
    assert store.for_viewer("ben").feed.read().events == ()


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_send_that_is_repeated_is_one_message(store: MemoryStore, restarted: bool) -> None:
    """With its Idempotency-Key a message is sent once, also where the server was restarted in between."""
    headers = {**as_agent("a"), "Idempotency-Key": "k1"}
    body = {"namespace": list(TEAM), "summary": "x"}
    async with serving(store) as client:
        first = await client.post(f"{BUS}/messages", json=body, headers=headers)
        if not restarted:
            again = await client.post(f"{BUS}/messages", json=body, headers=headers)
    if restarted:
        async with serving(store) as client:
            again = await client.post(f"{BUS}/messages", json=body, headers=headers)
    assert again.json() == first.json()
    assert len(store.bus().messages().items) == 1
