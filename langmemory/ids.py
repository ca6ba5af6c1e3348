"""Ids among ids: where one stands, and whether it is there. For some hundreds at a time, of which
`np.isin` and `np.unique` make more work than a search has with the rest."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Integer = TypeVar("Integer", bound=np.integer[Any])


def indexes(among: Ids, wanted: Ids) -> Ids:
    """int64, in the shape of ``wanted``: where each value stands among n >= 1 distinct or negative
    ones; -1 where it does not."""
    order = among.argsort()
    ascending = among[order]
    at = np.minimum(ascending.searchsorted(wanted), len(among) - 1)
    return np.where(ascending[at] == wanted, order[at], -1)


def are_in(wanted: Ids, among: Ids) -> NDArray[np.bool_]:
    """bool, in the shape of ``wanted``: whether each value is one of the others."""
    if not len(among):
        return np.zeros(wanted.shape, np.bool_)
    ascending = np.sort(among)
    at = np.minimum(ascending.searchsorted(wanted), len(among) - 1)
    found: NDArray[np.bool_] = ascending[at] == wanted
    return found


def distinct(*parts: NDArray[Integer]) -> NDArray[Integer]:
    """The ids of all parts, one at least, in ascending order, each once."""
    every = np.concatenate(parts)
    every.sort()
    first = np.ones(len(every), np.bool_)
    np.not_equal(every[1:], every[:-1], out=first[1:])
    return every[first]
