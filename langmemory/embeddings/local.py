"""Local embedders: what the embedded models share, and how LangChain sees them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings

Vectors = npt.NDArray[np.float32]
"""float32[n, dims] or float32[dims], L2-normalised; a text with no content is a zero vector."""

INLINE_CHARACTERS = 20_000
"""Texts longer than this in total are embedded off the event loop: about 5 ms of work."""


class LocalEmbedder(ABC):
    """An embedder that runs in this process in microseconds: no cache, no network, no failure."""

    model_id: str
    dims: int
    cheap = True

    @abstractmethod
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dims], one L2-normalised row a text."""

    def embed_query(self, text: str) -> Vectors:
        """float32[dims], L2-normalised."""
        vector: Vectors = self.embed_documents((text,))[0]
        return vector

    async def aembed_documents(self, texts: Sequence[str]) -> Vectors:
        """`embed_documents` without holding up the event loop."""
        if sum(map(len, texts)) <= INLINE_CHARACTERS:
            return self.embed_documents(texts)
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> Vectors:
        """`embed_query` without holding up the event loop."""
        vector: Vectors = (await self.aembed_documents((text,)))[0]
        return vector

    @property
    def embeddings(self) -> Embeddings:
        """This embedder as a LangChain `Embeddings`, for code outside langmemory."""
        return LocalEmbeddings(self)


class LocalEmbeddings(Embeddings):
    """A local embedder as LangChain knows embedders: lists in, lists out."""

    def __init__(self, embedder: LocalEmbedder) -> None:
        self.embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self.embedder.embed_documents(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self.embedder.embed_query(text).tolist()
        return vector
