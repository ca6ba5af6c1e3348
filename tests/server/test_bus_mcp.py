"""The bus over MCP: tools that only a client has which is an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.client import problem, serving, token_of
from tests.server.mcp_client import Client, in_process, over_stdio, plain

from langmemory.citing import note_id  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.parts.team import SWARM_TOOLS  # isort: skip

TEAM = ("team", "shop")
ALONE = ["recall", "remember", "get_memory", "timeline", "forget", "review", "search", "fetch"]
REPORT = "admin_report_usage"
"""The last one, for everybody who may write."""


async def names(client: Client) -> list[str]:
    """Return the tools that are listed."""
    return [one["name"] for one in plain(await client.session.list_tools())["tools"]]


async def test_only_an_agent_has_the_tools_of_the_bus(store: MemoryStore) -> None:
    """Who works alone does not find them in every prompt; each says what it does and returns by a schema."""
    async with in_process(store, token_of(store, None, TEAM, scope="admin")) as client:
        assert await names(client) == [*ALONE, REPORT]
        assert "langmemory token create --agent" in await client.refused("context_inbox")
    async with in_process(store, token_of(store, None, TEAM, agent="a")) as client:
        assert await names(client) == [*ALONE, *SWARM_TOOLS, REPORT, "swarm_board"]
        for tool in plain(await client.session.list_tools())["tools"][len(ALONE) : -2]:
            assert tool["annotations"]["readOnlyHint"] is False
            assert tool["annotations"]["destructiveHint"] is False
            assert tool["outputSchema"]["properties"]
            assert tool["inputSchema"]["additionalProperties"] is False
            arguments = tool["inputSchema"]["properties"]
            assert not {"namespace", "viewer", "owner", "agent", "privacy"} & set(arguments)
            assert all("description" in one or "default" in one for one in arguments.values())
    async with in_process(store, token_of(store, None, TEAM, scope="read", agent="a")) as client:
        assert not set(SWARM_TOOLS) & set(await names(client))
        assert "scope write" in await client.refused("context_share", summary="x")


@pytest.mark.thorough
async def test_a_command_on_stdio_names_its_agent(store: MemoryStore, tmp_path: Path) -> None:
    """An option of the command says which agent calls."""
    async with over_stdio(tmp_path, "--agent", "a", "-n", "team/shop") as client:
        assert await names(client) == [*ALONE, *SWARM_TOOLS, REPORT, "swarm_board"]
        await client.done("context_share", summary="x")
    assert store.bus(TEAM).messages().items[0].sender == "a"


async def test_whoever_sets_up_a_client_names_its_agent(store: MemoryStore) -> None:
    """In the address of the server; a token of a viewer may not."""
    accept = {"Accept": "application/json, text/event-stream"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with serving(store) as http:
        url = "/memory/mcp?namespace=team/shop&agent=a"
        listed = await http.post(url, json=asked, headers=accept)
        assert "context_inbox" in listed.text
        assert (
            "context_inbox"
            not in (
                await http.post("/memory/mcp?namespace=team/shop", json=asked, headers=accept)
            ).text
        )
        viewer = {**accept, "Authorization": f"Bearer {token_of(store, 'maria')}"}
        assert problem(await http.post(url, json=asked, headers=viewer)) == "agent"


async def test_two_agents_work_together(store: MemoryStore) -> None:
    """Sharing, asking, answering, handing on, taking back: each reaches the other, quoted and as data."""
    store.put(TEAM, "limit", {"text": "Ten items"})
    memory = f"R:{note_id(TEAM, 'limit')}"
    first, second = (token_of(store, None, TEAM, agent=name) for name in ("a", "b"))
    async with in_process(store, first) as a, in_process(store, second) as b:
        shared = await a.done("context_share", summary="Ten </inbox>", to="b", memories=[memory])
        asked = await a.done("context_request", question="Which table?")
        await a.done("handoff", to="b", done="half", next_steps=["rest"])
        got = await b.call("context_inbox")
        assert got["content"][0]["text"].count("</inbox>") == 1
        messages = got["structuredContent"]["messages"]
        assert [one["type"] for one in messages] == ["finding", "request", "handoff"]
        assert (messages[0]["summary"], messages[0]["memories"]) == ("Ten &lt;/inbox>", [memory])
        assert (messages[2]["sender"], messages[2]["next_steps"]) == ("a", ["rest"])
        answered = await b.done("context_share", summary="users", reply_to=asked["id"])
        assert answered["to"] == "a"
        done = await b.done("context_inbox", acknowledge=[shared["id"], messages[2]["id"]])
        assert (done["messages"], len(done["acknowledged"])) == ([], 2)
        back = await a.done(
            "context_invalidate", id=shared["id"], reason="Fifty", memories=[memory]
        )
        assert back["told"] == ["b"]
        assert (await b.done("context_inbox"))["messages"][0]["type"] == "invalidation"
        read = await b.done("context_inbox", read=shared["id"])
        assert read["messages"][0]["id"] == shared["id"]
        assert (await b.done("context_subscribe", topic="schema"))["subscriptions"] == 1
        assert "exactly one" in await b.refused("context_subscribe")
        assert "no message" in await b.refused("context_share", summary="x", reply_to="nothing")
    assert len(store.changes.reviews(TEAM)) == 1


async def test_another_viewer_reads_nothing_private(store: MemoryStore) -> None:
    """An agent that acts for Ben gets nothing of what agents of Maria tell each other in private."""
    store.for_viewer("maria").bus(TEAM, agent="a").share("secret", privacy="private", id="hers")
    async with in_process(store, token_of(store, "ben", TEAM, agent="b")) as client:
        assert (await client.done("context_inbox"))["messages"] == []
        for name, arguments in (
            ("context_inbox", {"read": "hers"}),
            ("context_share", {"summary": "x", "reply_to": "hers"}),
            ("context_invalidate", {"id": "hers", "reason": "x"}),
        ):
            given: dict[str, Any] = arguments
            assert "secret" not in await client.refused(name, **given)
