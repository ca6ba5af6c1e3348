"""Relationships of a person to the speaker: read from claims and texts, and which of them exclude each
other."""

from __future__ import annotations

import pytest

from langmemory.formation.entities.relationships import Introductions, bond, fit
from langmemory.formation.entities.resolving import resolve
from langmemory.ports.facts import Claim
from tests.formation.memory_knowledge import MemoryKnowledge, claim, fact


@pytest.mark.parametrize(
    ("told", "who"),
    [
        (("Anna", "sister of", "Lena"), ("Anna", "sibling")),
        (("Lena", "hermana", "Anna"), ("Anna", "sibling")),
        (("Anna", "mother of", "Lena"), ("Anna", "parent")),
        (("Anna", "daughter of", "Lena"), ("Anna", "child")),
        (("Lena", "has mother", "Anna"), ("Anna", "parent")),
        (("Tom", "boss of", "Lena"), ("Tom", "boss")),
        (("Lena", "Chef", "Tom"), ("Tom", "boss")),
        (("Lena", "has cat", "Luna"), ("Luna", "pet")),
        (("Anna", "Tante von", "Lena"), ("Anna", "aunt or uncle")),
        (("Anna", "sister-in-law of", "Lena"), ("Anna", "relative")),
        (("Lena", "同事", "小红"), ("小红", "colleague")),
        (("Anna", "no_longer_married_to", "Lena"), ("Anna", "partner")),
        (("Anna", "sister of", "Ben"), None),
        (("Anna", "lives in", "Lena"), None),
    ],
)
def test_a_claim_says_who_is_what(told: tuple[str, str, str], who: tuple[str, str] | None) -> None:
    """From either end and in four languages; what is said of others is no bond of the speaker's."""
    assert bond(Claim(subject=told[0], relation=told[1], object=told[2]), "Lena") == who


@pytest.mark.parametrize(
    ("known", "new", "fits"),
    [
        ("sibling", "sibling", "same"), ("boss", "child", "never"), ("parent", "child", "never"),
        ("pet", "sibling", "never"), ("partner", "sibling", "never"), ("pet", "friend", "never"),
        ("sibling", "colleague", "doubtful"), ("parent", "boss", "doubtful"),
        ("relative", "cousin", "doubtful"), ("partner", "colleague", "doubtful"),
        ("friend", "colleague", "likely"), ("friend", "partner", "likely"),
        ("boss", "neighbour", "likely"),
    ],
)  # fmt: skip
def test_what_one_being_can_be(known: str, new: str, fits: str) -> None:
    """Of a family one is one thing; who is of it is seldom met at work; the order does not matter."""
    assert fit(known, new) == fit(new, known) == fits


@pytest.mark.parametrize(
    ("text", "name", "what"),
    [
        ("Lena's colleague Anna lives in Rome.", "Anna", "colleague"),
        ("Lena’s younger sister, Anna, lives in Rome.", "Anna", "sibling"),
        ("My sister Anna lives in Rome.", "Anna", "sibling"),
        ("Lenas Kollegin Anna wohnt in Rom.", "Anna", "colleague"),
        ("La hermana de Lena, Ana, vive en Roma.", "Ana", "sibling"),
        ("Lena's sister-in-law Anna lives in Rome.", "Anna", "relative"),
        ("Mi jefa Ana vive en Roma.", "Ana", "boss"),
        ("我姐姐小红住在柏林。", "小红", "sibling"),
        ("Lena的母亲小红住在柏林。", "小红", "parent"),
        ("Ben's sister Anna lives in Rome.", "Anna", None),
        ("Anna lives in Rome.", "Anna", None),
        ("Lena's sister Annabel lives in Rome.", "Anna", None),
    ],
)
def test_a_text_says_who_is_what(text: str, name: str, what: str | None) -> None:
    """Where no claim says it, the words before the name do."""
    told = fact(text, claim(name, "lives_in", "Rome"))
    assert Introductions([told]).bond(told, name.casefold()) == what


def test_a_turn_introduces_for_all_its_facts() -> None:
    """In whatever order a model writes down what one turn says, and not for the next turn."""
    lives = fact("Anna lives in Rome", claim("Anna", "lives_in", "Rome"), evidence=("t1",))
    role = fact("Anna is Lena's colleague", claim("Anna", "colleague of", "I"), evidence=("t1",))
    later = fact("Anna sings", claim("Anna", "plays", "song", literal=True), evidence=("t2",))
    found = Introductions([lives, role, later])
    assert [found.bond(one, "anna") for one in (lives, role, later)] == [
        "colleague", "colleague", None,
    ]  # fmt: skip


def test_two_of_one_name_in_one_turn_are_two() -> None:
    """ "My son Tom met my boss Tom": each claim is of its own, and whose the rest is, is asked."""
    facts = [
        fact("Tom is Lena's son", claim("Tom", "son of", "I"), evidence=("t1",)),
        fact("Tom is Lena's boss", claim("Tom", "boss of", "I"), evidence=("t1",)),
        fact("Tom lives in Rome", claim("Tom", "lives_in", "Rome"), evidence=("t1",)),
    ]
    found = resolve(facts, MemoryKnowledge())
    assert found.facts[0].claims[0].object != found.facts[1].claims[0].object
    assert found.facts[2].claims == ()
    [asked] = found.unclear
    assert sorted(asked.who.values()) == ["Lena's boss", "Lena's child"]
