"""Moving the boxes of a picture until its arrows can be told apart: none behind a box that is not
its own, few that cross, and none that leave a box side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]
Ends = NDArray[np.int64]

CLEAR: Final = 0.12
"""Inches an arrow keeps from boxes that are not its own."""
SIDE_BY_SIDE: Final = np.radians(22)
"""Arrows of one box that part by less are hard to tell apart, and so are their labels."""
TURNS: Final = np.radians((-12, 12, -24, 24, -40, 40, -65, 65, -100, 100, 180))
SCALES: Final = (1.0, 0.8, 1.25)
WORK: Final = 40_000_000
"""Pairs of arrows and boxes looked at, in all: about a second for the largest picture."""

BEHIND, CROSSED, NEAR, STRETCHED, SHORT, OVERLAPPING = 6.0, 1.0, 1.5, 0.6, 4.0, 50.0
"""What each of these counts."""


def untangled(
    at: Places,
    boxes: Places,
    edges: Sequence[tuple[int, int, float]],
    centre: int,
    margin: Places,
) -> Places:
    """float64[n, 2]: the boxes moved, where that makes the picture easier to read. Deterministic.

    One box at a time, with all that hangs on it alone, is turned around what it hangs on, or moved
    nearer or away, as long as `_Picture.tangle` falls.

    Args:
        at: The middle of each box.
        boxes: Width and height of each.
        edges: Pairs of indices, and the inches an edge needs between the boxes.
        centre: Which box stays where it is.
        margin: Between two boxes, across and up.
    """
    rooms: dict[tuple[int, int], float] = {}
    for one, other, room in edges:
        if one != other:
            pair = min(one, other), max(one, other)
            rooms[pair] = max(room, rooms.get(pair, 0))
    if not rooms:
        return at
    ends = np.array(list(rooms), np.int64)
    picture = _Picture(at, boxes / 2, ends, np.array(list(rooms.values())), margin / 2)
    best = picture.tangle(at)
    left = WORK // (len(ends) * (len(ends) + len(at)) + len(at) ** 2)
    hanging = [_hanging(box, ends, centre, len(at)) for box in range(len(at))]
    improved = True
    while improved and left > 0:
        improved = False
        for box in picture.worst(at):
            group, anchors = hanging[box]
            if box == centre or not anchors or centre in group:
                continue
            for place in _moved(at, group, at[anchors].mean(axis=0)):
                left -= 1
                tangle = picture.tangle(place)
                if tangle < best - 1e-3:
                    at, best, improved = place, tangle, True
            if left <= 0:
                break
    return at


def _moved(at: Places, group: list[int], around: Places) -> list[Places]:
    """The places with a group turned around a point, and drawn nearer or away."""
    found = []
    arms = at[group] - around
    for turn in (0.0, *TURNS):
        cos, sin = np.cos(turn), np.sin(turn)
        turned = arms @ np.array(((cos, sin), (-sin, cos)))
        for scale in SCALES:
            if turn or scale != 1:
                # The first of the group comes nearer, the others keep their distance to it.
                place = at.copy()
                place[group] = around + turned + (scale - 1) * turned[0]
                found.append(place)
    return found


def _hanging(box: int, ends: Ends, centre: int, count: int) -> tuple[list[int], list[int]]:
    """A box with all that is connected with the centre through it alone, and what it hangs on."""
    near: list[set[int]] = [set() for _ in range(count)]
    for one, other in ends.tolist():
        near[one].add(other)
        near[other].add(one)

    def reached(start: int, without: int | None) -> set[int]:
        seen, rest = {start}, [start]
        while rest:
            for other in near[rest.pop()] - seen - {without}:
                seen.add(other)
                rest.append(other)
        return seen

    if box == centre:
        return [box], []
    held = reached(centre, box)
    group = [box, *sorted(reached(box, None) - held - {box})] if near[box] & held else [box]
    return group, sorted(near[box] - set(group))


class _Picture:
    """What does not change while boxes move."""

    def __init__(self, at: Places, half: Places, ends: Ends, rooms: Places, margin: Places) -> None:
        self.half = half
        self.ends = ends
        self.rooms = rooms
        self.apart = half[:, None] + half[None] + margin * 2
        self.length = np.maximum(_lengths(at, ends), 1e-9)
        shared = (ends[:, None, :, None] == ends[None, :, None, :]).any(axis=(2, 3))
        upper = np.triu(np.ones((len(ends), len(ends)), bool), 1)
        self.strangers = np.argwhere(upper & ~shared)
        self.neighbours = np.argwhere(upper & shared)
        """Pairs of arrows that have a box in common."""
        self.own = (ends[:, :, None] == np.arange(len(at))).any(axis=1)

    def tangle(self, at: Places) -> float:
        """How hard the picture is to read."""
        hidden = self._behind(at)
        stretch = np.log(np.maximum(_lengths(at, self.ends), 1e-9) / self.length)
        start, end = at[self.ends.T]
        own = np.where(self.own, behind(start, end, at, self.half), 0).sum(axis=1)
        short = np.maximum(0, 1 - (_lengths(at, self.ends) - own) / self.rooms)
        gap = self.apart - np.abs(at[:, None] - at[None])
        overlapping = np.triu((gap > 1e-6).all(axis=2), 1).sum()
        return float(
            BEHIND * ((hidden > 0).sum() + hidden.sum())
            + CROSSED * self._crossed(at).sum()
            + NEAR * self._near(at).sum()
            + STRETCHED * (stretch**2).sum()
            + SHORT * short.sum()
            + OVERLAPPING * overlapping
        )

    def worst(self, at: Places) -> list[int]:
        """Boxes that have to do with what makes it hard, those most concerned first."""
        blame = np.zeros(len(at))
        for arrow, box in np.argwhere(self._behind(at) > 0):
            blame[[box, *self.ends[arrow]]] += BEHIND
        for pairs, how in (
            (self.strangers, CROSSED * self._crossed(at)),
            (self.neighbours, NEAR * self._near(at)),
        ):
            for (one, other), much in zip(pairs[how > 0], how[how > 0], strict=True):
                blame[[*self.ends[one], *self.ends[other]]] += much
        order = np.argsort(-blame, kind="stable")
        return [int(box) for box in order if blame[box] > 0]

    def _behind(self, at: Places) -> Places:
        """float64[arrows, boxes]: inches of each arrow behind each box that is not its own."""
        start, end = at[self.ends[:, 0]], at[self.ends[:, 1]]
        return np.where(self.own, 0, behind(start, end, at, self.half + CLEAR))

    def _crossed(self, at: Places) -> NDArray[np.bool_]:
        a, b = at[self.ends[self.strangers[:, 0]]].swapaxes(0, 1)
        c, d = at[self.ends[self.strangers[:, 1]]].swapaxes(0, 1)
        found: NDArray[np.bool_] = (_side(a, b, c) != _side(a, b, d)) & (
            _side(c, d, a) != _side(c, d, b)
        )
        return found

    def _near(self, at: Places) -> Places:
        """0 to 1 for each pair of arrows with a box in common: how little they part there."""
        one, other = self.ends[self.neighbours[:, 0]], self.ends[self.neighbours[:, 1]]
        turned = (one[:, :1] != other).all(axis=1)  # what they share is the end of the first
        base = np.where(turned, one[:, 1], one[:, 0])
        first = at[np.where(turned, one[:, 0], one[:, 1])] - at[base]
        second = at[np.where(other[:, 0] == base, other[:, 1], other[:, 0])] - at[base]
        cosine = (first * second).sum(axis=1) / np.maximum(
            np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1), 1e-9
        )
        found: Places = np.maximum(0, 1 - np.arccos(np.clip(cosine, -1, 1)) / SIDE_BY_SIDE)
        return found


def behind(start: Places, end: Places, at: Places, half: Places) -> Places:
    """float64[lines, boxes]: inches of each straight line inside each box (Liang and Barsky 1984).

    Args:
        start: float64[lines, 2]; `end` alike.
        at: The middle of each box.
        half: Half of its width and height.
    """
    near, far = np.zeros((len(start), len(at))), np.ones((len(start), len(at)))
    for axis in (0, 1):
        first, along = start[:, axis, None], (end - start)[:, axis, None]
        low, high = at[:, axis] - half[:, axis] - first, at[:, axis] + half[:, axis] - first
        level = np.abs(along) < 1e-12
        along = np.where(level, 1, along)
        one, other = low / along, high / along
        within = (low <= 0) & (high >= 0)
        near = np.maximum(near, np.where(level, np.where(within, 0, 2), np.minimum(one, other)))
        far = np.minimum(far, np.where(level, 1, np.maximum(one, other)))
    length = np.hypot(*(end - start).T)[:, None]
    found: Places = np.maximum(far - near, 0) * length
    return found


def _lengths(at: Places, ends: Ends) -> Places:
    found: Places = np.linalg.norm(at[ends[:, 0]] - at[ends[:, 1]], axis=1)
    return found


def _side(a: Places, b: Places, point: Places) -> NDArray[np.bool_]:
    """On which side of the line from a to b a point lies."""
    found: NDArray[np.bool_] = (b[:, 0] - a[:, 0]) * (point[:, 1] - a[:, 1]) > (
        b[:, 1] - a[:, 1]
    ) * (point[:, 0] - a[:, 0])
    return found
