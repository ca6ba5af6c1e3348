"""resolve_embedder: whatever an index config allows becomes a checked embedder."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langgraph.store.base.embed import EmbeddingsLambda

from langmemory.config import Config, ModelsConfig
from langmemory.embeddings import (
    MockEmbedder,
    StaticEmbedder,
    adapter,
    query_cache,
    resolve_embedder,
)
from langmemory.errors import ConfigError, EmbeddingError

TEXTS = ["a", "bb", "ccc"]
UNIT = np.array([[1, 1], [2, 1], [3, 1]]) / np.sqrt([[2], [5], [10]])


def embed_length(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


async def embed_length_async(texts: Sequence[str]) -> list[list[float]]:
    await asyncio.sleep(0)
    return embed_length(texts)


class EmbedLength:
    async def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        return embed_length(texts)


class LengthEmbeddings(Embeddings):
    """A LangChain model that counts how often it is asked."""

    def __init__(self, model: str = "length-1") -> None:
        self.model = model
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked += texts
        return embed_length(texts)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


KINDS: dict[str, Callable[[], Any]] = {
    "embeddings": LengthEmbeddings,
    "function": lambda: embed_length,
    "async function": lambda: embed_length_async,
    "async callable": EmbedLength,
    "function returning a coroutine": lambda: lambda texts: embed_length_async(texts),
    "numpy": lambda: lambda texts: np.array(embed_length(texts), dtype=np.float16),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_embed_answers_the_same_in_sync_and_async(kind: str) -> None:
    """Functions, async functions and LangChain models give float32 unit rows both ways."""
    embedder = resolve_embedder(KINDS[kind]())
    for vectors in (embedder.embed_documents(TEXTS), await embedder.aembed_documents(TEXTS)):
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, UNIT, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("ccc"), UNIT[2], atol=1e-6)
    np.testing.assert_allclose(await embedder.aembed_query("bb"), UNIT[1], atol=1e-6)
    assert embedder.embed_documents([]).shape == (0, 2)
    assert embedder.dims == 2
    assert not embedder.cheap


@pytest.mark.parametrize("embed", [None, "static", StaticEmbedder(), StaticEmbedder().embeddings])
def test_the_default_is_the_embedded_model(embed: Any) -> None:
    """No `embed` at all, its name, the embedder and its LangChain view are one and the same."""
    embedder = resolve_embedder(embed, 256)
    assert isinstance(embedder, StaticEmbedder)
    assert embedder.cheap


def test_the_configured_model_is_used_where_the_application_names_none() -> None:
    """`models.embedding` is the default, `embed` wins over it."""
    config = Config(models=ModelsConfig(embedding="mock"))
    assert isinstance(resolve_embedder(None, 32, config=config), MockEmbedder)
    assert isinstance(resolve_embedder("static", config=config), StaticEmbedder)


def test_mock_embeddings_replaces_every_model() -> None:
    """With MOCK_EMBEDDINGS=1 not even a model the application passes is asked."""
    config = Config(models=ModelsConfig(mock_embeddings=True))
    asked = LengthEmbeddings()
    embedder = resolve_embedder(asked, 48, config=config)
    assert embedder.embed_query("hello").shape == (48,)
    assert not asked.asked


def test_a_provider_string_is_built_by_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    """ "provider:model" goes the way LangGraph's index config goes."""
    model = LengthEmbeddings("large")
    monkeypatch.setattr(adapter, "ensure_embeddings", {"acme:large": model}.__getitem__)
    embedder = resolve_embedder("acme:large")
    assert embedder.embeddings is model
    assert embedder.model_id == "LengthEmbeddings:large"


