"""Imports point one way (DESIGN: layout), so that every part can be understood without those above."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "langmemory"

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"errors", "ids", "moments", "plurals"}),
    frozenset({"types", "lexicon"}),
    frozenset({"config", "changes"}),
    frozenset({"sqlite", "embeddings", "chat_models"}),
    frozenset({"recall", "formation", "lifecycle", "context"}),
    frozenset({"stores"}),
    frozenset({"reflection", "nodes", "tools", "middleware", "importers", "short_term"}),
    frozenset({"graphs"}),
    frozenset({"cli", "server", "evals", "templates"}),
)
"""A part may import from parts of lower layers only, and from none beside it, but for `BESIDE`."""

BESIDE = {("tools", "nodes"), ("middleware", "nodes"), ("middleware", "tools"),
          ("short_term", "nodes"), ("cli", "evals"), ("cli", "templates"),
          ("reflection", "nodes"), ("formation", "context"), ("context", "recall"),
          ("context", "formation")}  # fmt: skip
"""(importer, imported) within one layer."""

ENGINE = ("file", "index", "scope", "graph", "search", "records", "background", "forgetting", "")
"""The parts of ``sqlite``, likewise: a part imports from those before it. The last is its door."""

MAY_SPEAK_SQLITE = {"sqlite", "stores", "evals"}
DOCTOR = PACKAGE / "cli" / "doctor.py"  # reports which SQLite is installed


def layer(part: str) -> int:
    return next(n for n, parts in enumerate(LAYERS) if part in parts)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(module: Path) -> str:
    """``langmemory/sqlite/records/items.py`` → ``sqlite``; ``langmemory/config.py`` → ``config``."""
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(module: Path) -> set[str]:
    """Parts of langmemory that a module imports, wherever in it the statement stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found.update(name.split(".")[1] for name in names if name.startswith("langmemory."))
    return found - {"__version__"}


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(module: Path) -> None:
    """A module imports its own part and parts of lower layers, nothing else."""
    part = part_of(module)
    if part == "__init__":  # the public names
        return
    for other in imported_parts(module) - {part}:
        allowed = layer(other) < layer(part) or (part, other) in BESIDE
        assert allowed, (
            f"{module.relative_to(ROOT)} imports langmemory.{other}, which lies above it"
        )


@pytest.mark.parametrize(
    "module",
    sorted((PACKAGE / "sqlite").rglob("*.py")),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_engine_is_built_one_way(module: Path) -> None:
    """A module of ``sqlite`` imports its own part and parts that come before it."""
    folder = module.parent.relative_to(PACKAGE / "sqlite").as_posix()
    part = ENGINE.index("" if folder == "." else folder)
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("langmemory.sqlite."):
            other = f"{node.module}.".split(".")[2]
            other = other if other in ENGINE else ""
            assert ENGINE.index(other) <= part, f"{module.relative_to(ROOT)} imports {node.module}"


def test_every_part_has_its_layer() -> None:
    """A new part of the package is given its place in the order."""
    parts = {part_of(module) for module in modules()} - {"__init__"}
    assert parts <= frozenset().union(*LAYERS)


def imported_packages(module: Path) -> set[str]:
    """Top-level packages that a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def test_sql_stays_in_its_folder() -> None:
    """Only the engine and the store above it speak to SQLite: a second engine can stand beside."""
    for module in modules():
        if part_of(module) not in MAY_SPEAK_SQLITE and module != DOCTOR:
            assert not imported_packages(module) & {"apsw", "sqlite3", "sqlite_vec"}, module


def test_the_engine_knows_no_framework() -> None:
    """The engine, the lexicon and the plain values know neither LangGraph nor a model."""
    for module in modules():
        if part_of(module) in {"sqlite", "lexicon", "types", "errors"}:
            foreign = {
                name
                for name in imported_packages(module)
                if name.startswith(("langgraph", "langchain", "tokenizers"))
            }
            assert not foreign, module


def test_a_store_by_itself_loads_no_graph_and_no_reader_of_talk() -> None:
    """What only graphs, extraction and the command line need costs a plain store nothing (10 MB and
    0.1 s, when it once did)."""
    program = """
import sys
from langmemory.stores import MemoryStore
unneeded = {"langgraph.constants", "langgraph.graph", "json_repair", "dateparser", "rich.live", "typer"}
print(*sorted(unneeded & set(sys.modules)))
"""
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, timeout=60
    )
    assert run.stdout.decode().split() == []
