"""The source of the package, read once a process for all checks of its form."""

from __future__ import annotations

import ast
import re
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


_TOKENS = re.compile(
    r"""#[^\n]*|(?P<string>(?<!\w)[bfru]{0,2}(?P<quote>\"{3}|'{3}|"|')(?:\\.|[^\\])*?(?P=quote))|(?P<name>\b[^\W\d]\w*)""",
    re.IGNORECASE | re.DOTALL,
)
"""Comments, strings and names; ten times faster than `tokenize`."""


@cache
def source(module: Path) -> Source:
    """Parse a module."""
    text = module.read_text("utf-8")
    nodes = [*ast.walk(ast.parse(text))]
    notes = {
        (node.value.lineno, node.value.col_offset) for node in nodes if isinstance(node, ast.Expr)
    }
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    docstrings = {lines[line - 1] + column for line, column in notes}
    tokens = [*_TOKENS.finditer(text)]
    return Source(
        imports=[node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)],
        literals=[one[0] for one in tokens if one["string"] and one.start() not in docstrings],
        names=frozenset(one[0].casefold() for one in tokens if one["name"]),
    )


@cache
def modules() -> Sequence[Path]:
    """All modules of the package, in order of their paths."""
    return sorted(PACKAGE.rglob("*.py"))
