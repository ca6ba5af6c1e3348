"""Recall over turns and the facts made of them, in a real file: what stands for what, and for whom."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langmemory.changes import AddMemory, Facets, Supersede
from langmemory.graphs import build_reflection_graph
from langmemory.ledger.scopes import compile_scope
from langmemory.recall.intent import read_intent
from langmemory.recall.query import possible_names
from langmemory.search.source import SnapshotSource
from langmemory.stores import MemoryStore
from langmemory.stores.face import bound
from langmemory.types import Recall, Scope
from tests.graph_world import NAMESPACE, apply, day, fact, furnish
from tests.recall.memory_source import NOW


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db") as opened:
        furnish(opened)
        yield opened


def found(recall: Recall) -> list[str]:
    return [result.memory.key for result in recall.results]


def test_no_source_is_told_out_of_scope(store: MemoryStore) -> None:
    """Viewer, kind, date, status, filter, exclusions and namespace hold for what rests on a turn."""
    apply(
        store,
        "secret",
        AddMemory(
            key="hidden",
            value={"text": "Mira is ill.", "tag": "x" * 80},
            facets=Facets(privacy="private", owner="paul", valid_at=day("2030-01-01")),
            evidence=("t/1",),
        ),
    )
    scopes = {
        "viewer": Scope(namespace=NAMESPACE, viewer="lena"),
        "kinds": Scope(namespace=NAMESPACE, kinds=("episodic",)),
        "as_of": Scope(namespace=NAMESPACE, as_of=day("2025-01-01")),
        "statuses": Scope(namespace=NAMESPACE, statuses=("archived",)),
        "filter": Scope(namespace=NAMESPACE, filter={"tag": "y" * 80}),
        "exclude": Scope(namespace=NAMESPACE, exclude=frozenset({"hidden"})),
        "namespace": Scope(namespace=("memories", "other")),
    }
    with store._core.engine.read() as snapshot:
        ids = dict(snapshot.connection.execute("SELECT key, id FROM item").fetchall())

        def resting(scope: Scope) -> set[int]:
            reader = SnapshotSource(snapshot, compile_scope(scope))  # type: ignore[arg-type]
            return {*reader.fact_sources(np.array([ids["t/1"]]))[0].tolist()}

        assert ids["hidden"] in resting(Scope(namespace=NAMESPACE))
        for name, scope in scopes.items():
            assert ids["hidden"] not in resting(scope), name


def test_a_recall_of_a_date_has_what_held_then(store: MemoryStore) -> None:
    """What was claimed later is not in a recall of an earlier date."""
    recall = store.recall("Where did Lena work?", NAMESPACE, as_of=day("2022-01-01"), limit=20)
    assert "hooli" in found(recall)
    assert "globex" not in found(recall)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Which city does Lena's sister work in?", {"Lena", "city", "sister"}),
        ("what did anna maria say about st. gallen", {"anna maria", "st. gallen"}),
        ("Wo arbeitet Lenas Schwester?", {"Lena", "Lenas", "Schwester"}),
        ("Was she in The Hague?", {"The Hague", "Hague"}),
        ("张伟在哪里工作", {"张伟"}),
        ("O’Neill & Söhne", {"O’Neill", "O’Neill & Söhne"}),
    ],
)
def test_what_may_be_a_name_in_a_query(query: str, names: set[str]) -> None:
    """Single words and runs, possessives bare, any script; stop words alone are none."""
    possible = set(possible_names(query, read_intent(query, NOW)))
    assert names <= possible
    assert not {"does", "in", "the", "was"} & possible


def test_what_others_gave_up_in_private_does_not_show(store: MemoryStore) -> None:
    """A turn that says no more than a private fact which has given way is no staler to those who may not
    see it."""
    private: dict[str, object] = {"privacy": "private", "owner": "paul"}
    store.remember(
        NAMESPACE,
        [{"role": "user", "content": "The greenhouse was sold.", "id": "9"}],
        thread_id="u",
    )
    for key, text, evidence in (
        ("old", "The greenhouse was sold to Paul.", "u/9"),
        ("new", "It was not.", "t/2"),
    ):
        apply(
            store,
            key,
            *fact(
                key,
                text,
                "person/paul",
                "owns",
                literal="a greenhouse",
                evidence=[evidence],
                facets=private,
            ),
        )
    apply(
        store,
        "end",
        Supersede(key="old", by="new", invalid_at=day("2024-01-01")),
    )

    def factors(viewer: str) -> dict[str, float]:
        recall = bound(store, viewer).recall("Was the greenhouse sold?", NAMESPACE, explain=True)
        (turn,) = (one for one in recall.results if one.memory.key == "u/9")
        assert turn.explanation is not None
        return dict(turn.explanation.multipliers)

    assert factors("paul")["stale"] < 1
    assert factors("lena").get("stale", 1) == 1


def test_what_holds_now_is_found_before_what_was_said_of_it_once(tmp_path: Path) -> None:
    """A turn that says where somebody lived, and what is still so, stands behind where they live now,
    also after two moves and for a viewer; not where it is asked for what is still so, in a recall of
    then, or where what took its place is hidden."""
    ada = ("memories", "ada")
    talk = {
        "2026-01-05": "Hi, I'm Ada, I'm 34 and I live in Bremen.",
        "2026-03-05": "We moved to Kiel.",
        "2026-06-05": "I moved to Ghent, and I have a cat called Momo.",
    }
    with MemoryStore(tmp_path / "memory.db") as store:
        for at, text in talk.items():
            message = {"role": "user", "name": "Ada", "content": text, "at": at}
            store.remember(ada, [message], thread_id=at, owner="ada")
        build_reflection_graph(store).invoke({"namespace": ada})

        def texts(query: str, viewer: str | None = None, **options: Any) -> list[str]:
            return [one.text for one in bound(store, viewer).recall(query, ada, **options).results]

        for viewer in (None, "ada"):
            for query in ("Where does Ada live?", "Where do I live?"):
                found = texts(query, viewer=viewer)
                assert found[0] == "Ada lives in Ghent.", found
                assert talk["2026-01-05"] in found
        assert "34" in texts("How old is Ada?")[0]
        then = datetime(2026, 2, 1, tzinfo=UTC)
        assert "Bremen" in texts("Where does Ada live?", as_of=then)[0]
        heir = next(one for one in store.search(ada, limit=50) if "in Ghent." in str(one.value))
        store.forget(ada, keys=[heir.key])
        assert "Ghent" not in texts("Where does Ada live?")[0]
