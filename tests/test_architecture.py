"""Imports point one way (DESIGN: layout), so that every part can be understood without those above."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.source import GROUP, PACKAGE, ROOT, modules, source

pytestmark = pytest.mark.xdist_group(GROUP)

LAYERS: tuple[frozenset[str], ...] = (
    frozenset(
        {
            "citing",
            "derived",
            "docstrings",
            "errors",
            "events",
            "files",
            "git",
            "ids",
            "labels",
            "timestamps",
            "pacing",
        }
    )
    | {"pluralize", "steps"},
    frozenset({"types", "languages", "redaction", "values", "arguments", "addresses", "resources"})
    | {"wire", "hooks"},
    frozenset({"config", "changes", "namespaces", "links", "recall_options", "swarm", "declaring"})
    | {"answers", "trust"},
    frozenset({"ports", "embeddings", "chat_models", "procedures", "schemas", "subgraph", "vault"}),
    frozenset({"recall", "formation", "lifecycle", "context"}),
    frozenset({"messages", "projections", "documents", "core_files"}),
    frozenset({"ledger"}),
    frozenset({"search"}),
    frozenset({"engines"}),
    frozenset({"operations"}),
    frozenset({"stores"}),
    frozenset({"reflection", "maintenance", "nodes", "tools", "middleware", "remote"}),
    frozenset({"graphs", "deepagents"}),
    frozenset({"cli", "server", "templates", "agent_memory"}),
    frozenset({"parts"}),
    frozenset({"short_term", "knowledge", "prompts"}),
    frozenset({"__main__"}),
)
"""A part may import from parts of lower layers only, and from none beside it, but for `BESIDE`."""

BESIDE = {("tools", "nodes"), ("middleware", "nodes"), ("middleware", "tools"),
          ("cli", "templates"), ("cli", "server"),
          ("reflection", "nodes"), ("maintenance", "reflection"), ("formation", "context"),
          ("context", "recall"), ("context", "formation"), ("lifecycle", "formation"),
          ("lifecycle", "context"), ("lifecycle", "recall"), ("redaction", "languages")}  # fmt: skip
"""(importer, imported) within one layer."""

PORTABLE = ("ledger", "search", "operations")
"""Folders whose SQL runs on every engine."""

SPEAK_LANGGRAPH = {"indexing.py", "transfer.py"}
"""Modules of the ledger that read LangGraph's index configuration and check its namespaces."""
PUBLIC = {"langmemory", "langmemory.short_term"}
"""Public names, for type checkers."""
MAY_SPEAK_SQLITE = {"engines", "parts"}
OPENING = PACKAGE / "engines" / "opening.py"
DOCTOR = PACKAGE / "cli" / "doctor.py"  # reports which SQLite is installed


def layer(part: str) -> int:
    return next(n for n, parts in enumerate(LAYERS) if part in parts)


def part_of(module: Path) -> str:
    """``langmemory/ledger/items.py`` → ``engines``; ``langmemory/config.py`` → ``config``."""
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(module: Path) -> set[str]:
    """Parts of langmemory that a module imports."""
    found: set[str] = set()
    for node in source(module).imports:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert node.level == 0, f"{module}:{node.lineno}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found.update(name.split(".")[1] for name in names if name.startswith("langmemory."))
    return found - {"__version__"}


def test_imports_point_one_way() -> None:
    """A module imports its own part and parts of lower layers, nothing else."""
    wrong = []
    for module in modules():
        part = part_of(module)
        if part in ("__init__", "short_term"):  # public names, for type checkers
            continue
        for other in imported_parts(module) - {part}:
            if layer(other) >= layer(part) and (part, other) not in BESIDE:
                wrong.append(f"{module.relative_to(ROOT)} imports langmemory.{other}")
    assert not wrong, "these lie above it"


def test_portable_sql_knows_no_database() -> None:
    """Ledger, search and operations import neither a driver nor an engine: another can stand below them."""
    for folder in PORTABLE:
        for module in sorted((PACKAGE / folder).rglob("*.py")):
            assert not imported_packages(module) & {"apsw", "sqlite3", "sqlite_vec"}, module
            assert "langmemory.engines" not in module.read_text("utf-8"), module


def test_every_part_has_its_layer() -> None:
    """A new part of the package is given its place in the order."""
    parts = {part_of(module) for module in modules()} - {"__init__"}
    assert parts <= frozenset().union(*LAYERS)


def imported_packages(module: Path) -> set[str]:
    """Top-level packages that a module imports."""
    found: set[str] = set()
    for node in source(module).imports:
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif node.module:
            found.add(node.module.split(".")[0])
    return found


def test_one_module_chooses_an_engine() -> None:
    """Every module opens a memory by `langmemory.engines.opening`; the doctor reports on the file besides."""
    for module in modules():
        if part_of(module) != "engines" and module != DOCTOR:
            names = {
                name for name in imported_names(module) if name.startswith("langmemory.engines")
            }
            assert {name.partition("langmemory.engines.opening")[0] for name in names} <= {""}, (
                module
            )


def test_modules_form_no_circle() -> None:
    """No module imports itself by way of others, neither for types nor inside a function."""
    names = {dotted(module) for module in modules()}
    graph = {
        dotted(module): {
            next((name for name in (full, full.rpartition(".")[0]) if name in names), "")
            for full in imported_names(module)
        }
        - {""}
        for module in modules()
        if dotted(module) not in PUBLIC
    }
    TopologicalSorter(graph).prepare()


def dotted(module: Path) -> str:
    """``langmemory/cli/app.py`` → ``langmemory.cli.app``; a folder's ``__init__.py`` is the folder."""
    return ".".join(module.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_names(module: Path) -> set[str]:
    """Full dotted names that a module imports from langmemory: modules, or names in them."""
    found: set[str] = set()
    for node in source(module).imports:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif (node.module or "").startswith("langmemory"):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def test_sql_stays_in_its_folder() -> None:
    """Only an engine speaks to SQLite: another one can stand beside it."""
    for module in modules():
        if part_of(module) not in MAY_SPEAK_SQLITE and module != DOCTOR:
            assert not imported_packages(module) & {"apsw", "sqlite3", "sqlite_vec"}, module


def test_the_engine_knows_no_framework() -> None:
    """Neither rows nor engines, ports, languages and plain values know a model or a framework's graphs."""
    for module in modules():
        if part_of(module) in {"engines", "ledger", "ports", "languages", "types", "errors"}:
            foreign = {
                name
                for name in imported_packages(module)
                if name.startswith(("langgraph", "langchain", "tokenizers"))
            }
            assert not foreign or module.name in SPEAK_LANGGRAPH, module
