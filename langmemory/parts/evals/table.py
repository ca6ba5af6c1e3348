"""A report as rich tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from rich.box import SIMPLE_HEAD
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from langmemory.parts.evals.answering import SystemAnswers
from langmemory.parts.evals.corpus import CHAIN, Label
from langmemory.parts.evals.metrics import BINS, WITHIN_BUDGET, Estimate
from langmemory.parts.evals.report import POOLED, Report, Split, SystemReport
from langmemory.pluralize import count_noun
from langmemory.types import Granularity

HEADLINE: Mapping[Granularity, tuple[str, ...]] = {
    "turn": ("recall@1", "recall@5", "recall@10", WITHIN_BUDGET, "ndcg@10", "mrr"),
    "session": ("recall@1", "recall@5", "recall@10", "any@5", "any@10", "ndcg@10"),
}
"""The scores a terminal line has room for; the rest is in the JSON."""

INTERVALS_FOR = 3
"""Systems whose intervals have room side by side; those of more are in the JSON."""
FOLDED_FROM = 8
"""Letters from which a word of a heading is broken where a line is full."""
NAMED = 20
"""Questions that are named where they are left out."""
SPLITS: tuple[Split, ...] = ("tuning", "held-out")


def render(report: Report) -> RenderableType:
    """The report for a terminal: pooled, by category, by split, ablation, and what was left out."""
    return Lines(*_parts(report))


def columns_for(report: Report) -> int:
    """Columns of a terminal in which no figure is cut off: 80 for eight systems and categories of
    eleven letters. Where there are fewer, a line had better go on in the next one."""
    longest = max((len(group.category) for s in report.systems for group in s.groups), default=0)
    return 80 + 9 * max(0, len(report.systems) - 8) + max(0, longest - 11)


def _parts(report: Report) -> Iterator[RenderableType]:
    yield Text(
        f"{report.corpus}: {count_noun(report.questions, 'question')}, {count_noun(report.turns, 'turn')} "
        f"in {count_noun(report.conversations, 'conversation')}, {report.granularity} level\n"
    )
    yield _pooled(report)
    yield _by_category(report, "recall@10")
    if report.granularity == "turn":
        yield _by_category(report, WITHIN_BUDGET)
    if CHAIN in _categories(report):
        yield _by_category(report, "all@10", [CHAIN])
    if any(one.leads is not None for system in report.systems for one in system.outcomes):
        yield _leading(report)
    if any(system.prompts for system in report.systems):
        yield _prompts(report)
    if report.tuning:
        yield _by_split(report)
    if report.ablations:
        yield _ablation(report)
    yield from _left_out(report)


def _table(title: str, *columns: str, first: str = "system", gap: int = 2) -> Table:
    """Narrow enough for 80 columns."""
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, gap - 1, 0, 0),
        pad_edge=False,
    )
    table.add_column(first, no_wrap=True)
    for column in columns:
        folds = any(len(line) > FOLDED_FROM for line in column.split("\n"))
        table.add_column(
            column,
            justify="right",
            no_wrap=not folds,
            overflow="fold",
            min_width=4 if folds else None,
        )
    return table


def _pooled(report: Report) -> Table:
    names = HEADLINE[report.granularity]
    table = _table(
        "Pooled, with the 95 % interval of R@10 and milliseconds a search",
        *(*map(_short, names), "R@10 95 %", "p50", "p95"),
    )
    for system in report.systems:
        if not _has(system, POOLED):
            table.add_row(system.name, _reason(system))
            continue
        group = system.group()
        table.add_row(
            system.name,
            *(_number(group.metrics[name].value) for name in names),
            _interval(group.metrics["recall@10"]),
            f"{system.latency_ms(50):.2f}",
            f"{system.latency_ms(95):.2f}",
        )
    return table


def _categories(report: Report) -> dict[str, int]:
    """How many questions each category has, by its name."""
    return {
        group.category: group.questions
        for system in report.systems
        for group in system.groups
        if group.split == "all" and group.category != POOLED
    }


def _by_category(report: Report, metric: str, only: Sequence[str] | None = None) -> Table:
    """A line a category, since there may be a dozen of them and there are few systems."""
    present = [system for system in report.systems if not system.unavailable]
    table = _category_table(f"{_short(metric)} by category", present)
    for category, questions in _categories(report).items():
        if only is not None and category not in only:
            continue
        scores = [system.group(category).metrics[metric] for system in present]
        cells = [Text(_number(score.value)) for score in scores]
        if len(present) <= INTERVALS_FOR:
            for cell, score in zip(cells, scores, strict=True):
                cell.append(f" {_interval(score)}", style="dim")
        table.add_row(Text(category), str(questions), *cells)
    return table


def _category_table(title: str, systems: Sequence[SystemReport]) -> Table:
    return _table(
        title,
        "n",
        *(_folded(system.name) for system in systems),
        first="category",
        gap=2 if len(systems) <= INTERVALS_FOR else 1,
    )


def _folded(name: str) -> str:
    """A system's name with a line for each of its words."""
    return re.sub(r"[ .]|(?<=[a-z])(?=[A-Z])", "\n", name)


def _leading(report: Report) -> Table:
    """How often evidence stands before what the data says must not stand before it."""
    present = [system for system in report.systems if not system.unavailable]
    table = _category_table("Evidence before its rivals (outdated, or of something else)", present)
    for category in _categories(report):
        counts = [system.leading(category) for system in present]
        if counts and counts[0][1]:
            shares = (_number(leads / count) for leads, count in counts)
            table.add_row(Text(category), str(counts[0][1]), *shares)
    return table


