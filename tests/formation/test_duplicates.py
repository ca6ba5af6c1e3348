"""Duplicates: what says the same, what only looks like it, and what may not be put together."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from langmemory.formation.duplicates import Division, divide, raise_confidence
from tests.formation.memory_knowledge import DAY, MemoryKnowledge, claim, fact, known


def divided(text: str, other: str, cosine: float, **more: Any) -> Division:
    knowledge = MemoryKnowledge(known("fact/1", other), near={"fact/1": cosine})
    return divide([fact(text, **more)], knowledge)


def kind_of(division: Division) -> str:
    return next(n for n in ("repeated", "grey", "fresh") if getattr(division, n))


@pytest.mark.parametrize(
    ("text", "other", "cosine", "kind"),
    [
        ("Lena lives in Kiel.", "lena lives in  Kiel", 0.0, "repeated"),
        ("Lena is fond of green tea", "Lena likes green tea", 0.985, "repeated"),
        ("Lena has bought a red bike", "Lena bought the red bike", 0.93, "repeated"),
        ("Lena has bought a red bike", "Lena rides a red motorbike daily", 0.93, "grey"),
        ("Lena has bought a red bike", "Lena rides a red motorbike daily", 0.87, "fresh"),
        ("Lena has 2 cats", "Lena has 3 cats", 0.99, "grey"),
        ("Lena is not allergic to nuts", "Lena is allergic to nuts", 0.99, "grey"),
        ("Lena no longer works at Initech", "Lena works at Initech", 0.99, "grey"),
        ("They met Anna", "They met Peter", 0.99, "fresh"),
        ("The dentist is on Monday", "The dentist is on Tuesday", 0.99, "fresh"),
    ],
)
def test_near_is_not_the_same(text: str, other: str, cosine: float, kind: str) -> None:
    """Numbers, negation, names and days have to agree at any cosine, words in the grey zone, too."""
    assert kind_of(divided(text, other, cosine)) == kind


def test_the_same_claim_with_nothing_more_to_it_is_a_duplicate() -> None:
    """Other words for one claim repeat it; what says more than the claim does not."""
    works = claim("person/lena-1", "works_at", "organisation/initech-1")
    knowledge = MemoryKnowledge(known("fact/1", "Lena works at Initech", works))
    assert divide([fact("Lena is employed by Initech", works)], knowledge).repeated
    assert divide([fact("Lena works at Initech as a tester in Kiel", works)], knowledge).fresh


def test_within_a_batch_the_first_takes_the_evidence() -> None:
    """Two turns that say the same make one fact with both as its evidence, and a surer one."""
    facts = [fact("Lena sings", evidence=("a",)), fact("Lena sings.", evidence=("b",))]
    [only] = divide(facts, MemoryKnowledge()).fresh
    assert only.evidence == ("a", "b")
    assert 0.8 < only.confidence <= 0.99


@pytest.mark.parametrize(
    "mine",
    [{"privacy": "private", "owner": "ben"}, {"privacy": "shared"}, {"privacy": "public"}],
)
def test_a_private_fact_is_put_together_with_nobody_elses(mine: dict[str, Any]) -> None:
    """Neither absorbs the other across owners or readers, at one wording."""
    secret = known("fact/1", "The code is 12", privacy="private", owner="lena")
    assert divide([fact("The code is 12", **mine)], MemoryKnowledge(secret)).fresh


def test_what_held_at_another_time_is_another_version() -> None:
    """A fact that ended before the new one began is not repeated by it."""
    over = known("fact/1", "Lena lives in Kiel", invalid_at=DAY + timedelta(days=9))
    later = fact("Lena lives in Kiel", said_at=DAY + timedelta(days=99))
    assert divide([later], MemoryKnowledge(over)).fresh


def test_what_waits_takes_in_only_what_would_wait() -> None:
    """Said by somebody else or more surely, a fact does not disappear in a pending one."""
    waiting = known("fact/1", "Lena lives in Kiel", status="pending", confidence=0.4)
    knowledge = MemoryKnowledge(waiting)
    assert divide([fact("Lena lives in Kiel", confidence=0.9)], knowledge).fresh
    assert divide([fact("Lena lives in Kiel", speaker="Ben", confidence=0.3)], knowledge).fresh
    assert divide([fact("Lena lives in Kiel", confidence=0.3)], knowledge).repeated


def test_confidence_rises_within_bounds() -> None:
    """Each repetition adds less, never beyond .99, and never takes away."""
    assert raise_confidence(0.8, 0.8) == pytest.approx(1 - 0.2 * 0.6)
    assert raise_confidence(0.985, 1.0) == 0.99
    assert raise_confidence(1.0, 0.1) == 1.0


KIEL, BONN = "place/kiel-1a2b", "place/bonn-3c4d"
LIVES_IN_KIEL = claim("person/lena-1", "lives_in", KIEL)
LIVES_IN_BONN = claim("person/lena-1", "lives_in", BONN)


def days_later(number: int) -> dict[str, Any]:
    moment = DAY + timedelta(days=number)
    return {"said_at": moment, "evidence": (f"t/{number}",)}


@pytest.mark.parametrize("known_first", [True, False])
def test_what_holds_again_is_no_repetition(known_first: bool) -> None:
    """After "I moved to Bonn", "I live in Kiel" is news, also where it was known before."""
    first = fact("Lena lives in Kiel", LIVES_IN_KIEL, **days_later(0))
    moved = fact("Lena lives in Bonn", LIVES_IN_BONN, **days_later(9))
    back = fact("Lena lives in Kiel", LIVES_IN_KIEL, **days_later(20))
    if known_first:
        knowledge = MemoryKnowledge(known("fact/1", "Lena lives in Kiel", LIVES_IN_KIEL))
        found = divide([moved, back], knowledge)
    else:
        found = divide([first, moved, back], MemoryKnowledge())
    assert found.fresh[-1] == back
    assert not found.repeated
    assert found.within == 0


def test_what_others_said_in_between_changes_nothing() -> None:
    """A repetition stays one where what was said in between is about something else."""
    knowledge = MemoryKnowledge(known("fact/1", "Lena lives in Kiel", LIVES_IN_KIEL))
    other = fact("Ben lives in Bonn", claim("person/ben-1", "lives_in", BONN), **days_later(5))
    again = fact("Lena lives in Kiel", LIVES_IN_KIEL, **days_later(9))
    assert [one for one, _ in divide([other, again], knowledge).repeated] == [again]


def test_a_fact_that_says_until_when_is_no_repetition() -> None:
    """ "Until March" is news of what is known without an end."""
    knowledge = MemoryKnowledge(known("fact/1", "Lena lives in Kiel", LIVES_IN_KIEL))
    until = fact("Lena lives in Kiel", LIVES_IN_KIEL, invalid_at=DAY + timedelta(days=90),
                 **days_later(9))  # fmt: skip
    assert divide([until], knowledge).fresh == (until,)
