"""Retention and salience: how memories fade, and what they are worth."""

from __future__ import annotations

import math
from typing import Any

import pytest

from langmemory.formation.temporal_class import temporal_class
from langmemory.lifecycle.retention import (
    DAY_US,
    WEIGHTS,
    RetentionOptions,
    age_days,
    classes,
    half_life_days,
    retention,
    salience,
)
from tests.lifecycle.aged import NOW, aged


def left(**memory: Any) -> float:
    """The retention of one memory at `NOW`."""
    return float(retention(aged(memory), NOW)[0])


def test_half_of_a_memory_is_left_after_a_half_life() -> None:
    """An unused fact has half of its retention after sixty days, and all of it when it is said."""
    assert left(days=0) == 1
    assert left(days=60) == pytest.approx(0.5)
    assert left(days=120) == pytest.approx(0.25)


def test_use_and_confirmation_lengthen_the_half_life() -> None:
    """Each citation adds 15 % of a half-life, one that was right counts twice, a confirmation doubles it;
    standing in a prompt adds nothing."""
    days = half_life_days(
        aged({}, {"cited": 2}, {"cited": 2, "right": 2}, {"verified": True}, {"loaded": 100})
    )
    assert days.tolist() == pytest.approx([60, 78, 96, 120, 60])


def test_what_is_pinned_or_timeless_does_not_fade() -> None:
    """After a hundred years a birthday, an allergy and what a person pinned are whole."""
    for memory in ({"pinned": True}, {"relation": "born_on"}, {"relation": "allergic_to"}):
        assert left(days=36_500, **memory) == 1


def test_a_plan_fades_from_the_day_on_which_it_is_over() -> None:
    """A visit planned long ago is whole until it is over, and fades twice as fast then."""
    coming = {"relation": "planned_visited", "days": 200, "ends_at": NOW + 5 * DAY_US}
    over = {"relation": "planned_visited", "days": 200, "ends_at": NOW - 30 * DAY_US}
    assert retention(aged(coming, over), NOW).tolist() == pytest.approx([1, 0.5])


def test_a_citation_begins_the_age_anew() -> None:
    """The age counts from the last citation, if that is later than what was said."""
    used = aged({"days": 300, "used_at": NOW - 3 * DAY_US, "cited": 1})
    assert age_days(used, NOW).tolist() == [3]


@pytest.mark.parametrize(
    ("relation", "fact_kind", "told", "expected"),
    [
        ("parent_of", "", "", "timeless"),
        ("born_in", "event", "", "timeless"),
        ("lives_in", "", "", "habitual"),
        ("", "preference", "", "habitual"),
        ("", "plan", "", "episodic"),
        ("visited", "", "", "episodic"),
        ("planned_lives_in", "", "", "episodic"),
        ("lives_in", "", "timeless", "timeless"),
        ("something_else", "", "nonsense", "habitual"),
    ],
)
def test_how_a_fact_ages(relation: str, fact_kind: str, told: str, expected: str) -> None:
    """The class is what a model said, else that of the relation, else that of the kind of statement."""
    assert temporal_class(relation, fact_kind, told) == expected


def test_salience_weighs_all_parts() -> None:
    """Every part raises salience, a pinned memory has 1, and the weights sum to 1."""
    plain = {"days": 60}
    better = [
        {"importance": 0.9},
        {"confidence": 0.99},
        {"evidence": 8},
        {"cited": 9},
        {"degree": 30},
    ]
    score = salience(aged(plain, *({**plain, **one} for one in better), {"pinned": True}), NOW)
    assert all(one > score[0] for one in score[1:])
    assert score[-1] == 1
    weights = [getattr(WEIGHTS, name) for name in WEIGHTS.__slots__]
    assert math.isclose(sum(weights), 1)


def test_nothing_at_all_has_no_retention() -> None:
    """An empty namespace is no error."""
    nothing = aged()
    assert retention(nothing, NOW).tolist() == salience(nothing, NOW).tolist() == []
    assert classes(nothing) == []


def test_factors_by_class_and_kind_and_prompts_as_options() -> None:
    """Half-lives by class and kind are options, and so is whether standing in a prompt counts: for a memory,
    or, where it was not cited, against it. What is not named keeps its factor; timeless facts never fade."""
    memories = aged(
        {"kind": "procedural"}, {"temporal_class": "episodic"}, {"temporal_class": "timeless"},
        {"loaded": 10, "cited": 0},
    )  # fmt: skip

    def days(**options: Any) -> list[float]:
        return [
            float(one) for one in half_life_days(memories, RetentionOptions(**options)).round(3)
        ]

    assert days() == [120, 30, math.inf, 60]
    assert days(factors={"procedural": 1, "habitual": 3}) == [180, 30, math.inf, 180]
    by_name = RetentionOptions.of({"default": 90, "procedural": 365, "episodic": 30})
    assert half_life_days(memories, by_name).round(3).tolist() == [365, 30, math.inf, 90]
    assert days(per_retrieval=0.1) == [120, 30, math.inf, 120]
    assert days(per_near_miss=0.1) == [120, 30, math.inf, 30]
