"""An agent's answers have no ids, and the middleware works beside others."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware, ModelFallbackMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from langmemory import MemoryStore
from langmemory.errors import ConfigError
from langmemory.middleware import MemoryMiddleware
from tests.citing import ANNA, LABEL, QUESTION, asking, cite, run, tea_drinker
from tests.scripted import ScriptedModel, StreamingModel, tool_call

PLAIN = "You like tea, not coffee."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with tea_drinker(tmp_path) as opened:
        yield opened


MODELS: dict[str, Callable[[], Any]] = {
    "whole": lambda: ScriptedModel(otherwise=cite),
    "streams": lambda: StreamingModel(otherwise=cite, piece=3),
    "content blocks": lambda: StreamingModel(otherwise=cite, piece=2, blocks=True),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_no_id_reaches_a_person(store: MemoryStore, name: str, asynchronous: bool) -> None:
    """In every stream mode, sync and async, the agent's answer has no ids; they are counted all the
    same, and what is remembered has none."""
    memory = MemoryMiddleware(store)
    agent = create_agent(MODELS[name](), middleware=[memory], checkpointer=InMemorySaver())
    modes: Any = ["messages", "values", "updates"]
    if asynchronous:
        parts = [one async for one in agent.astream(asking(), run(), stream_mode=modes)]
    else:
        parts = list(agent.stream(asking(), run(), stream_mode=modes))
    chunks = [data[0] for mode, data in parts if mode == "messages"]
    assert "".join(chunk.text for chunk in chunks) == PLAIN
    assert len({chunk.id for chunk in chunks}) == 1
    [answer] = [data["model"] for mode, data in parts if mode == "updates" and "model" in data]
    assert answer["messages"][0].text == PLAIN
    assert [data for mode, data in parts if mode == "values"][-1]["messages"][-1].text == PLAIN
    said = store.search(ANNA, filter={"role": "assistant"})
    assert [item.value["content"] for item in said] == [PLAIN]
    [use] = [one for one in store.admin.usage(ANNA) if one.text == "I like to drink tea."]
    assert (use.loaded, use.referenced) == (1, 1)


def test_no_id_comes_from_the_model_that_steps_in(store: MemoryStore) -> None:
    """Other middleware may ask another model than the one the request came with."""
    broken = ScriptedModel(otherwise=ConnectionError("off"))
    fallback = ModelFallbackMiddleware(StreamingModel(otherwise=cite))
    agent = create_agent(broken, middleware=[MemoryMiddleware(store), fallback])
    chunks = [chunk for chunk, _ in agent.stream(asking(), run(), stream_mode="messages")]
    assert "".join(chunk.text for chunk in chunks) == PLAIN


def test_a_structure_has_no_ids(store: MemoryStore) -> None:
    """An answer in a structure is what a person reads, too."""

    class Drink(BaseModel):
        drink: str
        why: list[str]

    def answer(prompt: list[BaseMessage]) -> AIMessage:
        [label] = LABEL.findall(prompt[0].text)
        return tool_call("Drink", drink=f"tea [{label}]", why=[f"You said so [{label}]."])

    agent = create_agent(
        ScriptedModel(otherwise=answer),
        middleware=[MemoryMiddleware(store, tools=False)],
        response_format=ToolStrategy(Drink),
    )
    result = agent.invoke(asking(), run())
    assert result["structured_response"] == Drink(drink="tea", why=["You said so."])
    assert "[R:" not in result["messages"][-1].text


def test_ids_are_kept_or_left_out_by_choice(store: MemoryStore) -> None:
    """``keep`` leaves them in the answer; ``off`` has none in the prompt."""
    kept = create_agent(
        ScriptedModel(otherwise=cite), middleware=[MemoryMiddleware(store, citations="keep")]
    )
    assert LABEL.search(kept.invoke(asking(), run())["messages"][-1].text)
    model = ScriptedModel(otherwise=cite)
    off = create_agent(model, middleware=[MemoryMiddleware(store, citations="off")])
    assert off.invoke(asking(), run("b"))["messages"][-1].text == "I do not know."
    assert "I like to drink tea." in model.prompts[0][0].text
    with pytest.raises(ConfigError, match="citations is 'no'"):
        MemoryMiddleware(store, citations="no")  # type: ignore[arg-type]


def test_the_block_stands_in_a_message_of_its_own(store: MemoryStore) -> None:
    """With ``placement="message"`` the system prompt has core memory alone; the block is before the
    person's last message, in the prompt only, also while tools are called."""
    store.put((*ANNA, "core"), "human", {"kind": "core", "content": "Cooks.", "version": 1})
    model = ScriptedModel(script=[tool_call("search_memory", query="tea"), "Tea."])
    agent = create_agent(
        model,
        system_prompt="Be kind.",
        middleware=[MemoryMiddleware(store, placement="message")],
        checkpointer=InMemorySaver(),
    )
    result = agent.invoke(asking(), run())
    for prompt in model.prompts:
        system, block, question = prompt[:3]
        assert system.text.startswith("Be kind.\n\n<core_memory>")
        assert "<recalled_memories>" not in system.text
        assert block.type == "human"
        assert "I like to drink tea." in block.text
        assert question.text == QUESTION
    assert not any("<recalled_memories>" in one.text for one in result["messages"])
    assert len(store.search(ANNA, filter={"role": "user"})) == 2


