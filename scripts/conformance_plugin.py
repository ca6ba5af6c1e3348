"""Pytest plugin of `conformance.py`: replace LangGraph's stores by ours in this process.

Only the names are swapped; the tests are LangGraph's, untouched. It lives outside `tests/` because
LangGraph's suites import a package of that name themselves.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import langgraph.store.memory
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
            name = item.nodeid.removeprefix("tests/").split("[")[0]
            return name in self.left_out

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

    def pytest_sessionfinish(self) -> None:
        self.report.write_text(json.dumps({"outcomes": self.outcomes, "left_out": self.deselected}))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "flaky(retries): timing-bound upstream; run once here")
    swap_names(ServedStore if os.environ["CONFORMANCE_STORE"] == "remote" else MemoryStore)
    config.pluginmanager.register(
        Verdicts(
            json.loads(os.environ["CONFORMANCE_LEFT_OUT"]),
            Path(os.environ["CONFORMANCE_REPORT"]),
        )
    )
