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
    _references,
    gate,
    is_about_asker,
    is_personal,
    shared,
)
from langmemory.recall.intent import read_intent
from tests.recall.memory_source import NOW

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


@pytest.mark.parametrize(
    ("prompt", "personal", "referring"),
    [
        ("What is my dog called?", True, 1 / 5),
        ("How do I cook rice?", False, 1 / 5),
        ('What does "my" mean?', False, 1 / 4),
        ("Wie heißt die Hauptstadt von Österreich?", False, 1 / 6),
        ("我的狗叫什么名字?", True, 0),
        ("那个城市在哪里?", False, 1 / 6),
        ("奥地利的首都是哪里?", False, 0),
    ],
)
def test_what_a_prompt_refers_to(prompt: str, personal: bool, referring: float) -> None:
    """It is about the person where a word says so, or a character of a language that writes no spaces; what
    is quoted, or what anybody might ask, is not. Words that refer to something known have a share."""
    intent = read_intent(prompt, NOW)
    assert is_personal(prompt, intent) is personal
    assert _references(prompt, intent.language)[0] == pytest.approx(referring)


@pytest.mark.parametrize(
    ("prompt", "alone"),
    [
        ("What am I allergic to?", True),
        ("What is my wife allergic to?", False),
        ("What do I and my wife like?", False),
        ("What are we allergic to?", False),
        ("What is Anna allergic to?", False),
    ],
)
def test_whom_a_question_is_about(prompt: str, alone: bool) -> None:
    """About who asks alone, where nothing of theirs and nobody with them is named."""
    assert is_about_asker(prompt) is alone
