"""Nearest vectors: always the exact order, whatever happened to the file and its sign index."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langmemory.config import EngineConfig
from langmemory.engines.sqlite import Engine, indexes
from langmemory.engines.sqlite.engine import check
from langmemory.ledger import items, removal
from langmemory.ledger.items import Write
from langmemory.ledger.scopes import compile_scope
from langmemory.ledger.settings import read_model, write_model
from langmemory.ledger.values import leaves
from langmemory.ports.candidates import Floats
from langmemory.search import binary
from langmemory.search.binary import SCANS_BEFORE_COPY
from langmemory.types import Namespace, Scope
from langmemory.values import to_json
from tests.children import process_context
from tests.seeds import examples, seeds

Live = dict[tuple[Namespace, str], tuple[Floats, int]]
"""The expected content of the file: vectors float32[n, dims] and the number in each item's
value."""


def unit(rng: np.random.Generator, n: int, dims: int) -> Floats:
    """float32[n, dims], normalised, some of it zero."""
    vectors = rng.standard_normal((n, dims)).astype(np.float32)
    vectors[rng.random((n, dims)) < 0.2] = 0
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Floats = vectors / np.where(lengths == 0, 1, lengths)
    return result


class File:
    """An engine, and what should be in it."""

    def __init__(self, path: Path | str, dims: int, *, budget: int = 1 << 30) -> None:
        self.engine = Engine(
            path, settings=EngineConfig(synchronous="normal", quantized_index_bytes=budget)
        )
        self.dims = dims
        self.live: Live = {}
        with self.engine.write() as connection:
            model = read_model(connection)
            if model.model is None:
                write_model(connection, replace(model, model="test", dims=dims))

    def put(self, namespace: Namespace, key: str, vectors: Floats, number: int = 0) -> None:
        value = {"number": number}
        with self.engine.write() as connection:
            items.put(
                connection,
                [
                    Write(
                        namespace=namespace, key=key, value=to_json(value), leaves=leaves(value),
                        body="", embedded=vectors, hashes=[None] * len(vectors),
                    )
                ],
                now_us=1,
            )  # fmt: skip
        self.live[(namespace, key)] = (vectors, number)

    def delete(self, namespace: Namespace, key: str) -> None:
        with self.engine.write() as connection:
            item = items.find(connection, namespace, key)
            if item is not None:
                removal.delete(connection, item, 2)
        self.live.pop((namespace, key), None)

    def pack(self) -> None:
        with self.engine.write() as connection:
            binary.pack(connection, read_model(connection).words)

    def copy_vectors(self) -> None:
        """Background work of a process that has searched often."""
        with self.engine.read() as snapshot:
            _, index = self.engine.up_to_date_index(snapshot.connection)
        assert index is not None
        index.load_coarse(self.engine.database.read, self.dims, 1 << 30)

    def verify(
        self, query: Floats, scope: Scope, limit: int, *, exact: bool = False, overfetch: int = 32
    ) -> None:
        """The engine's answer is what numpy finds among the live vectors."""
        number = None if scope.filter is None else scope.filter["number"]
        truth = {
            place: float((vectors @ query).max())
            for place, (vectors, n) in self.live.items()
            if len(vectors)
            and place[0][: len(scope.namespace)] == scope.namespace
            and number in (None, n)
        }
        with self.engine.read() as snapshot:
            ids, cosines = snapshot.nearest(
                compile_scope(scope), query, limit, overfetch=overfetch, exact=exact
            )
            found = [
                (one.namespace, one.key)
                for one in items.memories(snapshot.connection, ids.tolist())
            ]
            shown = snapshot.cosines(query, ids[::-1].copy())
        assert shown[::-1].tolist() == pytest.approx(cosines.tolist(), abs=1e-6)
        best = sorted(truth.values(), reverse=True)[:limit]
        assert cosines.tolist() == pytest.approx(best, abs=1e-5)
        assert [truth[place] for place in found] == pytest.approx(best, abs=1e-5)
        assert len(set(found)) == len(found)

    def verify_all(self, rng: np.random.Generator) -> None:
        for scope in (
            Scope(namespace=()),
            Scope(namespace=("a",)),
            Scope(namespace=("a", "b")),
            Scope(namespace=("nobody",)),
            Scope(namespace=("a",), filter={"number": 1}),
        ):
            for limit in (1, 3, 50):
                self.verify(unit(rng, 1, self.dims)[0], scope, limit)


@contextmanager
def consistent(file: File) -> Iterator[File]:
    yield file
    with file.engine.read() as snapshot:
        assert check(snapshot.connection) == []
    file.engine.close()


