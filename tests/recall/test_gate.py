"""The probability from which on the gate opens is in no text, so its arithmetic is tested by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from langmemory.ports.candidates import Floats
from langmemory.recall.calibration import (
    _WEIGHTS,
    GATE,
    GATE_INTERCEPT,
    LOWEST_SHARE,
    NOTHING,
    gate,
    shared,
)

ESTIMATES = np.array([0.2, 0.8, 0.4], np.float32)


def properties(log_odds: float) -> Floats:
    """Return properties of a prompt that give its answer these odds."""
    weights = _WEIGHTS[:, 1]
    return (log_odds - GATE_INTERCEPT) / float(weights @ weights) * weights


@pytest.mark.parametrize(
    ("beside", "opens"), [(-3, False), (-0.001, False), (0.001, True), (3, True)]
)
def test_the_gate_opens_from_a_probability_on(beside: float, opens: bool) -> None:
    """The logistic of the weighted properties has to reach it; then what has a share of the best is shown."""
    found = gate(ESTIMATES, properties(math.log(GATE / (1 - GATE)) + beside))
    assert found == (shared(ESTIMATES) if opens else NOTHING)


def test_what_is_shown_beside_the_best() -> None:
    """A share of its probability; where there is nothing, everything there is."""
    assert shared(ESTIMATES) == pytest.approx(LOWEST_SHARE * 0.8)
    assert shared(ESTIMATES[:0]) == 0
    assert shared(np.array([1.0], np.float32)) < 1 < NOTHING
