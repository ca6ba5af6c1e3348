"""Ablation switches a stage off, whatever is asked and whatever is searched."""

from __future__ import annotations

import numpy as np
import pytest

from langmemory.parts.evals.catalogue import OFF, switches
from langmemory.recall.presets import BALANCED, PRESETS, Preset
from langmemory.recall.ranking import Pool, weights_among
from tests.recall.memory_source import MemorySource, memory
from tests.recall.test_stages import reading_of

ALWAYS_ON = {
    *(
        "name",
        "weights",
        "multiplier_ranges",
        "assistant_weights",
    ),  # by signal and facet, not as a whole
    *("depth", "rerank_depth", "expansion_threshold", "half_life_days"),
}
"""Options that say how a stage works, not whether."""


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_a_signal_that_is_off_has_no_weight_whoever_takes_part(preset: Preset) -> None:
    """Neither by the preset nor by who takes part; what has a weight anywhere is there."""
    off = switches(preset)
    for signal in preset.weights.model_dump():
        has_weight = any(
            preset.weights_for(with_assistant=assistant)[signal] for assistant in (False, True)
        )
        assert (signal in off) == has_weight
        if has_weight:
            without = Preset.from_mapping(off[signal], base=preset)
            for assistant in (False, True):
                before = preset.weights_for(with_assistant=assistant)
                after = without.weights_for(with_assistant=assistant)
                assert after == {**before, signal: 0.0}


def test_every_option_is_a_stage_or_a_part_of_one() -> None:
    """An option that is new is either switched off here or named as one that cannot be."""
    assert OFF.keys() | ALWAYS_ON == Preset.model_fields.keys()
    assert not OFF.keys() & ALWAYS_ON


def test_among_documents_the_keyword_signal_is_off_as_well() -> None:
    """There it has the weight of `preceding_context`, which without it stays where it is."""
    source = MemorySource([memory(1, " ".join(["tea"] * 500))])
    found = np.ones(1, np.float32)
    pool = Pool(rows=source.rows(source.ids), keyword=found, dense=found)
    without = Preset.from_mapping(switches(BALANCED)["keyword"], base=BALANCED)
    weights = weights_among(pool, reading_of(pool), without)
    assert weights == {**BALANCED.weights_for(), "keyword": 0.0}
