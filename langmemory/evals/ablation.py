"""Ablation: a recall preset with each of its stages switched off in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langmemory.recall.presets import Preset

NEVER_DOCUMENTS = (1e9, 2e9)
"""Mean lengths that no candidates reach, or words that no query has: weights stay where they are."""

OFF: Mapping[str, Any] = {
    "context_weight": 0.0,
    "context_depth": 0,
    "document_tokens": NEVER_DOCUMENTS,
    "document_terms": NEVER_DOCUMENTS,
    "flat_depth": 0,
    "session_share": 1.0,
    "stale_factor": 1.0,
    "name_weight": 1,
    "window_channel": False,
    "mmr_lambda": 1.0,
    "families": False,
    "fold_similarity": 1.0,
    "hop_depth": 0,
    "second_look": 0,
    "entity_depth": 0,
    "claim_depth": 0,
    "kin_depth": 0,
    "kin_match": 0.0,
}
"""Options that switch a stage, and the value at which it does nothing. Signal weights and
multiplier spreads are stages of their own, off at 0."""


def switches(preset: Preset) -> dict[str, dict[str, Any]]:
    """The changes that switch off one stage each, by the stage's name; only stages that are on."""
    return {
        **{
            name: changes
            for name in preset.weights.model_dump()
            if (changes := _silent(preset, name))
        },
        **{name: {"spreads": {name: 0.0}} for name, spread in preset.spreads.items() if spread},
        **{name: {name: off} for name, off in OFF.items() if getattr(preset, name) != off},
    }


def _silent(preset: Preset, signal: str) -> dict[str, Any]:
    """The changes that leave a signal no weight, whatever is asked; none where it has none."""
    given = {
        question: {**weights, signal: 0.0}
        for question, weights in preset.intent_weights.items()
        if weights.get(signal)
    }
    if not given and not getattr(preset.weights, signal):
        return {}
    changes: dict[str, Any] = {"weights": {signal: 0.0}}
    if given:
        changes["intent_weights"] = given
    if signal == "keyword":  # among documents it is given the weight of `lead`
        changes["document_tokens"] = NEVER_DOCUMENTS
    return changes
