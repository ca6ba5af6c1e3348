"""Random talks about homes, read in any order, with memory changed by hand and back, against what is
so in their world."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langmemory import MemoryStore
from langmemory.changes import ChangeSet, Invalidate
from langmemory.errors import UndoRefusedError
from tests.believing import believing_graph
from tests.scripted import ScriptedModel
from tests.seeds import seeds

NS = ("memories", "home")
CITIES = ("Bonn", "Ulm", "Kiel", "Rome", "Oslo", "Graz", "Jena", "Trier")
_TURN = re.compile(r"^\[(t\d+)\] (\w+) \(user\)[^\n]*:\n((?:\| .*\n?)+)", re.MULTILINE)


def day(number: int) -> datetime:
    return datetime(2026, 1, 1, 10, tzinfo=UTC) + timedelta(days=number)


@dataclass
class World:
    """Two people's statements about their homes, and where they live."""

    chance: random.Random
    said: list[tuple[int, str, str]] = field(default_factory=list)
    """Day, who, what; no two alike."""
    facts: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    homes: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for who in ("Lena", "Tom"):
            on, cities = self.chance.randint(0, 5), self.chance.sample(CITIES, 5)
            self.homes[who] = [(on, cities[0])]
            self._say(on, who, f"I live in {cities[0]}.", f"{who} lives in", cities[0])
            for before, city in pairwise(cities[: self.chance.randint(2, 5)]):
                on += self.chance.randint(3, 20)
                if self.chance.random() < 0.65:
                    self.homes[who].append((on, city))
                    self._say(on, who, f"I moved to {city}.", f"{who} moved to", city)
                else:
                    since, _ = self.homes[who].pop()
                    self.homes[who].append((since, city))
                    text = f"No, I live in {city}, not in {before}."
                    self._say(on, who, text, f"{who} lives in", city, corrects=True)

    def _say(self, on: int, who: str, text: str, fact: str, city: str, **more: Any) -> None:
        claim = {"subject": who, "relation": "lives_in", "object": city}
        self.said.append((on, who, text))
        self.facts[who, text] = {
            "text": f"{fact} {city}.",
            "kind": "fact",
            "claims": [claim],
            **more,
        }

    def answer(self, messages: list[BaseMessage]) -> str:
        """The notes of a model that understands every word."""
        shown = str(messages[-1].content).partition("# Conversation")[2]
        facts = [
            self.facts[who, body.removeprefix("| ").strip()] | {"evidence": [id]}
            for id, who, body in _TURN.findall(shown)
        ]
        return json.dumps({"facts": facts, "summary": {"text": ""}})

    def home(self, who: str, on: int) -> list[str]:
        return [city for since, city in self.homes[who] if since <= on][-1:]


