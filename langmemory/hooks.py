"""Parts: what is not memory itself. Each is registered by names, and imported when it is used.

A part has its operations, tools, nodes, commands and pages in a package of its own. The rest of langmemory
imports none of it: a part registers where the names below say. A package of somebody else is a part, too:
its entry point in the group ``langmemory.parts`` is a `Part`.

``LANGMEMORY_PARTS_OFF`` switches parts off, such as ``team,evals``: what they register is gone then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Final, Literal

GROUP: Final = "langmemory.parts"
"""Of the entry points of other packages."""
OFF: Final = "LANGMEMORY_PARTS_OFF"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What one part registers. Places are written ``module:name``."""

    name: str
    needs: Sequence[str] = ()
    """Parts without which it is off, too."""
    tables: Sequence[str] = ()
    """Modules that register tables (`ledger.tables.schema.register`) when they are imported."""
    options: Mapping[str, str] = field(default_factory=dict)
    """By a keyword of `MemoryStore`: the place of a function that makes the value rooms use of what an
    application passes, or of None. One that is ``pending`` when the store writes what it kept in memory
    is asked to ``write``."""
    rooms: Mapping[str, str] = field(default_factory=dict)
    """By the attribute of a store: the place of a class that `langmemory.operations.room` decorates."""
    remote_rooms: Mapping[str, str] = field(default_factory=dict)
    """By the name of a room: the place of a base class with what a remote store does by hand."""
    routes: Sequence[str] = ()
    """Modules whose ``routes`` the REST API has beside those that derive from operations."""
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By the word of the command line: the heading that lists it, and the place of its function."""
    agent_tools: Sequence[str] = ()
    """Modules that declare tools of the MCP server for clients that are agents; imported only for those."""
    exports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By the module that has them: names of ``langmemory`` itself."""


BUILT_IN: Final = (
    Part(
        name="team",
        rooms={
            "bus": "langmemory.parts.team.bus:Bus", "swarm": "langmemory.parts.team.swarm:Swarm",
        },
        agent_tools=("langmemory.parts.team.mcp_tools",),
    ),
    Part(
        name="vault",
        tables=("langmemory.parts.vault.tables",),
        options={"vault_key": "langmemory.parts.vault.sources:VaultKeys"},
        rooms={"vault": "langmemory.parts.vault.vault:ViewerVault"},
        remote_rooms={"vault": "langmemory.parts.vault.remote:RemoteVault"},
        routes=("langmemory.parts.vault.routes",),
        commands={"vault": ("What else agents need", "langmemory.parts.vault.command:vault")},
    ),
    Part(
        name="prompts",
        tables=("langmemory.parts.prompts.tables",),
        options={"prompt_log": "langmemory.parts.prompts.prompts:PromptLog"},
        rooms={"prompts": "langmemory.parts.prompts.prompts:Prompts"},
    ),
    Part(
        name="importing",
        commands={
            "seed": ("What was said", "langmemory.parts.importing.seed_command:seed"),
            "import": ("What was said", "langmemory.parts.importing.import_command:import_file"),
        },
    ),
    Part(
        name="coding",
        needs=("importing",),
        commands={
            "hooks": ("Serve it", "langmemory.parts.coding.command:hooks"),
            "context": ("What was said", "langmemory.parts.coding.command:context"),
        },
    ),
    Part(
        name="webhooks",
        commands={"webhook": ("Serve it", "langmemory.parts.webhooks.command:webhook")},
    ),
    Part(
        name="demo",
        needs=("importing",),
        commands={"demo": ("Try it", "langmemory.parts.demo.command:demo")},
    ),
    Part(
        name="evals",
        needs=("importing",),
        commands={"eval": ("Check and measure", "langmemory.parts.evals.command:eval_command")},
    ),
    Part(
        name="langmem",
        exports={
            "langmemory.parts.langmem": (
                "ExtractedMemory", "MemoryManager", "MemoryPhase", "MemoryStoreManager",
                "create_memory_manager", "create_memory_searcher",
                "create_memory_store_manager", "create_thread_extractor",
            ),
            "langmemory.parts.langmem.prompts": (
                "AnnotatedTrajectory", "MultiPromptOptimizerInput", "OptimizerInput", "Prompt",
                "create_multi_prompt_optimizer", "create_prompt_optimizer",
            ),
            "langmemory.parts.langmem.short_term": (
                "DEFAULT_EXISTING_SUMMARY_PROMPT", "DEFAULT_FINAL_SUMMARY_PROMPT",
                "DEFAULT_INITIAL_SUMMARY_PROMPT", "RunningSummary", "SummarizationNode",
                "SummarizationResult", "TokenCounter", "asummarize_messages",
                "summarize_messages",
            ),
        },
    ),
)  # fmt: skip


@cache
def parts() -> tuple[Part, ...]:
    """Return the parts that are there and are not switched off.

    Raises:
        ConfigError: A part that is not there is to be switched off.
    """
    from importlib.metadata import entry_points

    from langmemory.errors import ConfigError

    every = (*BUILT_IN, *(one.load() for one in entry_points(group=GROUP)))
    off = {one.strip() for one in os.environ.get(OFF, "").split(",") if one.strip()}
    if unknown := off - {one.name for one in every}:
        known = ", ".join(one.name for one in every)
        raise ConfigError(f"{OFF} names {min(unknown)!r}, which is no part; there are {known}.")
    return tuple(one for one in every if off.isdisjoint((one.name, *one.needs)))


def load_object(place: str) -> Any:
    """Return what stands at a place, written ``module:name``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def place_of(kind: Literal["rooms", "remote_rooms", "options"], name: str) -> str | None:
    """Return the place that a part registers under a name in a field of its `Part`; None where none does."""
    several: Iterator[Mapping[str, str]] = (getattr(one, kind) for one in parts())
    return next((one[name] for one in several if name in one), None)


def lazy(
    package: str, names: Mapping[str, Sequence[str]], *, exports: bool = False
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are imported when they are first used.

    Args:
        package: Its name.
        names: By module of the package: the names that are taken from it.
        exports: Whether it also has the names that parts export.
    """
    homes = {name: f"{package}.{module}" for module, several in names.items() for name in several}

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None and exports and not name.startswith("__"):
            several = (one for part in parts() for one in part.exports.items())
            home = next((module for module, these in several if name in these), None)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return load_object(f"{home}:{name}")

    return find
