"""How good results are, given the evidence. Every score is in 0..1, higher is better.

A mean over questions has a seeded percentile bootstrap interval (Efron 1979). Calibration compares scores
with the share of results that are evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

DEPTHS = (1, 5, 10, 20)
"""Ranks at which recall, any and all are read."""

NDCG_DEPTH = 10

BUDGET_TOKENS = 500
"""How much a reader reads for ``recall@500tokens``: ten turns of a chat, and what a prompt has room
for. Results differ in length, and what they cost is what they say in full."""

WITHIN_BUDGET = f"recall@{BUDGET_TOKENS}tokens"

METRICS = (
    *(f"recall@{k}" for k in DEPTHS),
    *(f"any@{k}" for k in DEPTHS),
    *(f"all@{k}" for k in DEPTHS),
    f"ndcg@{NDCG_DEPTH}",
    "mrr",
    WITHIN_BUDGET,
)
"""Names of all scores, in the order `score` returns them."""


def score(
    ranking: Sequence[str], evidence: Mapping[str, float], read: Collection[str]
) -> dict[str, float]:
    """All of `METRICS` for one question.

    Args:
        ranking: ids, best first, without duplicates.
        evidence: gain (> 0) by id; not empty.
        read: ids that the best results of `BUDGET_TOKENS` speak of.
    """
    found = [k for k, item in enumerate(ranking, start=1) if item in evidence]
    hits = {k: sum(rank <= k for rank in found) for k in DEPTHS}
    return {
        **{f"recall@{k}": hits[k] / len(evidence) for k in DEPTHS},
        **{f"any@{k}": float(hits[k] > 0) for k in DEPTHS},
        **{f"all@{k}": float(hits[k] == len(evidence)) for k in DEPTHS},
        f"ndcg@{NDCG_DEPTH}": _ndcg(ranking, evidence, NDCG_DEPTH),
        "mrr": 1 / found[0] if found else 0.0,
        WITHIN_BUDGET: sum(item in read for item in evidence) / len(evidence),
    }


def leads(ranking: Sequence[str], evidence: Collection[str], rivals: Collection[str]) -> bool:
    """Return whether a piece of evidence is in the ranking and stands before every rival."""
    first = next((one for one in ranking if one in evidence or one in rivals), None)
    return first in evidence


def _ndcg(ranking: Sequence[str], evidence: Mapping[str, float], depth: int) -> float:
    """Normalised discounted cumulative gain with linear gains, as trec_eval computes it
    (Järvelin & Kekäläinen 2002; ranks start at 1, discount log2(rank + 1))."""
    gains = [evidence.get(item, 0.0) for item in ranking[:depth]]
    ideal = sorted(evidence.values(), reverse=True)[:depth]
    return _dcg(gains) / _dcg(ideal)


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


RESAMPLES = 1000
SEED = 0

DIGITS = 6
"""Figures are rounded, so that the last bit of a sum makes no difference between machines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A mean and its 95 % interval."""

    value: float
    low: float
    high: float


def estimate(scores: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """Mean and interval of each score, over questions drawn again with replacement.

    With paired differences as scores this is the paired bootstrap: an interval that leaves out
    zero says that one system is better than the other on these questions.

    Args:
        scores: one mapping a question, all with the same names; at least one.
    """
    names = list(scores[0])
    values = np.array([[row[name] for name in names] for row in scores])
    count = len(scores)
    draws = np.random.default_rng(SEED).integers(count, size=(RESAMPLES, count))
    draws += np.arange(RESAMPLES)[:, None] * count  # each resample counts in its own row
    times_drawn = np.bincount(draws.ravel(), minlength=RESAMPLES * count)
    means = times_drawn.reshape(RESAMPLES, count) @ values / count
    low, high = np.percentile(means, [2.5, 97.5], axis=0).round(DIGITS).tolist()
    value = values.mean(axis=0).round(DIGITS).tolist()
    return {
        name: Estimate(value=value[i], low=low[i], high=high[i]) for i, name in enumerate(names)
    }


def estimate_of_groups(groups: Sequence[Sequence[float | None]]) -> Estimate | None:
    """Mean over all questions and its interval, over groups (conversations) drawn again with replacement.

    Questions of one conversation resemble each other: drawn by themselves they give too narrow an
    interval. Where only one group has a figure, its questions are drawn.

    Args:
        groups: A figure for each question of each group; None does not count.

    Returns:
        None where no question has a figure.
    """
    known = [[one for one in group if one is not None] for group in groups]
    known = [group for group in known if group]
    if len(known) == 1:
        known = [[one] for one in known[0]]
    if not known:
        return None
    sums, counts = np.array([sum(group) for group in known]), np.array([len(g) for g in known])
    drawn = np.random.default_rng(SEED).integers(len(known), size=(RESAMPLES, len(known)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).round(DIGITS).tolist()
    return Estimate(value=round(float(sums.sum() / counts.sum()), DIGITS), low=low, high=high)


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
