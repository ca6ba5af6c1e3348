"""Ids among ids, as numpy's own set functions have it."""

from __future__ import annotations

import numpy as np
import pytest

from langmemory.ids import are_in, distinct, indexes

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize("size", [0, 1, 2, 40])
@pytest.mark.parametrize("highest", [3, 60, 1 << 40])
def test_sets_are_those_of_numpy(size: int, highest: int) -> None:
    """`are_in` and `distinct` return what numpy's set functions return, in order and without
    repeats."""
    one = RANDOM.integers(1, highest, size)
    for length in (0, 1, 30):
        other = RANDOM.integers(1, highest, length)
        assert are_in(one, other).tolist() == np.isin(one, other).tolist()
        assert distinct(one, other, one).tolist() == np.union1d(one, other).tolist()


def test_the_place_of_each_among_others() -> None:
    """A value that is there has its place, any other -1; the shape stays."""
    among = np.array([30, 10, 20], np.int64)
    assert indexes(among, np.array([[10, 11], [30, 5]])).tolist() == [[1, -1], [0, -1]]
