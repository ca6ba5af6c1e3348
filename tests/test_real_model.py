"""What measures a real model, without one: Ollama's protocol before OpenAI's, and the labels."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_ollama import ChatOllama

from benchmarks.real_model.judging import conversations
from scripts.real_model import ollama_server
from tests.ollama_server import ToolCall
from tests.provider_server import Asked, ProviderServer

TALKS = {talk.id: talk for talk in conversations()}


def answer(asked: Asked) -> str | ToolCall | None:
    if asked.tools and "weather" in asked.last:
        return ToolCall("look_up", {"place": "Kiel"})
    return "Ahoy." if "hello" in asked.last else None


@pytest.fixture
def model() -> Iterator[ChatOllama]:
    with ProviderServer(answer) as upstream:
        server = ollama_server(upstream.url, "small", 0)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            yield ChatOllama(model="small", base_url=address, num_predict=50)
        finally:
            server.shutdown()
            server.server_close()


def test_a_server_with_openais_protocol_speaks_ollamas(model: ChatOllama) -> None:
    """Text, tokens, tool calls with their results, and answers in JSON pass through, streamed or not."""

    def look_up(place: str) -> str:
        """Look the weather up."""
        return place

    said = model.invoke("hello")
    assert said.text == "Ahoy."
    assert said.usage_metadata
    assert "".join(piece.text for piece in model.stream("hello")) == "Ahoy."
    asked = HumanMessage("weather?")
    with_tools = model.bind_tools([look_up])
    called = with_tools.invoke([asked])
    assert isinstance(called, AIMessage)
    [call] = called.tool_calls
    assert (call["name"], call["args"]) == ("look_up", {"place": "Kiel"})
    result = ToolMessage("rain", tool_call_id=call["id"], name="look_up")
    assert with_tools.invoke([asked, called, result]).text
    schema = {
        "title": "Notes",
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    }
    assert "n" in model.with_structured_output(schema, method="json_schema").invoke("notes")


@pytest.mark.parametrize("id", TALKS)
def test_labels_are_right_themselves(id: str) -> None:
    """Each label, in each wording, is judged as what it is; there are conversations in four languages."""
    talk = TALKS[id]
    for label in (*talk.facts, *talk.also):
        for text in label.texts:
            verdict, labels = talk.judge(text)
            assert verdict in ("right", "also")
            assert label in labels
    assert {one.language for one in TALKS.values()} == {"en", "de", "es", "fr"}


@pytest.mark.parametrize(
    ("id", "text", "verdict"),
    [
        ("en-move", "Nadia works at Brightwater as a translator.", "right"),
        ("en-move", "Nadia's flat has a balcony.", "also"),
        ("en-move", "Nadia must love books.", "invented"),
        ("en-move", "Nadia lives in Leeds with Donald.", "invented"),
        ("en-health", "Gareth eats pork.", "wrong"),
        ("en-correction", "Aaron's recital is on 14 June.", "wrong"),
        ("en-correction", "Ruth: My mother Miriam.", "wrong"),
        ("en-joke", "Kofi is the emperor of Mars.", "wrong"),
        ("es-perro", "Canelo tiene cuatro años.", "invented"),
    ],
)  # fmt: skip
def test_what_is_stored_is_judged(id: str, text: str, verdict: str) -> None:
    """Facts are told from what somebody took back, joked or guessed, and from what nobody said."""
    assert TALKS[id].judge(text)[0] == verdict
