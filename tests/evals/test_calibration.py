from __future__ import annotations

import pytest

from langmemory.parts.evals.metrics import Bin, auroc, calibration_error, reliability


def test_auroc_counts_pairs_in_the_right_order_and_ties_as_halves() -> None:
    """The figure is the share of (evidence, other) pairs in the right order, worked out by hand."""
    scores = [0.9, 0.8, 0.8, 0.3, 0.1]
    evidence = [True, True, False, True, False]
    # .9 beats both, .8 ties with .8 and beats .1, .3 loses to .8 and beats .1: 2 + 1.5 + 1 of 6.
    assert auroc(scores, evidence) == pytest.approx(4.5 / 6)
    assert auroc(scores[::-1], evidence[::-1]) == pytest.approx(4.5 / 6)


@pytest.mark.parametrize(
    ("scores", "evidence", "expected"),
    [
        ([0.2, 0.7], [False, True], 1.0),
        ([0.2, 0.7], [True, False], 0.0),
        ([0.5, 0.5, 0.5], [True, False, False], 0.5),
        ([0.5, 0.7], [True, True], None),
        ([0.5, 0.7], [False, False], None),
        ([], [], None),
    ],
)
def test_auroc_at_its_ends(
    scores: list[float], evidence: list[bool], expected: float | None
) -> None:
    """A perfect score has 1, an inverted one 0, a constant one a half, and one class none at all."""
    assert auroc(scores, evidence) == expected


def test_calibration_error_is_the_one_worked_out_by_hand() -> None:
    """Two bins of two pairs: |.15 - 0| and |.8 - .5|, each with half of the weight."""
    bins = reliability([0.9, 0.1, 0.7, 0.2], [True, False, False, False], bins=2)
    assert bins == (
        Bin(pairs=2, score=pytest.approx(0.15), evidence=0.0),
        Bin(pairs=2, score=pytest.approx(0.8), evidence=0.5),
    )
    assert calibration_error(bins) == pytest.approx((0.15 + 0.3) / 2)


def test_bins_have_equal_mass_and_larger_ones_weigh_more() -> None:
    """Five pairs make bins of three and two, and the error is a mean over pairs, not over bins."""
    bins = reliability([0.1, 0.2, 0.3, 0.6, 0.8], [False, False, False, True, True], bins=2)
    assert [one.pairs for one in bins] == [3, 2]
    assert calibration_error(bins) == pytest.approx((3 * 0.2 + 2 * 0.3) / 5)


def test_tied_scores_count_alike_whatever_their_order() -> None:
    """Where a bin ends between equal scores, each side has their common share of evidence."""
    scores, evidence = [0.5] * 4, [True, False, False, False]
    for order in (evidence, evidence[::-1]):
        assert [one.evidence for one in reliability(scores, order, bins=2)] == [0.25, 0.25]


def test_few_pairs_make_few_bins_and_none_make_no_figure() -> None:
    """No bin is empty; without pairs there is no error to report."""
    assert len(reliability([0.1, 0.9], [False, True])) == 2
    assert reliability([], []) == ()
    assert calibration_error(()) is None
