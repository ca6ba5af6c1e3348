"""The questions of a message, and which layer answers each."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from langmemory.recall.layers import (
    dealt,
    passes,
    questions_in,
    separate_questions,
    share_of_documents,
    share_results,
)
from langmemory.stores import MemoryStore
from langmemory.types import Memory, RecallResult
from tests.tables import tables

CASES = tables(__file__)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def found(key: str, score: float, words: float = 1.0, place: str = "talk") -> RecallResult:
    memory = Memory(
        id=0, namespace=(place,), key=key, value={}, text=key, created_at=NOW, updated_at=NOW
    )
    return RecallResult(memory=memory, score=score, parts={"keyword": words})


@pytest.mark.parametrize(
    ("message", "questions"),
    CASES["a_message_is_taken_apart_where_one_question_ends"],
)
def test_a_message_is_taken_apart_where_one_question_ends(
    message: str, questions: tuple[str, ...]
) -> None:
    """A question that goes back to the one before has its words behind it; what asks one thing is whole."""
    assert questions_in(message) == questions


@pytest.mark.parametrize(("message", "questions"), CASES["questions_that_stand_for_themselves"])
def test_questions_that_stand_for_themselves(message: str, questions: tuple[str, ...]) -> None:
    """They are looked up apart; one that goes back to another, or a statement, keeps the message whole."""
    assert separate_questions(message) == questions


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Which wheels does my bicycle have", "When is the rent due"),
        ("Welche Räder hat mein bicycle", "Wann ist die Miete fällig"),
        ("¿Qué ruedas tiene mi bicycle", "¿Cuándo se paga el alquiler"),
    ],
    ids=["en", "de", "es"],
)
@pytest.mark.parametrize("turned", [False, True], ids=["as asked", "turned"])
def test_neither_question_takes_the_places_of_the_other(
    store: MemoryStore, first: str, second: str, turned: bool
) -> None:
    """Beside forty memories of one subject, the one memory of the other stands among the first three."""
    for number in range(40):
        store.put(
            ("home",),
            f"b{number}",
            {"text": f"The bicycle wheels number {number} are at the shop."},
        )
    rents = {"en": "The rent is due on the third.", "de": "Die Miete ist am dritten fällig.",
             "es": "El alquiler se paga el día tres."}  # fmt: skip
    for code, text in rents.items():
        store.put(("home",), code, {"text": text})
    asked = [second, first] if turned else [first, second]
    found = store.recall("? ".join(asked) + "?", ("home",), limit=10)
    assert {one.memory.key for one in found.results[:4]} & rents.keys()
    assert any(one.memory.key.startswith("b") for one in found.results[:3])
    assert len(found.trace.questions) == 3


def test_what_asks_more_than_three_things_is_looked_up_whole() -> None:
    """A list of questions costs one look-up, as does a long message."""
    many = "Where is Ada? When did Bo leave? Who is Cy? What does Di eat?"
    assert questions_in(many) == (many,)
    long = "Where is Ada? " + "So it went. " * 60 + "When did Bo leave?"
    assert questions_in(long) == (long,)


def test_the_better_match_and_the_words_tell_the_layer() -> None:
    """What is found of each tells most; a question for a decision leans to talk, one for a manual to
    documents; a layer that found nothing answers nothing."""
    good, poor = [found("a", 0.6, 20)], [found("b", 0.1, 5)]
    assert share_of_documents("What about the ferry?", poor, good) > 0.9
    assert share_of_documents("What about the ferry?", good, poor) < 0.1
    alike = [found("c", 0.3, 9)]
    decided = share_of_documents("What did we decide about the ferry?", alike, alike)
    works = share_of_documents("How does the ferry work?", alike, alike)
    assert decided < 0.5 < works
    assert share_of_documents("What about the ferry?", good, []) == 0
    assert share_of_documents("What about the ferry?", [], poor) == 1


def test_places_are_shared_by_the_score_of_a_layer() -> None:
    """Each layer keeps its order, the likelier one begins; of an unlikely one only what is likely stays."""
    people = [found("p1", 0.6), found("p2", 0.3)]
    documents = [found("d1", 0.45, place="d"), found("d2", 0.4, place="d")]
    keys = [one.memory.key for one in share_results(people, documents, 0.6)]
    assert keys == ["d1", "d2", "p1", "p2"]
    assert [one.memory.key for one in share_results(people, documents, 0.1)] == ["p1", "p2"]
    likely = [found("d0", 0.5, place="d"), *documents]
    assert [one.memory.key for one in share_results(people, likely, 0.1)] == ["p1", "d0", "p2"]


def test_who_asks_about_themselves_needs_more_of_a_document() -> None:
    """A document that names an allergy is no answer to "What am I allergic to?", unless it answers well or
    what was said does as well."""
    weak, strong, said = [found("d", 0.2)], [found("d", 0.4)], [found("p", 0.3)]
    asked = "What am I allergic to?"
    assert not passes(asked, [], weak)
    assert passes(asked, [], strong)
    assert passes(asked, said, weak)
    assert passes("What is hay fever?", [], weak)
    assert not passes("What is hay fever?", [], [found("d", 0.05)])


def test_what_is_unlikely_fills_places() -> None:
    """Where all results are wanted, those of the unlikely layer come behind the others."""
    people, documents = [found("p1", 0.6)], [found("d1", 0.5, place="d")]
    filled = share_results(people, documents, 0.9, filled=True)
    assert [one.memory.key for one in filled] == ["d1", "p1"]


def test_questions_take_turns() -> None:
    """Of two questions neither crowds out the other; a memory stands once, and no score rises."""
    first = [found("a", 0.9), found("b", 0.8), found("c", 0.7)]
    second = [found("x", 0.2), found("a", 0.1)]
    merged = dealt([first, second], 4)
    assert [one.memory.key for one in merged] == ["a", "x", "b", "c"]
    assert [one.score for one in merged] == [0.9, 0.2, 0.2, 0.2]
