"""The nodes over a `RemoteMemoryStore`: a graph on one machine, its memory on another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason='the extra "server" is not installed')

from langchain_core.messages import AIMessage, HumanMessage  # isort: skip
from langgraph.graph import END, START, StateGraph  # isort: skip

from langmemory import RemoteMemoryStore  # isort: skip
from langmemory.nodes import MemoryState, RecallNode, RememberNode  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

HOME = ("home",)


@pytest.fixture
def remote(store: MemoryStore) -> Iterator[RemoteMemoryStore]:
    """A client of a server over the store."""
    with serving(create_app(store)) as address, RemoteMemoryStore(address) as found:
        yield found


def graph(store: Any, privacy: Any = "shared") -> Any:
    """Recall, answer with the block, remember."""

    def answer(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(f"I know: {state['memory_block']['text']}")]}

    nodes = (
        StateGraph(MemoryState)
        .add_node("recall", RecallNode(HOME, viewer="{user_id|}"))
        .add_node("answer", answer)
        .add_node("remember", RememberNode(HOME, owner="{user_id|}", privacy=privacy))
    )
    nodes.add_edge(START, "recall").add_edge("recall", "answer").add_edge("answer", "remember")
    return nodes.add_edge("remember", END).compile(store=store)


def run_of(user: str, thread: str) -> Any:
    return {"configurable": {"user_id": user, "thread_id": thread}}


def said(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_graph_remembers_across_threads(
    remote: RemoteMemoryStore, store: MemoryStore, asynchronous: bool
) -> None:
    """What is said in one thread stands in the block of another, by `invoke` and `ainvoke`."""
    built = graph(remote)

    def ask(text: str, config: Any) -> Any:
        if asynchronous:
            return asyncio.run(built.ainvoke(said(text), config))
        return built.invoke(said(text), config)

    ask("My cat Tofu sleeps on the piano", run_of("maria", "1"))
    found = ask("Where does my cat Tofu sleep?", run_of("maria", "2"))
    assert "on the piano" in found["memory_block"]["text"]
    turns = store.search(HOME, filter={"role": "user"})
    assert {one.value["thread_id"] for one in turns} == {"1", "2"}


def test_what_is_private_reaches_no_other_viewer(remote: RemoteMemoryStore) -> None:
    """One client of the application serves many people, and each run sees what its person may see."""
    built = graph(remote, "private")
    built.invoke(said("The code of the safe is in the blue vase"), run_of("maria", "1"))
    question = "Where is the code of the safe?"
    assert "vase" in built.invoke(said(question), run_of("maria", "2"))["memory_block"]["text"]
    for other in ("paul", ""):
        block = built.invoke(said(question), run_of(other or "x", "3"))["memory_block"]
        assert "vase" not in block["text"]
