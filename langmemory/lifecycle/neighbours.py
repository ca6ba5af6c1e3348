"""Nearest neighbours of some memories among all, by the cosine of their first vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from langmemory.ports.candidates import Floats, Ids

BLOCK: Final = 128
"""Memories multiplied with all others at once: 50 MB of cosines at 100,000 of them."""


def neighbours(
    ids: Ids, vectors: Floats, among: Ids, others: Floats, least: float, most: int
) -> Iterator[tuple[int, int, float]]:
    """Yield the nearest of each memory, itself not counted: its id, the other's, and the cosine.

    Args:
        ids: int64[n].
        vectors: float32[n, dims], L2-normalised.
        among: int64[m].
        others: float32[m, dims], L2-normalised.
        least: Cosine from which one is near, -1..1.
        most: So many for each.
    """
    for start in range(0, len(ids), BLOCK):
        cosines = vectors[start : start + BLOCK] @ others.T
        for row in np.flatnonzero(cosines.max(axis=1, initial=-1.0) >= least):
            item = int(ids[start + row])
            near = np.flatnonzero(cosines[row] >= least)
            near = near[among[near] != item]
            best = near[np.argsort(-cosines[row][near], kind="stable")[:most]]
            yield from (
                (item, int(among[place]), float(cosines[row, place])) for place in best.tolist()
            )
