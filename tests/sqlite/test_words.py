"""The keyword index in memory: it scores as FTS5 does, and hides nothing that was written since."""

from __future__ import annotations

import gc
import os
import random
import shutil
import threading
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np
import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.base import PutOp

from langmemory import MemoryStore
from langmemory.config import EngineConfig
from langmemory.engines.sqlite import indexes, keyword_search
from langmemory.engines.sqlite.engine import Engine, Snapshot
from langmemory.engines.sqlite.schema import rebuild_keywords
from langmemory.errors import DatabaseError
from langmemory.ledger import namespaces
from langmemory.ports.candidates import KeywordQuery
from langmemory.search import word_search
from langmemory.search.scope_plan import ScopePlan
from langmemory.types import Namespace, Scope
from tests.stores.embedders import WordEmbeddings

SAID = ("red", "tart", "apple", "pies", "oven", "café", "n1", "日本", "running", "runs")
MATCHES = ('"apple"', '"red" OR "red" OR "tart"', '"pie" OR "cafe" OR "n1"', '"run" OR "日本"')
EVERYTHING: tuple[Namespace, ...] = ((), ("mine",), ("mine", "deep"), ("other",))


def load(store: MemoryStore) -> word_search.WordIndex:
    engine = store._core.engine
    with engine.database.scan() as connection:
        engine.copies.words.load(connection, 1 << 30)
    return engine.copies.words


