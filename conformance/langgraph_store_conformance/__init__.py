"""Contract tests for implementations of LangGraph's `BaseStore`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

from langgraph_store_conformance.bench import Factory, WordEmbeddings
from langgraph_store_conformance.checks import CHECKS, Check, Difference
from langgraph_store_conformance.running import Report, Result, probe, run, run_check

__all__ = [
    "CHECKS",
    "Check",
    "Difference",
    "Factory",
    "Report",
    "Result",
    "WordEmbeddings",
    "run",
    "store_test",
]


def store_test(factory: Factory, *, known: Mapping[str, str] | None = None) -> Callable[..., None]:
    """Return a test function for pytest, with one case for each check.

    Args:
        factory: What makes a store, see the README.
        known: Checks that are known to fail, by name, with the reason. One that passes fails the test, so
            that the list stays true.
    """
    import pytest

    reasons = dict(known or {})
    if strangers := set(reasons) - {one.name for one in CHECKS}:
        raise ValueError(f"There are no checks with the names {sorted(strangers)}.")
    able = cache(partial(probe, factory))

    @pytest.mark.parametrize("check", [pytest.param(one, id=one.name) for one in CHECKS])
    def test_store(check: Check) -> None:
        result = run_check(check, factory, *able())
        if result.outcome == "not offered":
            pytest.skip("the store does not offer it")
        if check.name in reasons:
            if result.outcome == "passed":
                pytest.fail(f"{check.name} passes now: remove it from the known differences")
            pytest.xfail(reasons[check.name])
        if result.outcome == "failed":
            pytest.fail(f"{check.about}: {result.reason}", pytrace=False)

    return test_store
