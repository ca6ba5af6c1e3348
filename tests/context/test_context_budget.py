"""The context budget: the division of a window, its limits and its report."""

from __future__ import annotations

import json
from typing import Any, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from langmemory.context import BudgetReport, ContextBudget, level
from langmemory.errors import ConfigError
from tests.seeds import examples


def test_defaults_are_the_source_designs() -> None:
    """128k: 4k core, 20k retrieved, 8k conversation, the rest for the answer; 20k in reserve, the
    soft threshold 4k before it."""
    budget = ContextBudget()
    assert (budget.core_tokens, budget.retrieved_tokens, budget.conversation_tokens) == (
        4_000,
        20_000,
        8_000,
    )
    assert budget.answer_tokens == 96_000
    assert (budget.hard_limit_tokens, budget.soft_limit_tokens) == (108_000, 104_000)
    assert budget.summarization == {
        "max_tokens": 8_000,
        "max_summary_tokens": 1_000,
        "keep_turns": 10,
        "summarised_turns": 30,
    }


@settings(max_examples=examples(100, first=30), deadline=None)
@given(st.integers(16_000, 4_000_000))
def test_any_window_is_divided_without_remainder_or_overflow(window: int) -> None:
    """The four parts are the window, all positive, and the prompt's parts fit below the soft
    limit."""
    budget = ContextBudget(window_tokens=window)
    prompt = budget.core_tokens + budget.retrieved_tokens + budget.conversation_tokens
    assert prompt + budget.answer_tokens == window
    assert 0 < budget.core_tokens < budget.conversation_tokens < budget.retrieved_tokens
    assert prompt < budget.soft_limit_tokens < budget.hard_limit_tokens < window


@pytest.mark.parametrize(
    "wrong",
    [
        {"window_tokens": 15_999},
        {"core_share": -0.1},
        {"retrieved_share": 0.95},
        {"verbatim_turns": 0},
        {"summarised_turns": 9},
        {"reserve_tokens": -1},
        {"reserve_tokens": 125_000},
    ],
)
def test_impossible_budgets_are_refused(wrong: dict[str, Any]) -> None:
    """The message names the setting and its value."""
    name, value = next(iter(wrong.items()))
    with pytest.raises(ConfigError, match=name) as caught:
        ContextBudget(**wrong)
    assert str(value) in str(caught.value)


@pytest.mark.parametrize(
    ("fill", "expected"),
    [(0, "peak"), (0.299, "peak"), (0.3, "good"), (0.5, "degrading"), (0.7, "poor"), (1.2, "poor")],
)
def test_levels(fill: float, expected: str) -> None:
    """Below 30, 50 and 70 percent and above are peak, good, degrading, poor."""
    assert level(fill) == expected


def test_the_report_says_what_is_over_and_how_urgent() -> None:
    """Parts over their limit are named; pressure grows at the soft and at the hard limit; a window
    below 32k is noticed."""
    budget = ContextBudget(window_tokens=20_000)
    calm = budget.report(core_tokens=500, retrieved_tokens=2_000, conversation_tokens=1_000)
    assert (calm["level"], calm["pressure"], calm["over"]) == ("peak", "none", [])
    assert calm["fill"] == 0.175
    assert "20000 tokens is tight" in calm["notices"][0]
    soft = budget.report(
        core_tokens=500, retrieved_tokens=2_000, conversation_tokens=budget.soft_limit_tokens - 2499
    )
    assert (soft["level"], soft["pressure"], soft["over"]) == ("poor", "soft", ["conversation"])
    hard = budget.report(core_tokens=0, retrieved_tokens=0, conversation_tokens=19_000)
    assert (hard["pressure"], hard["free_tokens"]) == ("hard", budget.hard_limit_tokens - 19_000)
    assert ContextBudget().report(core_tokens=0, retrieved_tokens=0, conversation_tokens=0)[
        "notices"
    ] == []  # fmt: skip


def test_the_report_lives_in_a_graphs_state() -> None:
    """It is JSON, and comes back from a checkpoint as it was."""

    class State(TypedDict):
        budget: BudgetReport

    report = ContextBudget().report(core_tokens=1, retrieved_tokens=70_000, conversation_tokens=3)
    graph = StateGraph(State)
    graph.add_node("measure", lambda state: {"budget": report})
    graph.add_edge(START, "measure")
    app = graph.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    app.invoke({}, config)  # type: ignore[arg-type]
    assert app.get_state(config).values["budget"] == report == json.loads(json.dumps(report))
