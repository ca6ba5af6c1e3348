"""Messages that are edited in the thread after they were remembered, without going back in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore

from langmemory.nodes import MemoryState, RecallNode, RememberNode
from langmemory.types import Namespace
from tests.stores_in_use import StoreName, open_store

ANNA = ("memories", "anna")
CONFIG: Any = {"configurable": {"user_id": "anna", "thread_id": "t1"}}
TOM: Any = {"configurable": {"user_id": "tom", "thread_id": "t1"}}


class Queue:
    """Keeps what it is handed."""

    def __init__(self) -> None:
        self.keys: list[list[str]] = []

    def submit(self, namespace: Namespace, /, *, thread_id: str, keys: Sequence[str]) -> None:
        self.keys.append(list(keys))


@pytest.fixture(params=["in_memory_no_index", "memory_store"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    name: StoreName = request.param
    with open_store(name, tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def graph(store: BaseStore, queue: Queue) -> Any:
    return (
        StateGraph(MemoryState)
        .add_node("recall", RecallNode())
        .add_node("answer", lambda state: {"messages": [AIMessage("Fine.")]})
        .add_node("remember", RememberNode(reflection=queue))
        .add_edge(START, "recall")
        .add_edge("recall", "answer")
        .add_edge("answer", "remember")
        .compile(store=store, checkpointer=InMemorySaver())
    )


async def say(graph: Any, call: str, text: str, id: str, config: Any = CONFIG) -> None:
    given = {"messages": [HumanMessage(text, id=id)]}
    await graph.ainvoke(given, config) if call == "async" else graph.invoke(given, config)


def content(store: BaseStore, key: str, namespace: tuple[str, ...] = ANNA) -> str:
    item = store.get(namespace, key)
    assert item is not None
    return str(item.value["content"])


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_message_sent_again_under_its_id_is_corrected(
    store: BaseStore, graph: Any, queue: Queue, call: str
) -> None:
    """Memory says what the thread says, and the turn is handed to reflection once more."""
    await say(graph, call, "I live in Kiel.", "1")
    await say(graph, call, "I live in Bonn.", "1")
    assert content(store, "t1/1") == "I live in Bonn."
    assert "t1/1" in queue.keys[1]
    await say(graph, call, "It rains.", "2")
    assert "t1/1" not in queue.keys[2]


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_any_message_edited_with_update_state_is_corrected(
    store: BaseStore, graph: Any, queue: Queue, call: str
) -> None:
    """With the next run, also one of long ago, and also one that is edited twice, or back."""
    await say(graph, call, "I live in Kiel.", "1")
    await say(graph, call, "It rains.", "2")
    for number, city in enumerate(("Bonn", "Ulm", "Kiel")):
        graph.update_state(CONFIG, {"messages": [HumanMessage(f"I live in {city}.", id="1")]})
        await say(graph, call, "And now?", f"n{number}")
        assert content(store, "t1/1") == f"I live in {city}."
        assert queue.keys[-1].count("t1/1") == 1
    assert content(store, "t1/2") == "It rains."


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_message_that_gets_its_words_later_is_remembered_then(
    store: BaseStore, graph: Any, queue: Queue, call: str
) -> None:
    """A picture without a caption, or a recording that is written down once the talk has gone on; also
    while somebody else speaks it is not theirs."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    graph.update_state(CONFIG, {"messages": [HumanMessage([picture], id="1")]}, as_node="__start__")
    await say(graph, call, "It rains.", "2")
    assert store.get(ANNA, "t1/1") is None
    graph.update_state(CONFIG, {"messages": [HumanMessage("My goat is called Berta.", id="1")]})
    await say(graph, call, "What does she say?", "3", TOM)
    assert store.get(ANNA, "t1/1") is None
    assert store.get(("memories", "tom"), "t1/1") is None
    await say(graph, call, "And now?", "4")
    assert content(store, "t1/1") == "My goat is called Berta."
    assert queue.keys[-1].count("t1/1") == 1
    store.delete(ANNA, "t1/1")
    await say(graph, call, "Bye.", "5")
    assert store.get(ANNA, "t1/1") is None


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_an_edit_counts_though_the_end_of_the_thread_was_deleted(
    store: BaseStore, graph: Any, call: str
) -> None:
    """The messages up to which the thread is stored may be taken out of it, also while somebody else
    speaks: what was edited before them is corrected all the same."""
    await say(graph, call, "I live in Kiel.", "1")
    await say(graph, call, "It rains.", "2")
    messages = graph.get_state(CONFIG).values["messages"]
    gone = [RemoveMessage(id=str(message.id)) for message in messages[2:]]
    edited = HumanMessage("I live in Bonn.", id="1")
    graph.update_state(CONFIG, {"messages": [*gone, edited]})
    await say(graph, call, "Where does she live?", "3", TOM)
    assert content(store, "t1/1") == "I live in Kiel."
    await say(graph, call, "Here I am.", "4")
    assert content(store, "t1/1") == "I live in Bonn."
    assert content(store, "t1/2") == "It rains."


async def test_what_a_person_changed_in_memory_stays_as_they_changed_it(
    store: BaseStore, graph: Any
) -> None:
    """The thread corrects memory where it was itself edited, not where memory was."""
    await say(graph, "sync", "My desk is 1234.", "1")
    item = store.get(ANNA, "t1/1")
    assert item is not None
    store.put(ANNA, "t1/1", {**item.value, "content": "(taken back)"})
    for number in range(2):
        await say(graph, "sync", "And now?", f"n{number}")
        assert content(store, "t1/1") == "(taken back)"


async def test_what_somebody_else_said_is_corrected_with_their_next_run(
    store: BaseStore, graph: Any
) -> None:
    """In a thread of several people nobody's words come into another's memory."""
    await say(graph, "sync", "I live in Kiel.", "1")
    await say(graph, "sync", "Hello Anna.", "2", TOM)
    graph.update_state(CONFIG, {"messages": [HumanMessage("I live in Bonn.", id="1")]})
    await say(graph, "sync", "Where does she live?", "3", TOM)
    assert content(store, "t1/1") == "I live in Kiel."
    assert store.get(("memories", "tom"), "t1/1") is None
    await say(graph, "sync", "Here I am.", "4")
    assert content(store, "t1/1") == "I live in Bonn."


async def test_in_a_namespace_of_everybody_the_person_corrects_their_own(store: BaseStore) -> None:
    """An edit waits for a run of whoever said it, also where all that is said is everybody's."""
    home = ("memories", "home")
    graph = (
        StateGraph(MemoryState)
        .add_node("recall", RecallNode(home))
        .add_node("remember", RememberNode(home))
        .add_edge(START, "recall")
        .add_edge("recall", "remember")
        .compile(store=store, checkpointer=InMemorySaver())
    )
    await say(graph, "sync", "I live in Kiel.", "1")
    await say(graph, "sync", "Hello Anna.", "2", TOM)
    graph.update_state(CONFIG, {"messages": [HumanMessage("I live in Bonn.", id="1")]})
    await say(graph, "sync", "Where does she live?", "3", TOM)
    await say(graph, "sync", "Here I am.", "4")
    assert content(store, "t1/1", home) == "I live in Bonn."
