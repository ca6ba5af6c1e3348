"""Places of the boxes of a picture: networkx's spring layout, then room for every box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]

SPRING: Final = {"method": "force", "iterations": 300, "seed": 1}
LONG_ENOUGH: Final = 0.7
"""Share of the edges that are as long as they need to be."""
MARGIN: Final = (0.22, 0.2)
"""Inches between two boxes, across and up."""
APART: Final = 0.6
"""Inches between parts that nothing connects."""
WIDER: Final = 1.5
"""How much wider than high a picture of many parts is to be."""
ROUNDS: Final = 100


def places(sizes: Places, edges: Sequence[tuple[int, int, float]]) -> Places:
    """Return float64[n, 2], the middle of each box in inches; the same for the same graph.

    Args:
        sizes: float64[n, 2], width and height of each box, inches.
        edges: Pairs of boxes, and the inches that are to be between them at least.
    """
    import networkx

    graph: Any = networkx.Graph()
    graph.add_nodes_from(range(len(sizes)))
    graph.add_edges_from(pair[:2] for pair in edges if pair[0] != pair[1])
    at = np.zeros((len(sizes), 2))
    parts = [sorted(part) for part in networkx.connected_components(graph)]
    for part in (part for part in parts if len(part) > 1):
        number = {box: place for place, box in enumerate(part)}
        own = networkx.relabel_nodes(graph.subgraph(part), number)
        found = networkx.spring_layout(own, **SPRING)
        place = np.array([found[box] for box in range(len(part))])
        if np.ptp(place[:, 1]) > np.ptp(place[:, 0]):  # boxes and screens are wider than high
            place = place[:, ::-1]
        rooms = [
            (number[one], number[other], room + (sizes[one][0] + sizes[other][0]) / 2)
            for one, other, room in edges
            if one in number and one != other
        ]
        lengths = [room / np.linalg.norm(place[one] - place[other]) for one, other, room in rooms]
        at[part] = _with_room(place * np.quantile(lengths, LONG_ENOUGH), sizes[part], rooms)
    return _in_rows(parts, at, sizes)


def _with_room(at: Places, sizes: Places, rooms: Sequence[tuple[int, int, float]]) -> Places:
    """The same places, ends of too short an edge and boxes that overlap pushed apart."""
    sizes = sizes + MARGIN
    for _ in range(ROUNDS):
        moved = False
        for one, other, room in rooms:
            gap = at[one] - at[other]
            short = room / np.linalg.norm(gap) - 1
            if short > 0.02:
                at[one] += gap * short / 2
                at[other] -= gap * short / 2
                moved = True
        between = np.abs(at[:, None] - at) < (sizes[:, None] + sizes) / 2
        for one, other in np.argwhere(np.triu(between.all(axis=2), 1)).tolist():
            gap = at[one] - at[other]
            over = (sizes[one] + sizes[other]) / 2 - np.abs(gap)
            if over.min() > 1e-6:
                axis = int(np.argmin(over))
                push = over[axis] / 2 * (1 if gap[axis] >= 0 else -1)
                at[one, axis] += push
                at[other, axis] -= push
                moved = True
        if not moved:
            break
    return at


def _in_rows(parts: Sequence[Sequence[int]], at: Places, sizes: Places) -> Places:
    """The parts beside and below each other, the highest first."""
    low = [(at[part] - sizes[part] / 2).min(axis=0) for part in parts]
    high = [(at[part] + sizes[part] / 2).max(axis=0) for part in parts]
    extents = np.reshape(high, (-1, 2)) - np.reshape(low, (-1, 2)) + APART
    wide = max([WIDER * float(np.sqrt(extents.prod(axis=1).sum())), *extents[:, 0]])
    left = top = bottom = 0.0
    for number in np.argsort(-extents[:, 1], kind="stable"):
        width, height = extents[number]
        if left + width > wide + 1e-9:
            left, top = 0.0, bottom
        at[parts[number]] += (left, top - height) - low[number]
        left, bottom = left + width, min(bottom, top - height)
    return at
