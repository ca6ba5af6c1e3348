"""Stances: a claim is taken only as far as its sentence goes."""

from __future__ import annotations

import pytest

from langmemory.formation.extraction.polarity import polarity
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(
    ("text", "relation", "object", "expected"),
    CASES["what_is_denied_over_or_wished_for_is_not_so"],
)
def test_what_is_denied_over_or_wished_for_is_not_so(
    text: str, relation: str, object: str, expected: str
) -> None:
    """Negation and wish count where they govern the claim, whatever else the sentence says."""
    assert polarity(text, "Lena", relation, object) == expected


@pytest.mark.parametrize(
    ("text", "relation", "object"),
    CASES["a_negation_of_something_else_leaves_the_claim_alone"],
)
def test_a_negation_of_something_else_leaves_the_claim_alone(
    text: str, relation: str, object: str
) -> None:
    """Only what stands between a negation and the object by itself is denied."""
    assert polarity(text, "Lena", relation, object) in ("holds", "untold")


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    CASES["other_languages_say_it_their_way"],
)
def test_other_languages_say_it_their_way(text: str, language: str, expected: str) -> None:
    """German and Spanish sentences have stances, too."""
    assert polarity(text, "Lena", "lives_in", "Bonn", language=language) == expected


@pytest.mark.parametrize(
    ("text", "relation", "expected"),
    CASES["what_is_said_of_a_relative_is_not_said_of_the_person"],
)
def test_what_is_said_of_a_relative_is_not_said_of_the_person(
    text: str, relation: str, expected: str
) -> None:
    """A sentence that names somebody only as whose mother it speaks of says nothing of them that
    there can be one of."""
    assert polarity(text, "Lena", relation, "Bonn") == expected


@pytest.mark.parametrize(
    ("text", "relation", "object", "expected"),
    CASES["a_sentence_says_how_its_claim_is_meant"],
)
def test_a_sentence_says_how_its_claim_is_meant(
    text: str, relation: str, object: str, expected: str
) -> None:
    """Plans, suppositions, memories and times beside the rule are told from what holds."""
    assert polarity(text, "Lena", relation, object) == expected


@pytest.mark.parametrize(
    ("text", "relation", "object"),
    CASES["what_holds_is_not_taken_for_a_plan_or_a_memory"],
)
def test_what_holds_is_not_taken_for_a_plan_or_a_memory(
    text: str, relation: str, object: str
) -> None:
    """A change, a duration that goes on, and a plan for something else leave a claim as it is."""
    assert polarity(text, "Lena", relation, object) == "holds"


@pytest.mark.parametrize(
    ("text", "subject", "relation", "object", "expected"),
    CASES["a_visit_says_where_the_host_lives"],
)
def test_a_visit_says_where_the_host_lives(
    text: str, subject: str, relation: str, object: str, expected: str
) -> None:
    """Whom somebody visits, or who visits from somewhere, lives there; the visitor does not."""
    assert polarity(text, subject, relation, object) == expected


@pytest.mark.parametrize(
    ("text", "relation", "object", "expected"),
    CASES["words_of_an_end_count_where_they_are_of_the_claim"],
)
def test_words_of_an_end_count_where_they_are_of_the_claim(
    text: str, relation: str, object: str, expected: str
) -> None:
    """A past, an end or a time makes a claim over only where that is what it is said of."""
    assert polarity(text, "Lena", relation, object) == expected


@pytest.mark.parametrize(
    ("text", "language", "object", "expected"),
    [
        ("Lena va a pilates los lunes.", "es", "pilates", "holds"),
        ("Lena va a empezar pilates.", "es", "pilates", "wished"),
        ("Lena hatte einen allergischen Schock wegen Nuss.", "de", "Nuss", "holds"),
    ],
)
def test_going_to_a_place_is_no_plan_and_an_attack_no_end(
    text: str, language: str, object: str, expected: str
) -> None:
    """Spanish "va a" plans before an infinitive only; an attack does not say that an allergy is over."""
    relation = "allergic_to" if language == "de" else "has_hobby"
    assert polarity(text, "Lena", relation, object, language=language) == expected