operations = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "delete", "pack", "search", "other", "copy"]),
        st.sampled_from([("a",), ("a", "b"), ("c",)]),
        st.sampled_from("uvwxyz"),
        st.integers(0, 3),
    ),
    max_size=40,
)


@given(
    steps=operations,
    dims=st.sampled_from([1, 3, 63, 64, 65, 130]),
    budget=st.sampled_from([0, 200, 1 << 30]),
    seed=st.integers(0, 9),
)
@settings(
    max_examples=examples(60, first=30), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
def test_any_sequence_of_changes(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, Namespace, str, int]],
    dims: int,
    budget: int,
    seed: int,
) -> None:
    """After any puts, re-puts, deletions and packings, from two stores on one file, in memory or
    streaming, with a coarse copy or without, search equals brute force and the file agrees with
    itself."""
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.mktemp("nearest") / "m.db"
    with consistent(File(path, dims, budget=budget)) as file:
        other = File(path, dims, budget=budget)
        other.live = file.live
        for kind, namespace, key, n in steps:
            if kind == "put":
                file.put(namespace, key, unit(rng, n, dims), n)
            elif kind == "other":
                other.put(namespace, key, unit(rng, n, dims), n)
            elif kind == "delete":
                other.delete(namespace, key)
            elif kind == "pack":
                file.pack()
            elif kind == "copy":
                file.copy_vectors()
            else:
                file.verify_all(rng)
        file.verify_all(rng)
        other.verify_all(rng)
        other.engine.close()


@pytest.mark.parametrize(
    ("budget", "copy"), seeds([(1 << 30, True), (0, False), (1 << 30, False)], first=1)
)
def test_many_vectors(tmp_path: Path, budget: int, copy: bool) -> None:
    """With thousands of vectors in packed segments, outdated and deleted ones among them, an
    exact search equals brute force, and one by sign bits always fills its limit, each item with the
    cosine of its best vector."""
    rng = np.random.default_rng(1)
    with consistent(File(tmp_path / "m.db", 70, budget=budget)) as file:
        for n in range(1200):
            if n == 700 and copy:
                file.copy_vectors()
            file.put(("a",), f"k{n % 900}", unit(rng, 2, 70), n % 3)
            if n % 400 == 399:
                file.pack()
        for n in range(0, 300, 2):
            file.delete(("a",), f"k{n}")
        query = unit(rng, 1, 70)[0]
        for limit in (1, 10, 100, 749, 750, 2000):
            file.verify(query, Scope(namespace=("a",)), limit, exact=True)
            with file.engine.read() as snapshot:
                for filter in (None, {"number": 1}, {"number": {"$ne": 1}}):
                    scope = compile_scope(Scope(namespace=("a",), filter=filter))
                    ids, found = snapshot.nearest(scope, query, limit, overfetch=2)
                    assert found.tolist() == pytest.approx(
                        snapshot.cosines(query, ids).tolist(), abs=1e-6
                    )
                    there = sum(
                        filter is None or (n == 1) == (filter == {"number": 1})
                        for _, n in file.live.values()
                    )
                    assert len(ids) == min(limit, there)


@pytest.mark.parametrize("copy", [False, True])
def test_of_equal_vectors_the_oldest_come_first(tmp_path: Path, copy: bool) -> None:
    """Which of many equal items are found, among all or behind a filter, does not depend on chance."""
    rng = np.random.default_rng(2)
    with consistent(File(tmp_path / "m.db", 64)) as file:
        equal = unit(rng, 1, 64)
        for n in range(600):
            file.put(("a",), f"k{n:03}", equal, 1)
        for n in range(900):
            file.put(("a",), f"x{n}", unit(rng, 1, 64), 2)
        if copy:
            file.copy_vectors()
        with file.engine.read() as snapshot:
            for filter in (None, {"number": 1}):
                scope = compile_scope(Scope(namespace=("a",), filter=filter))
                ids, _ = snapshot.nearest(scope, equal[0], 20, overfetch=2)
                found = items.memories(snapshot.connection, ids.tolist())
                assert [one.key for one in found] == [f"k{n:03}" for n in range(20)]


