"""Where the nodes of a picture go: stress majorisation, room for every box, clear arrows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from langmemory.stores.graph.untangling import Places, untangled

CROWD: Final = 0.085
"""Inches more for each edge of the busier end, so that a hub's neighbours have room around it."""
APART: Final = 1.4
"""Parts that nothing connects are this much farther apart than the farthest connected."""
CLOSE: Final = 4
"""How much more the length of an edge counts than other distances: a hub's neighbours form a ring."""
ROUNDS: Final = 200
MARGIN: Final = (0.30, 0.24)
"""Inches between two boxes, across and up."""


def places(
    boxes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int, float]],
    centre: int = 0,
) -> Places:
    """float64[n, 2]: the middle of each box in inches, the centre's at (0, 0). Deterministic.

    Distances in the picture follow those along the edges (SMACOF: Gansner, Koren and North 2004);
    boxes that would overlap are then pushed apart, and moved out of the way of arrows.

    Args:
        boxes: Width and height of each, inches.
        edges: Pairs of indices, in any direction, and the inches an edge needs between the boxes.
        centre: Which box stays in the middle.
    """
    count = len(boxes)
    if count < 2:
        return np.zeros((count, 2))
    wanted = _distances(boxes, edges)
    weight = np.where(wanted > 0, 1 / np.maximum(wanted, 1e-9) ** 2, 0)
    for one, other in {(min(edge[:2]), max(edge[:2])) for edge in edges}:
        weight[one, other] = weight[other, one] = weight[one, other] * CLOSE
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian)
    # On circles around the centre to begin with: with nothing random, the same graph looks the same.
    order = np.argsort(np.argsort(wanted[centre], kind="stable"), kind="stable")
    angle = order * (np.pi * (3 - np.sqrt(5)))
    at = wanted[centre][:, None] * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    for _ in range(ROUNDS):
        apart = np.linalg.norm(at[:, None] - at[None], axis=2)
        pull = np.where(apart > 1e-9, weight * wanted / np.maximum(apart, 1e-9), 0)
        at = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ at)
    at -= at[centre]
    # Boxes are wider than high.
    at = _without_overlap(at * (1.15, 0.85), np.array(boxes), centre)
    return untangled(at, np.array(boxes), edges, centre, np.array(MARGIN))


def _distances(
    boxes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int, float]]
) -> Places:
    """float64[n, n]: shortest ways along the edges, in inches (Floyd and Warshall)."""
    count = len(boxes)
    between = np.full((count, count), np.inf)
    np.fill_diagonal(between, 0)
    degree = Counter(end for one, other in {edge[:2] for edge in edges} for end in (one, other))
    for one, other, room in edges:
        if one != other:
            length = room + (boxes[one][0] + boxes[other][0]) / 2
            length += CROWD * max(degree[one], degree[other])
            between[one, other] = max(length, np.nan_to_num(between[one, other], posinf=0))
            between[other, one] = between[one, other]
    for middle in range(count):
        between = np.minimum(between, between[:, middle, None] + between[None, middle])
    connected = between[np.isfinite(between)]
    between[np.isinf(between)] = APART * max(float(connected.max()), 2.0)
    return between


def _without_overlap(at: Places, boxes: Places, centre: int) -> Places:
    """The same places, boxes that overlap pushed apart along the shorter way."""
    half = boxes / 2 + np.array(MARGIN) / 2
    for _ in range(ROUNDS):
        moved = False
        for one in range(len(at)):
            for other in range(one):
                gap = at[one] - at[other]
                over = half[one] + half[other] - np.abs(gap)
                if (over <= 1e-6).any():
                    continue
                moved = True
                axis = int(np.argmin(over))
                push = np.zeros(2)
                push[axis] = over[axis] * (1 if gap[axis] >= 0 else -1)
                fixed = [box == centre for box in (one, other)]
                at[one] += 0 if fixed[0] else push * (1 if fixed[1] else 0.5)
                at[other] -= 0 if fixed[1] else push * (1 if fixed[0] else 0.5)
        if not moved:
            break
    return at
