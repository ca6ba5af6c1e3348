"""Clocks: one call, many calls hot, and the calls of several contenders in turn."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Call = Callable[[int], object]
"""Call number n of a measurement; what it returns is ignored."""

Temperature = Literal["hot", "interleaved"]

HOT_CALLS = (4, 300)
"""How many calls a hot measurement makes at least and at most, whatever its time allows."""
TURNS = (20, 200)
"""The same of calls in turn, of each contender."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """Milliseconds per call."""

    p50: float
    p95: float
    max: float
    calls: int
    cpu: float | None = None
    """Median processor time of all threads: what a busy machine does not distort."""

    @classmethod
    def of(cls, wall: Sequence[float], cpu: Sequence[float] = ()) -> Sample:
        p50, p95 = np.percentile(wall, (50, 95))
        return cls(
            p50=float(p50),
            p95=float(p95),
            max=float(max(wall)),
            calls=len(wall),
            cpu=float(np.median(cpu)) if len(cpu) else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line of the result: who did what on how much, how fast, how well."""

    shape: str
    """"one namespace", "1 % filter", "put one" …"""
    size: int
    contender: str
    temperature: Temperature
    sample: Sample
    recall: float | None = None
    """Share of the exact ten nearest that were returned, by cosine."""
    found: float | None = None
    """Share of the questions whose own fact was among the ten."""
    vectors: str = "MiniLM"
    extra: dict[str, Any] = field(default_factory=dict)


def one(call: Call, n: int) -> tuple[float, float]:
    """Milliseconds of call n: on the clock, and of processor time."""
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    call(n)
    wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
    return wall / 1e6, cpu / 1e6


def settle(call: Call) -> None:
    """Call until MemoryStore makes no more copies in memory in the background."""
    n = 0
    while makers := [one for one in threading.enumerate() if one.name == "langmemory-load"]:
        for thread in makers:
            thread.join()
        call(n)  # may be the one after which the next is made
        n += 1


def hot(call: Call, *, seconds: float) -> Sample:
    """The same store again and again, warmed up before (the caller has just judged its quality)."""
    gc.collect()
    gc.freeze()  # the data set itself is not garbage: keep the collector off it
    at_least, at_most = HOT_CALLS
    taken: list[tuple[float, float]] = []
    deadline = time.perf_counter() + seconds
    while len(taken) < at_most and (len(taken) < at_least or time.perf_counter() < deadline):
        taken.append(one(call, len(taken)))
    return Sample.of(*zip(*taken, strict=True))


def interleaved(calls: dict[str, Call], *, seconds: float) -> dict[str, Sample]:
    """One call each in turn: every contender finds the caches full of another one's data."""
    for call in calls.values():
        call(0)
    gc.collect()
    gc.freeze()
    at_least, at_most = TURNS
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    deadline = time.perf_counter() + seconds
    rounds = 0
    while rounds < at_most and (rounds < at_least or time.perf_counter() < deadline):
        for name, call in calls.items():
            taken[name].append(one(call, rounds))
        rounds += 1
    return {name: Sample.of(*zip(*times, strict=True)) for name, times in taken.items()}
