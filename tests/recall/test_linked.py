"""What is about a memory, or affects it, comes along with that memory, behind whatever was found before."""

from __future__ import annotations

import pytest

from langmemory.stores import MemoryStore
from langmemory.types import Recall

TEAM = ("team", "shop")
LIKELY = 0.4
"""What only the task has, of what is stored here."""


@pytest.fixture
def linked(store: MemoryStore) -> MemoryStore:
    """A task and two memories that share no word with it, one of them about something else."""
    store.put(
        TEAM,
        "ship",
        {"record": "task", "title": "Ship checkout", "text": "Ship the checkout page."},
    )
    store.put(TEAM, "stripe", {"text": "Stripe takes the money of our customers."})
    store.put(TEAM, "logo", {"text": "A blue circle is on every invoice."})
    return store


def keys(found: Recall) -> list[str]:
    return [one.memory.key for one in found.results]


@pytest.mark.parametrize(
    ("source", "relation", "target"),
    [("stripe", "regarding", "ship"), ("stripe", "affects", "ship"), ("ship", "affects", "stripe")],
)
def test_a_link_brings_the_other_end(
    linked: MemoryStore, source: str, relation: str, target: str
) -> None:
    """From either end; nothing without the link, and nothing more once it is gone."""
    asked = "When do we ship the checkout page?"
    before = linked.recall(asked, TEAM, min_score=LIKELY)
    assert keys(before) == ["ship"]
    graph = linked.graph(TEAM)
    graph.link(source, relation, target)  # type: ignore[arg-type]
    found = linked.recall(asked, TEAM, min_score=LIKELY)
    assert keys(found) == ["ship", "stripe"]
    assert found.results[0] == before.results[0]
    assert found.results[1].score <= found.results[0].score
    assert keys(linked.recall(asked, TEAM, min_score=LIKELY, limit=1)) == ["ship"]
    assert keys(linked.recall(asked, TEAM, min_score=LIKELY, exclude=["stripe"])) == ["ship"]
    graph.unlink(source, relation, target)  # type: ignore[arg-type]
    assert keys(linked.recall(asked, TEAM, min_score=LIKELY)) == ["ship"]


def test_other_relations_and_others_memories_stay_out(linked: MemoryStore) -> None:
    """A requirement is no answer; what is private to somebody else does not exist, at either end."""
    graph = linked.graph(TEAM)
    graph.link("ship", "requires", "logo")
    linked.remember(
        TEAM, [{"role": "user", "content": "My salary pays for a holiday.", "id": "1"}], thread_id="t",
        owner="ida", privacy="private",
    )  # fmt: skip
    [secret] = [one.key for one in linked.search(TEAM, limit=9) if "salary" in str(one.value)]
    linked.for_viewer("ida").graph(TEAM).link(secret, "regarding", "ship", privacy="private")
    asked = "When do we ship the checkout page?"
    assert keys(linked.for_viewer("bo").recall(asked, TEAM, min_score=LIKELY)) == ["ship"]
    assert keys(linked.for_viewer("ida").recall(asked, TEAM, min_score=LIKELY)) == ["ship", secret]
