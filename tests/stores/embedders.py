"""Embedders under a test's control: what they were asked, and when they fail."""

from __future__ import annotations

import hashlib

import numpy as np
from langchain_core.embeddings import Embeddings


class WordEmbeddings(Embeddings):
    """Every word is a fixed random direction. Records the texts; fails when told to."""

    def __init__(self, dims: int = 16, model: str = "words-a") -> None:
        self.dims = dims
        self.model = model
        self.asked: list[str] = []
        self.fail_after: int | None = None
        """Texts it still embeds before it raises; None: it never fails."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.fail_after is not None:
            self.fail_after -= len(texts)
            if self.fail_after < 0:
                raise TimeoutError(f"no answer to {texts[0]}")
        self.asked.extend(texts)
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def _vector(self, text: str) -> list[float]:
        vector = np.full(self.dims, 1e-3)
        for word in text.lower().split():
            seed = int.from_bytes(hashlib.sha256(f"{self.model} {word}".encode()).digest()[:4])
            vector += np.random.default_rng(seed).standard_normal(self.dims)
        found: list[float] = vector.tolist()
        return found
