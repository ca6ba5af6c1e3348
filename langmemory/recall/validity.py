"""Validity: what no longer holds ranks lower, or is left out where the caller asks for it.

Leaving out by `as_of`, `known_at` and status happens in the source's query; this stage is for what a
scope lets through on purpose, such as superseded facts in a search of everything.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.ports.candidates import UNKNOWN_TIME, Floats, Rows

GONE: Final = frozenset(("superseded", "archived"))
"""Statuses of what no longer holds."""


def stale(rows: Rows, at: int) -> Floats:
    """float32[n]: 1 for what was superseded, archived, expired or no longer true at a time
    (microseconds), else 0."""
    ended = _before(rows.invalid_at, at) | _before(rows.expired_at, at)
    if not GONE.isdisjoint(rows.status):
        ended |= np.fromiter((status in GONE for status in rows.status), np.bool_, len(rows.ids))
    gone: Floats = ended.astype(np.float32)
    return gone


def _before(times: NDArray[np.int64], at: int) -> NDArray[np.bool_]:
    passed: NDArray[np.bool_] = (times != UNKNOWN_TIME) & (times <= at)
    return passed
