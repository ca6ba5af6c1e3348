"""One fact in two wordings is one fact, or it is asked whether it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from langmemory.operations.gathering import Gathering
from tests.formation.retold import NS, Retelling, told
from tests.seeds import examples
from tests.tables import tables

CASES = tables(__file__)


SAME = CASES["same"]
"""They are one row, or whether they are is asked."""

MORE = CASES["more"]
"""The second says more, which must not get lost."""


def _told_twice(path: Path, claim: str, one: str, other: str) -> Retelling:
    known = Retelling(path)
    known.tell(told("2026-01-01", f"{one}.", f"{one}. | {claim}"))
    known.tell(told("2026-02-01", f"{other}.", f"{other}. | {claim}"))
    return known


def test_two_wordings_of_one_claim_are_one_fact_or_asked_about(tmp_path: Path) -> None:
    """Of two wordings of one claim at least 95 % make one row, or a question, and three quarters a row."""
    rows, neither = 0, []
    pairs = SAME[:: examples(1, first=4)]
    for number, (claim, one, other) in enumerate(pairs):
        known = _told_twice(tmp_path / f"{number}.db", claim, one, other)
        if len(known.facts()) == 1:
            rows += 1
            with Gathering(known.store).knowledge(NS) as knowledge:
                [memory] = known.facts().values()
                found = knowledge.by_key(memory.key)
                assert found is not None
                assert len(found.evidence) == 2
        elif not any(review.about == "duplicate" for review in known.store.changes.reviews(NS)):
            neither.append(other)
        known.close()
    assert len(neither) <= 0.05 * len(pairs), neither
    assert rows >= 0.75 * len(pairs)


@pytest.mark.parametrize(("claim", "one", "other"), MORE)
def test_what_says_more_is_kept(tmp_path: Path, claim: str, one: str, other: str) -> None:
    """A detail that the first wording does not have is in a fact of its own."""
    known = _told_twice(tmp_path / "m.db", claim, one, other)
    assert known.holds(one)
    assert known.holds(other)
