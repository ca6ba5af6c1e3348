"""Sparse vectors: an encoder gives a text the weights of some dimensions, most often words of a vocabulary.

SPLADE (Formal et al. 2021) is such an encoder: it also gives weight to words that the text does not have. Two
texts are as near as the sum of the products of their weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

SparseVector = Mapping[int, float]
"""Weights by dimension; a dimension is a whole number from 0 to 4,294,967,295."""

PAIR: Final = np.dtype([("dimension", "<u4"), ("weight", "<f4")])
Pairs = NDArray[np.void]
"""`PAIR`[n]: a sparse vector as it is stored, by ascending dimension, without weights of 0."""


@runtime_checkable
class SparseEncoder(Protocol):
    """Gives texts sparse vectors. Any thread may call it."""

    @property
    def name(self) -> str:
        """Stable name of the model; vectors of different names are never compared."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> Sequence[SparseVector]:
        """Return the vector of each text."""
        ...

    def encode_query(self, text: str) -> SparseVector:
        """Return the vector of a question."""
        ...
