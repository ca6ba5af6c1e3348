"""Stances: a claim is taken only as far as its sentence goes."""

from __future__ import annotations

import pytest

from langmemory.formation.extraction.polarity import polarity


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
    assert polarity(text, "Lena", relation, object) == expected


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
    assert polarity(text, "Lena", relation, object) in ("holds", "untold")


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
    assert polarity(text, "Lena", "lives_in", "Bonn", language=language) == expected


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
    assert polarity(text, "Lena", relation, "Bonn") == expected


@pytest.mark.parametrize(
    ("text", "relation", "object", "expected"),
    [
        ("Lena plans to move to Oslo.", "lives_in", "Oslo", "wished"),
        ("Lena plans to leave Kiel and move to Oslo.", "lives_in", "Oslo", "wished"),
        ("Lena applied for a job at Hooli.", "works_at", "Hooli", "wished"),
        ("Lena plans to quit Initech.", "works_at", "Initech", "unsaid"),
        ("Lena no longer plans to move to Oslo.", "lives_in", "Oslo", "off"),
        ("Lena's move to Oslo is off.", "lives_in", "Oslo", "off"),
        ("If Lena gets the job, she works at Hooli.", "works_at", "Hooli", "supposed"),
        ("Lena almost moved to Oslo.", "lives_in", "Oslo", "supposed"),
        ("Lena used to live in Oslo.", "lives_in", "Oslo", "over"),
        ("Lena sold her Golf.", "has_vehicle", "Golf", "over"),
        ("Lena moved from Kiel to Ulm.", "lives_in", "Kiel", "over"),
        ("Lena was married to Beth.", "married_to", "Beth", "past"),
        ("Lena lived in Oslo as a child.", "lives_in", "Oslo", "past"),
        ("Lena lives in Oslo on weekdays.", "lives_in", "Oslo", "passing"),
        ("On weekdays, Lena lives in Oslo.", "lives_in", "Oslo", "passing"),
        ("Lena is staying in Oslo for a week.", "lives_in", "Oslo", "passing"),
        ("It is not true that Lena lives in Oslo.", "lives_in", "Oslo", "denied"),
    ],
)
def test_a_sentence_says_how_its_claim_is_meant(
    text: str, relation: str, object: str, expected: str
) -> None:
    """Plans, suppositions, memories and times beside the rule are told from what holds."""
    assert polarity(text, "Lena", relation, object) == expected


@pytest.mark.parametrize(
    ("text", "relation", "object"),
    [
        ("Lena moved to Oslo this week.", "lives_in", "Oslo"),
        ("Lena moved to Lisbon last May.", "lives_in", "Lisbon"),
        ("Lena has lived in Oslo for two years.", "lives_in", "Oslo"),
        ("Lena lives in Oslo because she wants to study there.", "lives_in", "Oslo"),
        ("Lena lives in Oslo and plans to buy a house.", "lives_in", "Oslo"),
        ("Lena was hired by Hooli.", "works_at", "Hooli"),
        ("Lena was promoted to team lead.", "works_as", "team lead"),
        ("Lena got married to Tom.", "married_to", "Tom"),
        ("Lena left Kiel and works at Hooli.", "works_at", "Hooli"),
        ("Lena said that she lived in Oslo.", "lives_in", "Oslo"),
    ],
)
def test_what_holds_is_not_taken_for_a_plan_or_a_memory(
    text: str, relation: str, object: str
) -> None:
    """A change, a duration that goes on, and a plan for something else leave a claim as it is."""
    assert polarity(text, "Lena", relation, object) == "holds"


@pytest.mark.parametrize(
    ("text", "subject", "relation", "object", "expected"),
    [
        ("Ann visited Lena, whose flat is in Bonn.", "Lena", "lives_in", "Bonn", "holds"),
        ("Ann plans to visit Lena in Bonn.", "Lena", "lives_in", "Bonn", "holds"),
        ("Ann will be at her sister Lena's in Bonn.", "Lena", "lives_in", "Bonn", "holds"),
        ("Lena, who Ann often visits in Bonn, has a dog.", "Lena", "lives_in", "Bonn", "holds"),
        ("Lena is visiting from Bonn for a week.", "Lena", "lives_in", "Bonn", "holds"),
        ("Lena visited Ann in Bonn.", "Lena", "lives_in", "Bonn", "passing"),
        ("Lena plans to visit Ann in Bonn.", "Lena", "lives_in", "Bonn", "wished"),
    ],
)
def test_a_visit_says_where_the_host_lives(
    text: str, subject: str, relation: str, object: str, expected: str
) -> None:
    """Whom somebody visits, or who visits from somewhere, lives there; the visitor does not."""
    assert polarity(text, subject, relation, object) == expected


@pytest.mark.parametrize(
    ("text", "relation", "object", "expected"),
    [
        ("Lena has opened a shop and rented half a hall in Bonn.", "works_at", "Bonn", "holds"),
        ("Lena lived in Kiel and worked at Initech.", "works_at", "Initech", "past"),
        ("Lena has two weeks left at Initech.", "works_at", "Initech", "holds"),
        ("Lena has left Initech.", "works_at", "Initech", "over"),
        ("Lena left for the beach in Bonn.", "went_to", "beach", "holds"),
        ("Lena will have been at Initech for ten years in May.", "works_at", "Initech", "holds"),
        ("Lena will be at Initech from May.", "works_at", "Initech", "wished"),
        ("Lena was made head chef at Hooli as of this month.", "works_at", "Hooli", "holds"),
        ("Lena is at Hooli this month.", "works_at", "Hooli", "passing"),
        ("Lena, Ann's former flatmate in Bonn, is ill.", "lives_in", "Bonn", "holds"),
        ("Lena saw her former home Bonn.", "lives_in", "Bonn", "over"),
        ("Lena had an allergic reaction to nuts.", "allergic_to", "nuts", "holds"),
        ("Lena was allergic to nuts.", "allergic_to", "nuts", "past"),
        ("The app no longer opens on Lena's old Pixel.", "has_phone", "Pixel", "holds"),
        ("Lena no longer has the Pixel.", "has_phone", "Pixel", "over"),
        (
            "Hooli wants a flat price from Lena instead of 12 cents.",
            "charges",
            "12 cents",
            "unsaid",
        ),
    ],
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
