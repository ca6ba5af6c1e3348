"""A server on loopback that speaks Ollama's protocol; a test scripts its replies and faults.

    with OllamaServer() as ollama:
        ollama.script("Hello!", Reply(tool_calls=[ToolCall("add", {"a": 1})]))
        ChatOllama(model="any", base_url=ollama.url).invoke("Hi")
        assert ollama.requests[0].body["messages"][0]["content"] == "Hi"

``/api/chat`` streams NDJSON unless the request says ``"stream": false``, answers with tool calls,
thinking and, when the request has a ``format``, JSON of that schema; ``/api/embed`` answers with
deterministic unit vectors; ``/api/tags``, ``/api/show`` and ``/api/version`` describe its models.
Protocol: https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from tests.loopback import JsonHandler, LoopbackServer

Fault = Literal["http_500", "not_found", "broken_json", "error_midway", "drop", "empty"]
"""An HTTP error; an unknown model; a line that is not JSON after the first word; an
``{"error": …}`` line after it; a connection closed after it, or at once when there is no word; a
stream that ends before its first line."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model makes."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A scripted answer to one request."""

    content: str = ""
    tool_calls: Sequence[ToolCall] = ()
    thinking: str = ""
    fault: Fault | None = None
    delay_seconds: float = 0.0
    """Pause before every chunk of the answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request of a client."""

    path: str
    body: dict[str, Any]


Script = str | Reply | Callable[[dict[str, Any]], "str | Reply"]
"""A reply, or a function from the request's body to one."""


class OllamaServer(LoopbackServer):
    """The server; a context manager.

    Args:
        models: names it claims to have; any other model is "not found". Empty: it has them all.
        dims: dimensions of its embeddings.
    """

    def __init__(self, *, models: Sequence[str] = (), dims: int = 16) -> None:
        self.models = tuple(models)
        self.dims = dims
        self.tags: bytes | None = None
        """Answered to ``/api/tags`` instead of its models, as something that is no Ollama would."""
        self.requests: list[Request] = []
        self._script: deque[Script] = deque()
        self._always: Script | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        super().__init__(_handler(self))

    def script(self, *replies: Script) -> None:
        """Queue replies to chats and embeddings, one a request."""
        with self._lock:
            self._script.extend(replies)

    def always(self, reply: Script | None) -> None:
        """The reply when nothing is queued; None echoes the last message."""
        self._always = reply

    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the chat requests so far."""
        return [request.body for request in self.requests if request.path == "/api/chat"]

    def __exit__(self, *error: Any) -> None:
        self._stopping.set()
        super().__exit__(*error)

    def next_reply(self, body: dict[str, Any], default: str) -> Reply:
        with self._lock:
            script = self._script.popleft() if self._script else self._always
        reply = script(body) if callable(script) else script
        if reply is None:
            return Reply(content=default)
        return Reply(content=reply) if isinstance(reply, str) else reply

    @property
    def stopped(self) -> bool:
        return self._stopping.is_set()

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the server lives."""
        self._stopping.wait(seconds)

    def embedding(self, text: str) -> list[float]:
        """A unit vector of the text's words: texts that share words are near each other."""
        vector = [0.0] * self.dims
        for word in text.casefold().split():
            digest = hashlib.sha256(word.encode()).digest()
            for at in range(self.dims):
                vector[at] += digest[at % len(digest)] / 127.5 - 1.0
        norm = math.hypot(*vector) or 1.0
        return [x / norm for x in vector]


