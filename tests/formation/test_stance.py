"""Stances: a claim is taken only as far as its sentence goes."""

from __future__ import annotations

import pytest

from langmemory.formation.extraction.stance import stance


@pytest.mark.parametrize(
    ("text", "relation", "object", "expected"),
    [
        ("Lena lives in Bonn.", "lives_in", "Bonn", "holds"),
        ("Lena no longer lives in Bonn.", "lives_in", "Bonn", "over"),
        (
            "Lena doesn't work at Initech any more, because it closed.",
            "works_at",
            "Initech",
            "over",
        ),
        ("Lena stopped smoking cigarettes.", "smokes", "cigarettes", "over"),
        ("Lena no longer drinks coffee in the evening.", "drinks", "coffee", "unsaid"),
        ("Lena never lived in Bonn.", "lives_in", "Bonn", "denied"),
        ("Lena isn't allergic to nuts.", "allergic_to", "nuts", "denied"),
        ("Lena has no children.", "has_child", "children", "denied"),
        ("Lena lives in Kiel, not in Bonn.", "lives_in", "Bonn", "denied"),
        ("Lena lives in Kiel, not in Bonn.", "lives_in", "Kiel", "holds"),
        ("Lena would live in Paris if she got the job.", "lives_in", "Paris", "wished"),
        ("Lena wants to move to Paris one day.", "lives_in", "Paris", "wished"),
        ("Lena would like a dog.", "has_pet", "dog", "wished"),
        ("Lena lives in Bonn and would like a dog.", "lives_in", "Bonn", "holds"),
        ("Lena wants a dog.", "wants", "dog", "holds"),
    ],
)
def test_what_is_denied_over_or_wished_for_is_not_so(
    text: str, relation: str, object: str, expected: str
) -> None:
    """Negation and wish count where they govern the claim, whatever else the sentence says."""
    assert stance(text, "Lena", relation, object) == expected


@pytest.mark.parametrize(
    ("text", "relation", "object"),
    [
        ("Lena does not only speak German.", "speaks", "German"),
        ("Lena did not get the job and still works at Initech.", "works_at", "Initech"),
        ("Lena doesn't like her boss Tom.", "reports_to", "Tom"),
        ("Lena has not quit Initech.", "works_at", "Initech"),
        ("Lena quit Initech.", "quit", "Initech"),
        ("Lena does not eat meat.", "diet", "vegetarian"),
    ],
)
def test_a_negation_of_something_else_leaves_the_claim_alone(
    text: str, relation: str, object: str
) -> None:
    """Only what stands between a negation and the object by itself is denied."""
    assert stance(text, "Lena", relation, object) in ("holds", "untold")


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Lena wohnt nicht mehr in Bonn.", "de", "over"),
        ("Lena wohnt nicht in Bonn.", "de", "denied"),
        ("Lena möchte in Bonn wohnen.", "de", "wished"),
        ("Lena ya no vive en Bonn.", "es", "over"),
        ("Lena quiere vivir en Bonn.", "es", "wished"),
        ("Lena wohnt in Bonn.", "de", "holds"),
    ],
)
def test_other_languages_say_it_their_way(text: str, language: str, expected: str) -> None:
    """German and Spanish sentences have stances, too."""
    assert stance(text, "Lena", "lives_in", "Bonn", language=language) == expected


@pytest.mark.parametrize(
    ("text", "relation", "expected"),
    [
        ("Lena's mother lives in Bonn.", "lives_in", "unsaid"),
        ("Lena's older brother Max lives in Bonn.", "lives_in", "unsaid"),
        ("Lenas Mutter wohnt in Bonn.", "lives_in", "unsaid"),
        ("Lena's boss is Bonn.", "reports_to", "holds"),
        ("Lena's home is Bonn.", "lives_in", "holds"),
        ("Lena's mother lives in Bonn, as Lena does.", "lives_in", "holds"),
    ],
)
def test_what_is_said_of_a_relative_is_not_said_of_the_person(
    text: str, relation: str, expected: str
) -> None:
    """A sentence that names somebody only as whose mother it speaks of says nothing of them that
    there can be one of."""
    assert stance(text, "Lena", relation, "Bonn") == expected
