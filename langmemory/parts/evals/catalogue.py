"""The systems `langmemory eval` knows by name, all with the embedded model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from langmemory.embeddings.static import StaticEmbedder
from langmemory.errors import ConfigError
from langmemory.parts.evals.ablation import switches
from langmemory.parts.evals.corpus import CorpusKind
from langmemory.parts.evals.ours import MemorySystem
from langmemory.parts.evals.systems import (
    System,
    SystemFactory,
    SystemUnavailableError,
    in_memory_store,
    sqlite_store,
)
from langmemory.recall.presets import PRESETS, Preset
from langmemory.types import Granularity


def named_systems(
    names: Sequence[str] | None = None,
    *,
    presets: Sequence[str] = ("balanced",),
    kind: CorpusKind = "dialogue",
    granularity: Granularity = "turn",
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

    Raises:
        ConfigError: there is no system or preset of that name.
    """
    for preset in presets:
        _known(preset)
    ours = partial(MemorySystem, kind=kind, granularity=granularity)
    embeddings = StaticEmbedder().embeddings
    known: Mapping[str, Mapping[str, Callable[[], System]]] = {
        "langmemory": {preset: partial(ours, preset=preset) for preset in presets},
        "facts": {"with facts": partial(_with_facts, kind, granularity, presets[0])},
        "no-embedder": {"no embedder": partial(ours, preset=presets[0], mode="keyword")},
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
) -> dict[str, SystemFactory]:
    """A preset with each of its stages switched off in turn, by the stage's name."""
    return {
        stage: partial(
            MemorySystem, kind=kind, preset=preset, granularity=granularity, overrides=changes
        )
        for stage, changes in switches(_known(preset)).items()
    }


def _with_facts(kind: CorpusKind, granularity: Granularity, preset: str) -> System:
    if kind == "documents":
        raise SystemUnavailableError("documents are not reflected")
    from langmemory.parts.evals.replay import FactsSystem

    return FactsSystem(kind=kind, granularity=granularity, preset=preset)


def _known(preset: str) -> Preset:
    if preset not in PRESETS:
        raise ConfigError(f"No recall preset called {preset!r}. There are {', '.join(PRESETS)}.")
    return PRESETS[preset]
