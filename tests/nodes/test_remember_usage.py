"""Usage: a memory that an answer cited did well, unless the person's next message corrects it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph

from langmemory.context import note_id
from langmemory.nodes import MemoryState, RecallNode, RememberNode
from langmemory.stores import MemoryStore

ANNA = ("memories", "anna")
CONFIG: Any = {"configurable": {"user_id": "anna", "thread_id": "t1"}}
LABEL = f"[R:{note_id(ANNA, 'dog')}]"

Say = Callable[[MemoryState, str, str], Any]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db") as opened:
        opened.put(ANNA, "dog", {"text": "Anna's dog is called Bello."})
        yield opened


@pytest.fixture(params=["sync", "async"])
def say(request: pytest.FixtureRequest, store: MemoryStore) -> Say:
    """One more turn of a conversation with an assistant who answers as told."""
    replies: list[str] = []
    graph = (
        StateGraph(MemoryState)
        .add_node("recall", RecallNode())
        .add_node("answer", lambda _: {"messages": [AIMessage(replies.pop())]})
        .add_node("remember", RememberNode())
        .add_edge(START, "recall")
        .add_edge("recall", "answer")
        .add_edge("answer", "remember")
        .add_edge("remember", END)
        .compile(store=store)
    )

    async def say(state: MemoryState, text: str, reply: str) -> Any:
        replies.append(reply)
        messages = [*state.get("messages", []), HumanMessage(text)]
        given = {**state, "messages": messages}
        if request.param == "sync":
            return graph.invoke(given, CONFIG)
        return await graph.ainvoke(given, CONFIG)

    return say


def counts(state: Any) -> tuple[int, int]:
    """How often the dog was cited, and how often that did well."""
    [dog] = [one for one in state["memory_usage"] if one["key"] == "dog"]
    return dog["referenced"], dog["succeeded"]


@pytest.mark.parametrize(
    ("reply", "did_well"),
    [("Thanks! And what is my dog's name for short?", 1), ("No, wrong dog!", 0)],
)
async def test_the_next_message_decides(say: Say, reply: str, did_well: int) -> None:
    """A cited memory counts as succeeded, so that the last answer of a thread counts; a correction in the
    person's next message takes that back. Tokens count once."""
    state = await say({"messages": []}, "What is my dog called?", f"Bello {LABEL}.")
    assert counts(state) == (1, 1)
    assert [(one["key"], one["succeeded"]) for one in state["memory_internal"]["cited"]] == [
        ("dog", 1)
    ]
    assert (
        json.loads(json.dumps(state["memory_internal"]["cited"]))
        == state["memory_internal"]["cited"]
    )
    [dog] = [one for one in state["memory_usage"] if one["key"] == "dog"]
    state = await say(state, reply, "Oh.")
    assert counts(state) == (1, did_well)
    assert state["memory_internal"]["cited"] == []
    state = await say(state, "Fine.", "Yes.")
    assert counts(state) == (1, did_well)
    [later] = [one for one in state["memory_usage"] if one["key"] == "dog"]
    assert later["read_tokens"] == later["loaded"] * dog["read_tokens"]
    assert later["discovery_tokens"] == dog["discovery_tokens"]


async def test_the_store_keeps_the_totals_of_all_threads(say: Say, store: MemoryStore) -> None:
    """The store adds up the counts of all threads."""
    talks = [(f"Bello {LABEL}.", "Thanks!"), ("No idea.", "Hm."), (f"Rex {LABEL}.", "Wrong!")]
    threads: list[Any] = []
    for reply, reaction in talks:
        state = await say({"messages": []}, "What is my dog called?", reply)
        threads.append(await say(state, reaction, "Oh."))
    [dog] = [one for one in store.admin.usage(ANNA) if one.key == "dog"]
    assert (dog.referenced, dog.succeeded) == (2, 1)
    counted = [one for state in threads for one in state["memory_usage"] if one["key"] == "dog"]
    assert dog.loaded == sum(one["loaded"] for one in counted)
    assert dog.read_tokens == sum(one["read_tokens"] for one in counted)
    assert dog.discovery_tokens == counted[-1]["discovery_tokens"]


async def test_relevance_of_a_citation_is_a_share_of_the_best_match(
    store: MemoryStore, say: Say
) -> None:
    """A cited memory that matched the question best is wholly relevant, whatever scores are."""
    store.put(ANNA, "walk", {"text": "Anna's brother walks a dog at noon."})
    state = await say({}, "What is my dog called?", f"Bello {LABEL}.")
    [used] = [one for one in state["memory_usage"] if one["key"] == "dog"]
    assert used["relevance"] == used["matched"] == 1
