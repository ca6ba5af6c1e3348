"""The systems `langmemory eval` knows by name, all with the embedded model; and a recall preset with each of
its stages switched off in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langmemory.config import Config
from langmemory.embeddings.static import StaticEmbedder
from langmemory.errors import ConfigError
from langmemory.parts.evals.corpus import CorpusKind
from langmemory.parts.evals.ours import MemorySystem
from langmemory.parts.evals.systems import (
    System,
    SystemFactory,
    SystemUnavailableError,
    in_memory_store,
    sqlite_store,
)
from langmemory.recall.presets import Preset, find_preset
from langmemory.types import Granularity

OFF: Mapping[str, Any] = {
    "context_depth": 0,
    "session_share": 1.0,
    "stale_factor": 1.0,
    "others_factor": 1.0,
    "fact_sources": False,
    "dedupe_threshold": 1.0,
    "second_look": 0,
    "claim_depth": 0,
    "limit_growth": 0.0,
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
    """The changes that leave a signal no weight, whoever takes part; none where it has none."""
    with_assistant = preset.assistant_weights.get(signal)
    if not with_assistant and not getattr(preset.weights, signal):
        return {}
    changes: dict[str, Any] = {"weights": {signal: 0.0}}
    if with_assistant:
        changes["assistant_weights"] = {signal: 0.0}
    return changes


def named_systems(
    names: Sequence[str] | None = None,
    *,
    presets: Sequence[str] = ("balanced",),
    kind: CorpusKind = "dialogue",
    granularity: Granularity = "turn",
    config: Config | None = None,
) -> dict[str, SystemFactory]:
    """Factories by the name a report shows.

    Args:
        names: which ones, all by default. "langmemory" is `recall`, one system a preset; "facts" the first
            preset over turns and the facts reflection makes of them; "no-embedder" the first preset
            without vectors; "search" the same store as any LangGraph application searches it,
            "keyword" and "semantic" the two arms of that; the rest are LangGraph's.
        presets: of langmemory's recall.
        kind: what the corpus is made of.
        granularity: what langmemory's recall ranks.
        config: has further presets, and changes of those that are built in.

    Raises:
        ConfigError: there is no system or preset of that name.
    """
    given = [find_preset(name, config or Config()) for name in presets]
    ours = partial(MemorySystem, kind=kind, granularity=granularity)
    embeddings = StaticEmbedder().embeddings
    known: Mapping[str, Mapping[str, Callable[[], System]]] = {
        "langmemory": {preset.name: partial(ours, preset=preset) for preset in given},
        "facts": {"with facts": partial(_with_facts, kind, granularity, given[0])},
        "no-embedder": {"no embedder": partial(ours, preset=given[0], mode="keyword")},
        "search": {"store.search": partial(ours, door="search")},
        "keyword": {"keyword arm": partial(ours, door="search", mode="keyword")},
        "semantic": {"semantic arm": partial(ours, door="search", mode="semantic")},
        "inmemory": {"InMemoryStore": partial(in_memory_store, embeddings)},
        "sqlite": {"SqliteStore": partial(sqlite_store, embeddings)},
    }
    chosen = known if names is None else names
    if unknown := [name for name in chosen if name not in known]:
        raise ConfigError(f"No system called {', '.join(unknown)}. There are {', '.join(known)}.")
    return {shown: factory for name in chosen for shown, factory in known[name].items()}


def ablations(
    preset: str = "balanced",
    *,
    kind: CorpusKind = "dialogue",
    granularity: Granularity = "turn",
    config: Config | None = None,
) -> dict[str, SystemFactory]:
    """A preset with each of its stages switched off in turn, by the stage's name."""
    whole = find_preset(preset, config or Config())
    return {
        stage: partial(
            MemorySystem, kind=kind, preset=whole, granularity=granularity, overrides=changes
        )
        for stage, changes in switches(whole).items()
    }


def _with_facts(kind: CorpusKind, granularity: Granularity, preset: Preset) -> System:
    if kind == "documents":
        raise SystemUnavailableError("documents are not reflected")
    from langmemory.parts.evals.ours import FactsSystem

    return FactsSystem(kind=kind, granularity=granularity, preset=preset)
