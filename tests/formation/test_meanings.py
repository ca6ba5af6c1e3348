"""The same words with another meaning stay apart, and other words for the same come together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from langmemory.context.disclosure import Note, repeats
from langmemory.formation.contradiction.comparable import words_of
from langmemory.formation.duplicates import divide, said_twice
from langmemory.procedures import same_words
from tests.formation.meanings import OPPOSITES, PARAPHRASES, Pair, pairs
from tests.formation.memory_knowledge import MemoryKnowledge, fact, known

COSINE = 0.99
"""An embedder that adds up words takes both for the same."""


def learned(pair: Pair) -> str:
    """What formation makes of the second sentence where the first is known."""
    language, text, other = pair
    first = known("fact/1", text, value={"fact_kind": "fact", "language": language})
    knowledge = MemoryKnowledge(first, near={"fact/1": COSINE})
    division = divide([fact(other, language=language)], knowledge)
    return "merged" if division.repeated else "asked" if division.grey else "apart"


def at_night(pair: Pair) -> str:
    """What maintenance makes of the two."""
    language, *texts = pair
    first, last = (
        known(f"fact/{number}", text, value={"fact_kind": "fact", "language": language})
        for number, text in enumerate(texts)
    )
    found = said_twice(first, last, COSINE, MemoryKnowledge(first, last))
    return {True: "merged", False: "asked", None: "apart"}[found]


def shares(templates: Mapping[str, str]) -> tuple[int, Counter[str], Counter[str]]:
    tried = list(pairs(templates))
    return len(tried), Counter(map(learned, tried)), Counter(map(at_night, tried))


def test_opposites_in_the_same_words_are_not_merged() -> None:
    """Roles, direction, the order of a result, a sign, a mark, the place of a negation: none is lost."""
    number, by_formation, by_night = shares(OPPOSITES)
    assert number >= 200
    assert max(by_formation["merged"], by_night["merged"]) <= 0.01 * number


def test_paraphrases_are_still_merged_or_asked_about() -> None:
    """Phrases in another place, lists in another order, articles, numbers as words."""
    number, by_formation, by_night = shares(PARAPHRASES)
    assert number >= 200
    for found in (by_formation, by_night):
        assert found["merged"] >= 0.85 * number
        assert found["merged"] + found["asked"] >= 0.95 * number


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Kim lent Noor 3 euros", "Noor lent Kim 3 euros"),
        ("Tove writes C", "Tove writes C++"),
        ("It is -4 degrees in the shed", "It is 4 degrees in the shed"),
    ],
)
def test_a_block_shows_both_of_two_opposites(text: str, other: str) -> None:
    """Of two facts the second is no repetition of the first because it has its words."""
    first, last = (
        Note(id=one, namespace=("home",), key=one, text=one, is_fact=True) for one in (text, other)
    )
    assert not repeats(last, first)
    assert repeats(first, first)


def test_a_task_turned_round_is_another_task() -> None:
    """Procedures and their steps are told apart by direction, not by endings."""
    assert not same_words("copy the photos to the server", "copy the server to the photos")
    assert same_words("copy the photos to the server", "copying photos to the server")


def test_a_mark_makes_another_value() -> None:
    """ "F#" is no "F", with which a contradiction or its end would be confused."""
    assert len({words_of(one) for one in ("F", "F#", "B+", "B-", "C", "C++")}) == 6
    assert words_of("Blue  Sky") == "blue sky"
