"""By which words a forgotten text would be known again."""

from __future__ import annotations

import random

import pytest

from langmemory.ledger.forgetting import residue


def test_many_words_are_found_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a text has a word, also within a longer one, is answered alike for one and for many."""
    choose = random.Random(3)

    def words(count: int, longest: int) -> list[str]:
        return [
            "".join(choose.choices("aAbß日", k=choose.randint(1, longest))) for _ in range(count)
        ]

    vocabulary = residue.Vocabulary([" ".join(words(60, 9)) for _ in range(5)])
    asked = {word.casefold() for word in words(400, 5)}
    expected = {word for word in asked if word in vocabulary}
    assert asked > expected > set()
    assert vocabulary.those_in(asked) == expected
    monkeypatch.setattr(residue, "MANY_WORDS", 0)
    assert vocabulary.those_in(asked) == expected
