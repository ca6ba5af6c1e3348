"""The benchmark's targets beside the figures it achieved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.footprint import Footprint
from benchmarks.measure import Row, Temperature

SIZE = 100_000
"""The targets are for this many items; a smaller run is judged at its largest size and says so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    what: str
    size: int
    wanted: str
    achieved: str
    met: bool
    least: float | None = None
    """The target as a ratio to SqliteStore's time, where it is one."""
    ratio: float | None = None
    cpu_ratio: float | None = None
    """The same by processor time: what remains of it on a machine that was busy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratio:
    """`peer`'s median over ours must be at least `at_least`."""

    shape: str
    """Start of the row's shape."""
    how: str
    contender: str
    peer: str
    temperature: Temperature
    at_least: float


def _search(shape: str, mode: str, temperature: Temperature, at_least: float) -> Ratio:
    return Ratio(
        shape=shape,
        how=f"{mode}, {temperature}",
        contender=f"MemoryStore {mode}",
        peer="SqliteStore",
        temperature=temperature,
        at_least=at_least,
    )


def _write(shape: str, at_least: float) -> Ratio:
    return Ratio(
        shape=shape,
        how="interleaved",
        contender="MemoryStore hybrid",
        peer="SqliteStore",
        temperature="interleaved",
        at_least=at_least,
    )


RATIOS = (
    _search("one namespace", "semantic", "hot", 200),
    _search("one namespace", "semantic", "interleaved", 90),
    _search("one namespace", "hybrid", "hot", 50),
    _search("one namespace", "hybrid", "interleaved", 40),
    _search("one of", "semantic", "hot", 1),
    _search("one of", "semantic", "interleaved", 1),
    _search("one of", "hybrid", "hot", 1 / 1.5),
    _search("one of", "hybrid", "interleaved", 1 / 1.5),
    _search("1 % filter", "semantic", "hot", 1),
    _search("1 % filter", "semantic", "interleaved", 1),
    _search("1 % filter", "hybrid", "hot", 1 / 1.5),
    _search("1 % filter", "hybrid", "interleaved", 1 / 1.5),
    _search("prefix over", "semantic", "hot", 150),
    _search("prefix over", "semantic", "interleaved", 150),
    _write("get", 1),
    _write("put one", 2),
    _write("put 100 fresh", 0.6),
)
RECALL = 0.99
RECALL_EMBEDDED = {1_000: 0.999, 10_000: 0.999, 100_000: 0.99}
"""Items → least recall@10 with the embedded model."""
RESIDENT_MB = 250
OPEN_MS = 500


def _row(rows: Sequence[Row], size: int, name: str, ratio: Ratio, other: str) -> Row | None:
    for row in rows:
        fits = row.shape.startswith(ratio.shape) and row.contender == name and row.size == size
        paired = ratio.temperature == "hot" or row.extra.get("with", other) == other
        real = row.vectors != "Gaussian"
        if fits and paired and real and row.temperature == ratio.temperature:
            return row
    return None


def ratios(rows: Sequence[Row], size: int) -> Iterable[Verdict]:
    for ratio in RATIOS:
        mine = _row(rows, size, ratio.contender, ratio, ratio.peer)
        peer = _row(rows, size, ratio.peer, ratio, ratio.contender)
        if mine is None or peer is None:
            continue
        achieved = peer.sample.p50 / mine.sample.p50
        yield Verdict(
            what=f"{mine.shape}, {ratio.how}",
            size=size,
            least=ratio.at_least,
            ratio=achieved,
            cpu_ratio=(peer.sample.cpu or math.nan) / (mine.sample.cpu or math.nan),
            wanted=f"≥ {ratio.at_least:.2g}×" if ratio.at_least < 10 else f"≥ {ratio.at_least:g}×",
            achieved=f"{achieved:.2f}×" if achieved < 10 else f"{achieved:.0f}×",
            met=achieved >= ratio.at_least,
        )


def verdicts(rows: Sequence[Row], footprints: Sequence[Footprint]) -> list[Verdict]:
    """Every target that this run measured, at 100,000 items or its largest size below."""
    sizes = {row.size for row in rows if row.size <= SIZE}
    if not sizes:
        return []
    size = max(sizes)
    result = list(ratios(rows, size))
    real = next((row.vectors for row in rows if row.vectors != "Gaussian"), "")
    for row in rows:
        semantic = row.contender == "MemoryStore semantic" and row.recall is not None
        if semantic and row.size == size and row.vectors == real:
            result.append(
                Verdict(
                    what=f"recall@10, {row.shape}, semantic",
                    size=size,
                    wanted=f"≥ {RECALL}",
                    achieved=f"{row.recall:.3f}",
                    met=(row.recall or 0) >= RECALL,
                )
            )
    for row in rows:
        least = RECALL_EMBEDDED.get(row.size)
        semantic = row.contender == "MemoryStore semantic" and row.shape == "one namespace"
        if row.vectors == "static" and semantic and row.recall is not None and least:
            result.append(
                Verdict(
                    what=f"recall@10, {row.size:,} items, embedded model",
                    size=row.size,
                    wanted=f"≥ {least}",
                    achieved=f"{row.recall:.4f}",
                    met=row.recall >= least,
                )
            )
    for print_ in footprints:
        if print_.contender.startswith("MemoryStore") and print_.size == size:
            resident, opened = print_.resident_mb, print_.open_ms
            result += [
                Verdict(
                    what="resident memory, hybrid",
                    size=size,
                    wanted=f"< {RESIDENT_MB} MB",
                    achieved=f"{resident:.0f} MB",
                    met=resident < RESIDENT_MB,
                ),
                Verdict(
                    what="open and answer the first search",
                    size=size,
                    wanted=f"< {OPEN_MS} ms",
                    achieved=f"{opened:.0f} ms",
                    met=opened < OPEN_MS,
                ),
            ]
    return result
