"""Where the tests keep their files: in memory where there is room, since most of a test's time on a
disk is waiting for it to confirm writes. And on which engine they run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.config import DatabaseConfig
from tests import postgres_server

ON_POSTGRES = os.environ.get("LANGMEMORY_TEST_ENGINE") == "postgres"

IN_MEMORY = Path("/dev/shm")
ROOM = 1024**3
"""Bytes that have to be free there; a whole run takes a fifth of it."""


def pytest_configure() -> None:
    """Put ``tmp_path`` into memory, unless ``PYTEST_DEBUG_TEMPROOT`` or ``--basetemp`` says where."""
    if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free >= ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """With ``LANGMEMORY_TEST_ENGINE=postgres`` leave out what looks into a SQLite file."""
    if ON_POSTGRES and (item.get_closest_marker("sqlite") or "sqlite" in item.path.parts):
        pytest.skip("looks into a SQLite file")


@pytest.fixture(autouse=True)
def _engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With ``LANGMEMORY_TEST_ENGINE=postgres`` every memory file of a test is a schema of a server."""
    if not ON_POSTGRES:
        yield
        return
    from langmemory.engines.postgres import Engine
    from langmemory.stores import memory_store, rooms

    opened: set[str] = set()

    def open_engine(path: str | os.PathLike[str], settings: DatabaseConfig) -> Engine:
        address = postgres_server.of_file(os.fspath(path))
        opened.add(address)
        return Engine(address, settings=settings)

    monkeypatch.setattr(memory_store, "open_engine", open_engine)
    monkeypatch.setattr(rooms, "open_engine", open_engine)
    yield
    for address in opened:
        postgres_server.drop(address)
