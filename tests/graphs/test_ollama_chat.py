"""The chat graph through langchain-ollama, against a server that speaks Ollama's protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import ollama
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_ollama import ChatOllama
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from langmemory.config import ModelsConfig
from langmemory.context import ContextBudget
from langmemory.errors import ConfigError
from langmemory.graphs import NoModel, build_chat_graph, build_reflection_graph, chat_model
from langmemory.middleware import MemoryMiddleware
from langmemory.stores import MemoryStore
from langmemory.tools import TOOLS, create_memory_tools
from tests.ollama_server import OllamaServer, Reply, ToolCall

CONFIG: Any = {"configurable": {"thread_id": "t1", "user_id": "anna"}}


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


def graph(server: OllamaServer, **options: Any) -> Any:
    model = ChatOllama(model="llama3.1", base_url=server.url, **options)
    return build_chat_graph(
        model,
        tools=create_memory_tools(("memories", "{user_id}"), tools=TOOLS),
        store=InMemoryStore(),
        checkpointer=InMemorySaver(),
    )


def message(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


async def test_tool_calls_reach_memory_and_their_results_the_model(server: OllamaServer) -> None:
    """Parallel tool calls run, a wrong one is explained, and the next request has both results."""
    server.script(
        Reply(
            tool_calls=[
                ToolCall("core_memory_append", {"block": "human", "content": "Plays the cello"}),
                ToolCall("core_memory_append", {"block": "hobby", "content": "x"}),
            ]
        ),
        "I will remember that.",
    )
    state = await graph(server).ainvoke(message("I play the cello."), CONFIG)
    assert state["messages"][-1].text == "I will remember that."
    first, second = server.chats()
    assert {tool["function"]["name"] for tool in first["tools"]} >= {
        "manage_memory",
        "search_memory",
        "core_memory_append",
    }
    results = [m["content"] for m in second["messages"] if m["role"] == "tool"]
    assert "Plays the cello" in results[0]
    assert "Correct them and call again" in results[1]


def test_a_model_may_be_named(
    server: OllamaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chat, its summaries, reflection and the middleware take a model's name, as LangChain's
    `create_agent` does, with the configured address; a name that is none is an error when the graph
    is made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_URL", server.url)
    server.always("Hello.")
    name = "ollama:llama3.1"
    chat = build_chat_graph(name, summary_model=name, store=InMemoryStore())
    assert chat.invoke(message("Hi"), CONFIG)["messages"][-1].text == "Hello."
    with MemoryStore(tmp_path / "memory.db") as store:
        store.remember(("memories", "anna"), [HumanMessage("I play the cello.")], thread_id="t1")
        server.always('{"facts": []}')
        done = build_reflection_graph(store, model=name).invoke({"namespace": ("memories", "anna")})
        assert done["model_calls"] == 1
    MemoryMiddleware(summary_model=name)
    for build in (
        lambda: build_chat_graph("nobody:model"),
        lambda: build_reflection_graph(model="nobody:model"),
        lambda: MemoryMiddleware(summary_model="nobody:model"),
    ):
        with pytest.raises(ConfigError, match="'nobody:model' cannot be made"):
            build()


async def test_the_answer_streams(server: OllamaServer) -> None:
    """The answer's words arrive one by one, sync and async."""
    server.always("one two three four")
    chat = graph(server)
    chunks = [
        chunk.text
        for chunk, _ in chat.stream(message("Count"), CONFIG, stream_mode="messages")
        if isinstance(chunk, AIMessage)
    ]
    assert "".join(chunks) == "one two three four"
    assert len(chunks) > 3
    streamed = [
        chunk.text
        async for chunk, _ in chat.astream(message("Again"), CONFIG, stream_mode="messages")
        if isinstance(chunk, AIMessage)
    ]
    assert "".join(streamed) == "one two three four"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(fault="http_500"), ollama.ResponseError),
        (Reply(content="I", fault="broken_json"), ValueError),
        (Reply(content="I", fault="drop"), httpx.RemoteProtocolError),
        (Reply(content="I", delay_seconds=30), httpx.ReadTimeout),
    ],
)
async def test_a_failed_answer_loses_nothing(
    server: OllamaServer, reply: Reply, error: type[Exception]
) -> None:
    """Whatever goes wrong with the model ends the run with its own error; the next run goes on,
    and both messages are remembered."""
    server.script(reply)
    chat = graph(server, client_kwargs={"timeout": 1 if reply.delay_seconds else 30})
    with pytest.raises(error):
        await chat.ainvoke(message("My locker number is 7."), CONFIG)
    server.always("Fine.")
    state = await chat.ainvoke(message("Are you there?"), CONFIG)
    assert state["messages"][-1].text == "Fine."
    stored = {item.value["content"] for item in chat.store.search(("memories", "anna"))}
    assert stored == {"My locker number is 7.", "Are you there?", "Fine."}


async def test_a_failing_summary_leaves_the_conversation_whole(server: OllamaServer) -> None:
    """When only the summarising model fails, the answer still comes, and the state says so."""
    with OllamaServer() as broken:
        broken.always(Reply(fault="http_500"))
        server.always("word " * 80)
        chat = build_chat_graph(
            ChatOllama(model="llama3.1", base_url=server.url),
            summary_model=ChatOllama(model="llama3.1", base_url=broken.url),
            budget=ContextBudget(window_tokens=16_000),
            store=InMemoryStore(),
            checkpointer=InMemorySaver(),
        )
        for _ in range(14):
            state = await chat.ainvoke(message("Tell me more. " * 10), CONFIG)
    assert broken.chats()
    assert "terminated" in state["context"]["summarization_error"]
    assert state["messages"][-1].text.startswith("word")


def test_a_small_window_is_known_and_asked_for(server: OllamaServer) -> None:
    """The configured window goes to Ollama, and the prompt is divided for it."""
    server.always("Hello!")
    model = chat_model(
        ModelsConfig(fast="ollama:llama3.1", ollama_url=server.url, ollama_context_tokens=20_000)
    )
    state = build_chat_graph(model, store=InMemoryStore()).invoke(message("Hi"), CONFIG)
    assert server.chats()[0]["options"]["num_ctx"] == 20_000
    assert state["budget"]["window_tokens"] == 20_000
    assert state["budget"]["parts"]["conversation"]["limit"] == 8_000


def test_the_configuration_names_the_model(server: OllamaServer) -> None:
    """models.fast is asked first, then models.deep; without both NoModel answers; an unknown
    provider is an error that says what to install."""
    server.always("Hello!")
    for models in (
        ModelsConfig(fast="ollama:llama3.1", ollama_url=server.url),
        ModelsConfig(deep="ollama:llama3.1", ollama_url=server.url),
    ):
        assert chat_model(models).invoke("Hi").text == "Hello!"
    assert server.chats()[0]["model"] == "llama3.1"
    assert isinstance(chat_model(ModelsConfig()), NoModel)
    with pytest.raises(ConfigError, match=r"fireworks:x.*needs.*pip install"):
        chat_model(ModelsConfig(fast="fireworks:x"))
