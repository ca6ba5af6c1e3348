"""The nodes in somebody else's graph."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.memory import InMemoryStore
from langgraph.types import RetryPolicy
from pydantic import BaseModel, Field

from langmemory.context import mark_injected
from langmemory.errors import ConfigError
from langmemory.nodes import MemoryState, RecallNode, RememberNode
from langmemory.stores import MemoryStore
from langmemory.tools import create_search_memory_tool
from tests.stores_in_use import StoreName, open_store

ANNA = ("memories", "anna")
CONFIG: Any = {"configurable": {"user_id": "anna", "thread_id": "t1"}}


class OwnState(MemoryState):
    mood: str


class PydanticState(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list)
    memory_block: dict[str, Any] = Field(default_factory=dict)
    memory_internal: dict[str, Any] = Field(default_factory=dict)


def parrot(state: Any) -> dict[str, Any]:
    """A node of theirs that uses the block."""
    block = state["memory_block"] if isinstance(state, dict) else state.memory_block
    return {"messages": [AIMessage(f"I know: {block.get('text')}")]}


def build(schema: type[Any], store: Any) -> Any:
    return (
        StateGraph(schema)
        .add_node("recall", RecallNode())
        .add_node("answer", parrot)
        .add_node("remember", RememberNode())
        .add_edge(START, "recall")
        .add_edge("recall", "answer")
        .add_edge("answer", "remember")
        .add_edge("remember", END)
        .compile(store=store)
    )


def test_a_typed_dict_and_a_pydantic_state_both_work(tmp_path: Path) -> None:
    """The nodes read and write any kind of state, on a plain store and on MemoryStore."""
    for schema in (OwnState, PydanticState):
        with MemoryStore(tmp_path / f"{schema.__name__}.db") as memory:
            for store in (InMemoryStore(), memory):
                store.put(ANNA, "k", {"content": "The dog is called Bello."})
                graph = build(schema, store)
                question = {"messages": [HumanMessage("What is the dog called?")]}
                state = graph.invoke(question, CONFIG)
                assert "Bello" in state["messages"][-1].text
                assert state["memory_internal"]["remembered_id"] == state["messages"][-1].id
                stored = {item.key for item in store.search(ANNA)}
                assert {f"t1/{message.id}" for message in state["messages"]} < stored


def test_a_run_without_a_thread_is_a_conversation_of_its_own() -> None:
    """Without a thread id nothing fails and nothing is lost."""
    store = InMemoryStore()
    config: Any = {"configurable": {"user_id": "anna"}}
    for _ in range(2):
        build(OwnState, store).invoke({"messages": [HumanMessage("Hello")]}, config)
    threads = {item.value["thread_id"] for item in store.search(ANNA)}
    assert len(threads) == 2


@pytest.mark.parametrize("name", ["in_memory", "memory_store"])
def test_a_private_conversation_is_its_owners(tmp_path: Path, name: StoreName) -> None:
    """In a namespace two people share, what one said privately is neither recalled for nor read by
    the other; without an owner it is refused."""
    home = ("memories", "home")

    def asked(user: str) -> Any:
        return {"configurable": {"user_id": user, "thread_id": f"of-{user}"}}

    with open_store(name, tmp_path / "memory.db") as store:
        node = RememberNode(home, store=store, privacy="private")
        said = {"messages": [HumanMessage("Noor gets a kite for her birthday.", id="1")]}
        node.invoke(said, asked("mia"))
        question = {"messages": [HumanMessage("What does Noor get for her birthday?", id="2")]}
        search = create_search_memory_tool(home, store=store)
        for user in ("mia", "noor"):
            recalled = RecallNode(home, store=store).invoke(question, asked(user))["recalled"]
            found = search.invoke({"query": "kite"}, asked(user))
            assert bool(recalled) == ("kite" in found) == (user == "mia")
        with pytest.raises(ConfigError, match="not for whom"):
            node.invoke(said, {"configurable": {"thread_id": "t"}})


def test_only_what_was_said_is_remembered_and_only_once() -> None:
    """Tool traffic, thoughts, empty messages and those a program put there (langmemory, middleware of
    LangChain, langgraph-supervisor) stay out; repeating a run adds nothing."""
    store = InMemoryStore()
    node = RememberNode(store=store)
    call = {"name": "f", "args": {}, "id": "c", "type": "tool_call"}
    messages: list[AnyMessage] = [
        HumanMessage("One", id="1", name="Maria"),
        AIMessage("", tool_calls=[call], id="2"),
        ToolMessage("tool output", tool_call_id="c", id="3"),
        mark_injected(HumanMessage("a memory", id="4")),
        HumanMessage("a summary", id="6", additional_kwargs={"lc_source": "summarization"}),
        AIMessage("Back to supervisor", id="7", response_metadata={"__is_handoff_back": True}),
        AIMessage("<think>One, so what comes next?</think>\n\nTwo", id="5"),
    ]
    update = node.invoke({"messages": messages}, CONFIG)
    assert update["memory_internal"]["remembered_id"] == "5"
    assert node.invoke({"messages": messages, **update}, CONFIG) == {}
    node.invoke({"messages": messages, "memory_internal": {"remembered_id": "gone"}}, CONFIG)
    said = [(item.value["speaker"], item.value["content"]) for item in store.search(ANNA)]
    assert said == [("Maria", "One"), ("assistant", "Two")]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_node_that_is_tried_again_stores_once_and_hands_over(asynchronous: bool) -> None:
    """Where the queue fails after the turns were stored, LangGraph's retry adds nothing to memory, and
    the conversation is reflected all the same."""
    handed: list[tuple[Any, str]] = []

    class Queue:
        failing = True

        def submit(self, namespace: Any, *, thread_id: str, keys: Any) -> None:
            if self.failing:
                self.failing = False
                raise ConnectionError("locked")
            handed.append((namespace, thread_id))

    with MemoryStore(":memory:", index=False) as store:
        node = RememberNode(reflection=Queue())
        again = RetryPolicy(initial_interval=0.001, jitter=False)
        graph = (
            StateGraph(MemoryState)
            .add_node("remember", node, retry_policy=again)
            .add_edge(START, "remember")
            .compile(store=store)
        )
        said: Any = {"messages": [HumanMessage("One"), AIMessage("Two")]}
        state = (
            asyncio.run(graph.ainvoke(said, CONFIG)) if asynchronous else graph.invoke(said, CONFIG)
        )
        assert handed == [(ANNA, "t1")]
        assert state["memory_internal"]["remembered_id"] == state["messages"][-1].id
        assert len(store.search(ANNA)) == 2
