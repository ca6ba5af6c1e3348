"""Whole nights with all tasks, by rules and with a model, over months of a simulated life."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from benchmarks.life import BEGAN, Life
from benchmarks.ten_years import ADA, cite, known
from langmemory.changes import AddMemory, Change, ChangeSet, Facets, Supersede
from langmemory.config import Config
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.maintenance.night import CHANGES_AT_ONCE
from langmemory.stores import MemoryStore
from tests.places import POSTGRES
from tests.scripted import ScriptedModel

DAYS = 90
NOW = BEGAN + timedelta(days=DAYS + 400)
CONFIG = Config.model_validate(
    {
        "lifecycle": {
            "max_facts": 30, "archive_after_days": 0, "notes": True, "task_model_calls": 1_000,
        }
    }
)  # fmt: skip
POLICIES = replace(PolicyOptions.of(CONFIG.lifecycle), most_at_once=1.0)
"""Else a night evicts a twentieth, and the next one as much again."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db", config=CONFIG) as opened:
        yield opened


def live(store: MemoryStore) -> None:
    """Say and learn something every day; the newest facts are cited."""
    life = Life(turns_a_day=1, turns_a_fact=2)
    for day in range(DAYS):
        keys = store.remember(ADA, life.turns(day), thread_id=f"day/{day // 7}", owner="ada")
        store.changes.apply(
            ChangeSet(
                namespace=ADA, run_id=f"learn/{day}", kind="correction", reason="test",
                changes=tuple(life.learned(day, keys)),
            )
        )  # fmt: skip
    cite(store, life.cited(40), NOW - timedelta(days=10))
    store.admin.usage()


def night(
    store: MemoryStore, model: BaseChatModel | None = None, tasks: list[str] | None = None
) -> dict[str, Any]:
    graph = build_maintenance_graph(
        store, now=lambda: NOW, model=model, policies=POLICIES, tasks=tasks
    )
    found: dict[str, Any] = graph.invoke({})
    assert [one["error"] for one in found["reports"] if one["error"]] == []
    return found


def changes(found: dict[str, Any]) -> dict[str, int]:
    """How many changes a night made, by task."""
    return {one["task"]: len(one["lines"]) for one in found["reports"] if one["lines"]}


@pytest.mark.parametrize("asks", [False, True])
def test_a_second_night_changes_nothing_and_the_first_is_undone(
    store: MemoryStore, asks: bool
) -> None:
    """After a night with all tasks another one changes nothing and asks no model; the first taken back leaves
    the identical export."""
    model = ScriptedModel(otherwise='{"operations": []}') if asks else None
    live(store)
    before = known(store)
    found = night(store, model)
    assert {"evict", "notes", "summarise"} <= changes(found).keys()
    assert POSTGRES or "archive" in changes(found)  # a server has no archive file
    asked = 0 if model is None else len(model.prompts)
    assert asked > 0 or model is None
    after = known(store)
    assert changes(night(store, model)) == {}
    assert known(store) == after
    assert model is None or len(model.prompts) == asked
    store.lifecycle.undo(found["night"])
    assert known(store) == before
    assert store.admin.check() == []


@pytest.mark.thorough
def test_evictions_along_a_chain_of_homes_are_planned_again(store: MemoryStore) -> None:
    """What gave way to an evicted home gives way to the next one instead, which changes memories that a later
    run of the same plan evicts. The task plans anew and goes on until `max_facts` is kept."""
    homes = 12 * CHANGES_AT_ONCE
    [turn] = store.remember(
        ADA, [{"role": "user", "content": "I move a lot.", "at": BEGAN}], thread_id="t"
    )
    added: list[Change] = []
    for number in range(homes):
        at = BEGAN + timedelta(hours=number)
        added.append(
            AddMemory(
                key=f"home/{number:04d}", value={"text": f"Ada lives at {number}", "fact_kind": "fact"},
                evidence=(turn,),
                facets=Facets(kind="semantic", valid_at=at, importance=0.9 - number / homes / 2),
            )
        )  # fmt: skip
        if number:
            added.append(
                Supersede(key=f"home/{number - 1:04d}", by=f"home/{number:04d}", invalid_at=at)
            )
    store.changes.apply(
        ChangeSet(
            namespace=ADA, run_id="learn", kind="reflection", reason="test", changes=tuple(added)
        )
    )
    night(store, tasks=["evict"])
    [(kept,)] = store.conn.execute(
        "SELECT count(*) FROM item WHERE kind = 'semantic' AND status <> 'archived'"
    )
    assert kept == CONFIG.lifecycle.max_facts
