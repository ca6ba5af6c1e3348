"""Common behaviour of the local embedders, static and mock."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langmemory.embeddings import LocalEmbedder, MockEmbedder, StaticEmbedder, Vectors
from langmemory.embeddings.local import INLINE_CHARACTERS

TEXTS = ["Maria moved to Lisbon in May.", "", "猫が好き"]


@pytest.fixture(params=[StaticEmbedder, MockEmbedder])
def embedder(request: pytest.FixtureRequest) -> LocalEmbedder:
    made: LocalEmbedder = request.param()
    return made


async def test_async_gives_what_sync_gives(embedder: LocalEmbedder) -> None:
    """The async twins are the same model."""
    expected = embedder.embed_documents(TEXTS)
    assert (await embedder.aembed_documents(TEXTS) == expected).all()
    assert (await embedder.aembed_query(TEXTS[0]) == expected[0]).all()


async def test_they_are_langchain_embeddings_too(embedder: LocalEmbedder) -> None:
    """Code that knows LangChain only gets lists of the same numbers."""
    embeddings = embedder.embeddings
    assert isinstance(embeddings, Embeddings)
    expected = embedder.embed_documents(TEXTS).tolist()
    assert embeddings.embed_documents(TEXTS) == expected
    assert embeddings.embed_query(TEXTS[0]) == expected[0]
    assert await embeddings.aembed_documents(TEXTS) == expected


async def test_much_text_is_embedded_off_the_event_loop() -> None:
    """A large import does not stop the other tasks of the loop; a short query stays on it."""

    class Recording(MockEmbedder):
        def embed_documents(self, texts: list[str]) -> Vectors:  # type: ignore[override]
            threads.append(threading.current_thread())
            return super().embed_documents(texts)

    threads: list[threading.Thread] = []
    await Recording().aembed_documents(["short"])
    await Recording().aembed_documents(["x " * INLINE_CHARACTERS])
    assert threads[0] is threading.current_thread()
    assert threads[1] is not threading.current_thread()


def test_one_embedder_serves_several_event_loops() -> None:
    """Nothing is bound to the loop of the first call."""
    embedder = StaticEmbedder()
    long = ["weather " * INLINE_CHARACTERS]
    first, second = (asyncio.run(embedder.aembed_documents(long)) for _ in range(2))
    assert (first == second).all()


def test_mock_vectors_are_unit_deterministic_and_share_words() -> None:
    """The same text is always the same vector; shared words make similar texts; blank is zero."""
    mock = MockEmbedder(dims=64)
    vectors = mock.embed_documents(
        ["green tea in the morning", "Green tea", "tax return", "", "?!", "\ud800"]
    )
    assert vectors.shape == (6, 64)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 0, 1, 1], atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert vectors[2, :3].tolist() == MockEmbedder(64).embed_query("tax return")[:3].tolist()
