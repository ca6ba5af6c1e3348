"""How far a score can be taken for the probability that what it stands for is evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 10
"""Of equal mass: each has as many pairs as the next, or one more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bin:
    """Pairs of similar scores."""

    pairs: int
    score: float
    """Their mean score."""
    evidence: float
    """Which share of them is evidence."""


def auroc(scores: Sequence[float], evidence: Sequence[bool]) -> float | None:
    """Return how often a piece of evidence has a higher score than something else has.

    This is the area under the receiver operating characteristic; a tie counts as a half
    (Hanley & McNeil 1982).

    Args:
        scores: one a pair of a query and a result.
        evidence: whether that result is evidence for that query.

    Returns:
        0..1, 0.5 for a score that tells nothing; None where all pairs, or none, are evidence.
    """
    true = np.asarray(evidence, dtype=bool)
    positives, negatives = int(true.sum()), int((~true).sum())
    if not positives or not negatives:
        return None
    _, place, counts = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # of tied scores, the mean of their ranks
    above = ranks[place][true].sum() - positives * (positives + 1) / 2
    return float(above / (positives * negatives))


def reliability(
    scores: Sequence[float], evidence: Sequence[bool], bins: int = BINS
) -> tuple[Bin, ...]:
    """Return the bins of equal mass, lowest scores first; none is empty.

    Pairs with the same score count alike, so that the order they come in makes no difference.
    """
    values, place = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    share = np.bincount(place, weights=np.asarray(evidence, dtype=float)) / np.bincount(place)
    order = np.sort(place)
    parts: list[NDArray[np.int64]] = np.array_split(order, min(bins, len(order)) or 1)
    return tuple(
        Bin(pairs=len(part), score=float(values[part].mean()), evidence=float(share[part].mean()))
        for part in parts
        if len(part)
    )


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return the expected calibration error: how far the mean score of a bin is from its share of
    evidence, on average over pairs (Naeini et al. 2015); None without pairs."""
    total = sum(one.pairs for one in bins)
    if not total:
        return None
    return sum(one.pairs * abs(one.score - one.evidence) for one in bins) / total
