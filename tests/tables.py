"""Tables of cases as data: those of `test_x.py` are in `cases/x.toml` beside it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def tables(module: str) -> dict[str, Any]:
    """Return the tables of a module's file, by name: rows are tuples, one for each case."""
    path = Path(module)
    file = path.parent / "cases" / f"{path.stem.removeprefix('test_')}.toml"
    return {
        name: _frozen(value, top=True)
        for name, value in tomllib.loads(file.read_text("utf-8")).items()
    }


def _frozen(value: Any, *, top: bool = False) -> Any:
    """Return lists as tuples, which nothing changes, but for the list of cases itself."""
    if isinstance(value, list):
        rows = [_frozen(one) for one in value]
        return rows if top else tuple(rows)
    if isinstance(value, dict):
        return {name: _frozen(one) for name, one in value.items()}
    return value
