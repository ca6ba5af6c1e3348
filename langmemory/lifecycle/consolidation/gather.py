"""Gathering, the first phase: what changed since the last consolidation, what people corrected first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from langmemory import swarm
from langmemory.ports.candidates import Ids
from langmemory.ports.lifecycle import Aged, LifecycleView
from langmemory.procedures import KEYS

TASK: Final = "consolidate"
"""The name under which progress is kept."""
MOST: Final = 2_000
"""Changed memories of a namespace that one night looks at, the corrected and newest of them."""
CONCLUDED: Final = "insight/"
"""Begins the keys of what consolidation concluded itself, which nothing further is concluded from."""
LINES: Final = "core/"
"""Begins the keys of lines that a person accepted for a core block."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """What one night consolidates of a namespace."""

    aged: Aged
    """Memories that hold and may be consolidated."""
    changed: Ids
    """Rows of ``aged`` that changed: corrected ones first, then the newest."""
    left: int = 0
    """How many more changed."""
    concluded: Aged
    """Earlier conclusions that hold or wait."""


def gather(view: LifecycleView, aged: Aged) -> Gathered:
    """Return what changed in a namespace since its last consolidation, and what is beside it."""
    ours = aged.begins(CONCLUDED)
    eligible = (
        aged.one_of(aged.status, "active")
        & aged.one_of(aged.kind, "semantic", "procedural")
        & ~ours
        & ~aged.begins(LINES, KEYS, *swarm.KEYS)  # steps, tasks and the like are no statements
    )
    kept = aged.take(eligible)
    rows = np.flatnonzero(np.isin(kept.ids, view.changed(view.progress(TASK))))
    corrected = kept.corrects | kept.verified
    order = np.lexsort((-kept.ids[rows], -kept.told_at[rows], ~corrected[rows]))
    return Gathered(
        aged=kept,
        changed=rows[order][:MOST],
        left=max(0, len(rows) - MOST),
        concluded=aged.take(ours & ~aged.one_of(aged.status, "archived", "superseded")),
    )
