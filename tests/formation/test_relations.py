"""Relations: one name for what has many."""

from __future__ import annotations

from collections import Counter

import pytest

from langmemory.formation.relations.vocabulary import BY_NAME, RELATIONS, canonical, relation_named
from langmemory.ports.facts import Claim


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("lives in", "lives_in"), ("is currently living in", "lives_in"), ("moved to", "lives_in"),
        ("wohnt in", "lives_in"), ("se mudó a", "lives_in"), ("住在", "lives_in"),
        ("LIVES_IN", "lives_in"), ("works for", "works_at"), ("was employed by", "works_at"),
        ("no longer works at", "no_longer_works_at"), ("Favorite Color", "favourite_colour"),
        ("birthday", "born_on"), ("heißt", "named"), ("fiancé of", "engaged_to"),
    ],
)  # fmt: skip
def test_a_relation_goes_by_one_name(said: str, name: str) -> None:
    """However it is written, in four languages, a relation has its canonical name."""
    assert relation_named(said).name == name


def test_an_unknown_relation_keeps_its_words() -> None:
    """A relation outside the table is kept in snake_case, with an unknown number of values."""
    found = relation_named("Sings Bass For")
    assert (found.name, found.values) == ("sings_bass_for", "unknown")


def test_a_phrase_means_one_relation() -> None:
    """No two rows of the table claim a phrase, and every name a row points to is there."""
    counted = Counter(phrase for one in RELATIONS for phrase in {one.name, *one.phrases})
    assert not [phrase for phrase, n in counted.items() if n > 1]
    named = {
        n for one in RELATIONS for n in (one.inverse_of, one.opposite, one.ends) if n is not None
    }
    assert named <= set(BY_NAME)


def test_inverse_claims_are_turned_round() -> None:
    """Who employs whom and who works where are one claim; a literal cannot be turned."""
    employs = Claim(subject="Initech", relation="employs", object="Lena")
    assert canonical(employs) == Claim(subject="Lena", relation="works_at", object="Initech")
    literal = Claim(subject="Ida", relation="child of", object="a teacher", object_is_entity=False)
    assert canonical(literal).subject == "Ida"


def test_what_somebody_drives_is_given_up_when_it_is_sold() -> None:
    """A car of which no more is known than who drives it is owned, which selling it ends."""
    assert relation_named("drives").name == "owns" == relation_named("sold").ends


def test_who_passes_an_exam_has_not_died() -> None:
    """ "Passed" by itself, as of an exam, is no death; "has passed" is one."""
    assert relation_named("passed").name == "passed"
    assert relation_named("has passed").name == "has_died"
