"""Questions that need no answer any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from langmemory.changes import AddMemory, Facets, OpenReview, SetStatus
from langmemory.nodes.core_memory import CoreMemory
from langmemory.stores import MemoryStore
from tests.stores.change_sets import NS, apply, fact

SAYS = "Lena is vegan."


def suggestion(id: str = "q") -> OpenReview:
    add = AddMemory(
        key="core/human/1", value={"text": SAYS, "block": "human"},
        facets=Facets(priority="mandate"), evidence=("turn",),
    )  # fmt: skip
    return OpenReview(
        id=id, about="core", question=f"Should the block always say: {SAYS}", memories=("turn",),
        options={"add": (add,), "leave": ()},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("block", "is_asked"),
    [
        ("She is a vegan: Lena.", False),
        ("Lena is vegan and lives in Bonn.", False),
        ("Lena is not vegan.", True),
        ("Lena lives in Bonn.", True),
    ],
)
def test_a_core_suggestion_is_not_asked_once_the_block_says_it(
    tmp_path: Path, block: str, is_asked: bool
) -> None:
    """A suggestion for a core block is open until a line of the block says it, whoever wrote the
    line. It opens again when the line goes."""
    store = MemoryStore(tmp_path / "m.db")
    apply(store, "r1", fact("turn", "I am vegan."), suggestion())
    core = CoreMemory(store, NS)
    core.rethink("human", f"Likes tea.\n{block}")
    assert [one.id for one in store.changes.reviews(NS)] == ["q"] * is_asked
    assert [one.id for one in store.changes.reviews(NS, open_only=False)] == ["q"]
    core.rethink("human", "Likes tea.")
    assert [one.id for one in store.changes.reviews(NS)] == ["q"]


def test_what_a_core_block_says_is_not_suggested(tmp_path: Path) -> None:
    """A suggestion that the block says already opens no question, and the run's lines say why."""
    store = MemoryStore(tmp_path / "m.db")
    CoreMemory(store, NS).append("human", SAYS)
    done = apply(store, "r1", fact("turn", "I am vegan."), suggestion())
    assert done.lines[-1].endswith("the block says so already")
    assert store.changes.reviews(NS, open_only=False) == []


@pytest.mark.parametrize(
    ("about", "gone", "is_asked"),
    [
        ("contradiction", "b", False),
        ("duplicate", "a", False),
        ("approval", "a", False),
        ("approval", "b", True),
        ("dependant", "a", False),
        ("run", "a", True),
    ],
)
def test_a_question_about_what_was_deleted_is_not_asked(
    tmp_path: Path, about: str, gone: str, is_asked: bool
) -> None:
    """Which of two facts holds is no question when one of them is gone, nor is whether to believe one
    that is; where a run removed it, the undo of the run asks again."""
    store = MemoryStore(tmp_path / "m.db")
    option = (SetStatus(key="a", status="archived"),)
    asked = OpenReview(
        id="q", about=about, question="?", memories=("a", "b"), options={"x": option}
    )
    apply(store, "r1", fact("a", "Lena lives in Bonn."), fact("b", "Lena lives in Ulm."), asked)
    run = store.changes.remove(NS, gone, reason="wrong").run_id
    assert [one.id for one in store.changes.reviews(NS)] == ["q"] * is_asked
    store.changes.undo(run)
    assert [one.id for one in store.changes.reviews(NS)] == ["q"]


@pytest.mark.parametrize(
    "about", ["contradiction", "approval", "dependant", "entity", "run", "core"]
)
def test_a_question_about_no_memory_is_asked_like_any_other(tmp_path: Path, about: str) -> None:
    """Nothing that it asks about is gone, so it stays open, and hides no other question."""
    store = MemoryStore(tmp_path / "m.db")
    ask = OpenReview(
        id="q", about=about, question="May I?", memories=(), options={"yes": (), "no": ()}
    )
    apply(store, "r1", ask)
    assert [one.id for one in store.changes.reviews(NS)] == ["q"]
