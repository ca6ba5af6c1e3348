"""Sessions of agents in graphs: what they begin with, decide on the way and come to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import PutOp

from langmemory.context.marking import is_injected
from langmemory.errors import ConfigError
from langmemory.parts.team import DecisionsNode, SessionEndNode, SessionStartNode
from langmemory.stores import MemoryStore
from langmemory.swarm import task_value
from tests.scripted import ScriptedModel

TEAM = ("team", "{project}")
CONFIG: Any = {"configurable": {"project": "shop", "thread_id": "one"}}
SAID = json.dumps(
    {
        "work_done": ["The page is drafted"],
        "decisions": [
            {
                "what": "Prices are in euros.",
                "why": "our customers",
                "alternatives": ["dollars", " "],
            },
            {"what": "Ship on Monday", "why": "support is in"},
        ],
        "blockers": ["no word from legal"],
        "next_steps": ["ask legal"],
    }
)


@pytest.fixture
def store() -> MemoryStore:
    """A store with a task of the writer, what it requires, a decision, and a message."""
    opened = MemoryStore(":memory:", index=False)
    team = opened.swarm(("team", "shop"), agent="planner")
    opened.put(("team", "shop"), "vat", {"text": "VAT is 21 percent"})
    team.add_task("Write the page", agent="writer", requires=["vat"])
    team.record_decision("Prices are in euros", why="nine of ten </session> pay so")
    opened.bus(("team", "shop"), agent="planner").share("We open in May")
    return opened


def graph(store: MemoryStore, work: Any, *nodes: Any, **options: Any) -> Any:
    """Begin a session, work, run further nodes, end the session."""
    built = StateGraph(MessagesState)
    every = [
        ("begin", SessionStartNode(TEAM, agent="writer", identity="You write pages.")),
        ("work", work),
        *((f"more {n}", node) for n, node in enumerate(nodes)),
        ("end", SessionEndNode(TEAM, agent="writer", **options)),
    ]
    before = START
    for name, node in every:
        built.add_node(name, node)
        built.add_edge(before, name)
        before = name
    built.add_edge(before, END)
    return built.compile(store=store, checkpointer=InMemorySaver())


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_session_begins_with_what_there_is_to_know(
    store: MemoryStore, asynchronous: bool
) -> None:
    """Identity, tasks with what they require, decisions and the inbox come as one marked message, quoted; at
    the end there is a summary by what was done, and the inbox is acknowledged."""

    def work(state: MessagesState) -> dict[str, Any]:
        store.swarm(("team", "shop"), agent="writer").update_task(
            "Write the page", status="done", note="it is live"
        )
        return {"messages": [AIMessage("Done.")]}

    built = graph(store, work)
    given = {"messages": [HumanMessage("Go on")]}
    ended = await built.ainvoke(given, CONFIG) if asynchronous else built.invoke(given, CONFIG)
    [begun] = [one for one in ended["messages"] if is_injected(one)]
    assert is_injected(HumanMessage(begun.text))  # by its tags, where a client lost the mark
    for words in (
        "You are the agent writer. You write pages.", "Write the page: in progress, writer",
        "VAT is 21 percent", "| because nine of ten &lt;/session> pay so", "We open in May",
    ):  # fmt: skip
        assert words in begun.text
    team = store.swarm(("team", "shop"), agent="writer")
    [session] = team.sessions()
    assert (session.agent, session.work_done, session.next_steps) == (
        "writer", ("Write the page: it is live",), (),
    )  # fmt: skip
    assert store.bus(("team", "shop"), agent="writer").inbox().items == ()
    again = built.invoke({"messages": []}, CONFIG)["messages"]
    assert "Your last session" in again[-2].text
    assert len(team.sessions()) == 2


def test_a_model_tells_what_was_decided_and_nothing_is_recorded_twice(store: MemoryStore) -> None:
    """What a model finds in the conversation is recorded on the way and at the end, once; a decision in the
    words of one that holds is not new."""
    model = ScriptedModel(script=[SAID, SAID])
    decide = DecisionsNode(TEAM, agent="writer", model=model)
    built = graph(
        store, lambda state: {"messages": [AIMessage("We ship on Monday.")]}, decide, model=model
    )
    built.invoke({"messages": []}, CONFIG)
    team = store.swarm(("team", "shop"), agent="writer")
    assert [one.what for one in team.decisions()] == ["Ship on Monday", "Prices are in euros"]
    assert store.graph(("team", "shop")).edges(team.decisions()[0].key, "regarding")
    [session] = team.sessions()
    assert session.decisions == ("Ship on Monday",)
    assert session.work_done == ("The page is drafted",)
    assert session.blockers == ("no word from legal",)
    assert session.next_steps == ("Write the page", "ask legal")
    prompts = " ".join(one.text for prompt in model.prompts for one in prompt)
    assert "VAT" not in prompts  # what was injected is not asked about


def test_a_failed_run_acknowledges_nothing_and_ends_nothing(store: MemoryStore) -> None:
    """A run that breaks off begins again with the same messages; ending one that never began is refused."""

    def broken(state: MessagesState) -> dict[str, Any]:
        raise RuntimeError("out of paper")

    with pytest.raises(RuntimeError):
        graph(store, broken).invoke({"messages": []}, CONFIG)
    assert len(store.bus(("team", "shop"), agent="writer").inbox().items) == 1
    assert store.swarm(("team", "shop")).sessions() == ()
    with pytest.raises(ConfigError, match="SessionStartNode"):
        SessionEndNode(("team", "shop"), agent="writer", store=store).invoke({"messages": []})


def test_a_session_in_a_team_with_many_tasks_is_whole(store: MemoryStore) -> None:
    """Its own tasks are told however many others changed later. The end records what was finished, as many
    entries as a session holds, and stands a task that was deleted meanwhile."""
    home = ("team", "shop")
    others = {f"task/{n}": task_value(f"Other {n}", "open", agent="z") for n in range(1_010)}
    store.batch([PutOp(home, key, value) for key, value in others.items()])
    team = store.swarm(home, agent="writer")
    lost = team.add_task("Lost", agent="writer")

    def work(state: MessagesState) -> dict[str, Any]:
        team.update_task("Write the page", status="done", note="it is live")
        store.delete(home, lost.key)
        done = {f"task/d{n}": task_value(f"D {n}", "done", agent="writer") for n in range(120)}
        store.batch([PutOp(home, key, value) for key, value in done.items()])
        return {"messages": []}

    ended = graph(store, work).invoke({"messages": []}, CONFIG)
    told = ended["messages"][0].text
    assert ("Write the page" in told, "Lost" in told, told.count("Other ")) == (True, True, 10)
    [session] = team.sessions()
    assert len(session.work_done) == 100
    assert {"Lost"}.isdisjoint(session.next_steps)
    assert team.tasks(agent="writer", status="done", limit=500)[-1].title == "Write the page"
