"""Where the nodes of a picture go: stress majorisation, room for every box, clear arrows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from langmemory.stores.graph.untangling import Places, untangled

CROWD: Final = 0.085
"""Inches more for each edge of the busier end, so that a hub's neighbours have room around it."""
APART: Final = 0.6
"""Inches between parts that nothing connects."""
WIDER: Final = 1.3
"""How much wider than high a picture of many parts is to be."""
CLOSE: Final = 4
"""How much more the length of an edge counts than other distances: a hub's neighbours form a ring."""
ROUNDS: Final = 200
MARGIN: Final = (0.30, 0.24)
"""Inches between two boxes, across and up."""


def places(
    boxes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int, float]],
) -> Places:
    """float64[n, 2]: the middle of each box in inches, the first one's at (0, 0). Deterministic.

    Distances in the picture follow those along the edges (SMACOF: Gansner, Koren and North 2004);
    boxes that would overlap are then pushed apart, and moved out of the way of arrows. Parts that
    nothing connects stand beside each other.

    Args:
        boxes: Width and height of each, inches.
        edges: Pairs of indices, in any direction, and the inches an edge needs between the boxes.
    """
    at, sizes = np.zeros((len(boxes), 2)), np.array(boxes).reshape(-1, 2)
    parts = _parts(len(boxes), edges)
    for part in parts:
        number = {box: place for place, box in enumerate(part)}
        own = [(number[one], number[other], room) for one, other, room in edges if one in number]
        at[part] = _part([boxes[box] for box in part], own, number.get(0, 0))
    if len(parts) > 1:
        _set_in_rows(parts, at, sizes)
        at -= at[0]
    return at


def _parts(count: int, edges: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """The boxes by what connects them, of each part its busiest first."""
    near: list[set[int]] = [{box} for box in range(count)]
    for one, other, _ in edges:
        near[one].add(other)
        near[other].add(one)
    parts: list[list[int]] = []
    left = set(range(count))
    while left:
        part, rest = {min(left)}, [min(left)]
        while rest:
            new = near[rest.pop()] - part
            part |= new
            rest.extend(new)
        left -= part
        parts.append(sorted(part, key=lambda box: (-len(near[box]), box)))
    return parts


def _set_in_rows(parts: Sequence[Sequence[int]], at: Places, sizes: Places) -> None:
    """Move the parts beside and below each other, the highest first."""
    low = np.array([(at[part] - sizes[part] / 2).min(axis=0) for part in parts])
    extent = np.array([(at[part] + sizes[part] / 2).max(axis=0) for part in parts]) - low + APART
    wide = max(float(extent[:, 0].max()), WIDER * float(np.sqrt(extent.prod(axis=1).sum())))
    row = np.zeros(2)
    below = 0.0
    for place in np.argsort(-extent[:, 1], kind="stable"):
        if row[0] + extent[place, 0] > wide + 1e-9:
            row[:] = 0, below
        corner = np.array((row[0], row[1] - extent[place, 1]))
        at[parts[place]] += corner - low[place]
        below = min(below, float(corner[1]))
        row[0] += extent[place, 0]


def _part(
    boxes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int, float]], centre: int
) -> Places:
    """`places` of boxes that are all connected."""
    if len(boxes) < 2:
        return np.zeros((len(boxes), 2))
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