def test_copy_appears_and_stays_right(tmp_path: Path) -> None:
    """A store that is searched often keeps a coarse copy; rough cosines stay within 0.002 of the
    exact ones while vectors are added, replaced and deleted, and a small budget keeps none."""
    rng = np.random.default_rng(4)
    with consistent(File(tmp_path / "m.db", 33)) as file:
        for n in range(300):
            file.put(("a",), f"k{n}", unit(rng, n % 9, 33))
        small = Engine(tmp_path / "m.db", settings=EngineConfig(vector_copy_bytes=100))
        scope = compile_scope(Scope(namespace=("a",)))
        query = unit(rng, 1, 33)[0]
        for engine in (small, file.engine):
            for _ in range(SCANS_BEFORE_COPY):  # the second asks when it is twice as many
                with engine.read() as snapshot:
                    snapshot.nearest(scope, query, 3, overfetch=1)
            for thread in threading.enumerate():
                if thread.name == "langmemory-load":
                    thread.join()
            with engine.read() as snapshot:
                _, index = engine.up_to_date_index(snapshot.connection)
            assert index is not None
            assert (index.coarse is not None) == (engine is file.engine)
        small.close()
        for n in range(0, 300, 7):
            file.put(("a",), f"k{n}", unit(rng, 1, 33))
            file.delete(("a",), f"k{n + 1}")
            file.put(("a",), f"new{n}", unit(rng, 2, 33))
        with file.engine.read() as snapshot:
            ids, exact = snapshot.nearest(scope, query, 1000, overfetch=1)
            rough = snapshot.rough_cosines(query, ids)
            assert np.abs(rough - exact).max() < 0.002
            roughly, _ = snapshot.nearest(scope, query, 1000, overfetch=1, rough=True)
        assert set(roughly.tolist()) == set(ids.tolist())
        assert len(ids) == sum(len(vectors) > 0 for vectors, _ in file.live.values())


@pytest.mark.thorough
def test_budgets_of_a_file_that_grows(tmp_path: Path) -> None:
    """The in-memory copies keep to their budgets while the file grows, also in a process that had
    it open all the time; searches stay correct."""
    rng = np.random.default_rng(5)
    with consistent(File(tmp_path / "m.db", 33, budget=6_000)) as file:
        for n in range(60):
            file.put(("a",), f"k{n}", unit(rng, 1, 33))
        file.verify_all(rng)
        with file.engine.read() as snapshot:
            _, index = file.engine.up_to_date_index(snapshot.connection)
        assert index is not None
        file.copy_vectors()
        assert index.coarse is not None
        index.load_coarse(file.engine.database.read, 33, 10_000)  # a store with a smaller budget
        file.put(("a",), "more", unit(rng, 1, 33))
        file.verify_all(rng)
        assert (index.coarse, index.size) == (None, 61)
        for n in range(60, 400):
            file.put(("a",), f"k{n}", unit(rng, 1, 33))
        file.verify_all(rng)
        assert index.size == 0


def test_packing_everything_away(tmp_path: Path) -> None:
    """A file whose vectors are all deleted packs, opens and takes new ones."""
    rng = np.random.default_rng(2)
    with consistent(File(tmp_path / "m.db", 8)) as file:
        file.put(("a",), "k", unit(rng, 2, 8))
        file.pack()
        file.delete(("a",), "k")
        file.pack()
        file.pack()
        file.verify_all(rng)
        fresh = File(tmp_path / "m.db", 8)
        fresh.put(("a",), "k2", unit(rng, 1, 8))
        fresh.verify_all(rng)
        fresh.engine.close()