def test_tools_are_chosen_by_name(store: MemoryStore) -> None:
    """All, none, or those named."""
    assert [tool.name for tool in MemoryMiddleware(store, tools=["get_memory"]).tools] == [
        "get_memory"
    ]
    assert MemoryMiddleware(store, tools=False).tools == []
    assert len(MemoryMiddleware(store).tools) == 4
    with pytest.raises(ConfigError, match="'get'"):
        MemoryMiddleware(store, tools=["get"])


def test_keys_of_the_application_are_its_own(store: MemoryStore) -> None:
    """An agent may have state of the names that the nodes use among themselves, of other types."""

    class Own(AgentState[Any]):
        said: NotRequired[str]
        cited: NotRequired[int]
        message_speakers: NotRequired[Annotated[str, lambda before, new: before + new]]
        discarded_branches: NotRequired[bool]
        remembered_id: NotRequired[float]
        remembered_in: NotRequired[str]
        texts: NotRequired[str]

    agent = create_agent(
        ScriptedModel(otherwise=cite),
        middleware=[MemoryMiddleware(store)],
        state_schema=Own,
        checkpointer=InMemorySaver(),
    )
    own = {"said": "yes", "cited": 3, "message_speakers": "a", "discarded_branches": True,
           "remembered_id": 0.5, "remembered_in": "x", "texts": "t"}  # fmt: skip
    for _ in range(2):
        state = agent.invoke({**asking(), **own}, run())
    assert {name: state[name] for name in own} == {**own, "message_speakers": "aa"}
    keys = set(agent.get_state(run()).values) - set(own)
    assert keys == {
        "messages", "memory_block", "core_memory", "recalled", "recall_trace", "memory_usage",
        "memory_internal",
    }  # fmt: skip


def test_the_middleware_has_a_name_of_its_own(store: MemoryStore) -> None:
    """It is not called as its class, which others have, too; a class made of it has that class's name, and
    a name may be given."""

    class TeamMemory(MemoryMiddleware):
        pass

    assert MemoryMiddleware(store).name == "LangMemory"
    assert TeamMemory(store).name == "TeamMemory"
    team = MemoryMiddleware(store, namespace=("team",), name="Team")
    agent = create_agent(ScriptedModel(otherwise=cite), middleware=[MemoryMiddleware(store), team])
    agent.invoke(asking(), run())
    assert len(store.search(("team",))) == 2


def test_a_deep_agent_keeps_its_own_memory_files(store: MemoryStore, tmp_path: Path) -> None:
    """deepagents' ``memory=`` files, whose middleware is called MemoryMiddleware, stand in the prompt
    beside ours: neither replaces the other."""
    deepagents = pytest.importorskip("deepagents")
    from deepagents.backends import FilesystemBackend

    assert importlib.metadata.version("deepagents")
    (tmp_path / "AGENTS.md").write_text("Always answer in rhymes.")
    model = ScriptedModel(otherwise=cite)
    agent = deepagents.create_deep_agent(
        model=model,
        memory=[str(tmp_path / "AGENTS.md")],
        backend=FilesystemBackend(root_dir=str(tmp_path), virtual_mode=False),
        middleware=[MemoryMiddleware(store)],
    )
    result = agent.invoke(asking(), run())
    system = "\n".join(one.text for one in model.prompts[0] if one.type == "system")
    assert "Always answer in rhymes." in system
    assert "I like to drink tea." in system
    assert result["messages"][-1].text == PLAIN


def test_other_middleware_still_sees_the_memory_in_the_request(store: MemoryStore) -> None:
    """Middleware after it in the list sees the prompt with the memories."""
    seen: list[str] = []

    class Watch(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            seen.append(request.system_message.text)
            return handler(request)

    agent = create_agent(
        ScriptedModel(otherwise=cite), middleware=[MemoryMiddleware(store), Watch()]
    )
    agent.invoke(asking(), run())
    assert "I like to drink tea." in seen[0]
