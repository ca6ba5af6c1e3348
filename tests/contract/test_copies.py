"""Copies in memory of a server's vectors and words: what several processes write is seen, and only that."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from langmemory.engines.postgres import vector_search as server_search
from langmemory.search import binary, word_search
from langmemory.stores import MemoryStore
from langmemory.types import Scope
from tests import postgres_server
from tests.stores.embedders import WordEmbeddings

pytestmark = pytest.mark.thorough

NS = ("notes",)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A schema whose searches use the copies from the first on."""
    monkeypatch.setattr(server_search, "EXACT_UP_TO", 0)
    monkeypatch.setattr(word_search, "WORTH_COPYING", 1)
    found = postgres_server.fresh()
    yield found
    postgres_server.drop(found)


def opened(address: str) -> MemoryStore:
    index = {"embed": WordEmbeddings(32), "dims": 32, "fields": ["text"], "search": "hybrid"}
    return MemoryStore(address, index=index)


def loaded(store: MemoryStore) -> None:
    """Make the copy of the words as a process that goes on searching does."""
    engine = store._core.engine
    with engine.database.read() as connection:
        engine.copies.words.load(connection, 1 << 30)


@pytest.mark.parametrize("whole", [True, False])
def test_writes_of_another_process_are_seen(
    address: str, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    """A put, an overwriting put and a delete through one connection are in the next search of another
    one that has its copies already, by meaning and by words."""
    if not whole:
        monkeypatch.setattr(binary, "WHOLE_UP_TO", 0)
    with opened(address) as here, opened(address) as there:
        for n in range(40):
            here.put(NS, f"k{n}", {"text": f"olive{n} tree"})
        (found,) = here.search(NS, query="olive7 tree", limit=1)
        assert (found.key, found.score) == ("k7", pytest.approx(1, abs=1e-3))
        loaded(here)
        there.put(NS, "k7", {"text": "plum orchard"})
        there.delete(NS, "k8")
        there.put(NS, "late", {"text": "walnut hedge"})
        (found,) = here.search(NS, query="plum orchard", limit=1)
        assert (found.key, found.score) == ("k7", pytest.approx(1, abs=1e-3))
        assert here.search(NS, query="walnut hedge", limit=1)[0].key == "late"
        keys = {item.key for item in here.search(NS, query="olive8 tree", limit=50)}
        assert "k8" not in keys
        assert len(keys) == 40
        assert here.admin.check() == []


def test_what_is_rolled_back_is_in_no_copy(address: str) -> None:
    """A transaction that fails leaves the copies as the database is."""
    with opened(address) as store:
        for n in range(10):
            store.put(NS, f"k{n}", {"text": f"olive{n} tree"})
        loaded(store)
        engine = store._core.engine

        def fails() -> None:
            with engine.write() as connection:
                connection.delete_vectors(1, 1)
                connection.delete_keywords(1)
                raise RuntimeError("the caller fails")

        with pytest.raises(RuntimeError):
            fails()
        assert store.search(NS, query="olive0 tree", limit=1)[0].key == "k0"
        store.put(NS, "late", {"text": "walnut hedge"})
        assert store.search(NS, query="walnut hedge", limit=1)[0].key == "late"


def test_a_packed_log_says_the_same(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that reads the packed log finds what one finds that read it row by row."""
    with opened(address) as store:
        for n in range(30):
            store.put(NS, f"k{n}", {"text": f"olive{n} tree"})
        store.delete(NS, "k3")
        before = [item.key for item in store.search(NS, query="olive5 tree", limit=40)]
        monkeypatch.setattr("langmemory.engines.postgres.engine.PACK_AFTER", 1)
        store._core.engine.pack()
        assert store._core.engine.first("SELECT count(*) FROM code", ()) == (0,)
        store.put(NS, "late", {"text": "walnut hedge"})
    with opened(address) as store:
        after = [item.key for item in store.search(NS, query="olive5 tree", limit=40)]
        assert sorted(after) == sorted([*before, "late"])
        assert after[0] == before[0] == "k5"


def test_the_copy_ranks_words_as_the_index_does(address: str) -> None:
    """The copy in memory and the server's index give the same rows the same scores."""
    from langmemory.ports.candidates import KeywordQuery

    with opened(address) as store:
        for n in range(60):
            store.put((*NS, f"u{n % 3}"), f"k{n}", {"text": f"olive{n % 7} tree " * (1 + n % 4)})
        loaded(store)
        asked = KeywordQuery(terms=("olive3", "tree"))
        with store._core.engine.read() as snapshot:
            scope = snapshot.scoped(Scope(namespace=(*NS, "u1")))
            copied = snapshot.keyword(scope, asked, 50, complete=True)
            assert snapshot._words is not None
            snapshot.__dict__["_words"] = None
            indexed = snapshot.keyword(scope, asked, 50, complete=True)
    assert copied[0].tolist() == indexed[0].tolist()
    assert np.allclose(copied[1], indexed[1], atol=1e-5)


def test_counts_of_words_follow_the_rows(address: str) -> None:
    """The stored count of each word is that of the rows that hold it, after puts, changes and deletes."""
    with opened(address) as store:
        for n in range(12):
            store.put(NS, f"k{n}", {"text": f"olive{n % 3} tree"})
        store.put(NS, "k1", {"text": "plum"})
        store.delete(NS, "k2")
        rows = store._core.engine.first(
            "SELECT count(*) FROM (SELECT word, rows FROM word_count EXCEPT "
            "SELECT w.lexeme, count(*) FROM keyword k, unnest(k.words) w GROUP BY 1) d",
            (),
        )
        held = store._core.engine.first("SELECT rows FROM word_count WHERE word = 'tree'", ())
    assert rows == (0,)
    assert held == (10,)
