"""Loaded with ``LANGMEMORY_TEST_ENGINE=postgres``: tests written for files run on a PostgreSQL server."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from langmemory.addresses import is_server
from langmemory.config import DatabaseConfig
from langmemory.engines import postgres
from langmemory.engines.postgres import Engine
from langmemory.stores import memory_store, rooms
from tests import postgres_server


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what looks into a SQLite file."""
    if mark := item.get_closest_marker("sqlite"):
        pytest.skip(mark.args[0])
    if "sqlite" in item.path.parts:
        pytest.skip("looks into a SQLite file")


@pytest.fixture(autouse=True)
def _engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every memory file of a test is a schema of a server, which goes with the test."""
    opened: set[str] = set()
    monkeypatch.setenv("MEMORY_POSTGRES_URL", postgres_server.url())  # for processes of a test

    def open_engine(path: str | os.PathLike[str], settings: DatabaseConfig) -> Engine:
        address = os.fspath(path)
        if not is_server(path):
            address = postgres_server.of_file(address)
        opened.add(address)
        return Engine(address, settings=settings)

    def is_there(path: str) -> bool:
        return postgres.is_there(path if is_server(path) else postgres_server.of_file(path))

    monkeypatch.setattr(memory_store, "open_engine", open_engine)
    monkeypatch.setattr(rooms, "open_engine", open_engine)
    monkeypatch.setattr(rooms, "is_there", is_there)
    yield
    for address in opened:
        postgres_server.drop(address)
