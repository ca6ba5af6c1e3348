"""A little of the search of `tests.fuzzing`, without coverage. What that finds becomes a test of its own."""

from __future__ import annotations

import random

import pytest

from tests.fuzzing import TARGETS, beginnings
from tests.seeds import examples


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_sound_and_what_is_near_it(target: str) -> None:
    """Each target takes what is sound, and that with bytes changed, cut out, doubled or moved."""
    rng, sound = random.Random(11), list(beginnings(target))
    for one in sound:
        TARGETS[target](one)
    for _ in range(examples(400, first=40)):
        data = bytearray(rng.choice(sound))
        for _ in range(rng.randint(1, 6)):
            at, size = rng.randrange(len(data) + 1), rng.randint(1, 12)
            piece = rng.choice(
                (b"", rng.randbytes(1), data[at : at + size] * 2, b"null", b"[", b"1e999", b'"')
            )
            data[at : at + rng.choice((0, size))] = piece
        TARGETS[target](bytes(data))