class Walk:
    """One world, told to a store."""

    def __init__(self, path: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.world = World(self.chance)
        self.store = MemoryStore(path)
        model = ScriptedModel(otherwise=self.world.answer)
        self.graph = believing_graph(self.store, model=model)
        self.by_hand: list[str] = []
        self.refused = False
        self.believed: list[tuple[datetime, list[Any]]] = []

    def tell(self, *, in_order: bool, by_hand: bool, backwards: bool = False) -> None:
        said = sorted(self.world.said, reverse=backwards)
        if not in_order:
            self.chance.shuffle(said)
        for on, who, text in said:
            message = {"role": "user", "name": who, "content": text, "at": day(on).isoformat()}
            self.store.remember(NS, [message], thread_id=f"{who}-{on}")
            self.graph.invoke({"namespace": list(NS)})
            if by_hand:
                self._change()
            self.believed.append((datetime.now(UTC), self._edges()))
        while self.by_hand:
            self._undo(len(self.by_hand) - 1)

    def _change(self) -> None:
        if self.chance.random() < 0.5:
            items = self.store.search(NS, limit=100)
            key = self.chance.choice(sorted(i.key for i in items if i.key.startswith("fact/")))
            what = self.chance.randrange(3)
            if what == 0:
                run = self.store.changes.archive(NS, key, reason="by hand").run_id
            elif what == 1:
                run = self.store.changes.remove(NS, key, reason="by hand").run_id
            else:
                over = Invalidate(key=key, invalid_at=day(self.chance.randint(0, 80)))
                run = f"over-{len(self.believed)}"
                self.store.changes.apply(
                    ChangeSet(
                        namespace=NS, run_id=run, kind="correction", reason="", changes=(over,)
                    )
                )
            self.by_hand.append(run)
        if self.by_hand and self.chance.random() < 0.4:
            self._undo(self.chance.randrange(len(self.by_hand)))

    def _undo(self, place: int) -> None:
        try:
            self.store.changes.undo(self.by_hand.pop(place))
        except UndoRefusedError:
            self.refused = True

    def _edges(self, **scope: Any) -> list[Any]:
        edges = self.store.graph(NS, **scope).edges()
        return sorted((edge.subject, edge.relation, edge.object) for edge in edges)

    def homes(self, who: str, as_of: datetime | None = None) -> list[str]:
        """Where somebody lives, as the graph has it; more than one where it contradicts itself."""
        scope = {} if as_of is None else {"as_of": as_of}
        entities = self.store.graph(NS, **scope).entities()
        names = {entity.key: entity.name for entity in entities}
        edges = self._edges(**scope)
        return sorted({names[about] for one, _, about in edges if names[one] == who})

    def remembers_what_it_believed(self) -> bool:
        return all(self._edges(known_at=at) == edges for at, edges in self.believed)


@pytest.mark.parametrize("seed", seeds(range(8), first=1))
@pytest.mark.parametrize("in_order", [True, False])
def test_the_present_is_the_same_in_whatever_order_talks_are_read(
    tmp_path: Path, seed: int, in_order: bool
) -> None:
    """Where people live now is where they last said, or corrected, that they do, each talk read when
    it may; what was believed meanwhile is found again."""
    walk = Walk(tmp_path / "m.db", seed)
    walk.tell(in_order=in_order, by_hand=False)
    asked = {review.about for review in walk.store.changes.reviews(NS)}
    for who in walk.world.homes:
        assert asked or walk.homes(who) == walk.world.home(who, 1_000)
        for on, _, _ in walk.world.said if in_order else ():
            assert walk.homes(who, day(on) + timedelta(hours=1)) == walk.world.home(who, on)
    assert walk.remembers_what_it_believed()


@pytest.mark.parametrize("seed", seeds([2, 6, 10, 14, 15, 41, 47, 53], first=1))
@pytest.mark.parametrize("backwards", [True, False])
def test_corrections_of_corrections_take_back_the_first_word_read_last(
    tmp_path: Path, seed: int, backwards: bool
) -> None:
    """Where a correction was itself corrected, the last word holds since the first was said, on every
    day, also where the talks are read backwards, or the one between last."""
    walk = Walk(tmp_path / "m.db", seed)
    walk.tell(in_order=backwards, by_hand=False, backwards=backwards)
    for who in walk.world.homes:
        for on, _, _ in walk.world.said:
            assert walk.homes(who, day(on) + timedelta(hours=1)) == walk.world.home(who, on)
    assert walk.remembers_what_it_believed()


@pytest.mark.parametrize("seed", seeds(range(8, 20), first=1))
def test_what_was_changed_by_hand_and_undone_leaves_the_world_as_it_is(
    tmp_path: Path, seed: int
) -> None:
    """Facts that were put away, removed or ended by hand while people moved are, once that is undone,
    what they would be without it: now, and for every day before."""
    walk = Walk(tmp_path / "m.db", seed)
    walk.tell(in_order=True, by_hand=True)
    if not walk.refused:
        for who in walk.world.homes:
            assert walk.homes(who) == walk.world.home(who, 1_000)
            for on, _, _ in walk.world.said:
                assert walk.homes(who, day(on) + timedelta(hours=1)) == walk.world.home(who, on)
    assert walk.remembers_what_it_believed()


def test_what_comes_back_may_have_been_taken_back_by_a_correction_that_was_corrected(
    tmp_path: Path,
) -> None:
    """Bonn is brought back by an undo after "Rome, not Bonn" and "Kiel, not Rome" were told: Tom lived
    in Kiel since he first said where he lives."""
    walk = Walk(tmp_path / "m.db", 0)
    talks = [("I live in Bonn.", "Bonn"), ("No, I live in Rome, not in Bonn.", "Rome"),
             ("No, I live in Kiel, not in Rome.", "Kiel")]  # fmt: skip
    for place, (text, city) in enumerate(talks):
        walk.world.said.clear()
        walk.world._say(3 + 10 * place, "Tom", text, "Tom lives in", city, corrects=place > 0)
        walk.tell(in_order=True, by_hand=False)
        if place == 0:
            [bonn] = [i.key for i in walk.store.search(NS) if i.key.startswith("fact/")]
            run = walk.store.changes.remove(NS, bonn, reason="by hand").run_id
    walk.store.changes.undo(run)
    for on in (4, 14, 24, 1_000):
        assert walk.homes("Tom", day(on)) == ["Kiel"]
