"""Exact searches compare vectors in SQL, by sqlite-vec, and by numpy where it is not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langmemory.engines.sqlite import connection as engine
from langmemory.search import vector_search
from langmemory.stores import MemoryStore

PLACE = ("notes",)


class Numbers(Embeddings):
    """Embeds a number as a point on a circle, in 16 dimensions."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return list(np.random.default_rng(sum(map(ord, text))).standard_normal(16))


@pytest.mark.sqlite("asks sqlite-vec")
@pytest.mark.parametrize("there", [True, False])
def test_an_exact_search_finds_the_same_with_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """A search of an index that is exact asks sqlite-vec's functions, and finds what numpy finds."""
    asked: list[int] = []
    measured = vector_search._measured
    monkeypatch.setattr(
        vector_search, "_measured", lambda *args: asked.append(len(args[2])) or measured(*args)
    )
    if not there:
        monkeypatch.setattr(engine, "sqlite_vec", None)
    index = {"embed": Numbers(), "dims": 16, "fields": ["text"], "exact": True}
    with MemoryStore(tmp_path / "memory.db", index=index) as store:  # type: ignore[arg-type]
        texts = [f"note {number}" for number in range(60)]
        for number, text in enumerate(texts):
            store.put(PLACE, str(number), {"text": text, "even": number % 2 == 0})
        found = store.search(PLACE, query="note 31x", filter={"even": True}, limit=5)
        vectors = np.array(Numbers().embed_documents(texts))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        query = np.array(Numbers().embed_query("note 31x"))
        scores = vectors @ (query / np.linalg.norm(query))
        wanted = sorted(range(0, 60, 2), key=lambda one: (-scores[one], one))[:5]
        assert [round(one.score or 0, 5) for one in found] == [
            round(float(scores[one]), 5) for one in wanted
        ]
        assert bool(asked) == there
