"""The consequences of a change are planned outside the write transaction, and none is lost."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import langmemory
from langmemory import MemoryStore
from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    Facets,
    LinkEntities,
    OpenReview,
    Supersede,
    UnlinkEntities,
)
from langmemory.graphs import build_maintenance_graph
from tests.children import ended
from tests.places import POSTGRES, address

if POSTGRES:
    from langmemory.engines.postgres.database import Database
else:
    from langmemory.engines.sqlite.connection import Database

NAMESPACE = ("memories", "anna")
PACKAGE = Path(langmemory.__file__).parent
PLANS = tuple(str(PACKAGE / part) + os.sep for part in ("formation", "lifecycle"))


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Functions of formation and lifecycle that a write transaction enters."""
    found: list[str] = []
    write = Database.write

    def started(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PLANS):
            found.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")

    @contextmanager
    def watched(
        self: Database, *, busy_timeout_ms: int | None = None, retried: bool = False
    ) -> Iterator[object]:
        with write(self, busy_timeout_ms=busy_timeout_ms) as connection:
            sys.setprofile(started)
            try:
                yield connection
            finally:
                sys.setprofile(None)

    monkeypatch.setattr(Database, "write", watched)
    return found


def told(key: str, object: str, **facets: object) -> list[Change]:
    return [
        AddMemory(key=key, value={"text": f"Lena lives in {object}"}, facets=Facets(**facets)),
        AddEntity(key=f"place/{object.lower()}", name=object, kind="place"),
        AddEdge(
            subject="person/lena", relation="lives_in", object=f"place/{object.lower()}", fact=key
        ),
    ]


def apply(store: MemoryStore, run_id: str, *changes: Change) -> None:
    store.changes.apply(
        ChangeSet(
            namespace=NAMESPACE,
            run_id=run_id,
            kind="correction",
            reason="told",
            changes=changes,
        )
    )


def moved(store: MemoryStore) -> None:
    """Lena lived in Bonn, and lives in Kiel now."""
    lena = AddEntity(key="person/lena", name="Lena", kind="person")
    apply(store, "bonn", lena, *told("fact/bonn", "Bonn", valid_at="2024-01-01T00:00:00Z"))
    apply(
        store,
        "kiel",
        *told("fact/kiel", "Kiel", valid_at="2025-01-01T00:00:00Z"),
        Supersede(key="fact/bonn", by="fact/kiel", invalid_at="2025-01-01T00:00:00Z"),
    )


def by_delete(store: MemoryStore) -> None:
    store.delete(NAMESPACE, "fact/kiel")


def by_forget(store: MemoryStore) -> None:
    store.forget(NAMESPACE, keys=["fact/kiel"])


def by_remove(store: MemoryStore) -> None:
    store.changes.remove(NAMESPACE, "fact/kiel", reason="wrong")


def by_archive(store: MemoryStore) -> None:
    store.changes.archive(NAMESPACE, "fact/kiel", reason="wrong")


def by_undo(store: MemoryStore) -> None:
    store.changes.undo("kiel")


@pytest.mark.parametrize("change", [by_delete, by_forget, by_remove, by_archive, by_undo])
def test_no_change_plans_while_it_writes(
    tmp_path: Path, entered: list[str], change: Callable[[MemoryStore], None]
) -> None:
    """Reinstated facts are planned before or after the transaction, never within it."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        moved(store)
        change(store)
        assert store.get(NAMESPACE, "fact/bonn") is not None
        [bonn] = store.changes.history(NAMESPACE, "fact/bonn")[-1:]
        assert bonn.action in ("restore", "update", "status")
    assert sorted(set(entered)) == []


def test_words_links_and_reviews_are_not_planned_while_they_are_written(
    tmp_path: Path, entered: list[str]
) -> None:
    """Neither a put of other words nor links, reviews or turns in confidence run formation within."""
    suggested: Change = AddMemory(key="core/1", value={"text": "likes tea", "block": "human"})
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        moved(store)
        store.put(NAMESPACE, "fact/kiel", {"text": "Lena lives in Ulm"})
        other = AddEntity(key="person/lena_2", name="Lena M", kind="person")
        apply(store, "link", other, LinkEntities(key="person/lena_2", same_as="person/lena"))
        apply(store, "unlink", UnlinkEntities(key="person/lena_2"))
        asked = OpenReview(
            id="core",
            about="core",
            question="Add?",
            memories=(),
            options={"add": (suggested,), "keep": ()},
        )
        apply(store, "ask", asked)
        said = [{"role": "user", "content": "Keep this between us: I am pregnant."}]
        store.remember(NAMESPACE, said, thread_id="t", owner="anna")
    assert sorted(set(entered)) == []


CHILD = """
import os, sys
from langmemory import MemoryStore
from langmemory.operations import following
from tests.stores.test_planning_outside import NAMESPACE, moved
store = MemoryStore(sys.argv[1], index=False)
moved(store)
following._follow_once = lambda *_: os._exit(9)
store.put(NAMESPACE, "fact/kiel", {"text": "Lena lives in Ulm"})
"""


@pytest.mark.thorough
def test_a_killed_process_loses_no_follow_up(tmp_path: Path) -> None:
    """The next store that opens the file plans what a killed process left unplanned."""
    path = tmp_path / "memory.db"
    assert ended(CHILD, address(path)) == 9
    for _ in range(2):  # once is enough
        with MemoryStore(path, index=False) as store:
            edges = store.graph(NAMESPACE).subgraph("person/lena", 1).edges
            [place] = [edge.object for edge in edges if edge.fact == "fact/kiel"]
            assert place.startswith("place/ulm")
            assert sum(run.id.startswith("reworded/") for run in store.changes.runs(NAMESPACE)) == 1


def test_a_night_plans_outside_of_transactions(entered: list[str], tmp_path: Path) -> None:
    """Whatever a night of maintenance changes was planned before the file was locked."""
    with MemoryStore(tmp_path / "m.db") as store:
        turn = {"role": "user", "content": "Lena lives in Oslo.", "at": "2020-01-01"}
        [key] = store.remember(NAMESPACE, [turn], thread_id="t")
        plan = AddMemory(
            key="fact/1",
            value={"text": "Lena lives in Oslo"},
            facets=Facets(kind="semantic", status="approved", importance=0.9),
            evidence=(key,),
        )
        apply(store, "learned", plan)
        entered.clear()
        found = build_maintenance_graph(store).invoke({})
        assert any(report["lines"] for report in found["reports"])
    assert entered == []
