"""A conversation in its own words, down to a share of its tokens."""

from __future__ import annotations

import random

import numpy as np
import pytest

from langmemory.lifecycle.summaries.extracts import STRETCH, Said, shorten_conversation

WORDS = [
    "cat", "garden", "river", "mountain", "train", "Lisbon", "Berlin", "sister", "budget", "meeting",
    "doctor", "piano", "recipe", "invoice",
]  # fmt: skip


def talk(messages: int, sentences: int) -> list[Said]:
    rng = random.Random(7)
    return [
        Said(
            speaker="maria" if number % 2 else "assistant",
            text=" ".join(
                " ".join(rng.choice(WORDS) for _ in range(rng.randint(6, 16))).capitalize() + "."
                for _ in range(sentences)
            ),
            by_assistant=not number % 2,
        )
        for number in range(messages)
    ]


def embed(texts: list[str]) -> list[np.ndarray]:
    rng = np.random.default_rng(len(texts))
    found = rng.normal(size=(len(texts), 16)).astype(np.float32)
    return list(found / np.linalg.norm(found, axis=1, keepdims=True))


@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize(("messages", "sentences"), [(60, 4), (150, 8)])
@pytest.mark.parametrize("embedded", [True, False])
def test_the_share_is_met(ratio: float, messages: int, sentences: int, embedded: bool) -> None:
    """What is left has at most the tokens that were asked for, and nearly as many; each sentence was said by
    whom it is put to, and the order stays."""
    said = talk(messages, sentences)
    found = shorten_conversation(said, ratio, embed if embedded else None)
    assert 0.9 * ratio <= found.tokens / found.tokens_before <= ratio
    assert list(found.places) == sorted(found.places)
    for place, line in zip(found.places, found.lines, strict=True):
        speaker, _, text = line.partition(": ")
        assert speaker == said[place].speaker
        assert all(f"{one}." in said[place].text for one in text.rstrip(".").split(". "))


def test_all_parts_of_a_long_conversation_are_told_of() -> None:
    """Each stretch of a long conversation keeps its share, the first and the last as well."""
    said = talk(STRETCH, 3)
    found = shorten_conversation(said, 0.2, embed)
    quarters = [place * 4 // len(said) for place in found.places]
    assert min(quarters.count(one) for one in range(4)) > len(quarters) / 8


def test_a_single_long_message_is_shortened() -> None:
    """A message that alone is larger than what may be left is shortened too, even one without a full stop."""
    rng = random.Random(3)
    log = " ".join(f"{rng.choice(WORDS)}={rng.randint(0, 10**6)}" for _ in range(4_000))
    found = shorten_conversation([Said(speaker="tool", text=log)], 0.3, None)
    assert 0.25 <= found.tokens / found.tokens_before <= 0.3


def test_thanks_go_first() -> None:
    """What says nothing is left out; where there is nothing else, it stays."""
    said = [
        Said(speaker="maria", text="Hello! My sister Anna lives in Lisbon. Thanks!"),
        Said(speaker="assistant", text="You are welcome!", by_assistant=True),
    ]
    assert shorten_conversation(said, 0.7, None).lines == (
        "maria: My sister Anna lives in Lisbon.",
    )
    assert shorten_conversation([said[1]], 0.99, None).tokens <= 6


def test_nothing_fits() -> None:
    """Where no sentence fits, nothing is left."""
    found = shorten_conversation(
        [Said(speaker="maria", text="My sister Anna lives in Lisbon.")], 0.1, None
    )
    assert (found.lines, found.tokens) == ((), 0)
