"""Nearest neighbours are those of a comparison of all with all."""

from __future__ import annotations

import numpy as np
import pytest

from langmemory.lifecycle.neighbours import neighbours


@pytest.mark.parametrize("least", [0.95, 0.5])
@pytest.mark.parametrize("falling", [True, False])
def test_neighbours_are_exact(falling: bool, least: float) -> None:
    """Whether the first dimensions tell much or little, just the pairs of at least this cosine are found."""
    drawn = np.random.default_rng(3)
    vectors = drawn.standard_normal((400, 200)).astype(np.float32)
    vectors[200:] = vectors[:200] + 0.25 * drawn.standard_normal((200, 200)).astype(np.float32)
    if falling:
        vectors *= (np.arange(200) + 1.0) ** -0.7
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = np.arange(400, dtype=np.int64) + 7
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    expected = {
        (int(a) + 7, int(b) + 7) for a, b in zip(*np.nonzero(cosines >= least), strict=True)
    }
    found = {(one, other) for one, other, _ in neighbours(ids, vectors, ids, vectors, least, 400)}
    assert found == expected != set()


def test_so_many_of_the_nearest_are_told() -> None:
    """At most so many for each, the nearest first, and never itself."""
    angles = np.linspace(0, 0.3, 10)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    ids = np.arange(10, dtype=np.int64)
    found = list(neighbours(ids[:1], vectors[:1], ids, vectors, 0.9, 3))
    assert [other for _, other, _ in found] == [1, 2, 3]
