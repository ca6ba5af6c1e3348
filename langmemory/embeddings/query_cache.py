"""The vectors of the last queries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final, Generic, TypeVar

QUERY_CACHE_SIZE: Final = 256
"""Query vectors an embedder remembers: an agent turn asks the same question of several
namespaces, and a round trip to a model server costs milliseconds where a look-up costs none."""

T = TypeVar("T")


class QueryCache(Generic[T]):
    """Vectors by query, the last `QUERY_CACHE_SIZE` that were asked for. Thread-safe."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> T | None:
        """Return the vector of a query; None where it is not remembered."""
        with self._lock:
            if text in self._vectors:
                self._vectors.move_to_end(text)
            return self._vectors.get(text)

    def add(self, text: str, vector: T) -> T:
        """Remember and return the vector of a query."""
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > QUERY_CACHE_SIZE:
                self._vectors.popitem(last=False)
        return vector
