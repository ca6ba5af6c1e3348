"""The source of the package, read once a process for all checks of its form."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "langmemory"
GROUP = "source"
"""The xdist group of tests that read all of it: one process parses it."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A module's statements that import, wherever in it they stand, and its strings but docstrings."""

    imports: Sequence[ast.Import | ast.ImportFrom]
    strings: Sequence[str]


@cache
def source(module: Path) -> Source:
    """Parse a module."""
    nodes = [*ast.walk(ast.parse(module.read_text("utf-8")))]
    notes = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return Source(
        imports=[node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)],
        strings=[
            node.value
            for node in nodes
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in notes
        ],
    )


@cache
def modules() -> Sequence[Path]:
    """All modules of the package, in order of their paths."""
    return sorted(PACKAGE.rglob("*.py"))
