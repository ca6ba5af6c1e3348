"""Planning: one deterministic change set; what fails or is doubted changes nothing by itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from langmemory.changes import AddMemory, ChangeSet, MarkReflected, OpenReview, Supersede
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.contradiction.grouping import groups
from langmemory.formation.duplicates import divide
from langmemory.formation.entities.resolving import resolve
from langmemory.formation.judging import StructuralJudge
from langmemory.formation.planning.plan import plan
from langmemory.formation.planning.writing import edges
from langmemory.ports.facts import CoreSuggestion, Extraction, Fact, Knowledge, SessionSummary
from langmemory.stores import MemoryStore
from tests.formation.memory_knowledge import DAY, NS, MemoryKnowledge, claim, fact

SUMMARY = SessionSummary(text="They talked.", decisions=("go on",), open_points=("when",))


def batch(facts: Sequence[Fact], **turn: Any) -> Batch:
    """A turn for each evidence."""
    keys = dict.fromkeys(key for one in facts for key in one.evidence)
    turns = [
        Turn(key=key, text="…", role="user", speaker="Lena", said_at=DAY, **turn) for key in keys
    ]
    return Batch(namespace=NS, thread_id="t", turns=tuple(turns))


def planned(
    facts: Sequence[Fact],
    knowledge: Knowledge | None = None,
    *,
    core: tuple[CoreSuggestion, ...] = (),
    turn: dict[str, Any] | None = None,
    **options: Any,
) -> ChangeSet:
    knowledge = knowledge or MemoryKnowledge()
    resolution = resolve(facts, knowledge)
    division = divide(resolution.facts, knowledge)
    verdicts = [
        StructuralJudge().judge(g) for g in groups(division.fresh, division.grey, knowledge)
    ]
    extraction = Extraction(facts=tuple(facts), summary=SUMMARY, core=core, model_calls=1)
    return plan(
        batch(facts, **(turn or {})), extraction, resolution, division, verdicts, knowledge,
        now=DAY + timedelta(days=30), **options,
    )  # fmt: skip


LIVES = fact("Lena lives in Kiel", claim("I", "lives in", "Kiel"))
MOVED = fact("Lena moved to Bonn", claim("I", "moved to", "Bonn"), said_at=DAY + timedelta(days=9))


def added(change_set: ChangeSet) -> dict[str, AddMemory]:
    return {c.value["text"]: c for c in change_set.changes if isinstance(c, AddMemory)}


def reviews(change_set: ChangeSet) -> dict[str, OpenReview]:
    return {c.about: c for c in change_set.changes if isinstance(c, OpenReview)}


def test_a_plan_is_the_same_every_time() -> None:
    """Same turns, same facts, same knowledge: the same run, keys and order."""
    assert planned([LIVES, MOVED]) == planned([LIVES, MOVED])
    assert planned([LIVES]).run_id.startswith("reflect/")


def test_every_turn_is_marked_read_whatever_came_of_it() -> None:
    """A batch without facts still counts as read; nothing is invented for it."""
    found = plan(
        batch([LIVES]), Extraction(), resolve([], MemoryKnowledge()), divide([], MemoryKnowledge()),
        [], MemoryKnowledge(), now=DAY,
    )  # fmt: skip
    assert found.changes == (MarkReflected(keys=LIVES.evidence),)


def test_a_fact_is_stored_with_everything_known_of_it() -> None:
    """Value, facets, evidence, mentions and edge of a fact, and the summary with its points."""
    found = planned([LIVES])
    one = added(found)["Lena lives in Kiel"]
    assert one.value == {
        "text": "Lena lives in Kiel", "fact_kind": "fact", "speaker": "Lena", "language": "en",
        "subject": "Lena", "relation": "lives_in", "object": "Kiel", "said_at": DAY.isoformat(),
    }  # fmt: skip
    assert (one.facets.status, one.facets.valid_at, one.evidence) == ("active", DAY, LIVES.evidence)
    assert len(one.mentions) == 2
    summary = added(found)["They talked."]
    assert (summary.facets.kind, summary.facets.priority) == ("archival", "archive")
    assert found.note["summary"] == summary.key
    assert found.note["learned"] == [one.key]
    assert "Lena" not in str(found.note)


def test_when_a_step_failed_nothing_graduates() -> None:
    """Facts are kept as approved, nothing known changes, and one question stands for the run."""
    found = planned([LIVES, MOVED], failures=["judge: gone"])
    facts = [c for c in found.changes if isinstance(c, AddMemory) and c.key.startswith("fact/")]
    assert {c.facets.status for c in facts} == {"approved"}
    assert not any(isinstance(c, Supersede) for c in found.changes)
    believe = reviews(found)["run"].options["believe"]
    assert any(isinstance(c, Supersede) for c in believe)


def test_secrets_stay_with_their_owner() -> None:
    """A private turn makes facets and value private, in facts, summary and core, whatever the
    extractor says."""
    core = CoreSuggestion(block="human", text="Lives in Kiel", evidence=LIVES.evidence)
    found = planned([LIVES], core=(core,), turn={"owner": "lena", "privacy": "private"})
    [accepted] = reviews(found)["core"].options["add"]
    for one in (*added(found).values(), accepted):
        assert isinstance(one, AddMemory)
        assert (one.facets.owner, one.facets.privacy) == ("lena", "private")
        assert one.value["privacy"] == "private"


def test_nobody_may_read_what_two_said_in_private() -> None:
    """A fact made of two owners' private turns is left out."""
    both = fact("The code is 12", evidence=("a", "b"))
    turns = tuple(
        Turn(key=k, text="…", role="user", speaker=k, said_at=DAY, owner=k, privacy="private")
        for k in "ab"
    )
    knowledge = MemoryKnowledge()
    resolution = resolve([both], knowledge)
    found = plan(
        Batch(namespace=NS, thread_id="t", turns=turns), Extraction(facts=(both,), summary=SUMMARY),
        resolution, divide(resolution.facts, knowledge), [], knowledge, now=DAY,
    )  # fmt: skip
    assert not added(found)


