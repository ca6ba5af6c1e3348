"""Presets: the options of recall, as data that can be copied and changed.

Constants of a single stage stand where that stage is: `ranking`, `later_first`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log10
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from langmemory.config import Config
from langmemory.errors import ConfigError
from langmemory.recall.scoring import NEUTRAL

MOST_CANDIDATES: Final = 2000
"""From one channel, at most."""


GROWS_FROM: Final = 1_000
"""Memories beyond which the number of results may grow."""


Weight = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class SignalWeights(BaseModel):
    """How much each signal counts for relevance. Signals are 0..1; only ratios matter.

    Fitted by a softmax loss on the first three dev conversations, then searched again, one weight at a time,
    on these and the fit halves of the repository's own sets. Brackets: R@10 of the first fit without the
    signal, where the whole had .860 (R@1 .495, NDCG@10 .706), see decision 017. Leaving one out costs little
    by itself, since they overlap.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    keyword: Weight = 0.05
    """BM25 over text, speaker, date, neighbours [.843]."""
    dense: Weight = 0.1
    """Cosine of query and text [.844]."""
    sparse: Weight = 0.0
    """Sum of products of the sparse vectors, where the application brings an encoder. Without weight it only
    adds candidates. With encoders that have learned nothing, 0.03 costs R@10 .007."""
    overlap: Weight = 0.0
    """Query words met by the text (MaxSim) alone: covered by `context_match`."""
    related: Weight = 0.03
    """Words akin to the query's words [.857]."""
    context_match: Weight = 0.17
    """Query words met by text and neighbours [.840]."""
    preceding_context: Weight = 0.15
    """Query words met by text and turns before it [.846]."""
    answers_previous: Weight = 0.1
    """How well the question it answers matches [.855, R@1 .468, NDCG .691]."""
    session: Weight = 0.08
    """How well the best turns of its session match [.852, NDCG .699]."""
    speaker: Weight = 0.12
    """Said by who the query is about: the one person it names, the person rather than the assistant [.834,
    multi-hop .514 of .620]."""
    declarative: Weight = 0.02
    """Does not end in a question [.858]."""
    temporal: Weight = 0.08
    """Tells a time, where the query asks when [.856, NDCG .698]."""
    period: Weight = 0.12
    """Said in the period the query names [.855, NDCG .701]."""
    recency: Weight = 0.1
    """Said last, where the query asks for what holds now."""
    identifier: Weight = 0.5
    """Has the numbers, codes, addresses or paths of the query, exactly as they are."""
    claim: Weight = 0.5
    """Claims what the query asks of whom it names: where Ada works, of Ada."""


