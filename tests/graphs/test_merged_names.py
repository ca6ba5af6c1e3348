"""Two names made one by a person, what is learned meanwhile, and the merge taken back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore, build_reflection_graph
from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    ChangeSet,
    LinkEntities,
    UnlinkEntities,
)
from langmemory.errors import StalePlanError
from langmemory.operations.gathering import Gathering

NS = ("memories", "lena")


class Talk:
    """Lena's statements, each read at once by rules."""

    def __init__(self, path: Path) -> None:
        self.store = MemoryStore(path)
        self.graph = build_reflection_graph(self.store)
        self.days = 0

    def say(self, text: str, who: str = "Lena") -> Any:
        self.days += 1
        at = datetime(2026, 1, self.days, 10, tzinfo=UTC).isoformat()
        message = {"role": "user", "name": who, "content": text, "at": at}
        self.store.remember(NS, [message], thread_id=f"day-{self.days}")
        return self.graph.invoke({"namespace": list(NS)})

    def merge(self, one: str, other: str) -> str:
        """The first stands for the second from now on."""
        graph = self.store.graph(NS)
        link = LinkEntities(key=graph.entity(one).key, same_as=graph.entity(other).key)
        run = f"merge-{self.days}"
        self.store.changes.apply(
            ChangeSet(namespace=NS, run_id=run, kind="correction", reason="one", changes=(link,))
        )
        return run

    def edges(self, **scope: Any) -> set[tuple[str, str, str]]:
        graph = self.store.graph(NS, **scope)
        names = {entity.key: entity.name for entity in graph.entities(past=True)}
        return {
            (names[e.subject], e.relation, e.literal or names[e.object or ""])
            for e in graph.edges()
        }


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    found = Talk(tmp_path / "m.db")
    found.say("My sister Katrin lives in Bremen.")
    found.say("My friend Kati works at Aigua Clara.")
    return found


def test_what_was_said_of_each_name_is_its_own_once_a_merge_is_undone(talk: Talk) -> None:
    """While two names are one, what is said of either is of that one; once the merge is undone, each
    has what was said of it by its name, and the graph is what it is without a merge."""
    run = talk.merge("Kati", "Katrin")
    talk.say("Kati likes pears.")
    talk.say("Katrin likes plums.")
    together = talk.edges()
    assert {("Katrin", "likes", "pears"), ("Katrin", "likes", "plums")} <= together
    assert not any("Kati" in edge for edge in together)
    talk.store.changes.undo(run)
    apart = talk.edges()
    assert {("Kati", "likes", "pears"), ("Katrin", "likes", "plums")} <= apart
    assert {("Kati", "friend_of", "Lena"), ("Katrin", "sibling_of", "Lena")} <= apart


def test_a_home_that_gave_way_to_somebody_elses_is_back_once_a_merge_is_undone(talk: Talk) -> None:
    """Kati's new home ended Katrin's while they were one; once they are two, each lives where it was
    said of her. That run can be undone by itself."""
    run = talk.merge("Kati", "Katrin")
    talk.say("Kati lives in Ulm.")
    assert ("Katrin", "lives_in", "Bremen") not in talk.edges()
    rehearsed = talk.store.changes.undo(run, dry_run=True)
    assert talk.store.changes.undo(run).lines == rehearsed.lines
    homes = {edge for edge in talk.edges() if edge[1] == "lives_in"}
    assert homes == {("Katrin", "lives_in", "Bremen"), ("Kati", "lives_in", "Ulm")}
    talk.store.changes.undo(f"since/{run}")
    assert ("Katrin", "lives_in", "Bremen") not in talk.edges()


def test_a_wrong_merge_corrected_by_hand_is_as_one_undone(talk: Talk) -> None:
    """Who parts two names by a change of their own gets back what gave way only because the two were
    one, as by an undo of the merge; it is one run, and gone with it."""
    kati = talk.store.graph(NS).entity("Kati").key
    talk.merge("Kati", "Katrin")
    talk.say("Kati lives in Ulm.")
    talk.say("Katrin moved to Kiel.")
    together = talk.edges()
    assert ("Katrin", "lives_in", "Kiel") in together
    assert not any("Ulm" in edge or "Bremen" in edge for edge in together)
    apart = ChangeSet(
        namespace=NS, run_id="apart", kind="correction", reason="two",
        changes=(UnlinkEntities(key=kati),),
    )  # fmt: skip
    rehearsed = talk.store.changes.apply(apart, dry_run=True)
    assert talk.edges() == together
    assert talk.store.changes.apply(apart).lines == rehearsed.lines
    homes = {edge for edge in talk.edges() if edge[1] == "lives_in"}
    assert homes == {("Katrin", "lives_in", "Kiel"), ("Kati", "lives_in", "Ulm")}
    before = talk.edges(as_of=datetime(2026, 1, 2, tzinfo=UTC))
    assert ("Katrin", "lives_in", "Bremen") in before
    assert talk.store.changes.apply(apart).repeated
    talk.store.changes.undo("apart")
    assert talk.edges() == together


def test_a_home_that_comes_back_gives_way_to_her_own_next_one(talk: Talk) -> None:
    """Katrin moved herself while the two were one: Bremen is hers until then, Ulm is Kati's still."""
    run = talk.merge("Kati", "Katrin")
    talk.say("Kati lives in Ulm.")
    talk.say("Katrin moved to Kiel.")
    talk.store.changes.undo(run)
    homes = {edge for edge in talk.edges() if edge[1] == "lives_in"}
    assert homes == {("Katrin", "lives_in", "Kiel"), ("Kati", "lives_in", "Ulm")}
    before = talk.edges(as_of=datetime(2026, 1, 2, tzinfo=UTC))
    assert ("Katrin", "lives_in", "Bremen") in before


def test_a_plan_made_beside_somebody_elses_news_of_a_linked_name_is_refused(talk: Talk) -> None:
    """A plan becomes stale if another run learned the same claim for a linked name since it was
    made."""

    talk.merge("Kati", "Katrin")
    key = {name: key for key, name in _keys(talk.store).items()}
    with Gathering(talk.store).knowledge(NS) as knowledge:
        seq = knowledge.seq
    talk.say("Kati lives in Ulm.")
    planned = ChangeSet(
        namespace=NS, run_id="late", kind="reflection", reason="", planned_at=seq,
        changes=(
            AddEntity(key="place/rome-1", name="Rome", kind="place"),
            AddMemory(key="rome", value={"text": "Katrin lives in Rome."}),
            AddEdge(fact="rome", subject=key["Katrin"], relation="lives_in", object="place/rome-1"),
        ),
    )  # fmt: skip
    with pytest.raises(StalePlanError):
        talk.store.changes.apply(planned)


def test_what_is_said_of_who_speaks_for_themselves_waits_also_under_a_linked_name(
    talk: Talk,
) -> None:
    """Kati told her own home; what Lena says of it waits for a person, also once Kati is known to be
    the Katrin of whom Lena speaks."""
    talk.say("I live in Ulm.", who="Kati")
    talk.merge("Kati", "Katrin")
    talk.say("Katrin lives in Rome.")
    assert ("Katrin", "lives_in", "Ulm") in talk.edges()
    assert ("Katrin", "lives_in", "Rome") not in talk.edges()
    assert [review.about for review in talk.store.changes.reviews(NS)] == ["approval"]


def _keys(store: MemoryStore) -> dict[str, str]:
    with Gathering(store).knowledge(NS) as knowledge:
        return {entity.key: entity.name for entity in knowledge.everyone()}
