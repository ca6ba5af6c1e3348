"""The memory blocks of prompts: how much of them is evidence, and whether a score tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from langmemory.parts.evals.corpus import Label, Question
from langmemory.parts.evals.metrics import Bin, auroc, calibration_error, reliability
from langmemory.parts.evals.systems import BlockSystem

PAIRS_DEPTH = 10
"""Results of a query whose scores are compared with whether they are evidence: as many as
`RecallNode` asks for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptOutcome:
    """The memory block that one prompt was given."""

    question: str
    label: Label
    block: tuple[bool, ...]
    """Whether each memory in the block is evidence, in the order of the block."""
    recall: float | None
    """Share of the evidence that is in the block; None for a prompt that has none."""
    tokens: int
    """Of the block."""
    pairs: tuple[tuple[float, bool], ...]
    """Score of each of the first results, and whether it is evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptFigures:
    """The figures of all prompts of one system."""

    prompts: Mapping[Label, int]
    """How many there are with each label that occurs."""
    with_block: Mapping[Label, float]
    """Which share of these is given any memory."""
    precision: float | None
    """Share of evidence in what all blocks hold together; None if they hold nothing."""
    precision_answerable: float | None
    """The same for answerable prompts alone."""
    recall: float | None
    """Mean share of the evidence of an answerable prompt that is in its block."""
    tokens: float | None
    """Mean tokens of the block of an answerable prompt, empty ones included."""
    pairs: int
    auroc: float | None
    """Of the scores of all results, evidence against the rest."""
    calibration_error: float | None
    """Expected calibration error of these scores, over `reliability`."""
    reliability: tuple[Bin, ...]


def prompt_outcomes(questions: Sequence[Question], system: BlockSystem) -> Iterator[PromptOutcome]:
    """Give a system the prompts among these questions, in a thread of its own each."""
    for question in questions:
        if (label := question.prompt) is None:
            continue
        block = system.block(question)
        found = system.search(question, PAIRS_DEPTH)
        evidence = question.evidence.keys()
        shown = {turn for entry in block.entries for turn in entry}
        yield PromptOutcome(
            question=question.id,
            label=label,
            block=tuple(not evidence.isdisjoint(entry) for entry in block.entries),
            recall=len(evidence & shown) / len(evidence) if evidence else None,
            tokens=block.tokens,
            pairs=tuple(
                (one.score, not evidence.isdisjoint(one.turns))
                for one in found
                if one.score is not None
            ),
        )


def prompt_figures(outcomes: Sequence[PromptOutcome]) -> PromptFigures:
    """Return the figures of the outcomes of one system."""
    by_label = {
        label: chosen
        for label in get_args(Label)
        if (chosen := [one for one in outcomes if one.label == label])
    }
    answerable = by_label.get("answerable", [])
    pairs = [pair for one in outcomes for pair in one.pairs]
    scores, evidence = [score for score, _ in pairs], [true for _, true in pairs]
    bins = reliability(scores, evidence)
    return PromptFigures(
        prompts={label: len(chosen) for label, chosen in by_label.items()},
        with_block={
            label: _mean([bool(one.block) for one in chosen]) or 0.0
            for label, chosen in by_label.items()
        },
        precision=_precision(outcomes),
        precision_answerable=_precision(answerable),
        recall=_mean([one.recall for one in answerable if one.recall is not None]),
        tokens=_mean([one.tokens for one in answerable]),
        pairs=len(pairs),
        auroc=auroc(scores, evidence),
        calibration_error=calibration_error(bins),
        reliability=bins,
    )


def _precision(outcomes: Sequence[PromptOutcome]) -> float | None:
    return _mean([true for one in outcomes for true in one.block])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
