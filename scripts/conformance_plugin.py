"""Pytest plugin of `conformance.py`: replace LangGraph's stores by ours in this process.

Only the names are swapped; the tests are LangGraph's, untouched. It lives outside `tests/` because
LangGraph's suites import a package of that name themselves.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import langgraph.store.memory
import langgraph.store.postgres
import langgraph.store.postgres.aio
import langgraph.store.postgres.base
import langgraph.store.sqlite
import langgraph.store.sqlite.aio
import langgraph.store.sqlite.base
import pytest

from langmemory import MemoryStore, RemoteMemoryStore
from langmemory.stores.memory_store import Opening


class ServedStore(RemoteMemoryStore):
    """`RemoteMemoryStore` with the constructor of `MemoryStore`: it asks a server of its own, over
    loopback. What a file has and a client has not, such as the sweeper, is that of the file."""

    def __init__(self, path: Any, **options: Any) -> None:
        from langmemory.server.app import create_app
        from langmemory.server.serving import serving

        self.served = MemoryStore(path, **options)
        self.stack = ExitStack()
        self.stack.callback(self.served.close)
        super().__init__(self.stack.enter_context(serving(create_app(self.served))))
        self.stack.callback(self._connection.close)
        weakref.finalize(self, self.stack.close)

    @classmethod
    def from_conn_string(cls, path: str, **options: Any) -> Opening[Any]:
        return Opening(cls, path, **options)  # type: ignore[type-var]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.served, name)

    def close(self) -> None:
        self.stack.close()

    async def aclose(self) -> None:
        await super().aclose()
        self.close()

    def _refuse_blocking_on(self, loop: Any) -> None:
        self.served._refuse_blocking_on(loop)


def repository_module(path: str) -> Any:
    """Import a module of ours by its place: `tests` is the name of the suite's package here."""
    file = Path(__file__).parents[1] / path
    spec = importlib.util.spec_from_file_location(f"ours_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class SchemaStore(MemoryStore):
    """`MemoryStore` on a schema of a PostgreSQL server, whatever file it is told."""

    opened: ClassVar[set[str]] = set()

    def __init__(self, path: Any, **options: Any) -> None:
        address = os.fspath(path)
        if "://" not in address:
            address = server.of_file(address)
            self.opened.add(address)
        super().__init__(address, **options)


OURS: dict[str, type[Any]] = {
    "local": MemoryStore,
    "postgres": SchemaStore,
    "remote": ServedStore,
}


class NoCursor:
    """In place of `PostgresStore._cursor`, by which fixtures forget which migrations ran."""

    def __enter__(self) -> NoCursor:
        return self

    def __exit__(self, *error: object) -> None: ...

    async def __aenter__(self) -> Any:
        return SimpleNamespace(execute=self._aexecute)

    async def __aexit__(self, *error: object) -> None: ...

    def execute(self, statement: str) -> None:
        assert statement == "DROP TABLE IF EXISTS store_migrations", statement

    async def _aexecute(self, statement: str) -> None:
        self.execute(statement)


class NamedPostgresStore(SchemaStore):
    """Ours, with what the fixtures of `PostgresStore` ask of it beside the store."""

    MIGRATIONS: ClassVar[list[str]] = []

    @classmethod
    def from_conn_string(
        cls, conn_string: str, *, pipeline: bool = False, pool_config: Any = None, **options: Any
    ) -> Opening[Any]:
        if index := options.get("index"):
            options["index"] = {k: v for k, v in index.items() if k != "ann_index_config"}
        return Opening(cls, conn_string, **options)

    def _cursor(self) -> NoCursor:
        return NoCursor()


server = repository_module("tests/postgres_server.py")


def address_of_host() -> str:
    """Return the server's address as their fixtures can take it apart: a folder of sockets is its host."""
    parts = urlsplit(server.url())
    options = dict(parse_qsl(parts.query))
    if folder := options.pop("host", None):
        parts = parts._replace(netloc=f"{parts.netloc}{quote(folder, safe='')}")
    return urlunsplit(parts._replace(query=urlencode(options)))


def swap_names(ours: type[Any]) -> None:
    """Before the suites are imported; what they import privately beside the stores stays."""

    class NamedInMemoryStore(ours):  # type: ignore[misc]
        """Ours, with the constructor of `InMemoryStore`, which takes no path."""

        def __init__(self, *, index: Any = None) -> None:
            super().__init__(":memory:", index=index)

    sqlite = langgraph.store.sqlite
    for module in (sqlite, sqlite.base):
        module.SqliteStore = ours  # type: ignore[misc,assignment,attr-defined]
    for module in (sqlite, sqlite.aio):
        module.AsyncSqliteStore = ours  # type: ignore[misc,assignment,attr-defined]
    langgraph.store.memory.InMemoryStore = NamedInMemoryStore  # type: ignore[misc,assignment]
    postgres = langgraph.store.postgres
    for module in (postgres, postgres.base):
        module.PostgresStore = NamedPostgresStore  # type: ignore[misc,assignment,attr-defined]
    for module in (postgres, postgres.aio):
        module.AsyncPostgresStore = NamedPostgresStore  # type: ignore[misc,assignment,attr-defined]


class Verdicts:
    """Deselects what is left out by name and writes every outcome where the runner reads it."""

    def __init__(self, left_out: list[str], report: Path) -> None:
        self.left_out = left_out
        self.report = report
        self.outcomes: dict[str, str] = {}
        self.deselected: list[str] = []

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        def is_left_out(item: pytest.Item) -> bool:
            name = item.nodeid.removeprefix("tests/")
            return name in self.left_out or name.split("[")[0] in self.left_out

        gone = [item for item in items if is_left_out(item)]
        config.hook.pytest_deselected(items=gone)
        self.deselected = [item.nodeid.removeprefix("tests/") for item in gone]
        items[:] = [item for item in items if not is_left_out(item)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        report: pytest.TestReport = yield  # type: ignore[assignment]
        name = item.nodeid.removeprefix("tests/")
        if report.when == "call" or report.outcome != "passed":
            expected_failure = hasattr(report, "wasxfail")
            self.outcomes[name] = "skipped" if expected_failure else report.outcome
        return report  # type: ignore[return-value]

    def pytest_collection(self) -> None:
        """Tell the fixtures of `PostgresStore` where the server is, before a test module copies it."""
        theirs = sys.modules.get("tests.conftest")
        if hasattr(theirs, "DEFAULT_URI"):
            theirs.DEFAULT_URI = address_of_host()  # type: ignore[union-attr]

    def pytest_sessionfinish(self) -> None:
        for address in SchemaStore.opened:
            server.drop(address)
        self.report.write_text(json.dumps({"outcomes": self.outcomes, "left_out": self.deselected}))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "flaky(retries): timing-bound upstream; run once here")
    swap_names(OURS[os.environ["CONFORMANCE_STORE"]])
    config.pluginmanager.register(
        Verdicts(
            json.loads(os.environ["CONFORMANCE_LEFT_OUT"]),
            Path(os.environ["CONFORMANCE_REPORT"]),
        )
    )
