"""Loaded with ``LANGMEMORY_TEST_ENGINE=postgres``: tests written for files run on a PostgreSQL server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest

from langmemory.addresses import is_server
from langmemory.config import DatabaseConfig
from langmemory.engines import opening, postgres
from langmemory.engines.postgres import Engine
from langmemory.stores import memory_store
from tests import postgres_server

_open_real = opening.open_engine
_opened: dict[str, str] = {}
"""The addresses of schemas, by how their stores show them."""


def _open(path: str | os.PathLike[str], settings: DatabaseConfig) -> Any:
    """Open the schema that stands for a memory file."""
    place = os.fspath(path)
    if "://" in place and not is_server(path):
        return _open_real(path, settings)  # which refuses it
    if not is_server(path):
        place = postgres_server.of_file(place)
    engine = Engine(_opened.get(place, place), settings=settings)
    _opened.setdefault(engine.path, place)
    return engine


def _is_there(path: str) -> bool:
    """Return whether the schema is there that stands for a memory file."""
    place = path if is_server(path) else postgres_server.of_file(path)
    return postgres.is_there(_opened.get(place, place))


def pytest_configure() -> None:
    """Have every store open a schema, also that of a fixture of a whole module. All processes of a
    session share one server."""
    os.environ["MEMORY_POSTGRES_URL"] = url = postgres_server.url()
    user, _, password = url.partition("//")[2].rpartition("@")[0].partition(":")
    for name, value in ("PGUSER", user), ("PGPASSWORD", password):  # which `store.path` leaves out
        if value:
            os.environ[name] = unquote(value)
    memory_store.open_engine = opening.open_engine = _open  # type: ignore[assignment]
    opening.is_there = _is_there


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what only SQLite has."""
    if mark := item.get_closest_marker("sqlite"):
        pytest.skip(mark.args[0] if mark.args else "asks what only SQLite has")
    if "sqlite" in item.path.parts:
        pytest.skip("looks into a SQLite file")


@pytest.fixture(autouse=True)
def _dropped() -> Iterator[None]:
    """The schemas that a test opened go with it."""
    before = set(_opened)
    yield
    for shown in set(_opened) - before:
        postgres_server.drop(_opened.pop(shown))


def pytest_unconfigure() -> None:
    """Drop those of whole modules."""
    while _opened:
        postgres_server.drop(_opened.popitem()[1])
