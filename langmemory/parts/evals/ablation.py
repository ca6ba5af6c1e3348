"""Ablation: a recall preset with each of its stages switched off in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langmemory.recall.presets import Preset

OFF: Mapping[str, Any] = {
    "context_depth": 0,
    "session_share": 1.0,
    "stale_factor": 1.0,
    "others_factor": 1.0,
    "fact_sources": False,
    "dedupe_threshold": 1.0,
    "second_look": 0,
    "claim_depth": 0,
}
"""Options that switch a stage, and the value at which it does nothing. Signal weights and
multiplier ranges are stages of their own, off at 0."""


def switches(preset: Preset) -> dict[str, dict[str, Any]]:
    """The changes that switch off one stage each, by the stage's name; only stages that are on."""
    return {
        **{
            name: changes
            for name in preset.weights.model_dump()
            if (changes := _silent(preset, name))
        },
        **{
            name: {"multiplier_ranges": {name: 0.0}}
            for name, width in preset.multiplier_ranges.items()
            if width
        },
        **{name: {name: off} for name, off in OFF.items() if getattr(preset, name) != off},
    }


def _silent(preset: Preset, signal: str) -> dict[str, Any]:
    """The changes that leave a signal no weight, whatever is asked and whoever takes part; none where it
    has none."""
    given = {
        question: {**weights, signal: 0.0}
        for question, weights in preset.intent_weights.items()
        if weights.get(signal)
    }
    with_assistant = preset.assistant_weights.get(signal)
    if not given and not with_assistant and not getattr(preset.weights, signal):
        return {}
    changes: dict[str, Any] = {"weights": {signal: 0.0}}
    if with_assistant:
        changes["assistant_weights"] = {signal: 0.0}
    if given:
        changes["intent_weights"] = given
    return changes
