"""Seeds of random walks, and examples of Hypothesis: a few by default, all of them with
``LANGMEMORY_THOROUGH=1``.

A walk promises the same for every seed; more of them look longer for what nobody thought of.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

THOROUGH = bool(os.environ.get("LANGMEMORY_THOROUGH"))


def seeds(every: Sequence[int], *, first: int) -> list[int]:
    """The first so many, or all."""
    return list(every if THOROUGH else every[:first])


def examples(every: int, *, first: int) -> int:
    """How many examples Hypothesis makes up: the first so many, or all."""
    return every if THOROUGH else first
