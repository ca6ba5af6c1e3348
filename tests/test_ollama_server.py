"""The loopback Ollama behaves, towards langchain-ollama, as Ollama does."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import ollama
import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama, OllamaEmbeddings
from pydantic import BaseModel

from tests.ollama_server import OllamaServer, Reply, ToolCall


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Person(BaseModel):
    name: str
    age: int | None
    tags: list[str]


async def test_words_stream_and_add_up(server: OllamaServer) -> None:
    """A streamed answer comes in several chunks, sync and async, whose sum is the scripted text."""
    server.script("one two three", "one two three")
    model = ChatOllama(model="m", base_url=server.url)
    chunks = [chunk.text for chunk in model.stream("Hi")]
    assert "".join(chunks) == "one two three"
    assert len(chunks) > 2
    assert (await model.ainvoke("Hi")).text == "one two three"


def test_tool_calls_arrive_and_results_go_back(server: OllamaServer) -> None:
    """Parallel tool calls are parsed, and the tool's schema and results are sent."""
    calls = [ToolCall("add", {"a": 1, "b": 2}), ToolCall("add", {"a": 3, "b": 4})]
    server.script(Reply(tool_calls=calls), "3 and 7")
    model = ChatOllama(model="m", base_url=server.url).bind_tools([add])
    answer = model.invoke("Add")
    assert isinstance(answer, AIMessage)
    assert [call["args"] for call in answer.tool_calls] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    results = [add.invoke(call) for call in answer.tool_calls]
    assert model.invoke([("user", "Add"), answer, *results]).text == "3 and 7"
    first, second = server.chats()
    assert first["tools"][0]["function"]["name"] == "add"
    assert [m["content"] for m in second["messages"] if m["role"] == "tool"] == ["3", "7"]


def test_a_json_schema_is_honoured(server: OllamaServer) -> None:
    """With `format` and no script, the answer is JSON of that schema."""
    model = ChatOllama(model="m", base_url=server.url)
    answer = model.with_structured_output(Person, method="json_schema").invoke("Who?")
    assert isinstance(answer, Person)


def test_embeddings_are_deterministic_units(server: OllamaServer) -> None:
    """The same text has the same unit vector, and texts that share words are nearer."""
    embeddings = OllamaEmbeddings(model="m", base_url=server.url)
    a, b, c = embeddings.embed_documents(["green tea", "green tea leaves", "motor oil"])
    assert embeddings.embed_query("green tea") == a
    assert sum(x * x for x in a) == pytest.approx(1)
    dot = lambda u, v: sum(x * y for x, y in zip(u, v, strict=True))  # noqa: E731
    assert dot(a, b) > dot(a, c)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(fault="http_500"), ollama.ResponseError),
        (Reply(fault="not_found"), ollama.ResponseError),
        (Reply(content="one two", fault="error_midway"), ollama.ResponseError),
        (Reply(content="one two", fault="broken_json"), ValueError),
        (Reply(content="one two", fault="drop"), httpx.RemoteProtocolError),
        (Reply(fault="drop"), httpx.RemoteProtocolError),
    ],
)
def test_faults_look_like_the_real_ones(
    server: OllamaServer, reply: Reply, error: type[Exception]
) -> None:
    """Every fault surfaces in the client as the exception the real failure causes."""
    server.script(reply)
    with pytest.raises(error):
        ChatOllama(model="m", base_url=server.url).invoke("Hi")


def test_a_slow_answer_times_out(server: OllamaServer) -> None:
    """An answer that takes longer than the client waits is the client's timeout."""
    server.script(Reply(content="one", delay_seconds=30))
    model = ChatOllama(model="m", base_url=server.url, client_kwargs={"timeout": 0.05})
    with pytest.raises(httpx.ReadTimeout):
        model.invoke("Hi")


def test_models_are_listed_and_others_not_found() -> None:
    """`/api/tags` lists the models, and a model it does not have is a 404 with Ollama's words."""
    with OllamaServer(models=["llama3.1:latest"]) as server:
        client = ollama.Client(server.url)
        assert [model.model for model in client.list().models] == ["llama3.1:latest"]
        with pytest.raises(ollama.ResponseError, match="model 'other' not found"):
            client.chat("other", [{"role": "user", "content": "Hi"}])
