"""Nearest neighbours of some memories among all, by the cosine of their first vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from langmemory.ports.candidates import Floats, Ids

BLOCK: Final = 128
"""Memories multiplied with all others at once: 50 MB of cosines at 100,000 of them. So few are compared
without looking for bounds first."""
HEAD: Final = 64
"""Dimensions by which most pairs are ruled out."""
SAMPLE: Final = 5_000
"""Vectors, at least, of which the dimensions of most variance are learned, where there are as many."""
FEW: Final = 0.02
"""Share of pairs left, below which they are computed one by one."""
ROUNDING: Final = 1e-4
"""Of float32 products and of vectors that are not quite of length 1."""


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
    directions = _most_varied(others) if len(ids) > BLOCK else None
    bounds = None if directions is None else _bounded(vectors, directions)
    limits = None if directions is None else _bounded(others, directions)
    for start in range(0, len(ids), BLOCK):
        block = slice(start, start + BLOCK)
        exact: Floats | None = None
        if bounds is None or limits is None:
            exact = vectors[block] @ others.T
            may_be = exact >= least
        else:
            may_be = bounds[block] @ limits.T >= least - ROUNDING
            if np.count_nonzero(may_be) >= FEW * may_be.size:
                exact = vectors[block] @ others.T
        for row in np.flatnonzero(may_be.any(axis=1)).tolist():
            item, vector = int(ids[start + row]), vectors[start + row]
            near = np.flatnonzero(may_be[row])
            near = near[among[near] != item]
            if not len(near):
                continue
            cosines = others[near] @ vector if exact is None else exact[row, near]
            order = np.argsort(-cosines, kind="stable")[:most]
            yield from (
                (item, int(among[near[place]]), float(cosines[place]))
                for place in order.tolist()
                if cosines[place] >= least
            )


def _most_varied(vectors: Floats) -> Floats:
    """float32[dims, HEAD]: the orthogonal directions along which vectors are longest."""
    some = vectors[:: max(1, len(vectors) // SAMPLE)]
    _, directions = np.linalg.eigh(some.T @ some)  # by rising variance
    return np.ascontiguousarray(directions[:, : -HEAD - 1 : -1], np.float32)


def _bounded(vectors: Floats, directions: Floats) -> Floats:
    """float32[n, HEAD + 1]: the part along these directions and the length of the rest. The product of two
    is never less than their cosine (Cauchy and Schwarz), at a quarter of the work, and the directions of
    most variance leave few pairs to compute."""
    head = vectors @ directions
    rest = np.sqrt(np.maximum(0.0, 1.0 - np.einsum("nd,nd->n", head, head)))
    return np.concatenate([head, rest[:, None]], axis=1, dtype=np.float32)