def test_packing_happens_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Housekeeping packs a long log, in a store that has not looked at the file's model yet too,
    and closing does not wait for it."""
    rng = np.random.default_rng(6)
    with consistent(File(tmp_path / "m.db", 8)) as file:
        late = Engine(tmp_path / "m.db")
        for n in range(20):
            file.put(("a",), f"k{n}", unit(rng, 1, 8))
        monkeypatch.setattr(binary, "PACK_AFTER", 10)
        assert late.database.tidy()
        with late.read() as snapshot:
            assert binary.tail_length(snapshot.connection) == 0
        late.close()
        assert not late.database.tidy()
        file.verify_all(rng)


def _write_elsewhere(path: str, dims: int) -> None:
    file = File(path, dims)
    rng = np.random.default_rng(3)
    for n in range(40):
        file.put(("a",), f"far{n}", unit(rng, 1, dims), 1)
    file.delete(("a",), "near0")
    file.pack()
    file.engine.close()


def test_another_process_writes(tmp_path: Path) -> None:
    """Searches see what another process put, deleted and packed."""
    rng = np.random.default_rng(4)
    path = str(tmp_path / "m.db")
    with consistent(File(path, 20)) as file:
        for n in range(5):
            file.put(("a",), f"near{n}", unit(rng, 1, 20))
        file.verify_all(rng)
        worker = process_context().Process(target=_write_elsewhere, args=(path, 20))
        worker.start()
        worker.join(60)
        assert worker.exitcode == 0
        theirs = np.random.default_rng(3)
        for n in range(40):
            file.live[(("a",), f"far{n}")] = (unit(theirs, 1, 20), 1)
        del file.live[(("a",), "near0")]
        file.verify_all(rng)


DAMAGES = [
    ("vector", "DELETE FROM vector WHERE id = 65536", "sign bits belong to no vector"),
    ("bits", "DELETE FROM code WHERE vector = 65536", "vectors have no sign bits: 65536"),
    ("flip", "UPDATE code SET bits = zeroblob(8) WHERE vector = 65536", "of another"),
    ("dims", "UPDATE vector SET e = x'00' WHERE id = 65536", "not of the model's 8 dims"),
    ("leaf", "DELETE FROM leaf WHERE item = 1", "filter leaves are not those"),
    ("gone", "DELETE FROM item WHERE id = 1", "left vectors"),
    ("words", "DELETE FROM keyword WHERE rowid = 1", "not in the keyword index: 1"),
    ("past", "DELETE FROM history WHERE item = 1", "items have no history: 1"),
]


@pytest.mark.parametrize(("name", "damage", "problem"), DAMAGES, ids=[d[0] for d in DAMAGES])
def test_the_check_sees(tmp_path: Path, name: str, damage: str, problem: str) -> None:
    """Each way in which the parts of a file can disagree is a problem in words."""
    rng = np.random.default_rng(5)
    file = File(tmp_path / "m.db", 8)
    for key in "xy":
        file.put(("a",), key, unit(rng, 1, 8))
    with file.engine.write() as connection:
        connection.execute(damage)
    with file.engine.read() as snapshot:
        problems = check(snapshot.connection)
    assert any(problem in one for one in problems), problems


def test_a_search_of_an_older_state_leaves_nothing_behind(tmp_path: Path) -> None:
    """A search that began before a new namespace got its first vector does not keep later searches
    of the namespace above it from finding that vector."""
    rng = np.random.default_rng(5)
    file = File(tmp_path / "m.db", 16)
    for n in range(10):
        file.put(("a",), f"k{n}", unit(rng, 1, 16))
    scope = compile_scope(Scope(namespace=("a",)))
    query = unit(rng, 1, 16)[0]
    with file.engine.read() as older:
        older.nearest(scope, query, 1, overfetch=1)
        file.put(("a", "new"), "x", query[None, :])
        file.verify(query, Scope(namespace=("c",)), 1)  # another search reads on
        older.nearest(scope, query, 1, overfetch=1)
    file.verify(query, Scope(namespace=("a",)), 1)
    file.engine.close()


def test_a_reader_of_an_older_model_leaves_nothing_behind(tmp_path: Path) -> None:
    """A search that began before the file was re-embedded answers from what it sees, and later
    ones from the new vectors."""
    rng = np.random.default_rng(6)
    file = File(tmp_path / "m.db", 16)
    file.put(("a",), "x", unit(rng, 1, 16))
    scope = compile_scope(Scope(namespace=("a",)))
    before, after = unit(rng, 1, 16)[0], unit(rng, 1, 100)[0]
    with file.engine.read() as older:
        older.connection.execute("SELECT 1 FROM item").fetchone()  # the snapshot begins
        with file.engine.write() as connection:
            model = read_model(connection)
            again = replace(model, dims=100, generation=model.generation + 1)
            write_model(connection, again)
            connection.execute("DELETE FROM vector; DELETE FROM code")
            indexes.write_vectors(connection, [(1, 1, after[None, :], [None])], fresh=True)
        with file.engine.read() as newer:
            assert newer.nearest(scope, after, 1, overfetch=1)[1].tolist() == pytest.approx([1.0])
        assert len(older.nearest(scope, before, 1, overfetch=1)[0]) == 1
        assert older.model() == model
    with file.engine.read() as newer:
        assert newer.nearest(scope, after, 1, overfetch=1)[1].tolist() == pytest.approx([1.0])
        assert newer.model() == again
    file.engine.close()


def test_a_copy_of_a_re_embedded_file_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of the vectors before a re-embedding takes nothing from those after it."""
    monkeypatch.setattr(binary, "WHOLE_UP_TO", 0)
    rng = np.random.default_rng(7)
    file = File(tmp_path / "m.db", 16)
    file.put(("a",), "x", unit(rng, 1, 16))
    with file.engine.read() as snapshot:
        setting, index = file.engine.up_to_date_index(snapshot.connection)
    assert index is not None
    with file.engine.write() as connection:
        write_model(connection, replace(setting, generation=setting.generation + 1))
    file.engine.copies.load_coarse(setting, index)
    assert index.coarse is None
    file.engine.close()
