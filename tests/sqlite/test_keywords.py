"""The keyword arm: what a budget on scored rows may and may not leave out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.base import PutOp

from langmemory import MemoryStore
from langmemory.engines.sqlite import indexes, keyword_search
from langmemory.engines.sqlite.engine import Snapshot
from langmemory.ledger import namespaces
from langmemory.search import scope_plan
from langmemory.types import Namespace, Scope


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """Two thousand items of somebody else, one of ours, and a budget of fifty rows."""
    monkeypatch.setattr(keyword_search, "SCORED_ROWS", 50)
    store = MemoryStore(":memory:", index=False)
    tart = [" tart" if n % 40 == 0 else "" for n in range(2000)]
    store.batch([PutOp(("other",), f"k{n}", {"text": f"red apple{tart[n]}"}) for n in range(2000)])
    store.put(("mine",), "x", {"text": "my apple"})
    return store


def test_a_small_namespace_is_searched_by_every_word(store: MemoryStore) -> None:
    """Words that are frequent in other people's memories still find one's own."""
    assert [item.key for item in store.search(("mine",), query="red tart apple pie")] == ["x"]


def test_a_large_namespace_is_searched_by_its_rarest_words(store: MemoryStore) -> None:
    """Rows with the rare word come first, and all words count for their score."""
    found = store.search(("other",), query="red tart apple", limit=50)
    assert len(found) == 50
    assert all("tart" in item.value["text"] for item in found)


def test_words_nobody_wrote_hide_nothing(store: MemoryStore) -> None:
    """Rows with the frequent words are found beside words that stand in no row, in few rows, or only
    in rows that are gone or out of reach."""
    store.put(("other",), "rare", {"text": "quince", "number": 1})
    store.put(("other",), "gone", {"text": "medlar"})
    assert len(store.search(("other",), query="xyzzy plugh red apple", limit=20)) == 20
    assert len(store.search(("other",), query="medlar quince red apple", limit=20)) == 20
    reached = {"number": {"$ne": 1}}
    found = store.search(("other",), query="medlar quince red apple", filter=reached, limit=20)
    assert len(found) == 20
    assert "rare" not in {item.key for item in found}
    store.delete(("other",), "gone")
    store.delete(("other",), "rare")
    assert len(store.search(("other",), query="medlar quince red apple", limit=20)) == 20
    assert store.recall("medlar quince red apple", ("other",), limit=3).results


WORDS = ("red", "tart", "apple", "pie", "oven", "café")


MATCHES = ('"apple"', '"red" OR "red" OR "tart"', '"apple pie" OR "caf"*', '"n1" OR "pie"')


def searched(
    store: MemoryStore,
    namespace: Namespace,
    match: str,
    weights: keyword_search.Weights = keyword_search.DEFAULT_WEIGHTS,
) -> dict[int, float]:
    """Score by item id of the hundred best."""
    engine = store._core.engine
    with engine.read() as snapshot:
        scope = snapshot.scoped(Scope(namespace=namespace))
        connection = snapshot.connection
        found = keyword_search.search(
            connection, engine.cardinalities, scope, match, 100, weights=weights
        )
        return dict(zip(found[0].tolist(), found[1].tolist(), strict=True))


def ranked_by_fts5(
    store: MemoryStore,
    namespace: Namespace,
    match: str,
    weights: keyword_search.Weights = keyword_search.DEFAULT_WEIGHTS,
) -> dict[int, float]:
    """Return FTS5's own bm25 of every matching row of the namespace."""
    with store._core.engine.read() as snapshot:
        number = namespaces.find(snapshot.connection, namespace)
        return dict(
            snapshot.connection.execute(
                "SELECT rowid, -rank FROM keyword WHERE keyword MATCH ? AND rank MATCH ?",
                (
                    f'ns : "n{number}" AND {{body context}} : ({match})',
                    "bm25(0.0, {}, {})".format(*weights),
                ),
            )
        )


@pytest.mark.parametrize("small_rows", [keyword_search.SMALL_ROWS, 0], ids=["small", "large"])
@pytest.mark.parametrize("weights", [keyword_search.DEFAULT_WEIGHTS, (1.0, 0.2)])
@pytest.mark.parametrize("match", MATCHES)
def test_scores_are_those_of_fts5(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    match: str,
    weights: keyword_search.Weights,
    small_rows: int,
) -> None:
    """With any weights, for words, phrases and prefixes, in texts and their neighbours: in a small
    namespace too, where FTS5 is not asked to count the words of the whole file."""
    monkeypatch.setattr(keyword_search, "SMALL_ROWS", small_rows)
    picked = random.Random(0)
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        for place in ("mine", "other"):
            said = [" ".join(picked.choices(WORDS, k=picked.randrange(1, 9))) for _ in range(60)]
            store.remember((place,), [HumanMessage(text) for text in said], thread_id=place)
        found = searched(store, ("mine",), match, weights)
        assert len(found) > 5
        assert found == pytest.approx(ranked_by_fts5(store, ("mine",), match, weights))


def test_all_words_count_for_the_best_of_a_large_namespace(store: MemoryStore) -> None:
    """The score of a row is that of every word of the query, not only of the rare ones that
    brought it."""
    match = '"red" OR "tart" OR "apple"'
    found, own = searched(store, ("other",), match), ranked_by_fts5(store, ("other",), match)
    assert len(found) == 100
    assert found == pytest.approx({item: own[item] for item in found})


def parts(store: MemoryStore) -> int:
    """Parts of the index, each of which a search opens for every word."""
    found = store.conn.execute("SELECT count(DISTINCT segid) FROM keyword_idx").fetchone()
    return int(found[0])


def test_merging_beside_a_writer_comes_to_an_end(tmp_path: Path) -> None:
    """Steps of merging between writes leave few parts, not one more each; without writes they end,
    and everything is found as before."""
    words = random.Random(1)
    said = [" ".join(f"w{words.randrange(5000)}" for _ in range(30)) for _ in range(3000)]
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        for start in range(0, 3000, 30):
            texts = enumerate(said[start : start + 30], start)
            store.batch([PutOp(("all",), f"k{n}", {"text": text}) for n, text in texts])
            with store._core.engine.write() as connection:
                indexes.merge_words(connection, begin=start == 0)
        assert parts(store) < 25
        before = searched(store, ("all",), '"w1" OR "w2" OR "w3"')
        merging = True
        while merging:
            with store._core.engine.write() as connection:
                merging = indexes.merge_words(connection, begin=False)
        assert parts(store) < 6
        assert searched(store, ("all",), '"w1" OR "w2" OR "w3"') == before


def test_values_are_read_until_enough_have_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where SQL cannot decide a filter, a search looks into the values of the best items, and no
    further than to the last one it returns."""
    monkeypatch.setattr(scope_plan, "FILTERED_FIRST", 0)
    monkeypatch.setattr(scope_plan, "FILTERED_SHARE", 1 << 20)
    store = MemoryStore(":memory:", index=False)
    texts = [
        f"An apple a day, said {n} people, keeps the doctor away from them all" for n in range(200)
    ]
    store.batch([PutOp(("a",), str(n), {"text": text}) for n, text in enumerate(texts)])
    read: list[int] = []
    value = Snapshot.value

    def counted(self: Snapshot, item: int) -> dict[str, Any]:
        read.append(item)
        return value(self, item)

    monkeypatch.setattr(Snapshot, "value", counted)
    wanted = {"text": {"$contains": "0 people"}}
    found = store.search(("a",), query="apple", filter=wanted, limit=3)
    assert [item.key for item in found] == ["0", "10", "20"]
    assert len(read) == 21
