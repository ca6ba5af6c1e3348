"""Reading again: what a model could make nothing of, or what was undone, once somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.changes import ChangeSet, SetStatus
from langmemory.errors import ChangeError, UndoRefusedError
from tests.believing import believing_graph
from tests.graphs.test_reflection_graph import (
    HAMBURG,
    JOB,
    LENA,
    answer,
    fact,
    facts,
    rows_of,
    said,
)
from tests.scripted import ScriptedModel

HAMBURG_IS = {"Lena lives in Hamburg.": "active"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db") as store:
        said(store, "I live in Hamburg.")
        yield store


def reflect(store: MemoryStore, *script: str) -> dict[str, Any]:
    model = ScriptedModel(script=list(script), otherwise=RuntimeError("asked again"))
    done: dict[str, Any] = believing_graph(store, model=model).invoke(JOB)
    return done


async def test_a_folded_batch_is_read_again_when_asked(store: MemoryStore) -> None:
    """A failed turn is released once, in its own run, and again after another failure. Turns that
    were read well stay untouched."""
    said(store, "Thank you.", thread="t2")
    reflect(store, "Nonsense.", "Nonsense.")
    believing_graph(store, model=ScriptedModel(otherwise=answer())).invoke(
        {"namespace": list(LENA)}
    )
    [failed] = [run for run in store.changes.runs() if run.note["failures"]]
    assert store.changes.read_again(LENA, thread_id="t2") == []
    assert store.changes.read_again(("memories", "tomas")) == []
    assert [run.id for run in store.changes.read_again(LENA, thread_id="t1")] == [failed.id]
    once = rows_of(store)
    assert store.changes.read_again() == []
    assert rows_of(store) == once

    again = reflect(store, "Nonsense.", "Nonsense.")
    assert again["failures"] == ["extraction failed"]
    assert again["runs"] != [failed.id]
    assert [run.id for run in await store.changes.aread_again()] == again["runs"]
    assert reflect(store, answer(HAMBURG))["failures"] == []
    assert facts(store) == HAMBURG_IS
    assert store.changes.read_again() == []
    assert store.admin.unread_threads() == []
    released = [run for run in store.changes.runs() if run.id.startswith("again/")]
    assert len(released) == 2
    with pytest.raises(UndoRefusedError, match="by the run that read them"):
        store.changes.undo(released[0].id)


def test_what_was_undone_returns_only_when_it_is_named(store: MemoryStore) -> None:
    """An undone reflection is not among those that failed; named, it is read again, and what it
    had learned is learned anew. What a person deleted stays away."""
    [run_id] = reflect(store, answer(HAMBURG))["runs"]
    [learned] = store.changes.runs()[0].note["learned"]
    store.changes.undo(run_id)
    assert store.changes.read_again() == []
    assert reflect(store)["runs"] == []
    [run] = store.changes.read_again(run_id=run_id)
    assert run.undone_by
    [second] = reflect(store, answer(HAMBURG))["runs"]
    assert facts(store) == HAMBURG_IS
    store.changes.read_again(run_id=run_id)
    assert store.admin.unread_threads() == []

    store.delete(LENA, learned)
    store.changes.read_again(run_id=second)
    reflect(store, answer(HAMBURG))
    assert facts(store) == {}


def test_a_better_model_may_read_what_was_read_well(store: MemoryStore) -> None:
    """A named run that succeeded is read again, too; what it knew is not added twice."""
    [run_id] = reflect(store, answer(HAMBURG))["runs"]
    store.changes.read_again(run_id=run_id)
    assert reflect(store, answer(HAMBURG))["added"] == []
    assert facts(store) == HAMBURG_IS
    for unknown in ("reflect/0", f"again/{run_id}"):
        with pytest.raises(ChangeError, match="no reflection"):
            store.changes.read_again(run_id=unknown)


@pytest.mark.parametrize("rejected", [False, True])
def test_what_was_taken_back_is_not_learned_from_the_same_words(
    tmp_path: Path, rejected: bool
) -> None:
    """A fact that a person deleted or rejected stays away when its turn is read again in other
    words or with another form of the claim. Other facts of the turn are learned, and a retracted
    fact returns once somebody says it again."""
    kiwi = fact("Lena likes kiwi.", "Lena", "likes", "kiwi")
    with MemoryStore(tmp_path / "memory.db") as store:
        said(store, "I like kiwi, and mangos.")
        [run_id] = reflect(store, answer(kiwi))["runs"]
        [learned] = store.changes.runs()[0].note["learned"]
        if rejected:
            archive = (SetStatus(key=learned, status="archived"),)
            store.changes.apply(
                ChangeSet(
                    namespace=LENA, run_id="no", kind="correction", reason="no", changes=archive
                )
            )
        else:
            store.delete(LENA, learned)
        store.changes.read_again(run_id=run_id)
        otherwise = answer(
            fact("Lena likes kiwis.", "Lena", "is_fond_of", "fruit"),
            fact("Lena is a great fan of kiwis.", "Lena", "likes", "kiwis"),
            fact("Lena likes mangos.", "Lena", "likes", "mangos"),
            fact("Lena does not like kiwis.", "Lena", "dislikes", "kiwis"),
        )
        reflect(store, otherwise)
        active = {text for text, status in facts(store).items() if status == "active"}
        assert active == {"Lena likes mangos.", "Lena does not like kiwis."}

        said(store, "I like kiwi after all.", thread="t2")
        model = ScriptedModel(script=[answer(kiwi)], otherwise=answer())
        believing_graph(store, model=model).invoke({"namespace": list(LENA)})
        assert facts(store)["Lena likes kiwi."] in ("active", "pending")
