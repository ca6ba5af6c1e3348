"""The source of the package, read once a process for all checks of its form."""

from __future__ import annotations

import ast
import io
import tokenize
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
    """A module's statements that import, wherever in it they stand, and its words."""

    imports: Sequence[ast.Import | ast.ImportFrom]
    literals: Sequence[str]
    """Its strings as they are written, escapes and all, but docstrings."""
    names: frozenset[str]
    """Its names, in small letters."""


@cache
def source(module: Path) -> Source:
    """Parse a module."""
    text = module.read_text("utf-8")
    nodes = [*ast.walk(ast.parse(text))]
    notes = {
        (node.value.lineno, node.value.col_offset) for node in nodes if isinstance(node, ast.Expr)
    }
    tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    strings = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    return Source(
        imports=[node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)],
        literals=[one.string for one in tokens if one.type in strings and one.start not in notes],
        names=frozenset(one.string.casefold() for one in tokens if one.type == tokenize.NAME),
    )


@cache
def modules() -> Sequence[Path]:
    """All modules of the package, in order of their paths."""
    return sorted(PACKAGE.rglob("*.py"))
