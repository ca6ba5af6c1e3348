"""The results of an evaluation: plain values, from single questions up to groups with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from langmemory.parts.evals.corpus import APART
from langmemory.parts.evals.metrics import METRICS, Estimate, estimate
from langmemory.parts.evals.prompts import PromptFigures
from langmemory.types import Granularity

Split = Literal["all", "tuning", "held-out"]

POOLED = "pooled"
"""The group of all categories but those reported apart."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One question asked of one system."""

    question: str
    category: str
    split: Split
    """"all" where nothing is held out."""
    ranking: tuple[str, ...]
    scores: Mapping[str, float]
    milliseconds: float
    leads: bool | None = None
    """Whether evidence stands before every rival; None for a question without rivals."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """A mean over the questions of one category and split."""

    split: Split
    category: str
    questions: int
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemReport:
    """One system's outcomes, or why there are none."""

    name: str
    unavailable: str | None = None
    """The reason it could not run here."""
    outcomes: tuple[Outcome, ...] = ()
    groups: tuple[Group, ...] = ()
    ingest_seconds: float = 0.0
    prompts: PromptFigures | None = None
    """The figures of its memory blocks; None for a system that makes none."""

    def group(self, category: str = POOLED, split: Split = "all") -> Group:
        """The figures of one category.

        Raises:
            KeyError: there is no such question in this evaluation.
        """
        for group in self.groups:
            if (group.category, group.split) == (category, split):
                return group
        raise KeyError(f"{self.name} has no {category!r} questions in split {split!r}")

    def leading(self, category: str) -> tuple[int, int]:
        """Of how many questions of a category evidence stands before all rivals, and how many have
        rivals."""
        leads = [
            one.leads for one in self.outcomes if one.category == category and one.leads is not None
        ]
        return sum(leads), len(leads)

    def latency_ms(self, percentile: float) -> float:
        """Wall time of one search at a percentile in 0..100."""
        return float(np.percentile([outcome.milliseconds for outcome in self.outcomes], percentile))


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """A whole evaluation."""

    corpus: str
    granularity: Granularity
    conversations: int
    turns: int
    questions: int
    """Scored: with at least one existing piece of evidence."""
    unanswerable: tuple[str, ...]
    """Questions none of whose evidence exists, and which have no label; not scored."""
    known_by_session: int
    """How many of these would be scored if sessions were ranked."""
    missing_evidence: Mapping[str, tuple[str, ...]]
    """Evidence ids that are in no conversation, by question; not part of any score."""
    tuning: tuple[str, ...]
    systems: tuple[SystemReport, ...]
    ablations: tuple[SystemReport, ...] = ()
    """The first system again, each time with one stage switched off."""

    def system(self, name: str) -> SystemReport:
        """One system's part.

        Raises:
            KeyError: it was not evaluated.
        """
        for system in self.systems:
            if system.name == name:
                return system
        raise KeyError(f"{name!r} was not evaluated, only {[s.name for s in self.systems]}")

    def difference(self, system: SystemReport) -> Mapping[str, Estimate]:
        """How much better a system is than the first one, by score, on the pooled questions.

        Empty for the first system itself and where there is nothing to compare.
        """
        first = self.systems[0]
        before = {o.question: o.scores for o in first.outcomes if o.category not in APART}
        if system is first or not system.outcomes or not before:
            return {}
        return estimate(
            [
                {name: o.scores[name] - before[o.question][name] for name in METRICS}
                for o in system.outcomes
                if o.question in before
            ]
        )

    def to_json(self, *, rankings: bool = False) -> dict[str, Any]:
        """The report as JSON values; the same for the same input but for `timing`.

        Args:
            rankings: with every question's ranking and scores.
        """
        return {
            "corpus": self.corpus,
            "granularity": self.granularity,
            "conversations": self.conversations,
            "turns": self.turns,
            "questions": self.questions,
            "unanswerable": list(self.unanswerable),
            "known_by_session": self.known_by_session,
            "missing_evidence": {k: list(v) for k, v in self.missing_evidence.items()},
            "tuning": list(self.tuning),
            "systems": [self._system_json(system, rankings) for system in self.systems],
            "ablations": [self._system_json(system, rankings) for system in self.ablations],
        }

    def _system_json(self, system: SystemReport, rankings: bool) -> dict[str, Any]:
        if system.unavailable:
            return {"name": system.name, "unavailable": system.unavailable}
        answer: dict[str, Any] = {
            "name": system.name,
            "groups": [asdict(group) for group in system.groups],
            "difference": {k: asdict(v) for k, v in self.difference(system).items()},
            "timing": {
                "p50_ms": system.latency_ms(50) if system.outcomes else None,
                "p95_ms": system.latency_ms(95) if system.outcomes else None,
                "ingest_seconds": system.ingest_seconds,
            },
        }
        leading = {name: system.leading(name) for name in {o.category for o in system.outcomes}}
        answer["leading"] = {
            name: {"leads": leads, "questions": count}
            for name, (leads, count) in sorted(leading.items())
            if count
        }
        if system.prompts:
            answer["prompts"] = asdict(system.prompts)
        if rankings:
            answer["outcomes"] = [
                {
                    "question": outcome.question,
                    "category": outcome.category,
                    "ranking": list(outcome.ranking),
                    "scores": dict(outcome.scores),
                    "leads": outcome.leads,
                }
                for outcome in system.outcomes
            ]
        return answer


def summarise(outcomes: Sequence[Outcome], categories: Sequence[str]) -> tuple[Group, ...]:
    """Pooled and per category, over all questions and over each split that has any."""
    splits: tuple[Split, ...] = ("all", "tuning", "held-out")
    groups = []
    for split in splits:
        within = [o for o in outcomes if split in ("all", o.split)]
        for category in (POOLED, *categories):
            chosen = [o for o in within if _belongs(o, category)]
            if chosen:
                groups.append(_group(chosen, category, split))
    return tuple(groups)


def _belongs(outcome: Outcome, category: str) -> bool:
    return outcome.category not in APART if category == POOLED else outcome.category == category


def _group(outcomes: Sequence[Outcome], category: str, split: Split) -> Group:
    return Group(
        split=split,
        category=category,
        questions=len(outcomes),
        metrics=estimate([outcome.scores for outcome in outcomes]),
    )
