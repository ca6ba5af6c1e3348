"""The board of a team at every door: what agents are doing, what they have yet to do, what they tell of."""

from __future__ import annotations

from typing import get_args

import pytest

from tests.server.client import API, ELSEWHERE, serving, token_of
from tests.server.mcp_client import in_process

from langmemory.remote import RemoteMemoryStore  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving as serving_at  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.swarm import Board  # isort: skip
from langmemory.types import SharedType  # isort: skip

TEAM = ("team",)


def work(store: MemoryStore) -> None:
    """Four agents: one works, one waits for somebody, one was asked, one has nothing to do."""
    planner = store.swarm(TEAM, agent="planner")
    planner.add_task("Ship the checkout", agent="writer")
    planner.update_task("Ship the checkout", status="in_progress")
    planner.add_task("Order paper", agent="buyer")
    planner.update_task("Order paper", status="blocked", blockers=["no budget"])
    planner.add_task("Test the checkout", agent="tester")
    planner.update_task("Test the checkout", status="open")
    bus = store.bus(TEAM, agent="writer")
    bus.request("Which currency?", to="planner")
    bus.share("The build is red.", to="tester", type="escalation")
    bus.handoff("tester", "The form is done.", next_steps=["Try it out"])
    bus.share("Fine weather.", to="buyer")


def told(board: Board) -> tuple[object, ...]:
    return (
        {one.name: one.status for one in board.agents},
        sorted((one.agent, one.kind, one.what, one.sender) for one in board.pending),
    )


WANTED = (
    {"buyer": "blocked", "planner": "pending", "tester": "pending", "writer": "working"},
    [
        ("planner", "request", "Which currency?", "writer"),
        ("tester", "escalation", "The build is red.", "writer"),
        ("tester", "handoff", "The form is done.", "writer"),
        ("tester", "task", "Test the checkout", "planner"),
    ],
)


async def test_the_board_tells_status_and_pending_actions_at_every_door(store: MemoryStore) -> None:
    """Python, a remote store, REST and MCP, of which the last is for agents alone."""
    work(store)
    assert told(store.swarm(TEAM).board()) == WANTED
    token = token_of(store, None, TEAM, scope="read", agent="planner")
    async with serving(store, address=ELSEWHERE, token=token) as client:
        seen = (await client.get(f"{API}/swarm/board", params={"namespace": "team"})).json()
    assert {one["name"]: one["status"] for one in seen["agents"]} == WANTED[0]
    assert len(seen["pending"]) == len(WANTED[1])
    async with in_process(store, token) as model:
        answer = (await model.done("swarm_board"))["answer"]
        assert [one["what"] for one in answer["pending"]] == [
            one["what"] for one in seen["pending"]
        ]
    async with in_process(store, token_of(store, None, TEAM, scope="read")) as nobody:
        tools = [one.name for one in (await nobody.session.list_tools()).tools]
        assert "swarm_board" not in tools


def test_the_board_is_the_same_from_afar(store: MemoryStore) -> None:
    """A remote store returns it with types."""
    work(store)
    with serving_at(create_app(store)) as address, RemoteMemoryStore(address) as remote:
        assert remote.swarm(TEAM).board() == store.swarm(TEAM).board()


@pytest.mark.parametrize("type", get_args(SharedType))
async def test_every_type_of_context_is_shared_at_every_door(
    store: MemoryStore, type: SharedType
) -> None:
    """Results of tasks, escalations and knowledge beside findings, decisions, progress and warnings."""
    token = token_of(store, None, TEAM, agent="writer")
    async with serving(store, address=ELSEWHERE, token=token) as client:
        body = {"summary": "over REST", "type": type}
        assert (await client.post(f"{API}/bus/messages", json=body)).is_success
    async with in_process(store, token) as model:
        await model.done("context_share", summary="over MCP", type=type)
    store.bus(TEAM, agent="writer").share("in Python", type=type)
    found = store.bus(TEAM, agent="planner").inbox(types=[type]).items
    assert [one.summary for one in found] == ["over REST", "over MCP", "in Python"]
