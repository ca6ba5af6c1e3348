"""The keyword index in memory: it scores as FTS5 does, and hides nothing that was written since."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.base import PutOp

from langmemory import MemoryStore
from langmemory.sqlite import keyword_search, keywords, namespaces, words
from langmemory.sqlite.engine import Engine, Snapshot
from langmemory.sqlite.selection import Selection
from langmemory.stores.reindexing import rebuild_keywords
from langmemory.types import Namespace, Scope

SAID = ("red", "tart", "apple", "pies", "oven", "café", "n1", "日本", "running", "runs")
MATCHES = ('"apple"', '"red" OR "red" OR "tart"', '"pie" OR "cafe" OR "n1"', '"run" OR "日本"')
EVERYTHING: tuple[Namespace, ...] = ((), ("mine",), ("mine", "deep"), ("other",))


def load(store: MemoryStore) -> words.WordIndex:
    engine = store._engine
    with engine.database.scan() as connection:
        engine._words.load(connection, 1 << 30)
    return engine._words


def by_copy(
    engine: Engine,
    snapshot: Snapshot,
    namespace: Namespace,
    match: str,
    weights: keyword_search.Weights = keyword_search.DEFAULT_WEIGHTS,
    selected: list[int] | None = None,
) -> dict[int, float]:
    """Score by item of everything that matches."""
    copy = engine.copied_words(snapshot.connection)
    assert copy is not None
    connection, scope = snapshot.connection, snapshot.scoped(Scope(namespace=namespace))
    items = None if selected is None else np.array(selected, np.int64)
    ids, scores = keyword_search.search(
        connection, engine.census, scope, match, 10_000, weights=weights, complete=True, copy=copy,
        selection=Selection(connection, engine.census, scope, items=items),
    )  # fmt: skip
    assert np.all(np.diff(scores) <= 0)
    return dict(zip(ids.tolist(), scores.tolist(), strict=True))


def by_fts5(
    snapshot: Snapshot,
    namespace: Namespace,
    match: str,
    weights: keyword_search.Weights = keyword_search.DEFAULT_WEIGHTS,
) -> dict[int, float]:
    number = namespaces.find(snapshot.connection, namespace) if namespace else None
    within = f'ns : "n{number}" AND ' if namespace else ""
    return dict(
        snapshot.connection.execute(
            "SELECT rowid, -rank FROM keyword WHERE keyword MATCH ? AND rank MATCH ?",
            (f"{within}{{body context}} : ({match})", "bm25(0.0, {}, {})".format(*weights)),
        )
    )


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    """Three hundred turns and items in three namespaces."""
    picked = random.Random(0)
    store = MemoryStore(tmp_path / "m.db", index=False)

    def texts(count: int) -> list[str]:
        return [" ".join(picked.choices(SAID, k=picked.randrange(1, 9))) for _ in range(count)]

    store.remember(("mine",), [HumanMessage(text) for text in texts(100)], thread_id="t")
    for place in (("mine", "deep"), ("other",)):
        store.batch([PutOp(place, f"k{n}", {"text": text}) for n, text in enumerate(texts(100))])
    return store


@pytest.mark.parametrize("weights", [keyword_search.DEFAULT_WEIGHTS, (1.0, 0.2)])
@pytest.mark.parametrize("match", MATCHES)
def test_the_copy_scores_as_fts5_does(
    store: MemoryStore, match: str, weights: keyword_search.Weights
) -> None:
    """Words, repeated words, stems, accents and pairs of characters; in all namespaces, below one, in
    one, and among given items; texts and their neighbours weighed as asked."""
    load(store)
    with store._engine.read() as snapshot:
        for namespace in EVERYTHING:
            found = by_copy(store._engine, snapshot, namespace, match, weights)
            assert found == pytest.approx(by_fts5(snapshot, namespace, match, weights), rel=1e-5)
            some = sorted(found)[::2]
            among = by_copy(store._engine, snapshot, namespace, match, weights, some)
            assert among == {item: found[item] for item in some}


def test_a_word_that_most_rows_hold_still_finds_them(tmp_path: Path) -> None:
    """As with FTS5: its weight is next to nothing, not below it."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.batch([PutOp(("a",), f"k{n}", {"text": "tea"}) for n in range(5)])
        load(store)
        with store._engine.read() as snapshot:
            found = by_copy(store._engine, snapshot, ("a",), '"tea"')
            assert len(found) == 5
            assert found == pytest.approx(by_fts5(snapshot, ("a",), '"tea"'), rel=1e-4)


