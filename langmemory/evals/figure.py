"""A report as a PNG: recall by depth, by category, against latency, and the ablation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from langmemory.errors import with_extra
from langmemory.evals.metrics import DEPTHS, WITHIN_BUDGET
from langmemory.evals.report import POOLED, Group, Report, SystemReport
from langmemory.pluralize import counted
from langmemory.subgraph.picture import fonts_of_any_script

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Distinguishable with any colour vision (Okabe & Ito 2008; grey for yellow, pale on white)."""

MARKERS = "osD^vPX*<"
"""One more than colours: no two of the first 72 systems are drawn alike."""

HEIGHT = (-0.02, 1.02)
"""Of a share: with room for the half of a marker at its ends."""

LETTERS = 72
"""That stand beside each other below a panel."""


def plot(report: Report, path: Path) -> None:
    """Write the report's picture.

    Raises:
        ImportError: matplotlib is not installed; the message says how to get it.
        ValueError: no system could run, so there is nothing to draw.
    """
    systems = [system for system in report.systems if system.outcomes]
    if not systems:
        raise ValueError("nothing to plot: no system could run, or no question was asked")
    figure = _figure(13, 9.5)  # first: what is missing is named for this command
    with fonts_of_any_script():
        _draw(figure, report, systems, path)


def plot_reliability(report: Report, path: Path) -> None:
    """Write the reliability diagram: the share of evidence among results of similar scores.

    A score that is a probability lies on the diagonal.

    Raises:
        ImportError: matplotlib is not installed; the message says how to get it.
        ValueError: no system's scores were evaluated.
    """
    curves = [(s.name, s.prompts) for s in report.systems if s.prompts and s.prompts.reliability]
    if not curves:
        raise ValueError("nothing to plot: no system's scores were evaluated")
    figure = _figure(6.5, 6.5)
    with fonts_of_any_script():
        axes = figure.subplots()
        axes.plot((0, 1), (0, 1), color="black", linewidth=0.8, linestyle="dashed")
        for number, (name, prompts) in enumerate(curves):
            axes.plot(
                [one.score for one in prompts.reliability],
                [one.evidence for one in prompts.reliability],
                label=f"{name}: calibration error {prompts.calibration_error:.3f}",
                **_line_style(number),
            )
        axes.set(
            title=f"{report.corpus}: reliability of scores, bins of equal mass",
            xlabel="mean score",
            ylabel="share that is evidence",
            xlim=HEIGHT,
            ylim=HEIGHT,
        )
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        axes.legend(loc="upper left")
        _save(figure, path)


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"plots need matplotlib: {with_extra('evals')}") from None
    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Any, path: Path) -> None:
    # The same figures are the same file, whichever matplotlib wrote it; other kinds know no such key.
    metadata = {"Software": None} if path.suffix.lower() == ".png" else None
    figure.savefig(path, dpi=130, metadata=metadata)


def _draw(figure: Any, report: Report, systems: list[SystemReport], path: Path) -> None:
    axes = figure.subplots(2, 2)
    _by_depth(axes[0, 0], systems)
    _by_category(axes[0, 1], systems, "recall@10")
    _by_latency(axes[1, 0], systems)
    if report.ablations:
        _ablation(axes[1, 1], report)
    elif report.tuning:
        _by_split(axes[1, 1], systems)
    else:
        second = WITHIN_BUDGET if report.granularity == "turn" else "any@10"
        _by_category(axes[1, 1], systems, second)
    for panel in axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
    figure.suptitle(
        f"{report.corpus}: {counted(report.questions, 'question')}, {report.granularity} level; "
        "bars are 95 % intervals",
        parse_math=False,
    )
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=8)
    _save(figure, path)


def _by_depth(axes: Any, systems: list[SystemReport]) -> None:
    for number, system in enumerate(systems):
        scores = [_pooled(system, f"recall@{depth}") for depth in DEPTHS]
        axes.errorbar(
            DEPTHS,
            [score.value for score in scores],
            yerr=_spread(scores),
            label=system.name,
            **_style(number),
        )
    axes.set(
        title="Recall by depth, pooled",
        xlabel="first k",
        ylabel="evidence found",
        ylim=HEIGHT,
    )
    axes.set_xscale("log")
    axes.set_xticks(DEPTHS, [str(depth) for depth in DEPTHS])
    axes.minorticks_off()