def _prompts(report: Report) -> Table:
    """Tell how much evidence an agent's memory block holds, which prompts get one, and how good the
    scores of the first results are as probabilities."""
    shown = [(s.name, s.prompts) for s in report.systems if s.prompts]
    table = _table(
        "Memory block of an agent's prompt, and scores",
        *(_folded(name) for name, _ in shown),
        first="",
        gap=2 if len(shown) <= INTERVALS_FOR else 1,
    )
    rows: list[tuple[str, list[float | None]]] = [
        ("evidence in the block: precision", [p.precision for _, p in shown]),
        ("  of answerable prompts alone", [p.precision_answerable for _, p in shown]),
        ("  recall", [p.recall for _, p in shown]),
        *(
            (f"{label} prompts with a block", [p.with_block.get(label) for _, p in shown])
            for label in get_args(Label)
            if any(label in p.prompts for _, p in shown)
        ),
        ("AUROC of scores", [p.auroc for _, p in shown]),
        (f"calibration error ({BINS} equal bins)", [p.calibration_error for _, p in shown]),
    ]
    for name, values in rows:
        table.add_row(name, *("" if value is None else _number(value) for value in values))
    table.add_row("tokens of a block", *(f"{p.tokens or 0:.0f}" for _, p in shown))
    return table


def render_answers(answers: Sequence[SystemAnswers]) -> RenderableType:
    """The answers of a reader for a terminal: right ones, their cost, and by category."""
    table = _table(
        "Answers: share that is right, words in common with the right one, and what a question costs",
        *(
            "right",
            "unclear",
            "F1",
            "prompt tokens",
            "answer tokens",
            "seconds",
            "calls",
            "judge's",
        ),
    )
    for one in answers:
        if not one.answered:
            table.add_row(one.name, one.unavailable or "")
            continue
        cost, count = one.cost, len(one.answered)
        table.add_row(
            one.name,
            *map(_number, (one.share("right"), one.share("unclear"), one.overlap)),
            f"{cost.prompt_tokens / count:.0f}",
            f"{cost.answer_tokens / count:.0f}",
            f"{cost.seconds / count:.2f}",
            *(f"{calls / count:.2f}" for calls in (cost.calls, one.judging.calls)),
        )
    counts = Counter(one.category for report in answers[:1] for one in report.answered)
    names = sorted(counts)
    by_category = _table(
        "Right answers by category", *(f"{_folded(name)} ({counts[name]})" for name in names)
    )
    for one in answers:
        if one.answered:
            by_category.add_row(one.name, *(_number(one.share("right", name)) for name in names))
    return Lines(table, by_category)


def _by_split(report: Report) -> Table:
    names = ("recall@1", "recall@5", "recall@10", "ndcg@10")
    table = _table(
        f"Pooled: {', '.join(report.tuning)} (tuning) | the others (held out)",
        *map(_short, names),
    )
    for system in report.systems:
        if not all(_has(system, POOLED, split) for split in SPLITS):
            table.add_row(system.name, _reason(system))
            continue
        groups = [system.group(split=split).metrics for split in SPLITS]
        cells = (" | ".join(_number(group[name].value) for group in groups) for name in names)
        table.add_row(system.name, *cells)
    return table


def _ablation(report: Report) -> Table:
    base = report.systems[0]
    names = ("recall@1", "recall@5", "recall@10", "ndcg@10")
    columns = (*map(_short, names), "change of R@10", "p50")
    table = _table(f"Ablation: {base.name} without …", *columns)
    for system in (base, *report.ablations):
        if not _has(system, POOLED):
            table.add_row(system.name, _reason(system))
            continue
        metrics = system.group().metrics
        table.add_row(
            system.name,
            *(_number(metrics[name].value) for name in names),
            _change(report.difference(system).get("recall@10")),
            f"{system.latency_ms(50):.2f}",
        )
    return table


def _left_out(report: Report) -> Iterator[RenderableType]:
    for system in (*report.systems, *report.ablations):
        if system.unavailable:
            yield Text(f"{system.name} not available: {system.unavailable}", style="yellow")
    if report.missing_evidence:
        ids = count_noun(sum(map(len, report.missing_evidence.values())), "evidence id")
        yield Text(
            f"In no conversation, and part of no score: {ids} of "
            f"{count_noun(len(report.missing_evidence), 'question')}: "
            + _some([f"{q}: {' '.join(m)}" for q, m in report.missing_evidence.items()])
        )
    if report.unanswerable:
        yield Text(
            f"Not scored, having no evidence: {count_noun(len(report.unanswerable), 'question')}: "
            + _some(report.unanswerable)
        )
    if report.known_by_session:
        yield Text(
            f"Of these, the data knows sessions for {report.known_by_session}: "
            "--granularity session asks them."
        )


def _some(names: Sequence[str]) -> str:
    """Enough of them to look at one; a file may have thousands."""
    more = f" and {len(names) - NAMED} more, all in --json" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _has(system: SystemReport, category: str, split: Split = "all") -> bool:
    return any((g.category, g.split) == (category, split) for g in system.groups)


def _reason(system: SystemReport) -> str:
    return "not available" if system.unavailable else "none asked"


def _short(metric: str) -> str:
    names = {"recall": "R", "ndcg@10": "NDCG", "mrr": "MRR", "tokens": "t"}
    for long, short in names.items():
        metric = metric.replace(long, short)
    return metric


def _number(value: float) -> str:
    """ ".787" and "1.00": scores are compared by their digits after the point."""
    return f"{value:.3f}".removeprefix("0") if value < 0.9995 else "1.00"


def _interval(score: Estimate) -> str:
    return f"{_number(score.low)}–{_number(score.high)}"


def _change(change: Estimate | None) -> str:
    return f"{change.value:+.3f} ({change.low:+.3f} … {change.high:+.3f})" if change else ""
