"""Our stores against the published contract of LangGraph stores, and the suite itself against faulty ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from langgraph_store_conformance import CHECKS, run, store_test
from langgraph_store_conformance.__main__ import main

from tests import conforming

test_file = store_test(conforming.file, known=conforming.KNOWN)
test_memory = pytest.mark.thorough(store_test(conforming.memory, known=conforming.KNOWN))
test_remote = store_test(conforming.remote, known=conforming.KNOWN_REMOTE)

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "conformance.md"


class Forgetful(InMemoryStore):
    """Loses each second operation of a batch, is called by its sync methods alone, and has no index."""

    def __init__(self) -> None:
        super().__init__()

    def batch(self, ops: Any) -> Any:
        return [result for op in list(ops)[:1] for result in super(Forgetful, self).batch([op])]

    async def abatch(self, ops: Any) -> Any:
        raise NotImplementedError


def test_a_fault_is_named_and_what_is_not_offered_is_left_out() -> None:
    """Capabilities are found by asking; a check of others says nothing."""
    report = run(Forgetful)
    outcomes = {one.check.name: one.outcome for one in report.results}
    assert (report.ways, report.conforms) == (("sync",), False)
    assert "vectors" not in report.capabilities
    assert (outcomes["values"], outcomes["batches"]) == ("passed", "failed")
    assert outcomes["ranked"] == outcomes["kept"] == outcomes["expires"] == "not offered"


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints each check, ends with 1 where a documented one fails, and says what it cannot import."""
    assert main(["langgraph.store.memory:InMemoryStore", "--json"]) == 1
    checks = {one["name"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["times"]["reason"] == "whether created_at stayed: got False, not True"
    for given, reason in {
        "nowhere": "write MODULE:FACTORY",
        "no_module:x": "No module named",
    }.items():
        with pytest.raises(SystemExit) as ended:
            main([given])
        assert ended.value.code == 2
        assert reason in capsys.readouterr().err


def test_a_known_difference_has_to_be_there() -> None:
    """A list of them stays true: its names exist."""
    with pytest.raises(ValueError, match="no_such_check"):
        store_test(InMemoryStore, known={"no_such_check": "why"})


def test_the_page_has_each_check() -> None:
    """`python -m scripts.conformance_page` was run after the last change of the suite."""
    rows = PAGE.read_text("utf-8").splitlines()
    for check in CHECKS:
        about = check.about + ("" if check.documented else " *")
        assert any(row.startswith(f"| {about} |") for row in rows), about
