"""How sure a mean over questions is: percentile bootstrap intervals (Efron 1979), seeded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

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
