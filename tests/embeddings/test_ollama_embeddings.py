"""Ollama through langchain-ollama, against a server on loopback that speaks /api/embed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from langmemory.config import Config, ModelsConfig
from langmemory.embeddings import Embedder, adapter, resolve_embedder
from langmemory.errors import EmbeddingError
from tests.loopback import JsonHandler


class FakeOllama(ThreadingHTTPServer):
    """Knows one model, of 3 dims; answers what the test sets."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.vector: Any = [3.0, 0.0, 4.0]
        self.silent = threading.Event()
        """Set: the server accepts and never answers, as one does that loads a model for ever."""
        self.stopped = threading.Event()
        self.opened = 0
        """Connections so far."""
        self.closed = threading.Semaphore(0)
        """Released for each connection that ended."""

    def process_request(self, request: Any, client_address: Any) -> None:
        self.opened += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.closed.release()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(JsonHandler):
    server: FakeOllama

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, **request})
        if self.server.silent.is_set():
            self.server.stopped.wait(30)
            return
        if request["model"] != "nomic-embed-text":
            self.answer({"error": f"model {request['model']!r} not found"}, 404)
        else:
            vectors = [self.server.vector] * len(request["input"])
            self.answer({"model": request["model"], "embeddings": vectors})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(adapter, "TIMEOUT_SECONDS", 1)
    with FakeOllama() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.stopped.set()
        server.shutdown()


def embedder(url: str, model: str = "nomic-embed-text", dims: int | None = None) -> Embedder:
    models = ModelsConfig(ollama_url=url)
    return resolve_embedder(f"ollama:{model}", dims, config=Config(models=models))


async def test_texts_go_to_the_configured_server_and_come_back_as_unit_vectors(
    server: FakeOllama,
) -> None:
    """ "ollama:model" needs no further package and asks the server once for a whole batch."""
    model = embedder(server.url, dims=3)
    assert model.model_id == "OllamaEmbeddings:nomic-embed-text"
    expected = np.array([[0.6, 0.0, 0.8]] * 2)
    np.testing.assert_allclose(model.embed_documents(["a", "b"]), expected, atol=1e-6)
    np.testing.assert_allclose(await model.aembed_documents(["a", "b"]), expected, atol=1e-6)
    np.testing.assert_allclose(await model.aembed_query("q"), expected[0], atol=1e-6)
    assert [(r["path"], r["input"]) for r in server.requests] == [
        ("/api/embed", ["a", "b"]),
        ("/api/embed", ["a", "b"]),
        ("/api/embed", ["q"]),
    ]


async def test_a_missing_model_says_how_to_get_it(server: FakeOllama) -> None:
    """The message is the command to type."""
    model = embedder(server.url, "mxbai-embed-large")
    with pytest.raises(EmbeddingError, match="ollama pull mxbai-embed-large"):
        model.embed_documents(["a"])
    with pytest.raises(EmbeddingError, match="ollama pull mxbai-embed-large"):
        await model.aembed_documents(["a"])


async def test_an_unreachable_server_says_how_to_start_it(server: FakeOllama) -> None:
    """Ollama not running is the commonest failure, and its message names the setting."""
    url = server.url
    server.shutdown()
    server.server_close()
    model = embedder(url)
    with pytest.raises(EmbeddingError, match="OLLAMA_URL"):
        model.embed_query("a")
    with pytest.raises(EmbeddingError, match="OLLAMA_URL"):
        await model.aembed_query("a")


async def test_a_silent_server_is_given_up(server: FakeOllama) -> None:
    """A search never hangs on a server that accepts and does not answer."""
    server.silent.set()
    model = embedder(server.url)
    with pytest.raises(EmbeddingError, match="Timeout"):
        model.embed_query("a")
    with pytest.raises(EmbeddingError, match="Timeout"):
        await model.aembed_query("a")


def test_another_size_than_declared_is_refused(server: FakeOllama) -> None:
    """Pointing a file of 768 dims at a model of 3 fails with both numbers."""
    with pytest.raises(EmbeddingError, match="3 dims, but 768"):
        embedder(server.url, dims=768).embed_documents(["a"])


async def test_no_connection_outlives_its_call(server: FakeOllama) -> None:
    """LangChain never closes its client of Ollama: no connection stays open, sync or async."""
    model = embedder(server.url)
    model.embed_documents(["kites"])
    await model.aembed_documents(["kites"])
    assert server.opened == 2
    for _ in range(2):
        assert server.closed.acquire(timeout=5)
