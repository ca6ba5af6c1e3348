"""Recall: from a query to ranked, explained memories, one stage per file.

`pipeline.run` composes the stages over a `langmemory.ports.candidates.CandidateSource`; `presets` holds
every constant.
"""

from __future__ import annotations

from langmemory.ports.candidates import CandidateSource
from langmemory.recall.explain import render
from langmemory.recall.pipeline import run
from langmemory.recall.presets import BALANCED, FAST, PRESETS, THOROUGH, Preset, SignalWeights
from langmemory.recall.vocabulary import Vocabulary, default_vocabulary

__all__ = [
    "BALANCED",
    "FAST",
    "PRESETS",
    "THOROUGH",
    "CandidateSource",
    "Preset",
    "SignalWeights",
    "Vocabulary",
    "default_vocabulary",
    "render",
    "run",
]
