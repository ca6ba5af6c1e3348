"""A server on loopback that speaks enough of OpenAI's and Anthropic's protocols for their clients.

    with ProviderServer() as server:
        ChatOpenAI(model="any", base_url=f"{server.url}/v1", api_key="none").invoke("Hi")
        ChatAnthropic(model="any", base_url=server.url, api_key="none").invoke("Hi")

``/v1/chat/completions`` and ``/v1/messages`` answer at once or as a stream of server-sent events, with
text, with JSON where the request asks for a schema, or with tool calls; ``/v1/embeddings`` answers
with deterministic unit vectors. What it says is what `answer` makes of a request.
Protocols: https://platform.openai.com/docs/api-reference and https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import base64
import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.loopback import JsonHandler, LoopbackServer
from tests.ollama_server import OllamaServer, ToolCall, instance_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A chat request, in the terms both protocols have in common."""

    system: str
    last: str
    """Text of the last message."""
    tools: tuple[str, ...]
    schema: dict[str, Any] | None
    """Of the JSON that is asked for."""


Answer = str | ToolCall
Answering = Callable[[Asked], Answer | None]


class ProviderServer(LoopbackServer):
    """The server; a context manager.

    Args:
        answer: Makes the answer to a chat request. Where it makes none, a schema gets the smallest
            JSON it allows, and everything else an echo.
        dims: Dimensions of the embeddings.
    """

    def __init__(self, answer: Answering = lambda _: None, *, dims: int = 16) -> None:
        self.answer = answer
        self.requests: list[tuple[str, dict[str, Any]]] = []
        """Path and body of every request."""
        self._vectors = OllamaServer(dims=dims)
        super().__init__(_handler(self))

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment that directs both clients to this server."""
        return {
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{self.url}/v1",
            "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": self.url,
        }  # fmt: skip

    def answered(self, asked: Asked) -> Answer:
        answer = self.answer(asked)
        if answer is not None:
            return answer
        return json.dumps(instance_of(asked.schema)) if asked.schema else f"You said: {asked.last}"

    def embedding(self, text: Any) -> list[float]:
        """Of a text, or of its tokens, which tests make of bytes."""
        said = text if isinstance(text, str) else bytes(text).decode()
        return self._vectors.embedding(said)


def _handler(owner: ProviderServer) -> type[JsonHandler]:
    class Handler(JsonHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            owner.requests.append((self.path, body))
            match self.path:
                case "/v1/chat/completions":
                    answer = owner.answered(_asked_openai(body))
                    if body.get("stream"):
                        self._stream(_openai_events(body, answer))
                    else:
                        self.answer(_completion(body, answer))
                case "/v1/messages":
                    answer = owner.answered(_asked_anthropic(body))
                    if body.get("stream"):
                        self._stream(_anthropic_events(body, answer))
                    else:
                        self.answer(_message(body, answer))
                case "/v1/embeddings":
                    self.answer(_embeddings(body, owner.embedding))
                case _:
                    self.answer({"error": {"message": "not found"}}, status=404)

        def _stream(self, events: Iterator[tuple[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for name, value in events:
                data = value if isinstance(value, str) else json.dumps(value)
                event = f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n"
                raw = event.encode()
                self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

    return Handler


def _text(content: Any) -> str:
    """Of a message, or of a list of its parts."""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text") or part.get("content") or "") for part in content or ())


def _words(text: str) -> list[str]:
    return [word if at == 0 else f" {word}" for at, word in enumerate(text.split(" "))]


# OpenAI.


def _asked_openai(body: dict[str, Any]) -> Asked:
    messages = body["messages"]
    system = (_text(one["content"]) for one in messages if one["role"] in ("system", "developer"))
    form = body.get("response_format") or {}
    return Asked(
        system="\n".join(system),
        last=_text(messages[-1]["content"]),
        tools=tuple(one["function"]["name"] for one in body.get("tools", ())),
        schema=form.get("json_schema", {}).get("schema"),
    )


def _openai_message(answer: Answer) -> tuple[dict[str, Any], str]:
    """The message, and why it ended."""
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}, "stop"
    function = {"name": answer.name, "arguments": json.dumps(dict(answer.arguments))}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def _openai_usage(body: dict[str, Any]) -> dict[str, int]:
    asked = sum(len(_text(one["content"]).split()) for one in body["messages"])
    return {"prompt_tokens": asked, "completion_tokens": 7, "total_tokens": asked + 7}


def _completion(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    message, reason = _openai_message(answer)
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": _openai_usage(body),
    }  # fmt: skip


def _openai_events(body: dict[str, Any], answer: Answer) -> Iterator[tuple[str, Any]]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": body["model"]}  # fmt: skip
    message, reason = _openai_message(answer)
    deltas: list[dict[str, Any]] = [message]
    if isinstance(answer, str):
        deltas = [{"role": "assistant", "content": word} for word in _words(answer)]
    for delta in deltas:
        yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield "", {**head, "choices": [], "usage": _openai_usage(body)}
    yield "", "[DONE]"


def _embeddings(body: dict[str, Any], embedding: Callable[[Any], list[float]]) -> dict[str, Any]:
    given = body["input"]
    texts = given if isinstance(given, list) else [given]
    data = []
    for index, text in enumerate(texts):
        vector: Any = embedding(text)
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(array("f", vector).tobytes()).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


# Anthropic.


def _asked_anthropic(body: dict[str, Any]) -> Asked:
    form = (body.get("output_config") or {}).get("format") or {}
    return Asked(
        system=_text(body.get("system", "")),
        last=_text(body["messages"][-1]["content"]),
        tools=tuple(one["name"] for one in body.get("tools", ())),
        schema=form.get("schema"),
    )


def _anthropic_block(answer: Answer) -> tuple[dict[str, Any], str]:
    """The content block, and why the answer ended."""
    if isinstance(answer, str):
        return {"type": "text", "text": answer}, "end_turn"
    call = {"type": "tool_use", "id": "toolu_1", "name": answer.name}
    return {**call, "input": dict(answer.arguments)}, "tool_use"


def _anthropic_tokens(body: dict[str, Any]) -> int:
    said = [body.get("system", ""), *(one["content"] for one in body["messages"])]
    return sum(len(_text(one).split()) for one in said)


def _message(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    block, reason = _anthropic_block(answer)
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [block], "stop_reason": reason, "stop_sequence": None,
        "usage": {"input_tokens": _anthropic_tokens(body), "output_tokens": 7},
    }  # fmt: skip


def _anthropic_events(body: dict[str, Any], answer: Answer) -> Iterator[tuple[str, Any]]:
    block, reason = _anthropic_block(answer)
    begun = {**_message(body, answer), "content": [], "stop_reason": None}
    yield "message_start", {"type": "message_start", "message": begun}
    at = {"index": 0}
    if isinstance(answer, str):
        empty: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": word} for word in _words(answer)]
    else:
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    yield "content_block_start", {"type": "content_block_start", **at, "content_block": empty}
    for delta in deltas:
        yield "content_block_delta", {"type": "content_block_delta", **at, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", **at}
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
    )
    yield "message_stop", {"type": "message_stop"}
