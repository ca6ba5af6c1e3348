"""How long tests look for what nobody thought of: a little with ``make test``, all of it with
``make test-all``.

A random walk promises the same for every seed. What is marked ``thorough`` is left to ``make test-all``:
further seeds, further cases of a promise of which one is always tested, and what takes long.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest

THOROUGH = bool(os.environ.get("LANGMEMORY_THOROUGH"))


def seeds(every: Sequence[Any], *, first: int) -> list[Any]:
    """Return the seeds, or whatever else a test runs over, as parameters: those after the ``first`` are
    thorough. A tuple has several parameters."""
    return [
        one
        if number < first
        else pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.thorough)
        for number, one in enumerate(every)
    ]


def examples(every: int, *, first: int) -> int:
    """Return how many examples, steps or kills there are: the first so many, or all."""
    return every if THOROUGH else first
