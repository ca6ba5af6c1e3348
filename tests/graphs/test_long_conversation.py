"""Six hundred turns: the window stays small, and nothing is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph.state import CompiledStateGraph

from langmemory.context import ContextBudget
from langmemory.graphs import build_chat_graph
from langmemory.nodes.access import Conversation, StoreAccess
from langmemory.tools import TOOLS, create_memory_tools
from tests.scripted import ScriptedModel, tool_call
from tests.stores_in_use import StoreName, open_store

BUDGET = ContextBudget(window_tokens=16_000)
FACT = "My grandmother Ottilie was born in Bregenz in 1931."
QUESTION = "In which town was my grandmother Ottilie born?"
THINGS = ("kettle", "bicycle", "garden", "novel", "sweater", "piano", "balcony", "boat", "recipe")


class Talker:
    """Plays the model: now and then it searches its memory, otherwise it chats; it answers the
    question only from what is in its prompt. It measures every prompt it gets."""

    def __init__(self) -> None:
        self.turn = 0
        self.largest = 0

    def __call__(self, prompt: list[BaseMessage]) -> str | AIMessage:
        self.largest = max(self.largest, count_tokens_approximately(prompt))
        assert not any("xylophone" in message.text for message in prompt)
        last = prompt[-1]
        if last.type == "human":
            self.turn += 1
            if last.text == QUESTION:
                return "In Bregenz." if "Bregenz" in str(prompt[:-1]) else "I do not know."
            if self.turn % 25 == 0:
                return tool_call("conversation_search", f"call-{self.turn}", query=last.text)
        return f"I see, that was turn {self.turn}. " + "Tell me how it went on from there. " * 3


def small_talk(turn: int) -> str:
    thing = THINGS[turn % len(THINGS)]
    return f"On day {turn} I worked on the {thing} for {turn % 7 + 1} hours and then went home."


@contextmanager
def conversation(
    store: StoreName, path: Path, talker: Talker
) -> Iterator[CompiledStateGraph[Any, Any, Any, Any]]:
    """The application as one process runs it: store and checkpoints opened from their files."""
    with (
        open_store(store, path / "memory.db") as memory,
        SqliteSaver.from_conn_string(str(path / "threads.db")) as checkpointer,
    ):
        neighbour = [HumanMessage("My secret word is xylophone.", id="m1")]
        StoreAccess(memory).remember(
            Conversation(namespace=("memories", "bert"), thread_id="b1"), neighbour
        )
        yield build_chat_graph(
            ScriptedModel(otherwise=talker),
            summary_model=ScriptedModel(otherwise="They talk about things at home, day by day."),
            tools=create_memory_tools(("memories", "{user_id}"), tools=TOOLS),
            budget=BUDGET,
            store=memory,
            checkpointer=checkpointer,
        )


def talk(
    graph: CompiledStateGraph[Any, Any, Any, Any], texts: dict[int, str], turns: range
) -> list[Any]:
    """Say something every turn; the states of the turns after which `texts` has something."""
    config: Any = {"configurable": {"thread_id": "long", "user_id": "anna"}}
    states = []
    for turn in turns:
        message: Any = {"messages": [HumanMessage(texts.get(turn, small_talk(turn)))]}
        state = graph.invoke(message, config, durability="exit")
        assert state["budget"]["over"] == [], state["budget"]
        assert not state["budget"]["notices"] or "tight" in state["budget"]["notices"][0]
        if turn in texts:
            states.append(state)
    return states


@pytest.mark.parametrize(
    ("store", "turns"),
    [
        ("in_memory", 60),
        pytest.param("sqlite", 60, marks=pytest.mark.thorough),
        ("memory_store", 60),
        pytest.param("memory_store", 300, marks=pytest.mark.thorough),
    ],
)
def test_a_long_conversation_stays_small_and_forgets_nothing(
    tmp_path: Path, store: StoreName, turns: int
) -> None:
    """No part of any prompt exceeds its budget; a fact of turn 5 is answered near the end, long
    after it left the window; every turn is stored once; another user's words never appear; and,
    where the store has a file, a restart in the middle loses nothing."""
    talker = Talker()
    texts = {5: FACT, turns - 10: QUESTION}
    restart = turns // 2 if store != "in_memory" else turns
    with conversation(store, tmp_path, talker) as graph:
        states = talk(graph, texts, range(restart))
    with conversation(store, tmp_path, talker) as graph:
        states += talk(graph, texts, range(restart, turns))
        assert not any("Bregenz" in m.text for m in states[-1]["summarized_messages"])
        assert states[-1]["messages"][-1].text == "In Bregenz."
        memory = graph.store
        assert memory is not None
        stored = memory.search(("memories", "anna"), limit=3 * turns)
    said = [item.value["content"] for item in stored if item.value["role"] == "user"]
    if store != "in_memory":
        expected = [texts.get(turn, small_talk(turn)) for turn in range(turns)]
        assert sorted(said) == sorted(expected)
    assert (
        talker.largest <= BUDGET.core_tokens + BUDGET.retrieved_tokens + BUDGET.conversation_tokens
    )