@pytest.mark.parametrize("name", ["nosuch:model", "minilm", "ollama:"])
def test_a_name_nobody_knows_is_an_error_that_says_what_works(name: str) -> None:
    """The message names the model and the ways out."""
    with pytest.raises(EmbeddingError, match="static") as caught:
        resolve_embedder(name)
    assert repr(name) in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("embed", "dims"), [(5, None), (LengthEmbeddings, 1), (None, 0), (None, True)]
)
def test_what_cannot_be_an_embedder_is_a_configuration_error(embed: Any, dims: Any) -> None:
    """A wrong `embed` or `dims` fails when the store is opened, not at the first put."""
    with pytest.raises(ConfigError, match="allowed"):
        resolve_embedder(embed, dims)


def test_langgraph_sees_the_object_the_application_passed() -> None:
    """`.embeddings` is the LangChain object itself, or LangGraph's wrapper of a function."""
    model = LengthEmbeddings()
    assert resolve_embedder(model).embeddings is model
    wrapped = resolve_embedder(embed_length).embeddings
    assert isinstance(wrapped, EmbeddingsLambda)
    assert wrapped.func is embed_length


@pytest.mark.parametrize(
    ("embed", "model_id"),
    [
        (LengthEmbeddings("small"), "LengthEmbeddings:small"),
        (LengthEmbeddings("nomic-embed-text:latest"), "LengthEmbeddings:nomic-embed-text"),
        (DeterministicFakeEmbedding(size=3), "DeterministicFakeEmbedding"),
        (embed_length, "embed_length"),
        (embed_length_async, "embed_length_async"),
        (functools.partial(embed_length), "embed_length"),
        (EmbedLength(), "EmbedLength"),
        (LengthEmbeddings().embed_documents, "LengthEmbeddings.embed_documents"),
        (lambda texts: embed_length(texts), "custom"),
    ],
)
def test_a_model_id_is_stable_and_says_which_model(embed: Any, model_id: str) -> None:
    """The file remembers the model by a name that the next process gives again."""
    assert resolve_embedder(embed).model_id == model_id
    assert resolve_embedder(embed, model_id="mine@2").model_id == "mine@2"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1.0, 2.0]], "3 text"),
        ([[1.0, 2.0], [1.0], [2.0, 1.0]], "one length"),
        ([[1.0], [1.0], [1.0]], "1 dims, but 2"),
        ([[1.0, float("nan")]] * 3, "not finite"),
        ([[1.0, float("inf")]] * 3, "not finite"),
        ([[], [], []], "shape"),
        ([1.0, 2.0, 3.0], "shape"),
        ([[[1.0, 2.0]]] * 3, "shape"),
        ([["a", "b"]] * 3, "one length"),
        ([[10**400, 1.0]] * 3, "one length"),
        (None, "shape"),
        ({"embeddings": [[1.0, 2.0]]}, "one length"),
    ],
)
async def test_a_wrong_answer_is_an_error_not_a_vector(answer: Any, message: str) -> None:
    """Nonsense from a model never reaches the file; the error names the model."""

    def broken(texts: Sequence[str]) -> Any:
        return answer

    embedder = resolve_embedder(broken, 2)
    with pytest.raises(EmbeddingError, match=message) as caught:
        embedder.embed_documents(TEXTS)
    assert "broken" in str(caught.value)
    with pytest.raises(EmbeddingError, match=message):
        await embedder.aembed_documents(TEXTS)


def test_dims_learnt_from_the_first_answer_hold_for_the_next() -> None:
    """A model that changes its size midway is caught even where no dims were declared."""
    sizes = iter([3, 3, 4])

    def growing(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] * next(sizes)]

    embedder = resolve_embedder(growing)
    assert embedder.dims is None
    embedder.embed_documents(["a"])
    embedder.embed_query("b")
    with pytest.raises(EmbeddingError, match=r"4 dims, but 3 before.*langmemory reembed"):
        embedder.embed_documents(["c"])
    with pytest.raises(EmbeddingError, match="256 dims, but 384"):
        resolve_embedder("static", 384)


