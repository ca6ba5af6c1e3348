"""Roles of people, and the words for them."""

from __future__ import annotations

import pytest

from langmemory.formation.entities.roles import Role, person_words, role_in
from langmemory.formation.relations.vocabulary import BY_NAME, relation_named
from langmemory.formation.rules.patterns import GRAMMARS


def _is_lena(name: str) -> bool:
    return name == "Lena"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("my mother-in-law", "mother in law"),
        ("Lena's mother in law", "mother in law"),
        ("Lenas Schwiegermutter", "mother in law"),
        ("suegra de Lena", "mother in law"),
        ("我婆婆", "mother in law"),
        ("my stepdad", "stepfather"),
        ("meine Patentante", "godmother"),
        ("my roommate", "flatmate"),
        ("mi compañera de piso", "flatmate"),
        ("我的室友", "flatmate"),
        ("mein Vermieter", "landlord"),
        ("my GP", "doctor"),
        ("Lena's old coach", None),
        ("teacher of French", None),
        ("Doctor of Philosophy", None),
        ("Godfather of Soul", None),
    ],
)
def test_in_laws_flatmates_and_teachers_are_somebody(name: str, role: str | None) -> None:
    """Each language's words for a role are one role, of one word or three; a title is none."""
    found = role_in(name, "Lena", known=_is_lena)
    assert found == (None if role is None else Role("Lena", role))


def test_a_word_is_one_role_only() -> None:
    """No word means two roles, or a role and nobody in particular."""
    words = {(role, word) for role, words in person_words().roles.items() for word in words}
    assert len(words) == len({word for _, word in words})
    assert not person_words().many & set(person_words().role_of)


def test_the_words_of_rules_for_relatives_are_of_their_roles() -> None:
    """`role_in` maps each rule word for a relative to the same role as the rules. Only the German
    "Freund" is ambiguous, and the rules take the weaker role."""
    for grammar in GRAMMARS.values():
        for word, role in grammar.kin.items():
            known = person_words().role_of.get(word.casefold(), role)
            assert known == role or word in ("Freund", "Freundin"), word
            assert relation_named(f"{role}_of").name in BY_NAME, role
