"""What an evaluation of forgetting found: means, intervals, the lead of ours; as JSON and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.forgetting.exam import FIGURES, RECALL, Answer, Exam, ExamName
from benchmarks.forgetting.orders import KEEP_ALL, OURS
from langmemory.parts.evals.corpus import Corpus
from langmemory.parts.evals.metrics import Estimate, estimate_of_groups
from langmemory.pluralize import count_noun


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyFigures:
    """One policy at one budget."""

    policy: str
    budget: float
    """Share of the derived memories it may keep."""
    kept: float
    """Share it kept: more where too few may go."""
    figures: dict[str, Estimate | None]
    """Mean and 95 % interval over conversations, by `FIGURES`; None where no question has one."""
    lead: Estimate | None
    """How much higher the recall of ours is at this budget, question by question; of ours: than that of
    keeping all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExamReport:
    """One way to part the questions."""

    name: ExamName
    accesses: int
    cited: int
    derived: int
    questions: int
    conversations: int
    policies: tuple[PolicyFigures, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleReport:
    """The whole evaluation."""

    corpus: str
    exams: tuple[ExamReport, ...]

    def to_json(self) -> dict[str, Any]:
        """Return all figures as plain JSON."""
        return asdict(self)


def lifecycle_report(corpus: Corpus, exams: Sequence[Exam]) -> LifecycleReport:
    """Return means and intervals of what `evaluate_lifecycle` found."""
    return LifecycleReport(
        corpus=corpus.name,
        exams=tuple(
            ExamReport(
                name=exam.name,
                accesses=exam.accesses,
                cited=exam.cited,
                derived=exam.derived,
                questions=len(exam.answers[KEEP_ALL, 1.0]),
                conversations=len(
                    {one.question.conversation for one in exam.answers[KEEP_ALL, 1.0]}
                ),
                policies=tuple(_figures(exam, policy, budget) for policy, budget in exam.answers),
            )
            for exam in exams
        ),
    )


def _figures(exam: Exam, policy: str, budget: float) -> PolicyFigures:
    answers, kept = exam.answers[policy, budget], exam.kept[policy, budget]
    lead = None
    if policy != KEEP_ALL:
        ours = exam.answers[OURS, budget]
        theirs = exam.answers[KEEP_ALL, 1.0] if policy == OURS else answers
        lead = _estimate(
            answers,
            [
                (mine.figures[RECALL] or 0.0) - (other.figures[RECALL] or 0.0)
                for mine, other in zip(ours, theirs, strict=True)
            ],
        )
    return PolicyFigures(
        policy=policy,
        budget=budget,
        kept=round(sum(kept) / len(kept), 4) if kept else 1.0,
        figures={name: _estimate(answers, [a.figures[name] for a in answers]) for name in FIGURES},
        lead=lead,
    )


def _estimate(answers: Sequence[Answer], values: Sequence[float | None]) -> Estimate | None:
    groups: dict[str, list[float | None]] = {}
    for answer, value in zip(answers, values, strict=True):
        groups.setdefault(answer.question.conversation, []).append(value)
    return estimate_of_groups(list(groups.values()))


def render_lifecycle(report: LifecycleReport) -> RenderableType:
    """Return the report for a terminal of 100 columns: a table for each exam."""
    return Lines(*(_table(report.corpus, exam) for exam in report.exams))


_HEADS = ("R@10", "R@500t", "facts R@10", "R@500t", "current", "wrong", "timeless")


def _table(corpus: str, exam: ExamReport) -> RenderableType:
    title = (
        f"{corpus}, exam {exam.name}: {count_noun(exam.questions, 'question')} in "
        f"{count_noun(exam.conversations, 'conversation')} after {count_noun(exam.accesses, 'question')} "
        f"and {count_noun(exam.cited, 'citation')}; {count_noun(exam.derived, 'fact')}"
    )
    table = Table(
        title=Text(title, style="bold"), title_justify="left", box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip
    for column in ("policy", "kept", *_HEADS, "ours leads by"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for one in exam.policies:
        table.add_row(
            one.policy,
            f"{one.kept:.2f}",
            *(_short(one.figures[name]) for name in FIGURES),
            _signed(one.lead),
        )
    note = "Wrong and timeless: share of the exam's facts that were archived. The lead of ours is over "
    note += "keeping all. Intervals are in the JSON, over conversations, or questions where there is one."
    return Lines(table, Text(note + "\n", style="dim"))


def _short(one: Estimate | None) -> str:
    return "–" if one is None else f"{one.value:.3f}".replace("0.", ".", 1)


def _signed(one: Estimate | None) -> str:
    return "" if one is None else f"{one.value:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
