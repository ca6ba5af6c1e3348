"""The one fixture that another engine needs to be held to the contract of the ports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.engines.sqlite import Engine as SqliteEngine
from langmemory.ledger.engine import Engine
from tests import postgres_server


@pytest.fixture(params=["file", "memory", pytest.param("postgres", marks=pytest.mark.thorough)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An empty database; add a parameter for every other engine."""
    if request.param == "postgres":
        yield from _postgres()
        return
    path = ":memory:" if request.param == "memory" else str(tmp_path / "memory.db")
    opened = SqliteEngine(path)
    yield opened
    opened.close()


def _postgres() -> Iterator[Engine]:
    address = postgres_server.fresh()
    from langmemory.engines.postgres import Engine as PostgresEngine

    opened = PostgresEngine(address)
    yield opened
    opened.close()
    postgres_server.drop(address)
