"""The correctness suite: what is known after a dialogue, case by case, on a real file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.formation.correctness import Case, Play
from tests.formation.dialogues import cases

MENDED_SINCE = (*cases("again"), *cases("edited"), *cases("taken_back"))
CASES = (
    *MENDED_SINCE,
    *(
        one
        for file in ("changes", "people", "namesakes", "words", "further", "heard", "unknown")
        for one in cases(file)
    ),
)

GOAL = 0.95
"""Share of the cases that has to hold."""


@pytest.mark.thorough
def test_the_structural_part_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After at least 95 % of the dialogues, what is known is exactly what the case says; and after each
    of those that once left something wrong or lost."""
    failed: dict[str, list[str]] = {}
    for number, one in enumerate(CASES):
        problems = played(one, tmp_path / f"{number}.db")
        if problems:
            failed[one.name] = problems
    right = len(CASES) - len(failed)
    with capsys.disabled():
        print(f"\nstructural {right}/{len(CASES)}", *_by_subject(failed))
        for name, problems in failed.items():
            print(f"  {name}", *problems, sep="\n    ")
    assert right >= GOAL * len(CASES), failed
    once_mended = {name: failed[name] for name in MENDED if name in failed}
    assert not once_mended, once_mended


MENDED = (
    "a move that never was ended nothing",
    "a move elsewhere and later than was said",
    "a move that was to come is off",
    "a move that was to come is off, answered after the next move",
    "a job told to have been over for a year",
    "what a person decides keeps the rest of what gives way",
    "what is approved keeps the rest of what gives way",
    "since when, heard later",
    "since when, though something else is known of that time",
    *(one.name for one in MENDED_SINCE),
)
"""Dialogues that once went wrong, and never may again."""


def test_every_case_has_a_name_of_its_own() -> None:
    """A failing case can be found by its name."""
    assert {one.name for one in CASES} >= set(MENDED)
    assert not [name for name, n in Counter(one.name for one in CASES).items() if n > 1]


def played(one: Case, path: Path) -> list[str]:
    """Return the differences between the store and the case."""
    with pytest.MonkeyPatch.context() as patch:
        play = Play(one, path, patch)
        try:
            play.play()
            return play.problems()
        except Exception as error:  # the other cases are still worth knowing
            return [f"raised {type(error).__name__}: {error}"]
        finally:
            play.store.close()


def _by_subject(failed: dict[str, list[str]]) -> list[str]:
    total = Counter(one.about for one in CASES)
    wrong = Counter(one.about for one in CASES if one.name in failed)
    return [f"· {about} {n - wrong[about]}/{n}" for about, n in total.items()]