def by_copy(
    engine: Engine,
    snapshot: Snapshot,
    namespace: Namespace,
    match: str,
    weights: keyword_search.Weights = keyword_search.DEFAULT_WEIGHTS,
    selected: list[int] | None = None,
) -> dict[int, float]:
    """Score by item of everything that matches."""
    copy = engine.copies.of_words(snapshot.connection)
    assert copy is not None
    connection, scope = snapshot.connection, snapshot.scoped(Scope(namespace=namespace))
    items = None if selected is None else np.array(selected, np.int64)
    ids, scores = keyword_search.search(
        connection, engine.cardinalities, scope, match, 10_000, weights=weights, complete=True, copy=copy,
        plan=ScopePlan(connection, engine.cardinalities, scope, items=items),
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
    with store._core.engine.read() as snapshot:
        for namespace in EVERYTHING:
            found = by_copy(store._core.engine, snapshot, namespace, match, weights)
            assert found == pytest.approx(by_fts5(snapshot, namespace, match, weights), rel=1e-5)
            some = sorted(found)[::2]
            among = by_copy(store._core.engine, snapshot, namespace, match, weights, some)
            assert among == {item: found[item] for item in some}


def test_a_word_that_most_rows_hold_still_finds_them(tmp_path: Path) -> None:
    """As with FTS5: its weight is next to nothing, not below it."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.batch([PutOp(("a",), f"k{n}", {"text": "tea"}) for n in range(5)])
        load(store)
        with store._core.engine.read() as snapshot:
            found = by_copy(store._core.engine, snapshot, ("a",), '"tea"')
            assert len(found) == 5
            assert found == pytest.approx(by_fts5(snapshot, ("a",), '"tea"'), rel=1e-4)


def test_the_rarest_words_bring_rows_and_all_words_score_them(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a large scope only rows with a rare word are scored, but for all words; where these are too
    few and all are wanted, the others bring rows too."""
    monkeypatch.setattr(word_search, "SCORED_ROWS", 3)
    store.put(("other",), "x", {"text": "quince red apple"})
    store.put(("other",), "y", {"text": "medlar apple"})
    load(store)
    match = '"quince" OR "medlar" OR "red" OR "apple"'
    engine = store._core.engine
    with engine.read() as snapshot:
        scope, copy = (
            snapshot.scoped(Scope(namespace=())),
            engine.copies.of_words(snapshot.connection),
        )
        ids, scores = keyword_search.search(
            snapshot.connection, engine.cardinalities, scope, match, 10, copy=copy
        )
        own = by_fts5(snapshot, (), match)
        assert dict(zip(ids.tolist(), scores, strict=True)) == pytest.approx(
            {item: own[item] for item in ids.tolist()}, rel=1e-5
        )
        assert len(ids) == 2
        more, _ = keyword_search.search(
            snapshot.connection, engine.cardinalities, scope, match, 10, copy=copy, complete=True
        )
        assert len(more) == 10


def test_of_what_is_equally_good_the_oldest_comes_first(tmp_path: Path) -> None:
    """Which of many equal texts are found does not depend on whether the copy is there."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.batch([PutOp(("a",), f"k{n:03}", {"text": "red wine"}) for n in range(500)])
        before = [item.key for item in store.search(("a",), query="wine", limit=20)]
        load(store)
        after = [item.key for item in store.search(("a",), query="wine", limit=20)]
        assert before == after == [f"k{n:03}" for n in range(20)]


def test_what_was_written_since_is_found_and_what_is_gone_is_not(store: MemoryStore) -> None:
    """Additions, other texts, deletions, and turns whose neighbours changed, by this store and by
    another one on the file."""
    index = load(store)
    with MemoryStore(store._core.engine.database.path, index=False) as other:
        other.put(("other",), "k1", {"text": "quince"})
        other.delete(("other",), "k2")
        other.put(("other",), "new", {"text": "quince and medlar"})
        other.remember(("mine",), [HumanMessage("a medlar"), HumanMessage("fine")], thread_id="t")
        other.put(("fresh",), "k", {"text": "medlar"})
        other.put(("other",), "k3", {"text": "tart"}, index=False)
    with store._core.engine.read() as snapshot:
        assert index.current(snapshot.connection) is not None
        for namespace in (*EVERYTHING, ("fresh",)):
            for match in (*MATCHES, '"quince" OR "medlar"'):
                found = by_copy(store._core.engine, snapshot, namespace, match)
                assert found.keys() == by_fts5(snapshot, namespace, match).keys()
    keys = {item.key for item in store.search(("other",), query="quince")}
    assert keys == {"k1", "new"}


def test_an_older_snapshot_does_not_see_a_newer_copy(store: MemoryStore) -> None:
    """A reader that began before a write finds what was there then, whatever was copied meanwhile."""
    with store._core.engine.read() as snapshot:
        snapshot.connection.execute("SELECT count(*) FROM item").fetchone()  # its moment begins
        store.put(("other",), "new", {"text": "quince"})
        index = load(store)
        assert index.current(snapshot.connection) is None
        scope = snapshot.scoped(Scope(namespace=()))
        assert len(snapshot.keyword(scope, KeywordQuery(terms=("quince",)), 5)[0]) == 0
    assert [item.key for item in store.search((), query="quince")] == ["new"]


def test_the_copy_goes_where_it_cannot_be_told_what_changed(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the index was written anew, and when the log was cut behind it: FTS5 answers."""
    index = load(store)
    with store._core.engine.write() as connection:
        rebuild_keywords(connection, store._core.indexing)
    with store._core.engine.read() as snapshot:
        assert index.current(snapshot.connection) is None
    assert store.search((), query="apple")
    load(store)
    monkeypatch.setattr(indexes, "KEPT_CHANGES", 1)
    for n in range(3):
        store.put(("other",), f"new{n}", {"text": f"quince {n}"})
    with store._core.engine.write() as connection:
        indexes.trim_words_log(connection)
    with store._core.engine.read() as snapshot:
        assert index.current(snapshot.connection) is None
    assert len(store.search((), query="quince")) == 3


def test_a_process_that_goes_on_searching_copies_the_words(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After some searches, in the background, when the items are many enough and the budget allows; and
    again when much has changed."""
    monkeypatch.setattr(word_search, "WORTH_COPYING", 100)
    monkeypatch.setattr(word_search, "CHANGED_FLOOR", 10)
    monkeypatch.setattr(word_search, "SEARCHES_BETWEEN_COPIES", 3)
    index = store._core.engine.copies.words
    index.next_copy = 3

    def searched_until(seq: int) -> bool:
        for _ in range(1_000):
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
    with store._core.engine.database.scan() as connection:
        assert keyword_search.read_words(connection, 100) is None
    with Engine(tmp_path / "m.db", settings=EngineConfig(word_copy_bytes=0)).read() as snapshot:
        assert snapshot.engine.copies.of_words(snapshot.connection) is None


def test_forgetting_drops_the_copy(store: MemoryStore) -> None:
    """Nothing of what is forgotten stays in memory."""
    index = load(store)
    store.forget(("mine",), owner="nobody")
    store._core.engine.purge()
    assert index._current is None


def test_an_empty_index_has_an_empty_copy(tmp_path: Path) -> None:
    """The first search of an empty file, and of one where nothing has words."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        load(store)
        assert store.search((), query="apple") == []
        store.put(("a",), "k", {"text": "apple"}, index=False)
        load(store)
        assert store.search((), query="apple") == []


def test_a_text_that_changed_often_is_looked_at_once(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who goes on searching beside a writer needs of the log only what came since the last search,
    and keeps the copy when the rest is cut; a snapshot from before the last search sees its own."""
    index = load(store)
    monkeypatch.setattr(indexes, "KEPT_CHANGES", 2)
    with store._core.engine.read() as snapshot:
        snapshot.connection.execute("SELECT count(*) FROM item").fetchone()  # its moment begins
        for n in range(5):
            store.put(("other",), "often", {"text": f"quince {n}"})
            store.put(("other",), f"k{n}", {"text": "medlar"})
            with store._core.engine.write() as connection:
                indexes.trim_words_log(connection)
            assert [item.key for item in store.search((), query="quince")] == ["often"]
            assert len(store.search((), query="medlar")) == n + 1
        current = index._current
        assert current is not None
        assert len(current.changed) == 6
        assert by_copy(store._core.engine, snapshot, (), '"quince" OR "medlar"') == {}
        assert by_copy(store._core.engine, snapshot, (), '"apple"') == pytest.approx(
            by_fts5(snapshot, (), '"apple"'), rel=1e-5
        )


def test_of_changed_rows_those_with_rare_words_are_scored(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of the others: in a large scope a frequent word brings none, unless too few are found, and
    counts for those that others bring."""
    monkeypatch.setattr(word_search, "SCORED_ROWS", 3)
    for n in range(3):
        store.put(("other",), f"x{n}", {"text": "quince red"})
    store.put(("other",), "y", {"text": "medlar apple"})
    load(store)
    store.put(("other",), "k0", {"text": "quince red apple"})
    store.put(("other",), "k1", {"text": "sorb tart"})  # a word that the copy does not know
    store.put(("other",), "k2", {"text": "red apple"})
    match = '"sorb" OR "quince" OR "medlar" OR "red" OR "apple"'
    engine = store._core.engine
    with engine.read() as snapshot:
        scope, copy = (
            snapshot.scoped(Scope(namespace=())),
            engine.copies.of_words(snapshot.connection),
        )

        def found(limit: int) -> set[int]:
            ids, _ = keyword_search.search(
                snapshot.connection,
                engine.cardinalities,
                scope,
                match,
                limit,
                copy=copy,
                complete=True,
            )
            return set(ids.tolist())

        own = by_fts5(snapshot, (), match)
        rare = set(by_fts5(snapshot, (), '"sorb" OR "quince" OR "medlar"'))
        assert found(4) <= rare
        assert found(1000) == set(own)
        best, scores = keyword_search.search(
            snapshot.connection,
            engine.cardinalities,
            scope,
            '"quince" OR "medlar" OR "red"',
            9,
            copy=copy,
        )
        k0 = min(set(by_fts5(snapshot, (), '"quince"')) & set(by_fts5(snapshot, (), '"apple"')))
        score = dict(zip(best.tolist(), scores.tolist(), strict=True))[k0]
        red = by_fts5(snapshot, (), '"quince" OR "medlar" OR "red"')[k0]
        assert score == pytest.approx(red, rel=0.1)  # rows with each word are counted in the copy


INDEXES: tuple[Mapping[str, Any] | bool, ...] = (
    False,
    {"embed": WordEmbeddings(), "dims": 16, "fields": ["text"], "search": "semantic"},
)


@pytest.mark.parametrize("index", INDEXES)
def test_an_older_state_or_another_file_in_its_place(
    tmp_path: Path, index: Mapping[str, Any] | bool
) -> None:
    """Once a store is closed, its path may name anything: a backup, a new file. What was in memory of
    the one before is not asked, though the store is still referred to, or not even closed."""
    path = tmp_path / "m.db"

    def opened() -> MemoryStore:
        return MemoryStore(path, index=index)  # type: ignore[arg-type]

    def written(store: MemoryStore, word: str) -> MemoryStore:
        store.batch([PutOp(("a",), f"{word}{n}", {"text": word}) for n in range(300)])
        return store

    first = written(opened(), "apple")
    first.close()
    shutil.copy(path, tmp_path / "backup.db")
    second = written(opened(), "quince")
    load(second)
    assert second.search((), query="quince", limit=1)[0].key.startswith("quince")
    second.close()
    shutil.copy(tmp_path / "backup.db", path)
    third = written(opened(), "medlar")
    assert third.search((), query="medlar", limit=1)[0].key.startswith("medlar")
    load(third)
    for name in ("m.db", "m.db-wal", "m.db-shm"):
        os.unlink(tmp_path / name)
    shutil.copy(tmp_path / "backup.db", path)
    again = written(opened(), "plum")
    assert again.search((), query="plum", limit=1)[0].key.startswith("plum")
    load(again)
    again.close()
    os.unlink(path)
    with written(written(opened(), "sorb"), "fig") as fourth:
        for word in ("sorb", "fig"):
            assert fourth.search((), query=word, limit=1)[0].key.startswith(word)
    third.close()


def test_stores_on_one_file_share_the_copy(store: MemoryStore) -> None:
    """Also when one of them is closed."""
    path = store._core.engine.database.path
    MemoryStore(path, index=False).close()
    index = load(store)
    with MemoryStore(path, index=False) as other:
        assert other._core.engine.copies.words is index


@pytest.mark.parametrize("end", ["close", "purge"])
def test_a_copy_under_way_is_broken_off(store: MemoryStore, end: str) -> None:
    """Before the file is closed, so that all that was written is in it, and not in a WAL that who
    copies the file would leave behind; before it is purged, which needs the WAL to itself."""
    engine, path = store._core.engine, store._core.engine.database.path
    reading, refused = threading.Event(), list[str]()

    def read_for_ever() -> None:
        try:
            with engine.database.scan() as connection:
                connection.execute("SELECT count(*) FROM item").fetchone()
                reading.set()
                connection.execute(
                    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
                    "SELECT count(*) FROM n"
                ).fetchone()
        except DatabaseError as error:
            refused.append(str(error))

    loader = threading.Thread(target=read_for_ever)
    loader.start()
    assert reading.wait(10)
    store.put(("other",), "last", {"text": "quince"})
    if end == "purge":
        assert engine.purge()
    else:
        store.close()
        assert not os.path.exists(f"{path}-wal")
    loader.join(10)
    assert len(refused) == 1


def test_a_copy_of_what_was_before_a_purge_is_not_kept(store: MemoryStore) -> None:
    """It would hold the words of what was forgotten while it was made."""
    engine = store._core.engine
    before = engine.database.new_connection()
    before.execute("BEGIN; SELECT count(*) FROM item").fetchall()
    store.delete(("other",), "k1")
    with engine.read() as snapshot:
        engine.copies.words.drop(snapshot.connection)
    engine.copies.words.load(before, 1 << 30)
    assert engine.copies.words._current is None
    before.close()
    assert load(store)._current is not None


def test_a_word_longer_than_the_index_keeps(tmp_path: Path) -> None:
    """FTS5 cuts it after 32 KiB, within a character as it may be; it is found with the copy as
    without it, and so is everything else."""
    long = "a" + "я" * 20_000
    texts = {"cyrillic": long, "ascii": "y" * 40_000, "short": "apple"}
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        for key, text in texts.items():
            store.put(("a",), key, {"text": text})
        for _ in range(2):
            for key, text in texts.items():
                assert [item.key for item in store.search((), query=text)] == [key]
            load(store)


def test_rows_of_few_namespaces_are_kept(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of a hundred thousand people has as many namespaces, and each is searched."""
    monkeypatch.setattr(word_search, "KEPT_NAMESPACES", 2)
    index = load(store)
    for _ in range(2):
        for namespace in EVERYTHING:
            with store._core.engine.read() as snapshot:
                found = by_copy(store._core.engine, snapshot, namespace, '"apple"')
                assert found.keys() == by_fts5(snapshot, namespace, '"apple"').keys()
            current = index._current
            assert current is not None
            assert len(current.words._below) <= 2


def test_the_budget_counts_distinct_words(tmp_path: Path) -> None:
    """Texts full of numbers take more than five bytes a word, and do not exceed the budget."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.batch([PutOp(("a",), f"k{n}", {"text": f"id{n} x{n}"}) for n in range(500)])
        with store._core.engine.database.scan() as connection:
            copy = keyword_search.read_words(connection, 1 << 20)
        assert copy is not None
        arrays = [copy.ids, copy.norms, copy.hashes, copy.starts, copy.ends, copy.rows, copy.often]
        held = sum(one.nbytes for one in (*arrays, *copy.by_namespace))
        with store._core.engine.database.scan() as connection:
            assert keyword_search.read_words(connection, held - 1) is None
        with store._core.engine.database.scan() as connection:
            assert keyword_search.read_words(connection, held) is not None


def test_a_word_like_a_namespace_weighs_by_the_texts(store: MemoryStore) -> None:
    """A token n1 stands in the index for each item of the first namespace; FTS5 is not to count these
    when it weighs the word n1 of texts."""
    engine = store._core.engine
    with engine.read() as snapshot:
        for namespace in EVERYTHING:
            scope = snapshot.scoped(Scope(namespace=namespace))
            ids, scores = keyword_search.search(
                snapshot.connection, engine.cardinalities, scope, '"n1"', 1000, complete=True
            )
            assert dict(zip(ids.tolist(), scores.tolist(), strict=True)) == pytest.approx(
                by_fts5(snapshot, namespace, '"n1"'), rel=1e-5
            )


def test_what_was_asked_is_not_kept(store: MemoryStore) -> None:
    """Only counts: a filter may name thousands of values, and each search others."""
    store.batch([PutOp(("a",), f"k{n}", {"text": "tea", "doc": f"doc{n}"}) for n in range(50)])
    store.search((), query="tea", filter={"doc": {"$in": ["doc1", "doc2"]}})
    store.search(("a",), query="tea quince")
    strings = {one for one in reachable(store) if isinstance(one, str)}
    assert str(store.path) in strings
    assert not [one for one in strings for word in ("doc1", "tea", "quince") if word in one]


def reachable(root: object) -> list[object]:
    """Return what an object holds, and what that holds, but for classes, modules and running code."""
    seen, found, looked = {id(root)}, [root], 0
    while looked < len(found):
        holder, looked = found[looked], looked + 1
        if isinstance(holder, (type, ModuleType, FrameType)):
            continue
        if (
            isinstance(holder, dict) and "__builtins__" in holder
        ):  # a module's, which a function names
            continue
        for one in gc.get_referents(holder):
            if id(one) not in seen:
                seen.add(id(one))
                found.append(one)
    return found


def test_a_connection_that_split_words_is_freed(tmp_path: Path) -> None:
    """A store that was dropped without closing keeps no connection, and so no file, open, although
    its connections have split queries into words."""
    store = MemoryStore(tmp_path / "m.db", index=False)
    store.put(("mine",), "k", {"text": "an apple"})
    with store._core.engine.read() as snapshot:
        assert list(keyword_search.tokenized(snapshot.connection, "apples")) == ["appl"]
        seen = weakref.ref(snapshot.connection)
    del snapshot, store
    gc.collect()
    assert seen() is None
