"""How the arrows of a picture run, and where their labels stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from langmemory.stores.graph.untangling import CLEAR, Places, behind

FAN: Final = 0.24
"""Bend between two arrows that connect the same two boxes, as a share of their length."""
DETOURS: Final = (0.0, 0.12, -0.12, 0.24, -0.24, 0.36, -0.36, 0.5, -0.5, 0.7, -0.7)
"""Bends tried to get around boxes, the smallest first."""
LOOP: Final = 1.6
"""Bend of an arrow from a box to itself, from its left to its right, around below."""
STEPS: Final = 24
"""Straight pieces an arrow is looked at in."""
AIR: Final = (0.08, 0.03)
"""Inches between a label and what else there is, both sides together."""
SHARES: Final = tuple(0.5 + sign * step / 50 for step in range(19) for sign in (1, -1))
"""Where along an arrow its label may stand, its middle first."""


def bends(pairs: Sequence[tuple[int, int]], at: Places, sizes: Places) -> list[float]:
    """The bend of each arrow, as matplotlib's ``arc3`` takes it: several between the same two boxes
    fan out, and what would run behind a third box goes around it, if it can.

    Args:
        pairs: Boxes from and to which they go.
        at: The middle of each box.
        sizes: Its width and height.
    """
    between = Counter(map(frozenset, pairs))
    drawn: Counter[frozenset[int]] = Counter()
    found = []
    for start, end in pairs:
        if start == end:
            found.append(LOOP)
            continue
        pair = frozenset((start, end))
        drawn[pair] += 1
        # Seen from the same end each time.
        fan = FAN * (drawn[pair] - (between[pair] + 1) / 2) * (1 if start < end else -1)
        others = np.array([box not in pair for box in range(len(at))])
        tries = [fan + detour for detour in DETOURS]
        hidden = [_hidden(at[start], at[end], bend, at[others], sizes[others]) for bend in tries]
        found.append(tries[int(np.argmin(np.round(hidden, 3)))])
    return found


def point(start: Places, end: Places, bend: float, share: float | Places) -> Places:
    """Where on an arrow this share of its way is: the quadratic Bézier curve arc3 draws."""
    along = end - start
    share = np.asarray(share)[..., None]
    sideways = bend * np.array((along[1], -along[0]))
    found: Places = start + share * along + 2 * share * (1 - share) * sideways
    return found


def ends_of(start: Places, end: Places, size: Places, *, loop: bool) -> tuple[Places, Places]:
    """Where an arrow begins and ends; one from a box to itself, at the two sides of its foot."""
    if not loop:
        return start, end
    across, below = np.array((size[0] / 4, 0)), start - (0, size[1] / 2)
    return below - across, below + across


def label_places(
    curves: Sequence[tuple[Places, Places, float]], labels: Places, at: Places, sizes: Places
) -> list[Places]:
    """The middle of each arrow's label: where it covers least, of boxes and of other labels, and
    then of other arrows, as near to the arrow's middle as that is possible.

    Args:
        curves: Begin, end and bend of each arrow.
        labels: Width and height of each label.
        at: The middle of each box.
        sizes: Its width and height.
    """
    taken = [(*place, *size) for place, size in zip(at, sizes, strict=True)]
    lines = np.array([point(*curve, np.linspace(0, 1, STEPS // 3 + 1)) for curve in curves])
    found = []
    for number, (curve, size) in enumerate(zip(curves, labels, strict=True)):
        boxes, size = np.array(taken), size + np.array(AIR)
        here = point(*curve, np.array(SHARES))
        over = np.abs(boxes[None, :, :2] - here[:, None]) - (boxes[:, 2:] + size) / 2
        covered = np.minimum(0, over).prod(axis=2).sum(axis=1)
        others = np.delete(lines, number, axis=0)
        crossed = np.zeros(len(here))
        if len(others):
            starts, ends = others[:, :-1].reshape(-1, 2), others[:, 1:].reshape(-1, 2)
            crossed = behind(starts, ends, here, np.tile(size / 2, (len(here), 1))).sum(axis=0)
        worse = 100 * covered + crossed + 0.3 * np.abs(np.array(SHARES) - 0.5)
        best = here[int(np.argmin(worse))]
        taken.append((*best, *size))
        found.append(best)
    return found


def _hidden(start: Places, end: Places, bend: float, at: Places, sizes: Places) -> float:
    """Inches of an arrow behind boxes, the space around them included."""
    if not len(at):
        return 0.0
    line = point(start, end, bend, np.linspace(0, 1, STEPS + 1))
    return float(behind(line[:-1], line[1:], at, sizes / 2 + CLEAR / 2).sum())
