"""Hops: memories connected to good candidates over the knowledge graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from langmemory.recall.source import CandidateSource, Floats, Ids


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """What hops added, and how it was reached."""

    score: Mapping[int, float] = field(default_factory=dict)
    """By id: the highest score any path gives."""
    path: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """By id: the labels along that path."""


def hop(
    source: CandidateSource,
    ids: Ids,
    score: Floats,
    *,
    depth: int,
    decay: float,
    fan_out: int,
) -> Reached:
    """Follows edges in both directions from the given memories, ``depth`` steps far.

    A memory reached over an edge has ``decay`` times the score of the one it was reached from; the
    best path counts. Where a path leads back to a starting memory, that keeps what is higher.
    """
    best = dict(zip(ids.tolist(), score.tolist(), strict=True))
    path: dict[int, tuple[str, ...]] = {}
    front = ids
    for _ in range(depth):
        if len(front) == 0:
            break
        edges = source.edges(front, fan_out)
        improved: dict[int, None] = {}
        for reached, origin, label in zip(
            edges.ids.tolist(), edges.origins.tolist(), edges.labels, strict=True
        ):
            come_from = int(front[origin])
            carried = best[come_from] * decay
            if carried > best.get(reached, 0.0):
                best[reached] = carried
                path[reached] = (*path.get(come_from, ()), label)
                improved[reached] = None
        front = np.array(list(improved), dtype=np.int64)
    return Reached(score={i: best[i] for i in path}, path=path)
