"""A month of a memory that three agents share over MCP ages it as graphs beside the file do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import token_of
from tests.server.mcp_client import in_process

from langchain_core.messages import AIMessage, HumanMessage  # isort: skip
from langgraph.graph import START, StateGraph  # isort: skip
from langmemory.config import Config  # isort: skip
from langmemory.citing import note_id  # isort: skip
from langmemory.graphs.maintenance import build_maintenance_graph  # isort: skip
from langmemory.lifecycle.policies import PolicyOptions  # isort: skip
from langmemory.nodes import MemoryState, RecallNode, RememberNode  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

TEAM, TALK = ("team",), ("talk",)
AGENTS = ("planner", "writer", "tester")
DAYS, NIGHT_EVERY = 30, 10
CONFIG = Config.model_validate({"lifecycle": {"half_life_days": 3, "unused_days": 8}})
POLICIES = replace(PolicyOptions.of(CONFIG.lifecycle), most_at_once=1.0)
ASKED = {
    "deploy": ("The website is deployed by pushing the release branch", "How is the website deployed?"),
    "editor": ("Invoices are written in LibreOffice by Nadia", "Who writes invoices?"),
    "tests": ("The nightly tests run on the machine called Pelican", "Where do the nightly tests run?"),
}  # fmt: skip
"""What each agent asks about, one after the other."""
IDLE = {
    "old/1": "The office plants are watered on Monday mornings",
    "old/2": "On Monday mornings Nadia goes round and the office plants are watered, as we know",
    "rare": "The spare key hangs behind the fire extinguisher",
}


class Clock:
    """The time of a simulated month, for all that asks the system's clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead, real = timedelta(), time.time_ns
        began = datetime(2026, 3, 1, 9, tzinfo=UTC)
        first = real()
        start_ns = int(began.timestamp()) * 1_000_000_000
        monkeypatch.setattr(
            time, "time_ns",
            lambda: start_ns + real() - first + int(self.ahead.total_seconds()) * 1_000_000_000,
        )  # fmt: skip

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(time.time_ns() / 1e9, UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def furnish(store: MemoryStore) -> None:
    for key, (text, _) in ASKED.items():
        store.put(TEAM, key, {"text": text})
    for key, text in IDLE.items():
        store.put(TEAM, key, {"text": text, "importance": 0.8 if key == "rare" else 0.4})


def questions(day: int) -> Iterator[tuple[str, str, str]]:
    """Which agent asks what on a day, and the key of the memory that its answer cites."""
    for place, agent in enumerate(AGENTS):
        key = list(ASKED)[(day + place) % 2 if day < 24 else 2]
        yield agent, ASKED[key][1], key


def night(store: MemoryStore, clock: Clock) -> None:
    store.admin.usage()  # what was counted is written
    found = build_maintenance_graph(store, now=clock, policies=POLICIES).invoke({})
    assert [one["error"] for one in found["reports"] if one["error"]] == []


def figures(store: MemoryStore) -> dict[str, Any]:
    """What a month leaves behind."""
    usage = {one.key: one for one in store.admin.usage(TEAM)}
    return {
        "priorities": {one.key: one.priority for one in store.admin.memories(TEAM)},
        "questions": sorted(
            (one.about, one.memories) for one in store.changes.reviews(TEAM)
        ),
        "use": {key: (one.loaded, one.referenced, one.succeeded) for key, one in usage.items()},
        "savings": {
            key: one.loaded * one.discovery_tokens - one.read_tokens for key, one in usage.items()
        },
        "read": {key: one.read_tokens for key, one in usage.items()},
    }  # fmt: skip


def by_graph(store: MemoryStore, clock: Clock) -> None:
    """Each agent is a graph in this process."""

    def answer(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(state["messages"][-1].additional_kwargs["answer"])]}

    built = (
        StateGraph(MemoryState)
        .add_node("recall", RecallNode(TEAM, limit=1))
        .add_node("answer", answer)
        .add_node("remember", RememberNode(TALK))
    )
    built.add_edge(START, "recall").add_edge("recall", "answer").add_edge("answer", "remember")
    graph = built.compile(store=store)
    for day in range(DAYS):
        clock.ahead = timedelta(days=day)
        for agent, question, key in questions(day):
            cited = {"answer": f"As known [R:{note_id(TEAM, key)}]"}
            asked = HumanMessage(question, additional_kwargs=cited)
            thread = {"configurable": {"thread_id": f"{agent}/{day}"}}
            graph.invoke({"messages": [asked]}, thread)
        if day % NIGHT_EVERY == NIGHT_EVERY - 1:
            night(store, clock)


async def over_mcp(store: MemoryStore, clock: Clock) -> None:
    """Each agent is a client of one server, with a token of its own."""
    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(
                in_process(store, token_of(store, None, TEAM, agent=name))
            )
            for name in AGENTS
        }
        for day in range(DAYS):
            clock.ahead = timedelta(days=day)
            for agent, question, key in questions(day):
                await clients[agent].done("recall", query=question, limit=1)
                await clients[agent].done(
                    "admin_report_usage", cited=[f"R:{note_id(TEAM, key)}"], right=True,
                    answer=f"{agent}/{day}",
                )  # fmt: skip
                talk = [HumanMessage(question), AIMessage("As known")]
                store.remember(TALK, talk, thread_id=f"{agent}/{day}")
            if day % NIGHT_EVERY == NIGHT_EVERY - 1:
                night(store, clock)


@pytest.mark.thorough
async def test_a_shared_server_learns_what_a_local_graph_learns(
    clock: Clock, tmp_path: Path
) -> None:
    """Promotions, demotions and questions are the same, and counts and savings within 2 %."""
    found = []
    for name in ("local", "shared"):
        clock.ahead = timedelta()
        with MemoryStore(tmp_path / f"{name}.db", config=CONFIG) as store:
            furnish(store)
            if name == "local":
                by_graph(store, clock)
            else:
                await over_mcp(store, clock)
            found.append(figures(store))
    local, shared = found
    assert {"mandate", "guardrail", "reference", "archive"} <= {*local["priorities"].values()}
    assert local["questions"]
    for what in ("priorities", "questions"):
        assert shared[what] == local[what], what
    for key, counts in local["use"].items():
        assert shared["use"][key] == pytest.approx(counts, rel=0.02), key
    for what in ("savings", "read"):
        wanted = sum(local[what].values())
        assert sum(shared[what].values()) == pytest.approx(wanted, rel=0.02), what
