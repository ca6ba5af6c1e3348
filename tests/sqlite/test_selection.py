"""Scopes that leave little: what indexes give is what the predicates let through, and it is all found."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langmemory.engines.sqlite import Engine
from langmemory.engines.sqlite.engine import check
from langmemory.ledger import items
from langmemory.ledger.items import Write
from langmemory.ledger.scopes import CompiledScope, compile_scope, visible_to
from langmemory.ledger.settings import read_model, write_model
from langmemory.ledger.values import leaves
from langmemory.ports.candidates import Floats, KeywordQuery
from langmemory.search import scope_plan, vector_search
from langmemory.search.scope_plan import CardinalityCache, ScopePlan
from langmemory.types import Kind, Namespace, Privacy, Scope, Status
from langmemory.values import to_json
from tests.seeds import examples

DIMS = 24
NAMESPACES: tuple[Namespace, ...] = (("a",), ("a", "b"), ("a", "c"), ("z",))
PEOPLE = ("ann", "bob", "", None)
WORDS = ("red", "wine", "sea", "tram", "owl")
ITEMS = 700


def at(day: int) -> datetime:
    return datetime.fromtimestamp(day * 86_400, UTC)


def micros(day: int) -> int:
    return day * 86_400_000_000


def facets(rng: random.Random) -> dict[str, Any]:
    """Return random facets of a write."""
    found: dict[str, Any] = {}
    if rng.random() < 0.7:
        found["kind"] = rng.choice(get_args(Kind))
    if rng.random() < 0.5:
        found["status"] = rng.choice(get_args(Status))
    if rng.random() < 0.7:
        found |= {"privacy": rng.choice(get_args(Privacy)), "owner": rng.choice(PEOPLE)}
    for name in ("valid_at", "invalid_at", "expired_at"):
        if rng.random() < 0.5:
            found[name] = micros(rng.randrange(40))
    return found


class File:
    """An engine with a few hundred items of all sorts."""

    def __init__(self, path: Path) -> None:
        self.engine = Engine(path)
        self.rng = random.Random(3)
        vectors = np.random.default_rng(3).standard_normal((ITEMS, DIMS)).astype(np.float32)
        self.vectors: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        with self.engine.write() as connection:
            write_model(connection, replace(read_model(connection), model="test", dims=DIMS))
            for n in range(ITEMS):
                items.put(connection, [self.write(n)], micros(self.rng.randrange(40)))

    def write(self, n: int) -> Write:
        value = {"tag": n % 40, "even": n % 2}
        return Write(
            namespace=NAMESPACES[n % 4],
            key=f"k{n}",
            value=to_json(value),
            leaves=leaves(value),
            body=" ".join(self.rng.choices(WORDS, k=3)),
            embedded=self.vectors[n : n + 1] if n % 7 else self.vectors[:0],  # some have none
            hashes=[None] if n % 7 else [],
            facets=facets(self.rng),
        )

    def within(self, scope: CompiledScope) -> set[int]:
        """Ids of the items in scope, by its predicates alone."""
        namespaces, labels = scope.namespaces()
        with self.engine.read() as snapshot:
            rows = snapshot.connection.execute(
                f"SELECT +i.id FROM item i NOT INDEXED WHERE i.namespace IN {namespaces} "
                f"AND {scope.where}",
                (*labels, *scope.bindings),
            ).fetchall()
        return {row[0] for row in rows}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[File]:
    file = File(tmp_path_factory.mktemp("selection") / "m.db")
    yield file
    with file.engine.read() as snapshot:
        assert check(snapshot.connection) == []
    file.engine.close()


def some(options: Any, **sizes: int) -> st.SearchStrategy[Any]:
    chosen = st.lists(st.sampled_from(get_args(options)), unique=True, min_size=1, **sizes)
    return st.none() | chosen.map(tuple)


times = st.none() | st.integers(-1, 41).map(at)
scopes = st.builds(
    Scope,
    namespace=st.sampled_from([(), *NAMESPACES, ("nobody",)]),
    filter=st.sampled_from([None, None, {"even": 1}, {"tag": 3}, {"tag": {"$ne": 3}}]),
    kinds=some(Kind, max_size=3),
    statuses=some(Status, max_size=2),
    viewer=st.sampled_from([None, "ann", "bob", "nobody", ""]),
    as_of=times,
    known_at=times,
    since=times,
    until=times,
    exclude=st.sampled_from([frozenset(), frozenset({"k1", "k2", "k3"})]),
)


@given(scope=scopes)
@settings(max_examples=examples(300, first=25), deadline=None)
def test_an_index_gives_what_the_predicate_lets_through(file: File, scope: Scope) -> None:
    """Where a search may start from a condition, it starts from exactly the items that the
    condition, and no other, holds for; among the kinds asked for, if it is about the status. And
    where no index tells, all items in scope are read."""
    compiled = compile_scope(scope)
    with file.engine.read() as snapshot:
        every = ScopePlan(snapshot.connection, CardinalityCache(), compiled).after(
            0, 1 << 20, read=True
        )
    assert every is not None
    assert every.tolist() == sorted(file.within(compiled))
    for one in compiled.conditions:
        if not one.starts:
            continue
        kinds = scope.kinds if "i.status" in one.sql else None
        alone = CompiledScope(
            Scope(namespace=scope.namespace),
            (one, *compile_scope(Scope(namespace=(), kinds=kinds)).conditions),
        )
        with pytest.MonkeyPatch.context() as patch, file.engine.read() as snapshot:
            patch.setattr(
                scope_plan, "hold_at_most", lambda *_: False
            )  # else its namespace is read
            started = replace(alone, conditions=(one,))
            chosen = ScopePlan(snapshot.connection, CardinalityCache(), started).after(0, 1 << 20)
        assert chosen is not None
        assert chosen.tolist() == sorted(file.within(alone))


@given(
    scope=scopes,
    seed=st.integers(0, 99),
    thresholds=st.sampled_from([(8192, 32), (30, 4)]),
    few=st.sampled_from([0, 250]),
)
@settings(max_examples=examples(300, first=25), deadline=None)
def test_what_little_a_scope_leaves_is_found(
    file: File, scope: Scope, seed: int, thresholds: tuple[int, int], few: int
) -> None:
    """The nearest items, those that words find, and those without a vector are what the predicates
    and plain comparison say, also for scopes asked before, and where one in a hundred is in scope."""
    compiled = compile_scope(scope)
    inside = file.within(compiled)
    rng = np.random.default_rng(seed)
    query = rng.standard_normal(DIMS).astype(np.float32)
    query /= np.linalg.norm(query)
    with pytest.MonkeyPatch.context() as patch, file.engine.read() as snapshot:
        patch.setattr(scope_plan, "READ_ITEMS", few)
        patch.setattr(scope_plan, "FILTERED_FIRST", thresholds[0])
        patch.setattr(scope_plan, "FILTERED_SHARE", thresholds[1])
        patch.setattr(scope_plan, "READ_SHARE", thresholds[1])
        patch.setattr(vector_search, "EXACT_FLOOR", 0)
        comparable = sorted(n for n in inside if (n - 1) % 7)
        cosines = file.vectors[np.array(comparable, np.int64) - 1] @ query
        best = np.sort(cosines)[::-1][:10].tolist()
        little = len(comparable) <= 40
        ids, found = snapshot.nearest(compiled, query, 10, overfetch=4, exact=not little)
        assert found.tolist() == pytest.approx(best, abs=1e-5)
        assert set(ids.tolist()) <= inside
        rows = snapshot.connection.execute("SELECT rowid FROM keyword('owl')")
        owls = {row[0] for row in rows} & inside
        for limit in (5, ITEMS):
            for asked in (compiled, compile_scope(scope)):  # after the vectors, and by itself
                said, _ = snapshot.keyword(
                    asked, KeywordQuery(terms=("owl",)), limit, complete=True
                )
                assert set(said.tolist()) <= owls
                assert len(set(said.tolist())) == len(said) == min(limit, len(owls))
        rest = snapshot.without_vectors(compiled, ids, ITEMS)
        assert set(rest.tolist()) == {n for n in inside if not (n - 1) % 7}


def test_what_was_narrow_and_is_no_more(tmp_path: Path) -> None:
    """After a search found little in scope, one that should find much does, whoever wrote; and
    nothing of what the viewer may not know of any more."""
    file = File(tmp_path / "m.db")
    other = Engine(tmp_path / "m.db")
    scope = Scope(namespace=("a",), viewer="ann", kinds=("semantic",))

    def found() -> set[int]:
        with file.engine.read() as snapshot:
            ids, _ = snapshot.nearest(compile_scope(scope), file.vectors[1], ITEMS, overfetch=1)
        return set(ids.tolist())

    for change in (
        "UPDATE item SET privacy = 'private', owner = 'bob', kind = 'semantic'",
        "UPDATE item SET owner = 'ann' WHERE key = 'k5'",
        "UPDATE item SET privacy = 'shared'",
        "UPDATE item SET privacy = 'private', owner = nullif(key, 'k5')",
        "UPDATE item SET owner = 'ann' WHERE key GLOB '*1'",
    ):
        with other.write() as connection:
            connection.execute(change)
        for _ in range(2):
            inside = file.within(compile_scope(scope))
            assert found() == {n for n in inside if (n - 1) % 7}
    other.close()
    file.engine.close()


def test_a_reader_is_who_may_know(file: File) -> None:
    """The index of readers and the predicate of ownership tell the same, for everybody."""
    with file.engine.read() as snapshot:
        for viewer in ("ann", "bob", "nobody", ""):
            compiled = compile_scope(Scope(namespace=(), viewer=viewer))
            visible = visible_to(viewer)
            seen = {
                row[0]
                for row in snapshot.connection.execute(
                    f"SELECT i.id FROM item i WHERE {visible.sql}", visible.bindings
                )
            }
            chosen = ScopePlan(snapshot.connection, snapshot.engine.cardinalities, compiled)
            assert set(chosen.after(0, 1 << 20).tolist()) == seen  # type: ignore[union-attr]
