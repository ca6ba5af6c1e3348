from __future__ import annotations

from math import log2

import pytest

from langmemory.parts.evals.metrics import METRICS, WITHIN_BUDGET, estimate, score


def test_scores_are_those_worked_out_by_hand() -> None:
    """Two of three pieces of evidence at ranks 2 and 6 give the textbook values."""
    ranking = ["x", "a", "y", "z", "w", "b", "v"]
    scores = score(ranking, {"a": 1.0, "b": 1.0, "c": 1.0}, {"a", "y"})
    assert tuple(scores) == METRICS
    assert scores["recall@1"] == 0
    assert scores["recall@5"] == pytest.approx(1 / 3)
    assert scores["recall@10"] == scores["recall@20"] == pytest.approx(2 / 3)
    assert (scores["any@1"], scores["any@5"]) == (0, 1)
    assert scores["all@20"] == 0
    assert scores[WITHIN_BUDGET] == pytest.approx(1 / 3)
    assert scores["mrr"] == pytest.approx(1 / 2)
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    assert scores["ndcg@10"] == pytest.approx((1 / log2(3) + 1 / log2(7)) / ideal)


def test_graded_evidence_counts_by_its_gain_in_ndcg_only() -> None:
    """Finding the better document first is rewarded by NDCG; recall does not care."""
    gains = {"best": 3.0, "good": 1.0}
    right, wrong = score(["best", "good"], gains, ()), score(["good", "best"], gains, ())
    assert right["ndcg@10"] == 1 > wrong["ndcg@10"]
    assert right["recall@5"] == wrong["recall@5"] == 1


def test_evidence_below_a_depth_does_not_count_at_it() -> None:
    """The eleventh result is in the first twenty and not in the first ten."""
    scores = score([*map(str, range(10)), "a"], {"a": 1.0}, ())
    assert (scores["recall@10"], scores["recall@20"], scores["ndcg@10"]) == (0, 1, 0)
    assert scores["mrr"] == pytest.approx(1 / 11)


def test_the_interval_holds_the_mean_narrows_with_more_questions_and_is_repeatable() -> None:
    """A bootstrap interval behaves like one, and the seed makes it the same every time."""
    few, many = (estimate([{"x": 0.0}, {"x": 1.0}] * n)["x"] for n in (10, 500))
    assert few.low < few.value == 0.5 < few.high
    assert many.high - many.low < (few.high - few.low) / 4
    assert 0.055 < many.high - many.low < 0.07  # 2 × 1.96 × .5 / √1000
    assert estimate([{"x": 0.0}, {"x": 1.0}] * 10)["x"] == few
