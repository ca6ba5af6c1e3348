"""Hops: memories connected to good candidates over the knowledge graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from langmemory.ids import indexes
from langmemory.ports.candidates import CandidateSource, Floats, Ids, ScoredIds


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """Items that hops added, and how it was reached."""

    score: Mapping[int, float] = field(default_factory=dict)
    """By id: the highest score any path gives."""
    path: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """By id: the labels along that path."""
    origin: Mapping[int, int] = field(default_factory=dict)
    """By id: the memory before it on that path."""
    related: Mapping[int, float] = field(default_factory=dict)
    """By id: the highest score a path over a person or thing gives. What evidence alone leads to
    says the same again, and `derivation` counts that already."""

    def closeness(self, ids: Ids, named: ScoredIds) -> Floats:
        """float32[n], 0..1: how near n memories are to what the query names: the score carried to
        them over people and things, or, where they speak of it themselves, how telling that is."""
        near = named.among(ids)
        if self.related:
            reached = np.fromiter(self.related, np.int64)
            worth = np.fromiter(self.related.values(), np.float32)
            near = np.maximum(near, ScoredIds(reached, worth).among(ids))
        return near

    def origins(self, ids: Ids) -> Ids:
        """int64[n]: for each of n ids, the place among them of the memory before it; -1 for none."""
        before = np.full(len(ids), -1, np.int64)
        if self.origin:
            after = indexes(ids, np.fromiter(self.origin, np.int64))
            origins = indexes(ids, np.fromiter(self.origin.values(), np.int64))
            there = after >= 0
            before[after[there]] = origins[there]
        return before


def hop(
    source: CandidateSource,
    ids: Ids,
    score: Floats,
    *,
    depth: int,
    decay: float = 0.7,
    fan_out: int = 8,
    beam: int = 16,
    limit: int = 40,
) -> Reached:
    """Follows edges in both directions from the given memories, ``depth`` steps far.

    A memory reached over an edge has ``decay`` times the edge's weight times the score of the one
    it was reached from; the best path counts. Where a path leads back to a starting memory, that
    keeps what is higher. Each step goes on from the ``beam`` best only, and the ``limit`` best of
    all that was reached are kept: a dense graph costs no more than a sparse one.
    """
    best = dict(zip(ids.tolist(), score.tolist(), strict=True))
    path: dict[int, tuple[str, ...]] = {}
    before: dict[int, int] = {}
    related: dict[int, float] = {}
    front = ids
    for _ in range(depth):
        front = np.array(sorted(front.tolist(), key=lambda one: -best[one])[:beam], np.int64)
        if len(front) == 0:
            break
        edges = source.edges(front, fan_out)
        improved: dict[int, None] = {}
        for reached, origin, weight, label, over in zip(
            edges.ids.tolist(), edges.origins.tolist(), edges.weights.tolist(), edges.labels,
            edges.related.tolist(), strict=True,
        ):  # fmt: skip
            come_from = int(front[origin])
            carried = best[come_from] * decay * weight
            through = carried if over else related.get(come_from, 0.0) * decay * weight
            if through > related.get(reached, 0.0):
                related[reached] = through
            if carried > best.get(reached, 0.0):
                best[reached] = carried
                path[reached] = (*path.get(come_from, ()), label)
                before[reached] = come_from
                improved[reached] = None
        front = np.array(list(improved), dtype=np.int64)
    # What a path leads through has a higher score than its end, so no path is cut in the middle.
    kept = sorted(path, key=lambda one: -best[one])[:limit]
    return Reached(
        score={i: best[i] for i in kept},
        path=path,
        origin=before,
        related={i: related[i] for i in kept if i in related},
    )
