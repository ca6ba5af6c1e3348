"""Rules of the lifecycle: what rises, falls, graduates and goes, and why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from langmemory.changes import Change, OpenReview, SetStatus, UpdateMemory
from langmemory.lifecycle import policies
from langmemory.lifecycle.policies import PolicyOptions, novelty
from langmemory.lifecycle.retention import DAY_US, salience
from langmemory.ports.candidates import Ids
from langmemory.ports.lifecycle import Aged
from tests.lifecycle.aged import NOW, aged

OPTIONS = PolicyOptions()


class Texts:
    """The part of a view that evictions read: what memories say, in the order of their ids from 1."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def memories(self, ids: Ids) -> list[Any]:
        said = dict(enumerate(self._texts, start=1))
        return [SimpleNamespace(id=one, text=said.get(one, "")) for one in ids.tolist()]

    def moved(self) -> int:
        return 0


NOTHING: Any = Texts()
"""Says nothing."""
SAME: Any = Texts(*["Vera likes rooibos tea."] * 200)
"""Says the same again and again."""

USED = {"cited": 1, "used_at": NOW - DAY_US}
"""A memory by which use is known to be measured."""


def priorities(changes: list[Change]) -> dict[str, str]:
    """Key → new priority."""
    return {one.key: str(one.facets.priority) for one in changes if isinstance(one, UpdateMemory)}


def archived(changes: list[Change]) -> list[str]:
    """Keys of what is archived, in order."""
    return [one.key for one in changes if isinstance(one, SetStatus) and one.status == "archived"]


def test_promotion_by_use() -> None:
    """Ten relevant citations make a guardrail; twenty-five, of which twenty were right, a mandate."""
    found = policies.promotions(
        aged(
            {"cited": 10, "relevance": 0.7},
            {"cited": 9, "relevance": 0.9},
            {"cited": 30, "relevance": 0.69},
            {"cited": 25, "right": 20, "priority": "guardrail"},
            {"cited": 25, "right": 19, "priority": "guardrail"},
            {"verified": True, "priority": "guardrail"},
        ),
        OPTIONS,
        NOW,
    )
    assert priorities(found) == {"k0": "guardrail", "k3": "mandate", "k5": "mandate"}
    assert "cited 10 times" in found[0].reason
    assert "confirmed by a person" in found[-1].reason


def test_mandates_are_capped() -> None:
    """Promotion stops at so many mandates of one owner; those of another owner count apart."""
    few = PolicyOptions(max_mandates=1)
    rising = {"verified": True, "priority": "guardrail"}
    found = policies.promotions(
        aged({"priority": "mandate"}, rising, {**rising, "owner": "ada"}), few, NOW
    )
    assert priorities(found) == {"k2": "mandate"}


@pytest.mark.parametrize(
    "kept",
    [
        {"pinned": True},
        {"verified": True},
        {"relation": "born_on"},
        {"relation": "lives_in"},
        {"keys": "procedure/0a1b"},
        {"cited": 5},
        {"days": 89},
        {"used_at": NOW - DAY_US, "cited": 1},
        {"priority": "mandate"},
        {"status": "pending"},
    ],
    ids=str,
)
def test_what_is_not_demoted(kept: dict[str, Any]) -> None:
    """Unused memories fall; what a person vouched for, what does not fade, the present home, what an
    application wrote, and what is in use stays."""
    old = {"days": 200}
    found = policies.demotions(SAME, aged(old, {**old, **kept}, USED), OPTIONS, NOW)
    assert priorities(found) == {"k0": "archive"}
    assert "unused for 200 days" in found[0].reason


def test_nothing_is_demoted_where_use_is_not_measured() -> None:
    """Without a citation in the last ninety days nobody knows what is unused, and nothing falls."""
    assert policies.demotions(SAME, aged({"days": 200}, {"days": 300}), OPTIONS, NOW) == []


def test_what_nothing_else_says_is_not_demoted() -> None:
    """Of two memories that nobody used the one is put away whose words a later memory has."""
    view: Any = Texts("Ida keeps bees.", "Ida plays the viola.", "Ida still plays the viola.")
    found = policies.demotions(view, aged({"days": 200}, {"days": 300}, USED), OPTIONS, NOW)
    assert priorities(found) == {"k1": "archive"}
    assert "novelty 0." in (found[0].reason or "")


def test_a_night_demotes_a_twentieth_at_most() -> None:
    """Of a hundred unused memories the five least salient fall in one night."""
    many = [{"days": 200, "importance": n / 100} for n in range(100)]
    found = policies.demotions(SAME, aged(*many, USED), OPTIONS, NOW)
    assert list(priorities(found)) == ["k0", "k1", "k2", "k3", "k4"]


def test_what_is_imported_rises_by_a_person_alone() -> None:
    """It becomes no guardrail by itself; use that would make a mandate of one makes a question."""
    use = {"trust": "import", "relevance": 0.9}
    memories = aged({**use, "cited": 10, "right": 0}, {**use, "cited": 100, "right": 100})
    found = policies.promotions(memories, policies.POLICIES, NOW)
    assert priorities(found) == {"k1": "mandate"}
    view: Any = SimpleNamespace(
        memories=lambda ids: [SimpleNamespace(namespace=("a",), key="k1", text=f"Tofu {ids}")]
    )
    [question] = policies.ask_about_mandates(view, memories, found)
    assert isinstance(question, OpenReview)
    assert question.question == "Should every prompt say: Tofu [2]"


