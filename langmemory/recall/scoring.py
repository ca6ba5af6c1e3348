"""Scoring: from signals to relevance, and from relevance to a score by bounded multipliers.

Relevance is a linear combination of signals in 0..1 with non-negative weights that sum to 1 after
scaling, so it is in 0..1 as well. What a memory is worth apart from the query (age, use, importance,
confidence, priority) only ever multiplies, within named bounds: as arms of their own these destroy
recall (DESIGN §7).

Scores of channels are normalised to 0..1 and summed by weight (Bruch et al. 2023), which keeps how much
better the best is. Reciprocal rank fusion (Cormack et al. 2009) throws that away: on the dev conversations
it fell below keywords alone (.578 against .604 of evidence in the first ten).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.ports.candidates import UNKNOWN_TIME, Floats, Rows, Uses

_DAY_US = 86_400_000_000
_FREQUENT = 20
"""Accesses from which a memory counts as often used."""


def relevance(signals: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """float32[n], 0..1: weighted mean of the signals, by their `shares`."""
    score = np.zeros(len(next(iter(signals.values()))), dtype=np.float32)
    for name, share in shares(signals, weights).items():
        score += np.float32(share) * signals[name]
    return score


def shares(signals: Collection[str], weights: Mapping[str, float]) -> dict[str, float]:
    """How much of the relevance each signal decides: those with a weight, sum 1; weights of absent
    signals do not count."""
    present = {name: weight for name in signals if (weight := weights.get(name, 0.0))}
    total = sum(present.values())
    return {name: weight / total for name, weight in present.items()} if total > 0 else {}


def strength(
    age_days: float | Floats,
    *,
    accesses: int | NDArray[np.int64] = 0,
    importance: float | Floats = 0.5,
    half_life_days: float = 60.0,
) -> Floats:
    """Retention of a memory, 0..1: Ebbinghaus' curve 2^(-t / h), where every doubling of accesses
    adds a half-life to h and importance stretches it by half to one and a half.

    ``age_days`` is the time since the last access. Sources: Ebbinghaus 1885; MemoryBank (Zhong et
    al. 2023), where a recalled memory decays more slowly.
    """
    stretched = (
        half_life_days
        * (1.0 + np.log2(1.0 + np.asarray(accesses)))
        * (0.5 + np.asarray(importance))
    )
    kept: Floats = np.exp2(-np.maximum(np.asarray(age_days), 0.0) / stretched).astype(np.float32)
    return kept


def facets(
    rows: Rows, uses: Uses | None, now: int, *, half_life_days: float, wanted: Collection[str]
) -> dict[str, Floats]:
    """Query-independent properties of items, float32[n], 0..1: those ``wanted`` of `NEUTRAL`; what
    asks for ``uses`` only with them. ``now`` in microseconds."""
    found: dict[str, Floats] = {"importance": rows.importance, "confidence": rows.confidence}
    if "recency" in wanted:
        age = np.maximum(now - rows.said_at, 0)
        found["recency"] = np.exp2(-age / (half_life_days * _DAY_US)).astype(np.float32)
    if uses is not None and "frequency" in wanted:
        used = np.log1p(uses.access_count) / np.log1p(_FREQUENT)
        found["frequency"] = np.minimum(used, 1.0).astype(np.float32)
    if uses is not None and "strength" in wanted:
        found["strength"] = strength(
            ((now - uses.accessed_at) / _DAY_US).astype(np.float32),
            accesses=uses.access_count,
            importance=rows.importance,
            half_life_days=half_life_days,
        )
    return found


OF_USE: Final = frozenset(("frequency", "strength"))
"""Those of the next that ask how an item was used."""
NEUTRAL: Mapping[str, float] = {
    "recency": 0.5,
    "frequency": 0.0,
    "importance": 0.5,
    "confidence": 1.0,
    "strength": 0.5,
}
"""Facet values that leave a score as it is."""


def multipliers(properties: Mapping[str, Floats], ranges: Mapping[str, float]) -> dict[str, Floats]:
    """By name, float32[n] around 1: ``1 + width * (facet - neutral)``.

    A width of 0.1 bounds importance to 0.95..1.05. Facets without a width are left out.
    """
    return {
        name: (1.0 + np.float32(width) * (properties[name] - np.float32(NEUTRAL[name]))).astype(
            np.float32
        )
        for name, width in ranges.items()
        if width
    }


def fuse(channels: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Return float32[n], 0..1, from float32[n] of each channel: the weighted mean of the min-max
    normalised scores. A channel without weight does not count."""
    total = sum(weights.get(name, 0.0) for name in channels)
    if total <= 0:
        return weighted_sum(channels, {})
    shares = {name: weights.get(name, 0.0) / total for name in channels}
    weighed = {name: min_max(scores) for name, scores in channels.items() if shares[name]}
    return weighted_sum(weighed, shares)


def weighted_sum(channels: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Return float32[n]: the scores of the channels as they are, each times its weight."""
    length = len(next(iter(channels.values()))) if channels else 0
    fused = np.zeros(length, dtype=np.float32)
    for name, scores in channels.items():
        if weight := weights.get(name, 0.0):
            fused += np.float32(weight) * scores
    return fused


def min_max(scores: Floats) -> Floats:
    """Min-max to 0..1; where all scores are the same, 1 for those above 0: a single memory that is
    found is not one that nothing speaks for."""
    if len(scores) == 0:
        return scores
    low = scores.min()
    spread = scores.max() - low
    if spread <= 0:
        return (scores > 0).astype(np.float32)
    scaled: Floats = (scores - low) / spread
    return scaled


GONE: Final = frozenset(("superseded", "archived"))
"""Statuses of what no longer holds."""


def stale(rows: Rows, at: int) -> Floats:
    """float32[n]: 1 for what was superseded, archived, expired or no longer true at a time
    (microseconds), else 0."""
    ended = _before(rows.invalid_at, at) | _before(rows.expired_at, at)
    if not GONE.isdisjoint(rows.status):
        ended |= np.fromiter((status in GONE for status in rows.status), np.bool_, len(rows.ids))
    gone: Floats = ended.astype(np.float32)
    return gone


def _before(times: NDArray[np.int64], at: int) -> NDArray[np.bool_]:
    passed: NDArray[np.bool_] = (times != UNKNOWN_TIME) & (times <= at)
    return passed
