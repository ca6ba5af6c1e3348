"""Ablation: a recall preset with each of its stages switched off in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langmemory.recall.presets import Preset

OFF: Mapping[str, Any] = {
    "context_weight": 0.0,
    "context_depth": 0,
    "stale_factor": 1.0,
    "name_weight": 1,
    "window_channel": False,
    "mmr_lambda": 1.0,
    "fold_similarity": 1.0,
    "hop_depth": 0,
    "kin_depth": 0,
    "kin_match": 0.0,
}
"""Options that switch a stage, and the value at which it does nothing. Signal weights and
multiplier spreads are stages of their own, off at 0."""


def switches(preset: Preset) -> dict[str, dict[str, Any]]:
    """The changes that switch off one stage each, by the stage's name; only stages that are on."""
    weights = preset.weights.model_dump()
    return {
        **{name: {"weights": {name: 0.0}} for name, weight in weights.items() if weight},
        **{name: {"spreads": {name: 0.0}} for name, spread in preset.spreads.items() if spread},
        **{name: {name: off} for name, off in OFF.items() if getattr(preset, name) != off},
    }
