"""Pytest plugin of `conformance.py`: replace LangGraph's stores by `MemoryStore` in this process.

Only the names are swapped; the tests are LangGraph's, untouched. It lives outside `tests/` because
LangGraph's suites import a package of that name themselves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import langgraph.store.memory
import langgraph.store.sqlite
import langgraph.store.sqlite.aio
import langgraph.store.sqlite.base
import pytest

from langmemory import MemoryStore


class NamedInMemoryStore(MemoryStore):
    """`MemoryStore` with the constructor of `InMemoryStore`, which takes no path."""

    def __init__(self, *, index: Any = None) -> None:
        super().__init__(":memory:", index=index)


def swap_names() -> None:
    """Before the suites are imported; what they import privately beside the stores stays."""
    sqlite = langgraph.store.sqlite
    for module in (sqlite, sqlite.base):
        module.SqliteStore = MemoryStore  # type: ignore[misc,assignment,attr-defined]
    for module in (sqlite, sqlite.aio):
        module.AsyncSqliteStore = MemoryStore  # type: ignore[misc,assignment,attr-defined]
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
    swap_names()
    config.pluginmanager.register(
        Verdicts(
            json.loads(os.environ["CONFORMANCE_LEFT_OUT"]),
            Path(os.environ["CONFORMANCE_REPORT"]),
        )
    )