def test_a_vector_of_zeros_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """A model that answers zeros, as a broken build of a server does, is none to stop for; but its
    texts are not found by what they mean, and the log says so."""
    zeros = resolve_embedder(lambda texts: [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    for _ in range(2):
        zeros.embed_documents(TEXTS)
    assert [
        message for message in caplog.messages if "vector of zeros" in message
    ] == caplog.messages
    assert len(caplog.messages) == 1
    resolve_embedder(embed_length).embed_documents(TEXTS)
    assert len(caplog.messages) == 1


def test_extreme_numbers_are_normalised_and_zero_stays_zero() -> None:
    """Very large and very small vectors keep their direction; a zero vector is not divided."""
    rows = [[3e300, 4e300], [3e-300, 4e-300], [0.0, 0.0]]
    vectors = resolve_embedder(lambda texts: rows).embed_documents(TEXTS)
    np.testing.assert_allclose(vectors, np.array([[0.6, 0.8], [0.6, 0.8], [0, 0]]), atol=1e-6)


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_failing_model_is_an_embedding_error_with_its_cause(is_async: bool) -> None:
    """The store handles one exception; the original is attached for whoever debugs."""

    def failing(texts: Sequence[str]) -> Any:
        raise TimeoutError("no answer")

    async def failing_async(texts: Sequence[str]) -> Any:
        raise TimeoutError("no answer")

    embedder = resolve_embedder(failing_async if is_async else failing)
    calls: list[Callable[[], Any]] = [
        lambda: embedder.embed_documents(TEXTS),
        lambda: embedder.embed_query("a"),
    ]
    for call in calls:
        with pytest.raises(EmbeddingError, match=r"failing.*TimeoutError: no answer") as caught:
            call()
        assert isinstance(caught.value.__cause__, TimeoutError)
    for awaitable in (embedder.aembed_documents(TEXTS), embedder.aembed_query("a")):
        with pytest.raises(EmbeddingError, match=r"failing.*TimeoutError: no answer"):
            await awaitable


async def test_cancelling_is_not_a_failure_of_the_model() -> None:
    """A cancelled search ends as cancelled, not as "embedder failed"."""

    async def hanging(texts: Sequence[str]) -> Any:
        await asyncio.Event().wait()

    task = asyncio.create_task(resolve_embedder(hanging).aembed_documents(TEXTS))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_sync_function_does_not_stop_the_event_loop() -> None:
    """While a blocking model works, other tasks of the loop run (here: the one it waits for)."""
    released = threading.Event()

    def blocking(texts: Sequence[str]) -> list[list[float]]:
        assert released.wait(timeout=30)
        return embed_length(texts)

    task = asyncio.create_task(resolve_embedder(blocking).aembed_documents(TEXTS))
    await asyncio.sleep(0)
    released.set()
    assert (await task).shape == (3, 2)


def test_an_async_function_called_from_many_threads_stays_on_one_loop() -> None:
    """A client the function keeps open is never used from a second event loop."""
    loops: set[asyncio.AbstractEventLoop] = set()

    async def recording(texts: Sequence[str]) -> list[list[float]]:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return embed_length(texts)

    embedder = resolve_embedder(recording)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: embedder.embed_documents(TEXTS), range(50)))
    assert len(loops) == 1
    assert all(np.allclose(answer, UNIT) for answer in answers)


def test_a_repeated_query_is_asked_once_and_a_document_always() -> None:
    """Several namespaces searched for one question cost one call of the model."""
    model = LengthEmbeddings()
    embedder = resolve_embedder(model)
    first = embedder.embed_query("where?")
    assert embedder.embed_query("where?") is first
    assert not first.flags.writeable
    embedder.embed_documents(["where?"])
    assert model.asked == ["where?", "where?"]


def test_remembered_queries_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that answers for weeks keeps only the latest questions."""
    monkeypatch.setattr(query_cache, "QUERY_CACHE_SIZE", 2)
    model = LengthEmbeddings()
    embedder = resolve_embedder(model)
    for query in ("a", "b", "a", "c", "a", "b"):
        embedder.embed_query(query)
    assert model.asked == ["a", "b", "c", "b"]
