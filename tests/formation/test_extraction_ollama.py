"""Extraction through langchain-ollama, against a server that speaks Ollama's protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from langchain_ollama import ChatOllama

from langmemory.errors import ExtractionError, LangMemoryError, ModelUnavailableError
from langmemory.formation.extraction.answers import schema_of
from langmemory.formation.extraction.extractor import ModelExtractor
from langmemory.ports.facts import Extraction
from tests.formation.test_extraction import FACT, GOOD, SCHEMA_ECHO, TALK, answer
from tests.ollama_server import OllamaServer, Reply, ToolCall
from tests.seeds import seeds

Outcome = Extraction | LangMemoryError


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


def extractor(url: str, **options: Any) -> ModelExtractor:
    return ModelExtractor(ChatOllama(model="qwen3:4b", base_url=url, **options))


@pytest.fixture(params=seeds(["sync", "async"], first=1))
async def outcome(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Extracts, either way, and hands back the facts or the error."""

    async def run(extractor: ModelExtractor) -> Outcome:
        try:
            if request.param == "sync":
                return extractor.extract(TALK)
            return await extractor.aextract(TALK)
        except LangMemoryError as error:
            return error

    return run


async def test_the_server_is_told_the_schema_and_the_conversation(
    server: OllamaServer, outcome: Callable[..., Any]
) -> None:
    """One request, with the answer's JSON schema as ``format`` and the turns as quoted data."""
    server.script(GOOD)
    found = await outcome(extractor(server.url))
    assert [fact.text for fact in found.facts] == [FACT["text"]]
    assert found.model_calls == 1
    (request,) = server.chats()
    assert request["format"] == schema_of(len(TALK.turns))
    system, human = request["messages"]
    assert system["role"] == "system"
    assert "[t1] Maria (user), Monday 2024-05-06 12:01:\n| I moved to Lisbon" in human["content"]


async def test_a_model_held_to_the_schema_may_say_nothing(
    server: OllamaServer, outcome: Callable[..., Any]
) -> None:
    """The smallest answer that the schema allows is "nothing to remember"."""
    assert await outcome(extractor(server.url)) == Extraction(model_calls=1)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"<think>t1 is about Lisbon.</think>\n{GOOD}",
        Reply(content=GOOD, thinking="t1 is about Lisbon."),
        GOOD.replace("]}]", "]},]"),
        f"{SCHEMA_ECHO}\n{GOOD}",
    ],
    ids=["plain", "fenced", "think tags", "thinking field", "trailing comma", "schema first"],
)
async def test_good_answers_in_bad_clothes(
    server: OllamaServer, outcome: Callable[..., Any], reply: str | Reply
) -> None:
    """They are read in one call."""
    server.script(reply)
    found = await outcome(extractor(server.url))
    assert [fact.text for fact in found.facts] == [FACT["text"]]
    assert found.model_calls == 1


async def test_a_model_that_knows_tools_only(
    server: OllamaServer, outcome: Callable[..., Any]
) -> None:
    """With ``function_calling`` the answer is the arguments of the tool call."""
    server.script(Reply(tool_calls=[ToolCall("Answer", json.loads(GOOD))]))
    model = ChatOllama(model="any", base_url=server.url)
    found = await outcome(ModelExtractor(model, method="function_calling"))
    assert [fact.text for fact in found.facts] == [FACT["text"]]
    (request,) = server.chats()
    assert request["tools"][0]["function"]["name"] == "Answer"
    assert "format" not in request or not request["format"]


BAD = {
    "broken JSON": '{"facts": [{"text": "Maria mo',
    "prose": "Maria moved to Lisbon.",
    "schema echo": SCHEMA_ECHO,
    "refusal": "I'm sorry, but I can't assist with that.",
    "refusal in JSON": answer(summary={"text": "I'm sorry, I cannot do that."}),
    "thoughts only": "<think>What to say about Lisbon",
    "silence": "",
    "other JSON": json.dumps({"answer": "Maria moved to Lisbon"}),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
async def test_bad_answers_are_asked_again_once(
    server: OllamaServer, outcome: Callable[..., Any], bad: str
) -> None:
    """A second answer that is good counts; after two bad ones it is an ExtractionError."""
    server.script(bad, GOOD)
    found = await outcome(extractor(server.url))
    assert [fact.text for fact in found.facts] == [FACT["text"]]
    assert found.model_calls == 2
    assert "cannot be used" in server.chats()[1]["messages"][-1]["content"]

    server.script(bad, bad)
    found = await outcome(extractor(server.url))
    assert isinstance(found, ExtractionError)
    assert len(server.chats()) == 4


FAULTS: dict[str, Reply] = {
    "HTTP 500": Reply(fault="http_500"),
    "unknown model": Reply(fault="not_found"),
    "no protocol": Reply(content="one two", fault="broken_json"),
    "error midway": Reply(content="one two", fault="error_midway"),
    "dropped midway": Reply(content="one two", fault="drop"),
    "dropped at once": Reply(fault="drop"),
    "too slow": Reply(content="one two", delay_seconds=5),
    "loaded only": Reply(fault="empty"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_faults_of_the_server_are_no_answers(
    server: OllamaServer, outcome: Callable[..., Any], fault: Reply
) -> None:
    """Whatever breaks, it is ModelUnavailableError after one call, also on the second try, and
    never "no memories"; when the server is well again, so is the extractor."""
    model = extractor(server.url, client_kwargs={"timeout": 1 if fault.delay_seconds else 30})
    server.script(fault)
    found = await outcome(model)
    assert isinstance(found, ModelUnavailableError), found
    assert "qwen3:4b" in str(found)
    assert len(server.chats()) == 1

    server.script("nonsense", fault)
    assert isinstance(await outcome(model), ModelUnavailableError)

    server.script(GOOD)
    assert len((await outcome(model)).facts) == 1


async def test_a_vanished_server(outcome: Callable[..., Any]) -> None:
    """A server that is gone, between two batches or from the start, is ModelUnavailableError."""
    with OllamaServer() as server:
        server.script(GOOD)
        model = extractor(server.url)
        assert len((await outcome(model)).facts) == 1
    for _ in range(2):  # the connection kept open is closed; then none can be opened
        found = await outcome(model)
        assert isinstance(found, ModelUnavailableError)
    assert isinstance(found.__cause__, httpx.ConnectError | ConnectionError)


async def test_a_cut_answer_of_a_small_window(
    server: OllamaServer, outcome: Callable[..., Any]
) -> None:
    """An answer that hit the token limit keeps its finished facts."""
    whole = answer(FACT, {**FACT, "text": "Maria works at Initech"})
    server.script(whole[: whole.index("Initech")])
    found = await outcome(extractor(server.url))
    assert [fact.text for fact in found.facts] == [FACT["text"]]
    assert "answer cut off: its last entry" in found.dropped
