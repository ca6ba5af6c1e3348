"""MinHash with LSH finds the pairs that an exact comparison finds."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from langmemory.lifecycle.entities import BANDS, ROWS, alike, grams, jaccard, signatures


def names(count: int) -> list[str]:
    """Invented names, every second one a letter away from the one before it."""
    drawn = random.Random(7)
    found: list[str] = []
    while len(found) < count:
        name = " ".join(
            "".join(drawn.choice("abcdefghilmnoprstu") for _ in range(drawn.randint(5, 9)))
            for _ in range(2)
        )
        at = drawn.randrange(len(name))
        found += [name, name[:at] + "x" + name[at + 1 :]]
    return found


def test_pairs_are_those_of_an_exact_comparison() -> None:
    """Of the pairs that an exact comparison finds at most one in a hundred is missed, and none is added."""
    known = names(600)
    sets = [grams(name) for name in known]
    exact = {
        (one, other)
        for one, other in combinations(range(len(known)), 2)
        if jaccard(sets[one], sets[other]) >= 0.5
    }
    found = {(one, other) for one, other, _ in alike(known, 0.5)}
    assert found <= exact
    assert len(exact) > 200
    assert len(exact - found) <= len(exact) / 100


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_agreeing_hashes_estimate_the_similarity(share: float) -> None:
    """The share of permutations with the same smallest element is the Jaccard similarity (Broder 1997)."""
    estimates = []
    for n in range(40):
        both = frozenset(f"both {n} {k}" for k in range(round(100 * share)))
        rest = 100 - len(both)
        one = both | {f"one {n} {k}" for k in range(rest // 2)}
        other = both | {f"other {n} {k}" for k in range(rest - rest // 2)}
        first, second = signatures([one, other])
        estimates.append(float((first == second).mean()))
    assert np.mean(estimates) == pytest.approx(share, abs=0.03)


def test_names_in_any_script_have_grams() -> None:
    """One letter, and an empty name, still have an n-gram, so that each has a signature."""
    for name in ("", "a", "小红", "Ærø"):
        assert grams(name)
        assert signatures([grams(name)]).shape == (1, BANDS * ROWS)


def test_pairs_are_the_same_in_every_process() -> None:
    """The hashes do not depend on the process: known names give a known pair."""
    [(one, other, likeness)] = alike(["anna schmidt", "bob", "anna schmitt"], 0.5)
    assert (one, other) == (0, 2)
    assert likeness == pytest.approx(9 / 15, abs=0.01)
    assert int(signatures([grams("anna")])[0, 0]) == 663750408