def test_a_demoted_memory_rises_when_it_is_used_again() -> None:
    """A citation after a demotion brings the memory back into prompts."""
    fallen = {"days": 300, "priority": "archive"}
    found = policies.promotions(
        aged(fallen, {**fallen, **USED}, {**fallen, **USED, "kind": "archival"}), OPTIONS, NOW
    )
    assert priorities(found) == {"k1": "reference"}


def test_graduation() -> None:
    """Approved memories become active, pending ones with two sources are approved, and what is asked
    about waits."""
    memories: Aged = aged(
        {"status": "approved"}, {"status": "pending"}, {"status": "pending", "evidence": 2},
        {"status": "approved", "keys": "asked"},
    )  # fmt: skip
    found = policies.graduations(memories, {"asked"})
    assert [(one.key, one.status) for one in found if isinstance(one, SetStatus)] == [
        ("k0", "active"),
        ("k2", "approved"),
    ]


def test_eviction_keeps_what_must_stay() -> None:
    """Over ``max_facts`` the least salient go, superseded ones first; never what is pinned, timeless, a
    mandate, evidence of an active memory, or a procedure."""
    kept = (
        {"pinned": True}, {"relation": "parent_of"}, {"priority": "mandate"}, {"supports": True},
        {"keys": "procedure/0a1b"},
    )  # fmt: skip
    memories = [{"days": 400, "importance": 0.0, **one} for one in kept]
    going = [{"days": 10, "status": "superseded"}, {"days": 300, "importance": 0.1}, {"days": 1}]
    filler = [{"days": 1, "importance": 0.9}] * 52
    options = PolicyOptions(max_facts=57)
    found = policies.evictions(NOTHING, aged(*memories, *going, *filler), options, NOW)
    assert archived(found) == ["k5", "k6", "k7"]
    assert "60 of at most 57" in found[0].reason
    assert "salience" in found[0].reason


def test_eviction_takes_a_twentieth_at_most() -> None:
    """However far a namespace is over its limit, one night evicts a twentieth of it."""
    many = [{"days": n} for n in range(100)]
    assert len(policies.evictions(NOTHING, aged(*many), PolicyOptions(max_facts=10), NOW)) == 5


def test_eviction_prefers_what_later_memories_say_again() -> None:
    """Of facts that are as salient the one goes first whose words a later fact has, and the reason says
    how new each is."""
    texts = ["Ida plays the viola.", "Ida keeps bees.", "Ida still plays the viola."]
    memories = aged(*[{"days": 30 - place} for place in range(3)])
    view: Any = Texts(*texts)
    [gone] = policies.evictions(view, memories, PolicyOptions(max_facts=2), NOW)
    assert archived([gone]) == ["k0"]
    assert "novelty 0." in (gone.reason or "")
    order = policies.eviction_order(memories, OPTIONS, novelty(memories, texts, told=3))
    assert order.tolist() == [0, 1, 2]
    backwards = aged(*[{"days": 30 + place} for place in range(3)])
    first, second, third = novelty(backwards, texts, told=3)
    assert third < second < first


@pytest.mark.parametrize("why", ["corrects", "verified", "replaces"])
def test_corrections_and_what_replaces_have_reserved_places(why: str) -> None:
    """A tenth of ``max_facts`` is kept for what was corrected, confirmed, or took the place of another,
    however little salient it is."""
    reserved = [{"days": 900, "importance": 0.0, why: True} for _ in range(3)]
    many = [{"days": n % 50, "importance": 0.6} for n in range(60)]
    options = PolicyOptions(max_facts=20)
    memories = aged(*reserved, *many)
    order = policies.eviction_order(memories, options, salience(memories, NOW))
    assert set(order.tolist()).isdisjoint(range(2)), "two places are reserved"
    assert 2 in order or len(order) == 60


def test_what_was_replaced_has_no_reserved_place() -> None:
    """Of three homes the one in the middle took the place of the first, and gave way: it goes first."""
    homes = [{"replaces": True, "status": "superseded", "importance": 0.9}, {"replaces": True}]
    options = PolicyOptions(max_facts=10)
    memories = aged(*homes)
    order = policies.eviction_order(memories, options, salience(memories, NOW))
    assert order.tolist() == [0]


def test_rules_that_cannot_fire_are_named() -> None:
    """A threshold that no memory reaches though many were cited is told with both figures."""
    cited = {"cited": 12, "right": 12, "relevance": 0.3, "loaded": 20}
    memories = aged(*[cited for _ in range(3)])
    [told] = policies.unreachable_rules(memories, OPTIONS)
    assert "guardrail_relevance is 0.7" in told
    assert "0.30" in told
    never_right = aged({**cited, "right": 0, "relevance": 0.9})
    assert "becomes a mandate by use" in " ".join(policies.unreachable_rules(never_right, OPTIONS))
    assert any("lack of use" in one for one in policies.unreachable_rules(aged({}), OPTIONS))
    assert list(policies.unreachable_rules(aged(), OPTIONS)) == []
    assert isinstance(policies.eviction_order(aged(), OPTIONS, np.zeros(0, np.float32)), np.ndarray)
