"""Retention and salience: how much of a memory is left, and how much it counts. Calculated when read.

Verbatim turns have neither: what was said does not fade.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from langmemory.formation.temporal_class import temporal_class
from langmemory.ports.candidates import UNKNOWN_TIME, Floats
from langmemory.ports.lifecycle import Aged, Counts, Times
from langmemory.types import Ageing, TemporalClass

DAY_US: Final = 86_400_000_000

FACTORS: Final[Mapping[str, float]] = {"episodic": 0.5, "procedural": 2.0, "archival": 4.0}
"""Half-lives by temporal class and by kind, as multiples; of others 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionOptions:
    """How fast memories fade. The formula and its constants are those of Quaid: ``R = 2^(-t / h)`` with
    ``h = half_life_days × (1 + per_use × uses) × (verified_factor if verified)``."""

    half_life_days: float = 60.0
    """Days after which half of an unused memory is left."""
    per_use: float = 0.15
    """Share of a half-life that each use adds. A use is a citation; one that proved right counts twice."""
    per_retrieval: float = 0.0
    """Share of a half-life that each prompt adds in which a memory stood, cited or not."""
    per_near_miss: float = 0.0
    """By what share a memory fades faster for each prompt in which it stood and was not cited."""
    verified_factor: float = 2.0
    """How many times as long a memory lasts that a person confirmed."""
    factors: Mapping[str, float] = field(default_factory=dict)
    """Half-lives by temporal class and by kind, as multiples, which go before `FACTORS`; timeless facts do
    not fade."""

    @classmethod
    def of(cls, days: float | Mapping[Any, float]) -> RetentionOptions:
        """Return the options for half-lives in days: one for all, or by class and kind, of which
        ``default`` are those of all others."""
        if not isinstance(days, Mapping):
            return cls(half_life_days=days)
        default = days.get("default", cls().half_life_days)
        factors = {name: one / default for name, one in days.items() if name != "default"}
        return cls(half_life_days=default, factors=factors)


@dataclass(frozen=True, kw_only=True, slots=True)
class SalienceWeights:
    """Shares of salience, which sum to 1. Counts enter as ``log(1 + n) / log(1 + enough)``, at most 1."""

    retention: float = 0.30
    importance: float = 0.20
    confidence: float = 0.15
    evidence: float = 0.15
    use: float = 0.15
    degree: float = 0.05


ENOUGH: Final[Mapping[str, int]] = {"evidence": 10, "use": 25, "degree": 50}
"""Counts from which more adds nothing."""

RETENTION: Final = RetentionOptions()
WEIGHTS: Final = SalienceWeights()


def classes(aged: Aged) -> list[TemporalClass]:
    """Return how each memory ages."""
    seen: dict[tuple[str, str, str], TemporalClass] = {}
    found = []
    for told in zip(aged.relation, aged.fact_kind, aged.temporal_class, strict=True):
        if told not in seen:
            seen[told] = temporal_class(*told)
        found.append(seen[told])
    return found


def half_life_days(aged: Aged, options: RetentionOptions = RETENTION) -> Floats:
    """float32[n]: days after which half of each memory is left; infinite for what does not fade."""
    uses = aged.cited + aged.right
    strengthened = 1 + options.per_use * uses + options.per_retrieval * aged.loaded
    missed = np.maximum(aged.loaded - aged.cited, 0)
    days = options.half_life_days * strengthened / (1 + options.per_near_miss * missed)
    days = np.where(aged.verified, days * options.verified_factor, days)
    factors = {**FACTORS, **options.factors, "timeless": np.inf}
    days = days * _factors(aged.kind, factors) * _factors(classes(aged), factors)
    found: Floats = np.where(aged.pinned, np.inf, days).astype(np.float32)
    return found


def age_days(aged: Aged, now: int) -> Floats:
    """float32[n]: days since each memory was last said or cited; what is to come has age 0."""
    last = np.maximum(aged.told_at, aged.used_at)  # UNKNOWN_TIME is the smallest number
    coming = np.where(aged.ends_at == UNKNOWN_TIME, last, np.maximum(last, aged.ends_at))
    episodic = np.fromiter((one == "episodic" for one in classes(aged)), np.bool_, len(aged))
    since: Times = np.where(episodic, coming, last)
    found: Floats = (np.maximum(now - since, 0) / DAY_US).astype(np.float32)
    return found


def retention(aged: Aged, now: int, options: RetentionOptions = RETENTION) -> Floats:
    """float32[n], 0..1: ``2^(-age / half-life)``; 1 for what is pinned or timeless.

    Args:
        aged: Derived memories.
        now: Microseconds since 1970 UTC.
        options: Half-lives.
    """
    found: Floats = np.exp2(-age_days(aged, now) / half_life_days(aged, options)).astype(np.float32)
    return found


def salience_parts(
    aged: Aged, now: int, options: RetentionOptions = RETENTION
) -> dict[str, Floats]:
    """By name, float32[n], 0..1: the parts that `salience` weighs."""
    return {
        "retention": retention(aged, now, options),
        "importance": aged.importance,
        "confidence": aged.confidence,
        "evidence": _share(aged.evidence, ENOUGH["evidence"]),
        "use": _share(aged.cited + aged.right, ENOUGH["use"]),
        "degree": _share(aged.degree, ENOUGH["degree"]),
    }


def salience(
    aged: Aged,
    now: int,
    options: RetentionOptions = RETENTION,
    weights: SalienceWeights = WEIGHTS,
) -> Floats:
    """float32[n], 0..1: how much each memory counts; 1 for what is pinned."""
    score = np.zeros(len(aged), np.float32)
    for name, part in salience_parts(aged, now, options).items():
        score += np.float32(getattr(weights, name)) * part
    found: Floats = np.where(aged.pinned, np.float32(1), score).astype(np.float32)
    return found


def ageing(aged: Aged, now: int, options: RetentionOptions = RETENTION) -> list[Ageing]:
    """Return for each memory how far it has faded."""
    parts = salience_parts(aged, now, options)
    scores, left, ages = salience(aged, now, options), parts["retention"], age_days(aged, now)
    days, kinds = half_life_days(aged, options), classes(aged)
    return [
        Ageing(
            temporal_class=kinds[place],
            retention=round(float(left[place]), 4),
            salience=round(float(scores[place]), 4),
            parts={name: round(float(part[place]), 4) for name, part in parts.items()},
            age_days=round(float(ages[place]), 2),
            half_life_days=float(days[place]),
            uses=int(aged.cited[place] + aged.right[place]),
            used_at=None if used == UNKNOWN_TIME else datetime.fromtimestamp(used / 1e6, UTC),
        )
        for place, used in enumerate(aged.used_at.tolist())
    ]


def _share(counts: Counts, enough: int) -> Floats:
    found: Floats = np.minimum(np.log1p(counts) / np.log1p(enough), 1.0).astype(np.float32)
    return found


def _factors(names: Sequence[str], by_name: Mapping[str, float]) -> Floats:
    return np.fromiter((by_name.get(one, 1.0) for one in names), np.float32, len(names))
