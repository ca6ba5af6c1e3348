"""Recall of what people ask about themselves, where several share one memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.changes import AddMemory, ChangeSet, Facets
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

HOME: Namespace = ("memories", "home")
FACTS = {
    "ada": ("Ada is allergic to walnuts.", "Ada lives in Bonn."),
    "ben": ("Ben lives in Ulm.", "Ben plays the cello."),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """A memory that Ada and Ben share."""
    with MemoryStore(tmp_path / "memory.db") as opened:
        changes = tuple(
            AddMemory(
                key=f"fact/{owner}/{number}",
                value={"text": text, "fact_kind": "fact"},
                facets=Facets(kind="semantic", owner=owner),
            )
            for owner, texts in FACTS.items()
            for number, text in enumerate(texts)
        )
        opened.changes.apply(
            ChangeSet(namespace=HOME, run_id="r", kind="reflection", reason="t", changes=changes)
        )
        yield opened


def asked(store: MemoryStore, query: str, viewer: str | None = "ben") -> dict[str, float]:
    """Scores by text, best first."""
    reader = store if viewer is None else store.for_viewer(viewer)
    return {one.memory.text: one.score for one in reader.recall(query, HOME).results}


@pytest.mark.parametrize("query", ["What am I allergic to?", "Am I allergic to walnuts?"])
def test_what_somebody_else_has_does_not_answer_a_question_about_oneself(
    store: MemoryStore, query: str
) -> None:
    """It is found as no likely answer and stands in no block; whose it is finds it first, as likely."""
    assert asked(store, query)[FACTS["ada"][0]] < 0.1
    own = asked(store, query, "ada")
    assert next(iter(own)) == FACTS["ada"][0]
    assert own[FACTS["ada"][0]] > 0.5
    shown = store.for_viewer("ben").recall(query, HOME, min_score="auto").results
    assert all(one.memory.owner == "ben" for one in shown)


@pytest.mark.parametrize(
    "query", ["What is Ada allergic to?", "Who is allergic to walnuts?", "Are we allergic to walnuts?",
              "Is my wife allergic to walnuts?"],
)  # fmt: skip
def test_questions_about_others_find_what_is_theirs(store: MemoryStore, query: str) -> None:
    """Whoever does not ask about themselves alone finds the same as with no viewer."""
    assert asked(store, query) == asked(store, query, None)
    assert next(iter(asked(store, query))) == FACTS["ada"][0]


@pytest.mark.parametrize("query", ["Wo wohne ich?", "¿Dónde vivo?", "Where do I live?"])
def test_of_two_answers_ones_own_comes_first(store: MemoryStore, query: str) -> None:
    """In three languages the asker's own home stands before that of another."""
    for viewer, town in (("ada", "Bonn"), ("ben", "Ulm")):
        homes = [one for one in asked(store, query, viewer) if " lives " in one]
        assert town in homes[0]