def test_the_rarest_words_bring_rows_and_all_words_score_them(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a large scope only rows with a rare word are scored, but for all words; where these are too
    few and all are wanted, the others bring rows too."""
    monkeypatch.setattr(words, "SCORED_ROWS", 3)
    store.put(("other",), "x", {"text": "quince red apple"})
    store.put(("other",), "y", {"text": "medlar apple"})
    load(store)
    match = '"quince" OR "medlar" OR "red" OR "apple"'
    engine = store._engine
    with engine.read() as snapshot:
        scope, copy = snapshot.scoped(Scope(namespace=())), engine.copied_words(snapshot.connection)
        ids, scores = keyword_search.search(
            snapshot.connection, engine.census, scope, match, 10, copy=copy
        )
        own = by_fts5(snapshot, (), match)
        assert dict(zip(ids.tolist(), scores, strict=True)) == pytest.approx(
            {item: own[item] for item in ids.tolist()}, rel=1e-5
        )
        assert len(ids) == 2
        more, _ = keyword_search.search(
            snapshot.connection, engine.census, scope, match, 10, copy=copy, complete=True
        )
        assert len(more) == 10


def test_pages_of_any_depth_join(tmp_path: Path) -> None:
    """Page after page of a search by words shows every item once, with the copy as without it."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        colours = ["red", "white"]
        puts = [PutOp(("a",), f"k{n}", {"text": f"{colours[n % 2]} wine {n}"}) for n in range(1000)]
        store.batch(puts)
        load(store)
        shown = [
            item.key
            for offset in range(0, 1060, 60)
            for item in store.search(("a",), query="red wine", limit=60, offset=offset)
        ]
        assert len(shown) == len(set(shown)) == 1000


def test_what_was_written_since_is_found_and_what_is_gone_is_not(store: MemoryStore) -> None:
    """Additions, other texts, deletions, and turns whose neighbours changed, by this store and by
    another one on the file."""
    index = load(store)
    with MemoryStore(store._engine.database.path, index=False) as other:
        other.put(("other",), "k1", {"text": "quince"})
        other.delete(("other",), "k2")
        other.put(("other",), "new", {"text": "quince and medlar"})
        other.remember(("mine",), [HumanMessage("a medlar"), HumanMessage("fine")], thread_id="t")
        other.put(("fresh",), "k", {"text": "medlar"})
        other.put(("other",), "k3", {"text": "tart"}, index=False)
    with store._engine.read() as snapshot:
        assert index.current(snapshot.connection) is not None
        for namespace in (*EVERYTHING, ("fresh",)):
            for match in (*MATCHES, '"quince" OR "medlar"'):
                found = by_copy(store._engine, snapshot, namespace, match)
                assert found.keys() == by_fts5(snapshot, namespace, match).keys()
    keys = {item.key for item in store.search(("other",), query="quince")}
    assert keys == {"k1", "new"}


def test_an_older_snapshot_does_not_see_a_newer_copy(store: MemoryStore) -> None:
    """A reader that began before a write finds what was there then, whatever was copied meanwhile."""
    with store._engine.read() as snapshot:
        snapshot.connection.execute("SELECT count(*) FROM item").fetchone()  # its moment begins
        store.put(("other",), "new", {"text": "quince"})
        index = load(store)
        assert index.current(snapshot.connection) is None
        scope = snapshot.scoped(Scope(namespace=()))
        assert len(snapshot.keyword(scope, '"quince"', 5)[0]) == 0
    assert [item.key for item in store.search((), query="quince")] == ["new"]


def test_the_copy_goes_where_it_cannot_be_told_what_changed(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the index was written anew, and when the log was cut behind it: FTS5 answers."""
    index = load(store)
    with store._engine.write() as connection:
        rebuild_keywords(connection, store._indexing)
    with store._engine.read() as snapshot:
        assert index.current(snapshot.connection) is None
    assert store.search((), query="apple")
    load(store)
    monkeypatch.setattr(keywords, "KEPT_CHANGES", 1)
    for n in range(3):
        store.put(("other",), f"new{n}", {"text": f"quince {n}"})
    with store._engine.write() as connection:
        keywords.trim_log(connection)
    with store._engine.read() as snapshot:
        assert index.current(snapshot.connection) is None
    assert len(store.search((), query="quince")) == 3


def test_a_process_that_goes_on_searching_copies_the_words(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After some searches, in the background, when the items are many enough and the budget allows; and
    again when much has changed."""
    monkeypatch.setattr(words, "WORTH_COPYING", 100)
    monkeypatch.setattr(words, "CHANGED_FLOOR", 10)
    monkeypatch.setattr(words, "SEARCHES_BEFORE_COPY", 3)
    index = store._engine._words
    index.next_copy = 3

    def searched_until(seq: int) -> bool:
        for _ in range(200):
            store.search((), query="apple")
            current = index._current
            if current is not None and current.words.seq >= seq:
                return True
            time.sleep(0.02)
        return False

    assert searched_until(1)
    store.batch([PutOp(("more",), f"k{n}", {"text": "quince"}) for n in range(30)])
    newest = store.conn.execute("SELECT max(seq) FROM word_change").fetchone()[0]
    assert searched_until(newest)
    assert len(store.search((), query="quince", limit=50)) == 30
    with store._engine.database.scan() as connection:
        assert words.read(connection, 100) is None
    with Engine(tmp_path / "m.db", word_copy_bytes=0).read() as snapshot:
        assert snapshot.engine.copied_words(snapshot.connection) is None


def test_forgetting_drops_the_copy(store: MemoryStore) -> None:
    """Nothing of what is forgotten stays in memory."""
    index = load(store)
    store.forget(("mine",), owner="nobody")
    store._engine.purge()
    assert index._current is None


def test_an_empty_index_has_an_empty_copy(tmp_path: Path) -> None:
    """The first search of an empty file, and of one where nothing has words."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        load(store)
        assert store.search((), query="apple") == []
        store.put(("a",), "k", {"text": "apple"}, index=False)
        load(store)
        assert store.search((), query="apple") == []
