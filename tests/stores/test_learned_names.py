"""Learned names of people in lists, blocks and the graph."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from langmemory.graphs import build_reflection_graph
from langmemory.stores import MemoryStore
from langmemory.stores.face import bound
from tests.tables import tables

CASES = tables(__file__)

SHARED = ("memories", "team")
SAID = datetime(2026, 2, 1, 12, tzinfo=UTC)


def listed(store: MemoryStore, *turns: tuple[str, str], role: str = "user") -> list[str]:
    """The facts in force as `list` shows them, the earliest first, after owners said these turns."""
    for number, (owner, text) in enumerate(turns):
        at = SAID + timedelta(days=number)
        store.remember(SHARED, [(role, text)], thread_id=owner, owner=owner, at=at)
    for owner in {owner for owner, _ in turns}:
        build_reflection_graph(store=store).invoke({"namespace": SHARED, "thread_id": owner})
    return [one.text for one in reversed(store.admin.memories(SHARED)) if one.kind != "episodic"]


def speakers(store: MemoryStore, viewer: str | None = None) -> set[str | None]:
    return {one.speaker for one in bound(store, viewer).admin.memories(SHARED)}


@pytest.mark.parametrize(
    ("said", "name"),
    CASES["a_name_told_later_is_shown_for_what_was_told_before"],
)
def test_a_name_told_later_is_shown_for_what_was_told_before(
    store: MemoryStore, said: str, name: str
) -> None:
    """A name, in any script, and what somebody wants to be called, takes the place of their id."""
    facts = listed(store, ("u-17", "I like jazz."), ("u-17", said))
    assert facts[0] == f"{name} likes jazz."
    assert speakers(store) == {name}


def test_an_id_within_chinese_text_becomes_the_name(store: MemoryStore) -> None:
    """Chinese puts no space between an id and the words after it."""
    assert "李明住在上海。" in listed(store, ("u-17", "我叫李明。"), ("u-17", "我住在上海。"))


def test_two_people_of_one_name_are_told_apart(store: MemoryStore) -> None:
    """Two people called the same in one namespace are shown with their ids."""
    facts = listed(
        store, ("u-1", "I'm Anna."), ("u-2", "My name is Anna."),
        ("u-1", "I'm allergic to nuts."), ("u-2", "I like nuts."),
    )  # fmt: skip
    assert {"Anna (u-1) is allergic to nuts.", "Anna (u-2) likes nuts."} <= set(facts)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Sorry, my name is not Jon, it's John.", "John"),
        ("My name isn't Jon but Jonas.", "Jonas"),
        ("I changed my name to Alex.", "Alex"),
    ],
)
def test_a_corrected_name_replaces_the_wrong_one(store: MemoryStore, said: str, name: str) -> None:
    """Of a name and its correction only the correction is shown."""
    facts = listed(store, ("u-1", "My name is Jon."), ("u-1", "I like jazz."), ("u-1", said))
    assert f"{name} likes jazz." in facts
    assert speakers(store) == {name}
    assert not any("Jon." in fact for fact in facts)


def test_a_name_goes_before_what_somebody_wants_to_be_called(store: MemoryStore) -> None:
    """Who told their name is shown by it, also where they want to be called otherwise."""
    listed(store, ("u-1", "My name is Alexander."), ("u-1", "Call me Lex."))
    assert speakers(store) == {"Alexander"}


@pytest.mark.parametrize(
    "said",
    CASES["what_others_are_called_renames_nobody"],
)
def test_what_others_are_called_renames_nobody(store: MemoryStore, said: str) -> None:
    """Quoted speech, names of others and of the assistant, and what is no name, rename nobody."""
    facts = listed(store, ("u-1", "I like jazz."), ("u-1", said))
    assert facts[0] == "u-1 likes jazz."
    assert speakers(store) == {"u-1"}


def test_the_assistant_does_not_name_the_user(store: MemoryStore) -> None:
    """The assistant's name for itself is not the user's name."""
    listed(store, ("u-1", "My name is Claude. I'm Claude, your assistant."), role="assistant")
    assert listed(store, ("u-1", "I like jazz.")) == ["u-1 likes jazz."]


def test_a_name_told_in_private_is_shown_to_its_owner_alone(store: MemoryStore) -> None:
    """Others go on to see the id of somebody who told their name in private."""
    listed(store, ("u-1", "I like jazz."))
    store.remember(
        SHARED, [("user", "My name is Priya.")], thread_id="p", owner="u-1", privacy="private"
    )
    build_reflection_graph(store=store).invoke({"namespace": SHARED, "thread_id": "p"})
    assert speakers(store, "u-1") == {"Priya"}
    assert speakers(store, "u-2") == {"u-1"}


@pytest.mark.parametrize(
    ("told", "taken_back", "after"),
    [
        ("I live in Bonn.", "I don't live in Bonn, it's Ulm.", "u-1 lives in Ulm."),
        ("I work at BMW.", "I don't work at BMW but at Audi.", "u-1 works at Audi."),
        ("My dog is called Rex.", "My dog is not called Rex but Max.", "u-1 has a dog called Max."),
    ],
)
def test_not_this_but_that_is_a_correction(
    store: MemoryStore, told: str, taken_back: str, after: str
) -> None:
    """A clause that denies one value and names another leaves only the other."""
    assert listed(store, ("u-1", told), ("u-1", taken_back)) == [after]
