"""Numbers with what they count."""

from __future__ import annotations

import pytest

from langmemory.pluralize import count_noun, memories


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (1200, "1,200 turns")]
)
def test_one_is_singular(count: int, said: str) -> None:
    """Only one thing is in the singular, and large numbers can be read."""
    assert count_noun(count, "turn") == said


def test_a_plural_of_its_own() -> None:
    """A noun without a plural "s" is passed with its plural."""
    assert [count_noun(n, "batch", "batches") for n in (1, 2)] == ["1 batch", "2 batches"]
    assert [memories(n) for n in (1, 2)] == ["1 memory", "2 memories"]
