"""Which words a namespace knows: the same from FTS5 and from the copy in memory, and as of now."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.engines.sqlite import keyword_search
from langmemory.recall.spelling import _slips
from langmemory.types import Namespace

SAID = ("Katharina bakes", "allergies and running", "hotel", "Müller naïve Straße", "kitten hid")
MINE, OTHER = ("mine",), ("other",)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    store = MemoryStore(tmp_path / "memory.db", index=False)
    for n, text in enumerate(SAID):
        store.put((*MINE, "deep") if n % 2 else MINE, f"k{n}", {"text": text})
    store.put(OTHER, "k", {"text": "Zebulon"})
    return store


def copied(store: MemoryStore) -> None:
    with store._core.engine.database.scan() as connection:
        store._core.engine.copies.words.load(connection, 1 << 30)


def known(
    store: MemoryStore, words: Sequence[str], namespace: Namespace = MINE
) -> Mapping[str, str]:
    engine = store._core.engine
    with engine.read() as snapshot:
        connection = snapshot.connection
        return keyword_search.known_words(
            connection, engine.cardinalities, namespace, words,
            copy=lambda: engine.copies.of_words(connection),
        )  # fmt: skip


def near(word: str) -> list[str]:
    return list(dict.fromkeys(one for kind in _slips(word) for one in kind))


@pytest.mark.parametrize("copy", [False, True])
def test_words_are_known_by_their_stems(store: MemoryStore, copy: bool) -> None:
    """A word is known where any form of it stands, marks aside, in the namespace or below it."""
    if copy:
        copied(store)
    words = ["katharina", "allergy", "runs", "hotels", "muller", "strasse", "zebulon", "hote"]
    assert list(known(store, words)) == [
        "katharina",
        "allergy",
        "runs",
        "hotels",
        "muller",
        "strasse",
    ]
    assert known(store, words, ("nobody",)) == {}
    assert "zebulon" in known(store, words, ())
    assert known(store, ["runs"]) == {"runs": "run"}
    assert known(store, []) == {}


@pytest.mark.parametrize("copy", [False, True])
def test_what_is_near_a_word_is_known_without_asking_for_each(
    store: MemoryStore, copy: bool
) -> None:
    """Hundreds of words that begin alike are looked up as one by one."""
    if copy:
        copied(store)
    rng = random.Random(5)
    typed = ["kathrina", "hotle", "runnign", "mullerr", "zebluon", "kiten", "kxxxxx", "alergies"]
    for word in typed + ["".join(rng.choices("abehklort", k=6)) for _ in range(20)]:
        words = near(word)
        assert len(words) > keyword_search.FEW
        one_by_one = {one: token for each in words for one, token in known(store, [each]).items()}
        assert known(store, words) == one_by_one


@pytest.mark.parametrize("copy", [False, True])
def test_a_name_is_known_once_it_was_told(store: MemoryStore, copy: bool) -> None:
    """Whether it was asked for before, and whatever was copied; and not once it is gone."""
    if copy:
        copied(store)
    words = near("tobermroy")
    assert known(store, ["tobermory"]) == known(store, words) == {}
    store.put(MINE, "new", {"text": "Tobermory is a cat."})
    assert list(known(store, words)) == ["tobermory"]
    assert "tobermory" in known(store, ["tobermory"])
    store.delete(MINE, "new")
    assert known(store, words) == {}
