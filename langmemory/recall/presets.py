"""Presets: every constant of recall by name, as data that can be copied and changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from langmemory.errors import ConfigError
from langmemory.recall.fusion import RRF_K, Method
from langmemory.recall.scoring import Profile

Weight = float


class SignalWeights(BaseModel):
    """How much each signal counts for relevance. Signals are 0..1; only ratios matter.

    Fitted by a softmax loss on the first three dev conversations, rounded to two places. Brackets:
    R@10 of all five without the signal, where the whole has .830 (NDCG@10 .686). Leaving one out
    costs little by itself, since the others were not refitted and overlap.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    keyword: Weight = Field(
        default=0.05, ge=0, description="BM25 over text, speaker, date, neighbours [.823]."
    )
    dense: Weight = Field(default=0.08, ge=0, description="Cosine of query and text [.823].")
    overlap: Weight = Field(
        default=0.0,
        ge=0,
        description="Query words met by the text (MaxSim) alone: covered by `surroundings`.",
    )
    related: Weight = Field(
        default=0.03, ge=0, description="Words akin to the query's words [.827]."
    )
    surroundings: Weight = Field(
        default=0.17, ge=0, description="Query words met by text and neighbours [.824]."
    )
    lead: Weight = Field(
        default=0.15, ge=0, description="Query words met by text and turns before it [.821]."
    )
    answers: Weight = Field(
        default=0.08,
        ge=0,
        description="How well the question it answers matches [.829, NDCG .677].",
    )
    session: Weight = Field(
        default=0.08, ge=0, description="How well the best turns of its session match [.824]."
    )
    speaker: Weight = Field(
        default=0.12, ge=0, description="Said by the one person the query names [.813]."
    )
    statement: Weight = Field(default=0.02, ge=0, description="Does not end in a question [.826].")
    information: Weight = Field(default=0.03, ge=0, description="How much the text says [.828].")
    temporal: Weight = Field(
        default=0.08, ge=0, description="Tells a time, where the query asks when [.826, NDCG .679]."
    )
    period: Weight = Field(
        default=0.12, ge=0, description="Said in the period the query names [.822]."
    )
    graph: Weight = Field(default=0.1, ge=0, description="Reached over edges; not measured yet.")


class Preset(BaseModel):
    """One way to recall. Copy it, change it, name it in ``config/memory.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "balanced"
    depth: int = Field(default=60, ge=1, le=2000, description="Candidates from each channel.")
    context_weight: float = Field(
        default=0.5, ge=0, description="BM25 weight of neighbouring turns."
    )
    name_weight: int = Field(
        default=1, ge=1, le=4, description="BM25 weight of proper nouns in a query."
    )
    fusion: Method = Field(default="convex", description="How keyword and dense scores are joined.")
    rrf_k: int = Field(default=RRF_K, ge=1)
    weights: SignalWeights = SignalWeights()
    context_depth: int = Field(
        default=40, ge=0, description="Best candidates whose neighbours join in."
    )
    radius: int = Field(default=4, ge=1, le=10, description="Neighbouring turns on either side.")
    context_decay: float = Field(
        default=0.9, ge=0, le=1, description="Neighbour's weight per position."
    )
    session_best: int = Field(default=3, ge=1, description="Turns of a session that count for it.")
    period_lag_days: float = Field(
        default=14.0, gt=0, description="Days after a period that still count."
    )
    window_channel: bool = Field(
        default=True, description="Fetch what was said in a fixed period, too."
    )
    stale_factor: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Score of what no longer holds, where the scope lets it through.",
    )
    profile: Profile = "measured"
    half_life_days: float = Field(default=60.0, gt=0)
    spreads: Mapping[str, float] = Field(
        default={"importance": 0.1, "confidence": 0.1},
        description="Width of each facet's multiplier around 1.",
    )
    rerank_depth: int = Field(default=20, ge=1, description="Results a reranker sees.")
    mmr_lambda: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="1 ranks by relevance alone; .9 has R@10 .827, .7 .816.",
    )
    fold_similarity: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Share of words from which two results say the same; 1 folds equal texts only.",
    )
    hop_depth: int = Field(default=0, ge=0, le=4)
    hop_decay: float = Field(default=0.7, gt=0, le=1)
    hop_fan_out: int = Field(default=8, ge=1)

    @classmethod
    def from_mapping(cls, changes: Mapping[str, Any], *, base: Preset | None = None) -> Preset:
        """``base`` (default `BALANCED`) with changes; raises `ConfigError` for unknown keys."""
        merged = (base or BALANCED).model_dump()
        for key, value in changes.items():
            known = merged.get(key)
            if isinstance(known, dict) and isinstance(value, Mapping):
                merged[key] = known | dict(value)
            else:
                merged[key] = value
        try:
            return cls.model_validate(merged)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ConfigError(
                f"recall preset {merged.get('name')!r}: {where}: {first['msg']}."
            ) from error


BALANCED = Preset()
"""The default: R@1 .484, R@5 .764, R@10 .830, NDCG@10 .686 on the dev conversations."""
FAST = Preset(name="fast", depth=40, context_depth=0)
"""No neighbours fetched: what surrounds a turn counts only as far as it was found itself. R@10 .812."""
THOROUGH = Preset(name="thorough", depth=100, context_depth=60, hop_depth=2)
"""More candidates, wider context, hops over edges: R@10 .831 before there are edges."""
PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in (FAST, BALANCED, THOROUGH)}
