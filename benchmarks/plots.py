"""Two pictures: latency against size, and achieved against wanted; both with log axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogFormatter

from benchmarks.bandwidth import BruteForce
from benchmarks.measure import Row
from benchmarks.report import Result

STYLES = {
    "MemoryStore semantic": ("#0b6e4f", "o", "-"),
    "MemoryStore hybrid": ("#1b9aaa", "s", "-"),
    "MemoryStore keyword": ("#8ac926", "^", "-"),
    "SqliteStore": ("#d1495b", "o", "--"),
    "AsyncSqliteStore": ("#edae49", "s", "--"),
    "SqliteStore in WAL": ("#8d5524", "v", "--"),
    "InMemoryStore": ("#6a4c93", "^", "--"),
}
"""Store → colour, marker, line."""
LEFT = 0.1
"""Where the bars of the ratios begin."""


class Between(LogFormatter):
    """Names those ticks between powers of ten for which there is room: as 0.6, not as 6e-01."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def _lines(axes: Axes, rows: Sequence[Row], title: str) -> None:
    for name, (colour, marker, line) in STYLES.items():
        points = sorted((row.size, row.sample.p50) for row in rows if row.contender == name)
        if points:
            sizes, times = zip(*points, strict=True)
            axes.plot(sizes, times, line, color=colour, marker=marker, label=name)
    axes.set(title=title, xscale="log", yscale="log", xlabel="items", ylabel="p50, milliseconds")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(Between(minor_thresholds=(1, 0.5)))
    axes.grid(alpha=0.3, which="both", linewidth=0.5)


def _limit(axes: Axes, brute: Sequence[BruteForce]) -> None:
    """Return the time that reading every float32 row once takes, the lower bound of brute force."""
    sizes = [b.size for b in brute]
    axes.plot(sizes, [b.limit_ms for b in brute], ":", color="grey", label="memory bandwidth limit")
    axes.plot(sizes, [b.numpy_ms for b in brute], ":", color="black", label="numpy brute force")


def _interleaved(rows: Sequence[Row], shape: str) -> list[Row]:
    """SqliteStore once, as measured in turn with the semantic search."""
    chosen = [r for r in rows if r.shape == shape and "with" in r.extra]
    return [r for r in chosen if r.extra["with"] != "MemoryStore hybrid"]


def latency(result: Result, path: Path) -> None:
    rows = [row for row in result.rows if row.vectors != "Gaussian"]
    figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained")
    shape = "one namespace"
    hot = [row for row in rows if row.shape == shape and row.recall is not None]
    _lines(axes[0][0], hot, "Search one namespace, hot")
    _limit(axes[0][0], result.brute_force)
    _lines(axes[0][1], _interleaved(rows, shape), "Search one namespace, stores in turn")
    _limit(axes[0][1], result.brute_force)
    _lines(axes[1][0], [r for r in rows if r.shape == "put one"], "Put one, stores in turn")
    _lines(axes[1][1], [r for r in rows if r.shape == "put 100 fresh"], "Put 100, stores in turn")
    drawn = {
        label: handle
        for one in axes.flat
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True)
    }
    figure.legend(drawn.values(), drawn, loc="outside lower center", ncols=5, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def targets(result: Result, path: Path) -> None:
    """Bars: how many times faster than SqliteStore; a tick where the target is."""
    judged = [(v.what, v.ratio, v.least) for v in result.verdicts if v.ratio and v.least]
    if not judged:
        return
    figure, axes = plt.subplots(figsize=(10, 0.4 * len(judged) + 1.2), layout="constrained")
    for place, (_, ratio, least) in enumerate(reversed(judged)):
        colour = "#0b6e4f" if ratio >= least else "#d1495b"
        axes.barh(place, ratio - LEFT, left=LEFT, color=colour)
        axes.plot([least, least], [place - 0.45, place + 0.45], color="black", lw=2)
        label = f"{ratio:.2g}×" if ratio < 10 else f"{ratio:.0f}×"
        axes.text(max(ratio, least) * 1.08, place, label, va="center", fontsize=8)
    axes.set_yticks(range(len(judged)), [what for what, _, _ in reversed(judged)], fontsize=8)
    axes.set(
        xscale="log",
        xlim=(LEFT, 5_000),
        xlabel="times as fast as SqliteStore (p50); black: the target; red: missed",
        title=f"At {result.verdicts[0].size:,} items",
    )
    axes.xaxis.set_major_formatter("{x:g}×")
    axes.axvline(1, color="grey", lw=0.8)
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def write(result: Result, folder: Path) -> None:
    latency(result, folder / "latency.png")
    targets(result, folder / "targets.png")
