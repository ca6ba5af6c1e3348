"""The result as JSON (everything) and as Markdown tables (for readers)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.bandwidth import BruteForce
from benchmarks.footprint import Footprint
from benchmarks.measure import Row
from benchmarks.targets import SIZE, Verdict, verdicts


@dataclass(kw_only=True)
class Result:
    machine: dict[str, str]
    vectors: list[str]
    """Where each set of vectors comes from."""
    rows: list[Row] = field(default_factory=list)
    footprints: list[Footprint] = field(default_factory=list)
    brute_force: list[BruteForce] = field(default_factory=list)
    bytes_per_second: float = 0.0

    @property
    def verdicts(self) -> list[Verdict]:
        return verdicts(self.rows, self.footprints)


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows) + "\n"


def number(value: float | None, digits: int = 3) -> str:
    """Three significant digits, without an exponent."""
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def search_table(rows: Sequence[Row], brute: Sequence[BruteForce]) -> str:
    """Hot and interleaved searches with quality, and their distance from the memory limit."""
    limits = {b.size: b.limit_ms for b in brute}

    def line(row: Row) -> list[str]:
        against = row.extra.get("with")
        times = (row.sample.p50, row.sample.p95, row.sample.max, row.sample.cpu)
        whole = row.shape.startswith(("one namespace", "prefix")) and row.size in limits
        return [
            f"{row.size:,}",
            row.contender,
            f"in turn with {against}" if against else "hot",
            *(number(ms) for ms in times),
            share(row.recall),
            share(row.found),
            f"{row.sample.p50 / limits[row.size]:.2g}" if whole else "",
        ]

    head = ("items", "store", "caches", "p50 ms", "p95 ms", "max ms", "CPU ms")
    return table((*head, "recall@10", "found@10", "× memory limit"), map(line, rows))


def plain_table(rows: Sequence[Row]) -> str:
    """Rows whose quality does not matter: writes and threads."""

    def line(row: Row) -> list[str]:
        rate = row.extra.get("calls_per_second")
        times = (row.sample.p50, row.sample.p95, row.sample.max, row.sample.cpu)
        return [
            f"{row.size:,}",
            row.shape,
            row.contender,
            *map(number, times),
            number(rate) if rate else "",
        ]

    return table(
        ("items", "what", "store", "p50 ms", "p95 ms", "max ms", "CPU ms", "calls/s"),
        map(line, rows),
    )


def target_table(verdicts: Sequence[Verdict]) -> str:
    return table(
        ("what", "items", "target", "achieved", "by CPU time", ""),
        (
            (
                v.what,
                f"{v.size:,}",
                v.wanted,
                v.achieved,
                f"{number(v.cpu_ratio)}×" if v.cpu_ratio else "",
                "met" if v.met else "**missed**",
            )
            for v in verdicts
        ),
    )


def footprint_table(footprints: Sequence[Footprint]) -> str:
    def line(f: Footprint) -> list[str]:
        times, sizes = (f.import_ms, f.open_ms), (f.resident_mb, f.private_mb, f.before_mb)
        return [f"{f.size:,}", f.contender, *map(number, (*times, *sizes, f.file_mb))]

    head = ("items", "store", "import ms", "open + first search ms", "resident MB", "private MB")
    return table((*head, "before opening MB", "file MB"), map(line, footprints))


def markdown(result: Result) -> str:
    """The whole report; how to read it stands in `benchmarks/README.md`."""
    searches = [row for row in result.rows if row.recall is not None or "with" in row.extra]
    others = [row for row in result.rows if row not in searches]
    parts = ["# Benchmark results\n"]
    parts.append("How to read this: [benchmarks/README.md](../README.md). Peers are exact.\n")
    parts.append(table(("", ""), ((k, v) for k, v in result.machine.items())))
    parts += [f"- {origin}" for origin in result.vectors]
    parts.append("\n## Targets\n")
    if judged := result.verdicts:
        missed = sum(not v.met for v in judged)
        size = judged[0].size
        parts.append(f"{len(judged) - missed} of {len(judged)} met, {missed} missed.")
        if size < SIZE:
            parts.append(f"The targets are for {SIZE:,} items; this run stopped at {size:,}.")
        parts.append("\n" + target_table(judged))
    parts.append("![latency](latency.png)\n\n![targets](targets.png)\n")
    for vectors in dict.fromkeys(row.vectors for row in searches):
        for shape in dict.fromkeys(row.shape for row in searches if row.vectors == vectors):
            parts.append(f"\n## Search: {shape}, {vectors} vectors\n")
            chosen = [r for r in searches if (r.shape, r.vectors) == (shape, vectors)]
            parts.append(search_table(chosen, result.brute_force))
    parts.append("\n## Get, put, threads, other processes\n")
    parts.append(plain_table(others))
    parts.append("\n## Footprint (a fresh process)\n")
    parts.append(footprint_table(result.footprints))
    parts.append("\n## Memory bandwidth\n")
    rate = result.bytes_per_second / 2**30
    parts.append(f"Best rate seen: {rate:.1f} GB/s. One exact search over all rows:\n")
    parts.append(
        table(
            ("items", "limit ms", "numpy ms", "numpy × limit"),
            (
                (
                    f"{b.size:,}",
                    number(b.limit_ms),
                    number(b.numpy_ms),
                    number(b.numpy_ms / b.limit_ms),
                )
                for b in result.brute_force
            ),
        )
    )
    return "\n".join(parts)


def write(result: Result, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    everything = {
        "machine": result.machine,
        "vectors": result.vectors,
        "targets": [asdict(v) for v in result.verdicts],
        "rows": [asdict(row) for row in result.rows],
        "footprints": [asdict(f) for f in result.footprints],
        "brute_force": [asdict(b) for b in result.brute_force],
        "bytes_per_second": result.bytes_per_second,
    }
    (folder / "results.json").write_text(json.dumps(everything, indent=1) + "\n")
    (folder / "RESULTS.md").write_text(markdown(result))
