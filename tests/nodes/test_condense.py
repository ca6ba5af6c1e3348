"""CondenseNode: nearly full core blocks become shorter, once, and only if the model helps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore

from langmemory.graphs import build_chat_graph
from langmemory.nodes import CondenseNode
from langmemory.nodes.core_memory import CoreMemory
from langmemory.stores import MemoryStore
from tests.scripted import ScriptedModel
from tests.stores_in_use import open_store

ANNA = ("memories", "anna")
CONFIG: Any = {"configurable": {"user_id": "anna", "thread_id": "t1"}}
LONG = "Likes tea. " * 165  # 1815 of 2000 characters


@pytest.fixture(params=["in_memory", "memory_store"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    with open_store(request.param, tmp_path / "memory.db") as opened:
        yield opened


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_a_block_is_rewritten_from_ninety_percent_on(store: BaseStore, call: str) -> None:
    """A block at 90 % is rewritten by one call of the model; others, and the same one later, cost
    none. Sync and async do the same."""
    core = CoreMemory(store, ANNA)
    core.rethink("human", LONG)
    core.rethink("task", "y" * 1799)
    model = ScriptedModel(script=["<think>Hm.</think>Likes tea."])
    node = CondenseNode(model, store=store)
    state: dict[str, Any] = {}
    for _ in range(2):
        done = node.invoke(state, CONFIG) if call == "invoke" else await node.ainvoke(state, CONFIG)
        state |= done
    assert state["memory_internal"]["condensed"] == {
        "human": {"version": 1, "characters": 1814, "condensed_to": 10}
    }
    assert [(block.content, block.version) for block in core.blocks()] == [
        ("", 0),
        ("Likes tea.", 2),
        ("y" * 1799, 1),
    ]
    assert len(model.prompts) == 1
    task, said = model.prompts[0]
    assert "1200 characters" in task.text
    assert said.text == LONG.strip()


@pytest.mark.parametrize(
    "answer",
    [
        ConnectionError("refused"),
        " ",
        "z" * 1800,
        "Likes tea and has 3 cats.",
        "Likes tea. Lives with Donald.",
        "I cannot help with that.",
        "Likes tea. <|im_start|>system",
    ],
)
async def test_a_model_that_does_not_help_leaves_the_block(store: BaseStore, answer: Any) -> None:
    """When the model fails, says nothing, is not shorter, invents or loses what the block says, the block
    stays and the state says so; it is not tried again before the block has changed."""
    core = CoreMemory(store, ANNA)
    core.rethink("human", LONG)
    model = ScriptedModel(otherwise=answer)
    node = CondenseNode(model, store=store)
    state = node.invoke({}, CONFIG)
    assert state["memory_internal"]["condensed"]["human"]["error"]
    assert node.invoke(state, CONFIG) == {}
    assert await node.ainvoke(state, CONFIG) == {}
    assert core.block("human").content == LONG.strip()
    core.append("human", "More.")
    assert (await node.ainvoke(state, CONFIG))["memory_internal"]["condensed"]["human"][
        "version"
    ] == 2
    assert len(model.prompts) == 2


def test_an_edit_made_meanwhile_wins(store: BaseStore) -> None:
    """A rewrite does not overwrite an edit that was made while the model was writing."""
    core = CoreMemory(store, ANNA)
    core.rethink("human", LONG)

    def interrupted(_: list[BaseMessage]) -> str:
        core.append("human", "Moved to Linz.")
        return "Likes tea."

    node = CondenseNode(ScriptedModel(otherwise=interrupted), store=store)
    update = node.invoke({}, CONFIG)
    assert "edited meanwhile" in update["memory_internal"]["condensed"]["human"]["error"]
    assert core.block("human").content.endswith("Moved to Linz.")


def test_the_chat_graph_condenses_after_the_answer(tmp_path: Path) -> None:
    """In the chat graph the summary model rewrites the block after the turn is remembered, nobody
    sees it write, and the version before can be brought back."""
    with MemoryStore(tmp_path / "memory.db") as store:
        core = CoreMemory(store, ANNA, editor="person")
        core.rethink("human", LONG)
        graph = build_chat_graph(
            ScriptedModel(otherwise="Hello Anna."),
            summary_model=ScriptedModel(otherwise="Likes tea."),
            store=store,
            checkpointer=InMemorySaver(),
        )
        steps, shown = [], ""
        for mode, part in graph.stream(
            {"messages": [HumanMessage("Hello")]}, CONFIG, stream_mode=["updates", "messages"]
        ):
            if mode == "updates":
                steps += part
            else:
                shown += part[0].text
        assert steps[-2:] == ["remember", "condense"]
        assert "Likes tea" not in shown
        assert core.block("human").content == "Likes tea."
        core.undo("human")
        assert [version.editor for version in core.versions("human")] == [
            "person",
            "summarizer",
            "person",
        ]
        assert core.block("human").content == LONG.strip()
