"""A retraction in a scripted model's answer ends its fact or opens a review; nothing else does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.formation.cases.retracted import BYSTANDERS, FLATTENED, MADE, MEANT, NATURAL, Retraction
from tests.formation.retold import Line, Retelling, told

ENDS_OR_ASKS = 0.95
ENDS_OTHERS = 0.02
HALVES = {"second": 1, "first": 0}
"""The first was developed on."""


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that knows the bystanders."""
    path = tmp_path_factory.mktemp("beside") / "m.db"
    known = Retelling(path)
    known.tell(told("2026-01-01", _said(BYSTANDERS), *BYSTANDERS))
    known.close()
    return path


@pytest.mark.thorough  # rules play the same retractions in test_rule_retractions.py
@pytest.mark.parametrize("half", list(HALVES))
def test_what_is_taken_back_ends_or_is_asked_about(
    half: str, beside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of retractions over all relations at least 95 % end what they take back or ask about it, and at
    most 2 % end something else."""
    cases = [one for at, one in enumerate((*MADE, *NATURAL)) if at % 2 == HALVES[half]]
    left, harmed = _played(cases, beside, tmp_path)
    with capsys.disabled():
        print(f"\n{half} half: {len(cases) - len(left)}/{len(cases)} end or ask; {harmed=}", *left)
    assert len(left) <= (1 - ENDS_OR_ASKS) * len(cases), left
    assert len(harmed) <= ENDS_OTHERS * len(cases), harmed


@pytest.mark.thorough
def test_what_is_planned_supposed_remembered_or_passing_ends_nothing(
    beside: Path, tmp_path: Path
) -> None:
    """A claim whose sentence, or whose words as they were said, plan, suppose, remember or tell of a
    time leaves the present one as it is."""
    left, harmed = _played((*MEANT, *FLATTENED), beside, tmp_path)
    assert (left, harmed) == ([], [])


def test_there_are_enough_of_them() -> None:
    """At least 200 retractions, each with a name of its own."""
    names = [one.name for one in (*MADE, *NATURAL)]
    assert len(names) >= 200
    assert len(set(names)) == len(names)


def _played(cases: Sequence[Retraction], beside: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Names of the cases that end or ask too little (or, of what stays, at all), and too much."""
    left, harmed = [], []
    for number, one in enumerate(cases):
        path = folder / f"{number}.db"
        path.write_bytes(beside.read_bytes())
        known = Retelling(path)
        try:
            lines = (one.known, *one.also)
            known.tell(told("2026-01-02", _said(lines), *lines))
            before = {text for text, holds in known.standing().items() if holds}
            known.tell(told("2026-02-01", one.said, *one.lines))
            wanted = {_text(each) for each in lines}
            assert wanted <= before, one.name
            after = known.standing()
            over = {text for text in before if not after[text]}
            if one.stays:
                left += [one.name] if over else []
            elif not all(text in over or known.asked(text) for text in wanted):
                left.append(one.name)
            harmed += [one.name] if over - wanted else []
        finally:
            known.close()
    return left, harmed


def _said(lines: Sequence[Line]) -> str:
    return "Some things about me. " + " ".join(f"{_text(one)}." for one in lines)


def _text(one: Line) -> str:
    whole = one if isinstance(one, str) else one[0]
    return whole.split("|")[0].strip().rstrip(".")
