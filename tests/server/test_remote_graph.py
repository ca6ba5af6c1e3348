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
from langmemory.graphs import build_chat_graph  # isort: skip
from langmemory.nodes import MemoryState, RecallNode, RememberNode  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from tests.scripted import ScriptedModel, tool_call  # isort: skip

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


TOOLS = ("search_memory", "get_memory", "memory_archive", "core_memory_append", "memory_timeline")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_chat_graph_works_over_a_server(
    remote: RemoteMemoryStore, store: MemoryStore, asynchronous: bool
) -> None:
    """The complete chat over a store on another machine: it remembers across threads, its tools find, show
    and archive memories and write core memory, and each person sees their own."""
    from langgraph.checkpoint.memory import InMemorySaver

    model = ScriptedModel()
    chat = build_chat_graph(model, tools=TOOLS, store=remote, checkpointer=InMemorySaver())

    def say(text: str, user: str, thread: str, *script: Any) -> Any:
        model.script = list(script)
        if asynchronous:
            return asyncio.run(chat.ainvoke(said(text), run_of(user, thread)))
        return chat.invoke(said(text), run_of(user, thread))

    say("My dog is called Bello and he is a terrier.", "anna", "1", "Nice.")
    state = say("What is my dog called?", "anna", "2", "Bello.")
    assert "Bello" in model.prompts[-1][0].text
    assert state["messages"][-1].content == "Bello."
    say("What is my dog called?", "berta", "3", "I do not know.")
    assert "Bello" not in str(model.prompts[-1])

    [turn] = store.search(("memories", "anna"), query="terrier", limit=1)
    found = say(
        "And what is he?", "anna", "2",
        tool_call("search_memory", query="terrier"),
        tool_call("get_memory", "call-2", id=turn.key),
        tool_call("memory_timeline", "call-3", id=turn.key),
        tool_call("core_memory_append", "call-4", block="human", content="Has a dog"),
        tool_call("memory_archive", "call-5", id=turn.key, reason="told"),
        "A terrier.",
    )  # fmt: skip
    results = [one for one in found["messages"] if one.type == "tool"][-5:]
    assert all("terrier" in str(one.content) for one in results[:3]), results
    assert not [one for one in results if one.status == "error"], results
    away = store.admin.memory(("memories", "anna"), turn.key)
    assert away is not None
    assert away.status == "archived"
    assert store.changes.runs(("memories", "anna")), "archived in a run, which can be undone"
    say("Hello", "anna", "4", "Hello.")
    assert "Has a dog" in model.prompts[-1][0].text


def test_an_agent_with_the_middleware_works_over_a_server(remote: RemoteMemoryStore) -> None:
    """`create_agent` with `MemoryMiddleware` recalls and remembers over a store on another machine, sync and
    async."""
    agents = pytest.importorskip("langchain.agents", reason="langchain is not installed")
    from langmemory.middleware import MemoryMiddleware

    model = ScriptedModel()
    agent = agents.create_agent(model, middleware=[MemoryMiddleware(remote)])
    agent.invoke(said("My dog is called Bello."), run_of("anna", "1"))
    asyncio.run(agent.ainvoke(said("What is my dog called?"), run_of("anna", "2")))
    assert "Bello" in model.prompts[-1][0].text
    agent.invoke(said("What is my dog called?"), run_of("berta", "3"))
    assert "Bello" not in model.prompts[-1][0].text
