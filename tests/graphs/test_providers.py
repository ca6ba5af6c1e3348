"""OpenAI's and Anthropic's own clients, against a server on loopback that speaks their protocols."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.chat_models import init_chat_model
from langchain_openai import OpenAIEmbeddings

from langmemory import MemoryStore, build_chat_graph, build_reflection_graph
from langmemory.formation.extraction.extractor import ModelExtractor
from langmemory.tools import create_memory_tools
from tests.ollama_server import ToolCall
from tests.provider_server import Answer, Asked, ProviderServer

ANNA = ("memories", "anna")
RUN: Any = {"configurable": {"thread_id": "t", "user_id": "anna"}}
MODELS = ("openai:gpt-4.1-mini", "anthropic:claude-haiku-4-5")
NOTES = {
    "facts": [
        {
            "text": "Anna lives in Bergen.",
            "kind": "fact",
            "evidence": ["t1"],
            "claims": [{"subject": "Anna", "relation": "lives_in", "object": "Bergen"}],
        }
    ],
    "summary": {"text": "Anna lives in Bergen."},
}

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_model_of_a_provider_calls_the_memory_tools(
    store: MemoryStore, server: ProviderServer, model: str, streamed: bool
) -> None:
    """The model writes a memory by a tool call, sees the result, and its words arrive one by one."""

    def answer(asked: Asked) -> Answer:
        if "manage_memory" in asked.tools and "bees" in asked.last:
            return ToolCall("manage_memory", {"content": "Anna keeps bees.", "action": "create"})
        return "I have noted that."

    server.answer = answer
    tools = create_memory_tools(("memories", "{user_id}"), viewer="{user_id}")
    graph = build_chat_graph(init_chat_model(model), tools=tools, store=store)
    said = {"messages": [("user", "Please remember that I keep bees.")]}
    if streamed:
        parts = [one.text for one, _ in graph.stream(said, RUN, stream_mode="messages")]
        assert len([part for part in parts if part in ("I", " have", " noted")]) == 3
    else:
        assert graph.invoke(said, RUN)["messages"][-1].text == "I have noted that."
    assert any("bees" in str(item.value) for item in store.search(ANNA, query="bees"))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_a_model_of_a_provider_reads_conversations(
    store: MemoryStore, server: ProviderServer, model: str, method: Any
) -> None:
    """Reflection holds it to the schema, by structured output or by a tool call, and keeps what it took
    with the run."""

    def answer(asked: Asked) -> Answer | None:
        if asked.schema is not None:
            return json.dumps(NOTES)
        return ToolCall(asked.tools[0], NOTES) if asked.tools else None

    server.answer = answer
    store.remember(
        ANNA, [{"role": "user", "name": "Anna", "content": "I live in Bergen."}], thread_id="t"
    )
    extractor = ModelExtractor(init_chat_model(model), method=method)
    build_reflection_graph(store, extractor=extractor).invoke({"namespace": list(ANNA)})
    (run,) = store.changes.runs(ANNA)
    assert run.note["failures"] == []
    ((name, usage),) = run.note["usage"].items()
    assert name == model.partition(":")[2]
    assert usage["calls"] == 1
    assert usage["input_tokens"] > 100
    assert [one.text for one in store.recall("Anna", ANNA, kinds=["semantic"])] == [
        "Anna lives in Bergen."
    ]


def test_openais_vectors_rank(tmp_path: Path, server: ProviderServer) -> None:
    """Their client's base64 vectors are stored, compared, and asked for once a text."""
    embed = OpenAIEmbeddings(model="text-embedding-3-small", check_embedding_ctx_length=False)
    with MemoryStore(tmp_path / "m.db", index={"embed": embed, "dims": 16}) as store:
        said = [("user", "I repair organs"), ("user", "my cat sleeps")]
        store.remember(ANNA, said, thread_id="t")
        asked = len(server.requests)
        found = store.search(ANNA, query="my cat sleeps", limit=1)
        assert found[0].value["content"] == "my cat sleeps"
        assert found[0].score == pytest.approx(1.0)
        assert len(server.requests) == asked + 1