class Preset(BaseModel):
    """One way to recall. Copy it, change it, name it in ``config/memory.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = "balanced"
    depth: Annotated[int, Field(ge=1, le=MOST_CANDIDATES)] = 40
    """Candidates from each channel."""
    weights: SignalWeights = SignalWeights()
    context_depth: Count = 20
    """Best candidates whose neighbours join in."""
    session_share: Annotated[float, Field(gt=0, le=1)] = 0.4
    """Share of the results that one session takes at most, before those of others, where a question asks how
    something changed over time; 1 is no cap."""
    claim_depth: Count = 20
    """Candidates that claim what a query asks of whom it names; 0 looks up none."""
    expansion_threshold: Share = 0.5
    """Score that the best result must have, lest an expander is asked. 0 never asks, 1 always."""
    stale_factor: Share = 0.5
    """Score of what no longer holds, where the scope lets it through."""
    others_factor: Share = 0.3
    """Score of what belongs to somebody else, where the viewer asks about themselves alone ("What am I
    allergic to?"). 1 prefers nobody."""
    assistant_weights: Mapping[str, float] = {
        "keyword": 0.04,
        "dense": 0.15,
        "overlap": 0.1,
        "context_match": 0.15,
        "answers_previous": 0.12,
        "session": 0.04,
        "temporal": 0.05,
        "period": 0.15,
        "recency": 0.12,
    }
    """Signal weights that differ where an assistant takes part in the talk: what somebody says to it stands
    more for itself."""
    half_life_days: Annotated[float, Field(gt=0)] = 60.0
    """The window of recency: days after which a memory counts half as recent as the last one, where a query
    asks for what holds now."""
    limit_growth: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Share by which the results of a call that names no limit grow with each tenfold of the memories of its
    namespace, from 1,000 to 100,000: with 0.5 they are 15 among 10,000, and 20 among 100,000."""
    multiplier_ranges: Mapping[str, float] = {"importance": 0.1, "confidence": 0.1}
    """Width of each facet's multiplier around 1, 0 to 1."""
    rerank_depth: Annotated[int, Field(ge=1)] = 20
    """Results a reranker sees."""
    dedupe_threshold: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of words from which two results say the same; 1 takes equal texts only."""
    fact_sources: bool = True
    """Facts count for the turns they rest on, and one of the two is shown."""
    second_look: Annotated[int, Field(ge=0, le=20)] = 0
    """Words of the first results that are looked up as well, to follow a chain of facts; 0 looks once."""

    @field_validator("assistant_weights")
    @classmethod
    def _known_signals(cls, weights: Mapping[str, float]) -> Mapping[str, float]:
        if unknown := sorted(weights.keys() - SignalWeights.model_fields.keys()):
            raise ValueError(f"no signal called {', '.join(unknown)}")
        if any(not 0 <= weight < inf for weight in weights.values()):
            raise ValueError("a weight is below 0, or none")
        return weights

    @field_validator("multiplier_ranges")
    @classmethod
    def _validate_ranges(cls, ranges: Mapping[str, float]) -> Mapping[str, float]:
        if unknown := sorted(ranges.keys() - NEUTRAL.keys()):
            raise ValueError(
                f"no facet called {', '.join(unknown)}; there are {', '.join(NEUTRAL)}"
            )
        if wrong := [name for name, width in ranges.items() if not 0 <= width <= 1]:
            raise ValueError(f"the range of {wrong[0]} is not within 0 and 1")
        return ranges

    def grown(self, limit: int, memories: int) -> int:
        """Return how many results a call that names no limit gets among so many memories."""
        return round(
            limit * (1 + self.limit_growth * max(log10(max(memories, 1) / GROWS_FROM), 0.0))
        )

    def weights_for(self, *, with_assistant: bool = False) -> dict[str, float]:
        """The signal weights among candidates of a talk with an assistant, or of another one."""
        weights: dict[str, float] = self.weights.model_dump()
        return weights | dict(self.assistant_weights) if with_assistant else weights

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
            known = cls if len(first["loc"]) == 1 else SignalWeights
            wrong = (
                f"no such option. Known: {', '.join(known.model_fields)}"
                if first["type"] == "extra_forbidden"
                else first["msg"]
            )
            raise ConfigError(f"recall preset {merged.get('name')!r}: {where}: {wrong}.") from error


BALANCED = Preset()
"""The default: R@1 .482, R@5 .772, R@10 .836, NDCG@10 .688 on the dev conversations."""
FAST = Preset(
    name="fast",
    depth=40,
    context_depth=0,
    claim_depth=0,
    fact_sources=False,
)
"""Two look-ups and no more, for `store.search`: no neighbours."""
THOROUGH = Preset(name="thorough", depth=100, context_depth=60, second_look=4)
"""More candidates, wider context, and a second look that follows a chain of facts."""
PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in (FAST, BALANCED, THOROUGH)}


def find_preset(name: str | None, config: Config) -> Preset:
    """Return a preset by name, with the configuration's changes laid over it.

    Args:
        name: None is the one the configuration names.
        config: Has the presets that are not built in.

    Raises:
        ConfigError: There is no preset of this name, or its options are wrong.
    """
    where = "" if name else " (recall.preset in the configuration)"
    name = name or config.recall.preset
    changes = config.recall.presets.get(name)
    base = PRESETS.get(name)
    if base is None and changes is None:
        known = ", ".join(sorted({*PRESETS, *config.recall.presets}))
        raise ConfigError(f"There is no recall preset {name!r}{where}. Known: {known}.")
    if changes is None and base is not None:
        return base
    return Preset.from_mapping({"name": name, **(changes or {})}, base=base)