def instance_of(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """The smallest JSON value that a JSON schema allows, as a constrained model might write it."""
    root = schema if root is None else root
    if "$ref" in schema:
        return instance_of(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return instance_of(options[0], root)
    match schema.get("type"):
        case "object":
            required = schema.get("required", ())
            properties = schema.get("properties", {})
            return {name: instance_of(properties[name], root) for name in required}
        case "array":
            return [instance_of(schema["items"], root)] * schema.get("minItems", 0)
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return ""


def _handler(owner: OllamaServer) -> type[JsonHandler]:
    class Handler(JsonHandler):
        def do_GET(self) -> None:
            owner.requests.append(Request(path=self.path, body={}))
            match self.path:
                case "/api/tags" if owner.tags is not None:
                    self.send(owner.tags)
                case "/api/tags":
                    self.answer({"models": [_tag(name) for name in owner.models]})
                case "/api/version":
                    self.answer({"version": "0.12.0"})
                case "/":
                    self.answer({})
                case _:
                    self.answer({"error": "not found"}, status=404)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            if owner.stopped:  # a connection kept alive outlives the server's socket
                self._drop()
                return
            owner.requests.append(Request(path=self.path, body=body))
            model = body.get("model", "")
            if owner.models and model not in owner.models:
                self.answer({"error": f"model '{model}' not found"}, status=404)
                return
            try:
                match self.path:
                    case "/api/chat":
                        self._chat(body)
                    case "/api/embed":
                        self._embed(body)
                    case "/api/show":
                        self.answer({"details": {}, "capabilities": ["completion", "tools"]})
                    case _:
                        self.answer({"error": "not found"}, status=404)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up, as it may

        def _chat(self, body: dict[str, Any]) -> None:
            reply = owner.next_reply(body, _default(body))
            if self._failed(reply, body):
                return
            if not body.get("stream", True):
                owner.pause(reply.delay_seconds)
                if reply.fault is not None:
                    self.send(b'{"message": {"role": "assistant", "content')
                    return
                message = _message(reply.content, reply.tool_calls, reply.thinking)
                self.answer({**_head(body), "message": message, **_tail(reply, body)})
                return
            self._start_stream()
            for chunk in _chunks(reply):
                owner.pause(reply.delay_seconds)
                self._line({**_head(body), "message": chunk, "done": False})
                if reply.fault is not None:
                    break
            match reply.fault:
                case "broken_json":
                    self._chunk(b'{"message": {"role": "assistant", "content\n')
                case "error_midway":
                    self._line({"error": "model runner has unexpectedly stopped"})
                case "drop":
                    self._drop()
                    return
                case "empty":
                    pass
                case _:
                    end = {"role": "assistant", "content": ""}
                    self._line({**_head(body), "message": end, **_tail(reply, body)})
            self._chunk(b"")

        def _embed(self, body: dict[str, Any]) -> None:
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            reply = owner.next_reply(body, "")
            owner.pause(reply.delay_seconds)
            if self._failed(reply, body):
                return
            if reply.fault is not None:
                self.send(b'{"embeddings": [[0.1,')
                return
            vectors = [owner.embedding(text) for text in texts]
            self.answer({"model": body["model"], "embeddings": vectors, "total_duration": 1})

        def _failed(self, reply: Reply, body: dict[str, Any]) -> bool:
            """Answer with the faults that come before any word of the answer."""
            match reply.fault:
                case "http_500":
                    self.answer({"error": "llama runner process has terminated"}, status=500)
                case "not_found":
                    self.answer({"error": f"model '{body.get('model')}' not found"}, status=404)
                case "drop" if not reply.content:
                    self._drop()
                case _:
                    return False
            return True

        def _drop(self) -> None:
            self.wfile.flush()
            self.close_connection = True

        def _start_stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()

        def _line(self, value: Any) -> None:
            self._chunk(json.dumps(value).encode() + b"\n")

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

    return Handler


def _default(body: dict[str, Any]) -> str:
    schema = body.get("format")
    if isinstance(schema, dict):
        return json.dumps(instance_of(schema))
    if schema == "json":
        return "{}"
    last = body["messages"][-1]["content"] if body.get("messages") else ""
    return f"You said: {last}"


def _chunks(reply: Reply) -> Iterator[dict[str, Any]]:
    """Thinking, then the words one by one, then the tool calls in one message, as Ollama does."""
    if reply.thinking:
        yield _message("", (), reply.thinking)
    for word in _words(reply.content):
        yield _message(word, (), "")
    if reply.tool_calls:
        yield _message("", reply.tool_calls, "")


def _words(text: str) -> list[str]:
    words = text.split(" ")
    return [w if at == 0 else f" {w}" for at, w in enumerate(words)] if text else []


def _message(content: str, tool_calls: Sequence[ToolCall], thinking: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if thinking:
        message["thinking"] = thinking
    if tool_calls:
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in tool_calls
        ]
    return message


def _head(body: dict[str, Any]) -> dict[str, Any]:
    return {"model": body.get("model"), "created_at": datetime.now(UTC).isoformat()}


def _tail(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    prompt = sum(len(str(message.get("content")).split()) for message in body["messages"])
    return {
        "done": True,
        "done_reason": "stop",
        "total_duration": 1_000_000,
        "load_duration": 1_000,
        "prompt_eval_count": prompt,
        "prompt_eval_duration": 1_000,
        "eval_count": len(reply.content.split()),
        "eval_duration": 1_000,
    }


def _tag(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": "2026-01-01T00:00:00Z",
        "size": 4_000_000_000,
        "digest": hashlib.sha256(name.encode()).hexdigest(),
        "details": {"format": "gguf", "family": "llama", "parameter_size": "8B"},
    }
