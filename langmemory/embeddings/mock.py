"""MockEmbedder: hashes for vectors, so that tests need no model."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from langmemory.embeddings.local import LocalEmbedder, Vectors


class MockEmbedder(LocalEmbedder):
    """Every word is a fixed pseudo-random vector, a text the sum of its words.

    The same text always has the same vector, on every machine; texts that share words are
    similar; it knows no meaning.
    """

    model_id = "langmemory/mock@1"

    def __init__(self, dims: int = 256) -> None:
        self.dims = dims

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dims], one L2-normalised row a text; zero for a blank text."""
        vectors = np.zeros((len(texts), self.dims))
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()) or text.split():
                row += _word_vector(word, self.dims)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1.0
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit


@functools.lru_cache(maxsize=4096)
def _word_vector(word: str, dims: int) -> npt.NDArray[np.int8]:
    digest = hashlib.shake_128(word.encode("utf-8", "replace")).digest(dims)
    return np.frombuffer(digest, dtype=np.int8)
