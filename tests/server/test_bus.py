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