@pytest.mark.parametrize("failures", [(), ("judge: gone",)])
def test_a_plan_can_be_applied_and_decided(tmp_path: Path, failures: tuple[str, ...]) -> None:
    """Every change of a plan, and every option of every review in it, is one a store accepts."""
    guess = fact("Lena lives in Ulm", claim("I", "lives in", "Ulm"), confidence=0.3)
    core = CoreSuggestion(block="human", text="Lives in Kiel", evidence=LIVES.evidence)
    facts = [LIVES, MOVED, guess, fact("Anna is 3", claim("Anna", "age", "3", literal=True))]
    found = planned(facts, core=(core,), failures=failures)
    about = list(reviews(found))
    assert about
    choices = [(name, option) for name in about for option in reviews(found)[name].options]
    for number, (name, option) in enumerate(choices):
        with MemoryStore(tmp_path / f"{number}.db") as store:
            for one in facts:
                store.put(NS, one.evidence[0], {"text": "…"})
            store.changes.apply(found.model_copy(update={"planned_at": None}))
            review = next(r for r in store.changes.reviews(NS) if r.about == name)
            store.changes.decide(review.id, option)
            assert review.id not in {r.id for r in store.changes.reviews(NS)}


def test_what_holds_both_ways_is_one_edge() -> None:
    """A symmetric relation claimed in both directions by one fact is drawn once, others twice."""
    both = (
        claim("person/a", "partner_of", "person/b"),
        claim("person/b", "partner_of", "person/a"),
        claim("person/a", "parent_of", "person/b"),
        claim("person/b", "parent_of", "person/a"),
    )
    drawn = [(edge.subject, edge.relation, edge.object) for edge in edges("fact/1", both, {})]
    assert drawn == [
        ("person/a", "partner_of", "person/b"),
        ("person/a", "parent_of", "person/b"),
        ("person/b", "parent_of", "person/a"),
    ]
