"""The one fixture that another engine needs to be held to the contract of the ports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.engines.sql.engine import Engine
from langmemory.engines.sqlite import Engine as SqliteEngine


@pytest.fixture(params=["file", "memory"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An empty database; add a parameter for every other engine."""
    path = ":memory:" if request.param == "memory" else str(tmp_path / "memory.db")
    opened = SqliteEngine(path)
    yield opened
    opened.close()