def _by_category(axes: Any, systems: list[SystemReport], metric: str) -> None:
    categories = [group.category for group in systems[0].groups if group.split == "all"]
    rows = [[s.group(category) for category in categories] for s in systems]
    _side_by_side(axes, rows, [_in_lines(one, len(categories)) for one in categories], metric)
    name = metric.capitalize().replace("tokens", " tokens")
    axes.set(title=f"{name} by category", ylim=HEIGHT)


def _by_split(axes: Any, systems: list[SystemReport]) -> None:
    splits = [group.split for group in systems[0].groups if group.category == POOLED]
    rows = [[s.group(split=split) for split in splits] for s in systems]
    _side_by_side(axes, rows, splits, "recall@10")
    axes.set(title="Recall@10 by split, pooled", ylim=HEIGHT)


def _side_by_side(
    axes: Any, rows: Sequence[Sequence[Group]], names: Sequence[str], metric: str
) -> None:
    """One point for each system (row) above each name, slightly apart."""
    for number, groups in enumerate(rows):
        scores = [group.metrics[metric] for group in groups]
        shift = (number - (len(rows) - 1) / 2) * 0.6 / len(rows)
        axes.errorbar(
            [place + shift for place in range(len(names))],
            [score.value for score in scores],
            yerr=_spread(scores),
            **{**_style(number), "linestyle": "none"},
        )
    axes.set_xticks(range(len(names)), names, parse_math=False)  # "$" is a dollar
    axes.set_xlim(-0.5, len(names) - 0.5)


def _in_lines(name: str, beside: int) -> str:
    """A name as wide as there is room for, with as many beside it."""
    return "\n".join(wrap(name, max(10, LETTERS // beside)))


def _by_latency(axes: Any, systems: list[SystemReport]) -> None:
    for number, system in enumerate(systems):
        p50, p95 = system.latency_ms(50), system.latency_ms(95)
        axes.errorbar(
            p50,
            _pooled(system, "recall@10").value,
            xerr=[[0.0], [max(0.0, p95 - p50)]],
            **_style(number),
        )
    axes.set(title="Recall@10 and time", xlabel="ms a search, p50 to p95", ylim=HEIGHT)
    axes.set_xscale("log")
    axes.set_xticks([0.1, 0.3, 1, 3, 10, 30, 100], ["0.1", "0.3", "1", "3", "10", "30", "100"])
    axes.minorticks_off()
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.3), max(high, 10))


def _ablation(axes: Any, report: Report) -> None:
    """Draw the worth of each stage; stages that change nothing are counted."""
    changes = [
        (system.name, change)
        for system in report.ablations
        if (change := report.difference(system).get("recall@10"))
    ]
    shown = [one for one in changes if one[1].low or one[1].high]
    shown.sort(key=lambda row: -row[1].value)
    values = [change for _, change in shown]
    axes.barh(range(len(values)), [c.value for c in values], xerr=_spread(values), color="#56B4E9")
    axes.set_yticks(range(len(values)), [name for name, _ in shown])
    axes.axvline(0, color="black", linewidth=0.8)
    without = len(changes) - len(shown)
    others = "others " if shown else ""
    more = f" ({without} {others}change nothing)" if without else ""
    axes.set(title=f"{report.systems[0].name} without …{more}", xlabel="change of recall@10")


def _pooled(system: SystemReport, metric: str) -> Any:
    groups = [g for g in system.groups if g.split == "all"]
    return next((g for g in groups if g.category == POOLED), groups[0]).metrics[metric]


def _spread(scores: list[Any]) -> list[list[float]]:
    return [[s.value - s.low for s in scores], [s.high - s.value for s in scores]]


def _style(number: int) -> dict[str, Any]:
    return {**_line_style(number), "elinewidth": 1.0, "capsize": 2}


def _line_style(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 5,
        "linewidth": 1.6,
    }
