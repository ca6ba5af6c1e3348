"""A chat answer has no ids, the block has its place, and the state shows both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama
from langgraph.checkpoint.memory import InMemorySaver

from langmemory import MemoryStore
from langmemory.context import is_injected
from langmemory.errors import ConfigError
from langmemory.graphs import build_chat_graph
from tests.citing import ANNA, LABEL, QUESTION, asking, cite, run, tea_drinker
from tests.ollama_server import OllamaServer
from tests.scripted import ScriptedModel, StreamingModel


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with tea_drinker(tmp_path) as opened:
        yield opened


def said_by_the_model(chunks: Any) -> str:
    return "".join(chunk.text for chunk, meta in chunks if meta["langgraph_node"] == "model")


def stored(store: MemoryStore) -> list[str]:
    return [item.value["content"] for item in store.search(ANNA, filter={"role": "assistant"})]


MODELS: dict[str, Callable[[], BaseChatModel]] = {
    "whole": lambda: ScriptedModel(otherwise=cite),
    "streams": lambda: StreamingModel(otherwise=cite, piece=3),
    "one character": lambda: StreamingModel(otherwise=cite, piece=1),
    "content blocks": lambda: StreamingModel(otherwise=cite, piece=4, blocks=True),
}
PLAIN = "You like tea, not coffee."


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_no_id_reaches_a_person(store: MemoryStore, name: str, asynchronous: bool) -> None:
    """In every stream mode, sync and async, the answer has no ids, though chunks cut them in two; they
    are counted all the same, and what is remembered has none."""
    graph = build_chat_graph(
        MODELS[name](), store=store, checkpointer=InMemorySaver(), core={}, summary_model=None
    )
    modes: Any = ["messages", "values", "updates"]
    if asynchronous:
        parts = [one async for one in graph.astream(asking(), run(), stream_mode=modes)]
    else:
        parts = list(graph.stream(asking(), run(), stream_mode=modes))
    chunks = [data for mode, data in parts if mode == "messages"]
    assert said_by_the_model(chunks) == PLAIN
    assert len({chunk.id for chunk, _ in chunks}) == 1
    [answer] = [data["model"] for mode, data in parts if mode == "updates" and "model" in data]
    assert answer["messages"][0].text == PLAIN
    last = [data for mode, data in parts if mode == "values"][-1]
    assert last["messages"][-1].text == PLAIN
    assert stored(store) == [PLAIN]
    [use] = [one for one in store.admin.usage(ANNA) if one.text == "I like to drink tea."]
    assert (use.loaded, use.referenced) == (1, 1)


async def test_no_id_is_in_the_events_of_a_run(store: MemoryStore) -> None:
    """Who follows a graph by its events hears none, either."""
    model = StreamingModel(otherwise=cite)
    graph = build_chat_graph(model, store=store, core={})
    events = [event async for event in graph.astream_events(asking(), run(), version="v2")]
    said = [e["data"]["chunk"].text for e in events if e["event"] == "on_chat_model_stream"]
    assert "".join(said) == PLAIN
    [end] = [e for e in events if e["event"] == "on_chat_model_end"]
    assert end["data"]["output"].text == PLAIN


def test_no_id_comes_from_ollama(store: MemoryStore) -> None:
    """A real client of a real server, streamed."""

    def reply(body: dict[str, Any]) -> str:
        [label] = LABEL.findall(body["messages"][0]["content"])
        return f"You like tea [{label}], I think ({label})."

    with OllamaServer() as ollama:
        ollama.always(reply)
        model = ChatOllama(model="any", base_url=ollama.url)
        graph = build_chat_graph(
            model, tools=["search_memory"], store=store, core={}, checkpointer=InMemorySaver()
        )
        chunks = list(graph.stream(asking(), run(), stream_mode="messages"))
        assert len(chunks) > 3
        assert said_by_the_model(chunks) == "You like tea, I think."
        assert graph.get_state(run()).values["messages"][-1].text == "You like tea, I think."


def test_ids_are_kept_or_left_out_by_choice(store: MemoryStore) -> None:
    """``keep`` leaves them in the answer, not in memory; ``off`` has none in the prompt, and takes out one
    that a model makes up; anything else is refused with the choices."""
    kept = build_chat_graph(StreamingModel(otherwise=cite), store=store, core={}, citations="keep")
    assert LABEL.search(said_by_the_model(kept.stream(asking(), run(), stream_mode="messages")))
    assert stored(store) == [PLAIN]
    model = ScriptedModel(otherwise="Tea [R:1a2b3c4d].")
    off = build_chat_graph(model, store=store, core={}, citations="off")
    state = off.invoke(asking(), run("other"))
    assert "I like to drink tea." in model.prompts[0][0].text
    assert not LABEL.search(model.prompts[0][0].text)
    assert "[ids]" not in model.prompts[0][0].text
    assert state["messages"][-1].text == "Tea."
    assert state["memory_block"]["entries"]
    with pytest.raises(ConfigError, match='citations is \'no\'; pass "strip", "keep" or "off"'):
        build_chat_graph(model, citations="no")  # type: ignore[arg-type]


def test_the_block_stands_in_a_message_of_its_own(store: MemoryStore) -> None:
    """With ``placement="message"`` no retrieved text is in the system prompt: it stands before the person's
    last message, in the prompt only, and is neither remembered nor lost when tools are called."""
    model = ScriptedModel(otherwise=cite)
    graph = build_chat_graph(
        model, store=store, core={}, placement="message", checkpointer=InMemorySaver()
    )
    graph.invoke(asking("Hello, it is me."), run())
    state = graph.invoke(asking(), run())
    system, *before, block, question = model.prompts[-1]
    assert isinstance(system, SystemMessage)
    assert "<recalled_memories>" not in system.text
    assert isinstance(block, HumanMessage)
    assert is_injected(block)
    assert "I like to drink tea." in block.text
    assert question.text == QUESTION
    assert [one.text for one in before] == ["Hello, it is me.", "I do not know."] or before
    assert not any("<recalled_memories>" in one.text for one in state["messages"])
    assert state["budget"]["parts"]["retrieved"]["used"] > 0
    with pytest.raises(ConfigError, match='placement is \'top\'; pass "system" or "message"'):
        build_chat_graph(model, placement="top")  # type: ignore[arg-type]


def test_tools_for_memory_are_named(store: MemoryStore) -> None:
    """The chat graph takes names of memory tools beside tools of the application."""

    @tool
    def timetable(day: str) -> str:
        """Say when trains go."""
        return "at nine"

    model = ScriptedModel()
    build_chat_graph(model, tools=["search_memory", timetable, "memory_archive"], store=store)
    assert model.tool_names == ["search_memory", "timetable", "memory_archive"]
    with pytest.raises(
        ConfigError, match="'serch_memory'; pass a list with names of these: manage"
    ):
        build_chat_graph(model, tools=["serch_memory"])


def test_the_state_shows_what_studio_is_for(store: MemoryStore) -> None:
    """Block, recalled lines, trace, core memory, budget and usage stand at the top; all the rest is under
    one key. The block says what it costs, and what of that are instructions."""
    graph = build_chat_graph(ScriptedModel(otherwise=cite), store=store)
    state = graph.invoke(asking(), run())
    assert set(state) == {
        "messages", "memory_block", "recalled", "recall_trace", "core_memory", "budget",
        "memory_usage", "memory_internal", "summarized_messages",
    }  # fmt: skip
    assert {"remembered_id", "message_speakers", "discarded_branches"} <= set(
        state["memory_internal"]
    )
    assert 0 < state["memory_block"]["frame_tokens"] < state["memory_block"]["tokens"]
    assert state["memory_block"]["frame_tokens"] <= 35
