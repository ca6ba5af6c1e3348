"""A superseded fact holds again when the newer one goes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.formation.retold import NS, Retelling, line, told

KIEL = told("2026-01-01", "I live in Kiel.", "Lena lives in Kiel. | Lena > lives_in > Kiel")
BONN = told("2026-02-01", "I moved to Bonn.", "Lena moved to Bonn. | Lena > lives_in > Bonn")
ULM = told("2026-03-01", "I moved to Ulm.", "Lena moved to Ulm. | Lena > lives_in > Ulm")
WAYS = ("delete", "adelete", "remove", "archive", "forget")


@pytest.fixture
def home(tmp_path: Path) -> Retelling:
    return Retelling(tmp_path / "m.db")


def take(home: Retelling, text: str, way: str) -> None:
    key = home.facts()[text].key
    if way == "delete":
        home.store.delete(NS, key)
    elif way == "adelete":
        asyncio.run(home.store.adelete(NS, key))
    elif way == "forget":
        home.store.forget(NS, keys=[key])
    else:
        getattr(home.store.changes, way)(NS, key, reason="not so")


@pytest.mark.parametrize("way", WAYS)
def test_without_the_newer_fact_the_older_one_holds(home: Retelling, way: str) -> None:
    """Deleting, putting away or forgetting a fact lets hold again what gave way to it."""
    home.tell(KIEL)
    home.tell(BONN)
    assert not home.holds("Lena lives in Kiel")
    take(home, "Lena moved to Bonn", way)
    assert home.holds("Lena lives in Kiel")
    found = home.store.recall("Where does Lena live?", NS, kinds=("semantic",)).results
    assert [one.memory.text for one in found if "Kiel" in one.memory.text] == [
        "Lena lives in Kiel."
    ]


@pytest.mark.parametrize("way", WAYS)
def test_what_took_its_place_next_takes_that_of_the_one_before(home: Retelling, way: str) -> None:
    """Of three homes the second goes: the first gave way to the third, and does not come back."""
    for one in (KIEL, BONN, ULM):
        home.tell(one)
    take(home, "Lena moved to Bonn", way)
    first, last = home.facts()["Lena lives in Kiel"], home.facts()["Lena moved to Ulm"]
    assert (first.status, first.superseded_by) == ("superseded", last.key)
    assert first.invalid_at == last.valid_at
    take(home, "Lena moved to Ulm", way)
    assert home.holds("Lena lives in Kiel")


def test_what_ended_by_itself_stays_over(home: Retelling) -> None:
    """A fact that another one ends as well is over without the first."""
    home.tell(KIEL)
    home.tell(told("2026-02-01", "I no longer live in Kiel.",
                   line("Lena no longer lives in Kiel. | Lena > lives_in > Kiel", ends=True)))  # fmt: skip
    home.tell(BONN)
    take(home, "Lena no longer lives in Kiel", "delete")
    assert not home.holds("Lena lives in Kiel")


def test_a_fact_comes_back_as_it_was(home: Retelling) -> None:
    """Owner and privacy of a fact that holds again are its own."""
    home.tell(told("2026-01-01", "I live in Kiel.",
                   line("Lena lives in Kiel. | Lena > lives_in > Kiel", privacy="private")))  # fmt: skip
    home.tell(told("2026-02-01", "I moved to Bonn.",
                   line("Lena moved to Bonn. | Lena > lives_in > Bonn", privacy="private")))  # fmt: skip
    take(home, "Lena moved to Bonn", "delete")
    back = home.facts()["Lena lives in Kiel"]
    assert (back.status, back.owner, back.privacy) == ("active", "lena", "private")
    assert (
        home.store.for_viewer("tom").recall("Lena lives in Kiel", NS, kinds=("semantic",)).results
        == ()
    )


def test_that_it_holds_again_can_be_undone(home: Retelling) -> None:
    """The run that lets a fact hold again is told of, and taken back alone or with the removal."""
    home.tell(KIEL)
    home.tell(BONN)
    removal = home.store.changes.remove(NS, home.facts()["Lena moved to Bonn"].key, reason="not so")
    assert home.holds("Lena lives in Kiel")
    home.store.changes.undo(removal.run_id)
    assert home.holds("Lena moved to Bonn")
    assert not home.holds("Lena lives in Kiel")
    take(home, "Lena moved to Bonn", "delete")
    [run] = [one for one in home.store.changes.runs(NS) if one.id.startswith("reinstated/")]
    home.store.changes.undo(run.id)
    assert not home.holds("Lena lives in Kiel")


def test_two_that_go_together_leave_what_was_before_both(home: Retelling) -> None:
    """A batch of deletions reinstates a fact that only deleted facts had superseded."""
    from langgraph.store.base import PutOp

    for one in (KIEL, BONN, ULM):
        home.tell(one)
    keys = [home.facts()[text].key for text in ("Lena moved to Bonn", "Lena moved to Ulm")]
    home.store.batch([PutOp(NS, key, None) for key in keys])
    assert home.holds("Lena lives in Kiel")


def test_what_was_to_end_with_a_beginning_to_come_goes_on(home: Retelling) -> None:
    """A job that was to end when the next one begins has no end once the next one is deleted."""
    home.tell(
        told(
            "2026-01-01", "I work at Initech.", "Lena works at Initech. | Lena > works_at > Initech"
        )
    )
    home.tell(told("2026-02-01", "My new job at Hooli begins on 1 June 2026.",
                   line("Lena's new job at Hooli begins on 1 June 2026. | Lena > works_at > Hooli",
                        time_words="on 1 June 2026")))  # fmt: skip
    job = "Lena works at Initech"
    assert home.facts()[job].invalid_at is not None
    take(home, "Lena's new job at Hooli begins on 1 June 2026", "delete")
    assert home.holds(job)
