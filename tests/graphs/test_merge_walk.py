"""Random talks of several people, of whom some are taken for one and told apart again, against the same
talks without that; and a memory changed by many hands, against itself."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langmemory import MemoryStore, build_reflection_graph
from langmemory.changes import ChangeSet, Invalidate, LinkEntities
from langmemory.errors import UndoRefusedError
from langmemory.operations.gathering import Gathering
from langmemory.types import Applied
from tests.scripted import ScriptedModel
from tests.seeds import seeds
from tests.stores.change_sets import problems

NS = ("memories", "home")
PEOPLE = ("Kati", "Katrin", "Mia", "Tom")
CITIES = ("Bonn", "Ulm", "Kiel", "Rome", "Oslo", "Graz", "Jena", "Trier", "Lima", "Bern", "Cork")
FOODS = ("plums", "pears", "kale", "figs", "rye", "corn", "rice", "nuts", "beans", "leeks")
DOGS = ("Rex", "Momo", "Fips", "Balu", "Struppi", "Wanda", "Mimi", "Hasso")
_TURN = re.compile(r"^\[(t\d+)\] (\w+) \(user\)[^\n]*:\n((?:\| .*\n?)+)", re.MULTILINE)


def day(number: int) -> datetime:
    return datetime(2026, 1, 1, 10, tzinfo=UTC) + timedelta(days=number)


class Talk:
    """Lena's statements about others, no two of whom have the same home, dog or taste."""

    def __init__(self, chance: random.Random, length: int) -> None:
        self.said: list[tuple[int, str]] = []
        self.facts: dict[str, dict[str, Any]] = {}
        left = {"lives_in": [*CITIES], "likes": [*FOODS], "has_pet": [*DOGS]}
        for things in left.values():
            chance.shuffle(things)
        homes: set[str] = set()
        on = 0
        for _ in range(length):
            on += chance.randint(1, 4)
            who, relation = chance.choice(PEOPLE), chance.choice(("lives_in", *left))
            if not left[relation]:
                continue
            thing = left[relation].pop()
            words = {
                "lives_in": "moved to" if who in homes else "lives in",
                "likes": "likes",
                "has_pet": "has a dog called",
            }
            homes |= {who} if relation == "lives_in" else set()
            text = f"{who} {words[relation]} {thing}."
            claim = {"subject": who, "relation": relation, "object": thing}
            self.facts[text] = {"text": text, "kind": "fact", "claims": [claim]}
            self.said.append((on, text))

    def answer(self, messages: list[BaseMessage]) -> str:
        """The notes of a model that understands every word."""
        shown = str(messages[-1].content).partition("# Conversation")[2]
        facts = [
            self.facts[body.removeprefix("| ").strip()] | {"evidence": [id]}
            for id, _, body in _TURN.findall(shown)
        ]
        return json.dumps({"facts": facts, "summary": {"text": ""}})


class Memory:
    """A store that is told a talk."""

    def __init__(self, path: Path, talk: Talk) -> None:
        self.store = MemoryStore(path)
        self.graph = build_reflection_graph(self.store, model=ScriptedModel(otherwise=talk.answer))
        self.links: list[str] = []
        self.runs = 0
        self.believed: list[tuple[datetime, set[tuple[str | None, ...]]]] = []

    def tell(self, on: int, text: str) -> None:
        message = {"role": "user", "name": "Lena", "content": text, "at": day(on).isoformat()}
        self.store.remember(NS, [message], thread_id=f"day-{on}")
        self.graph.invoke({"namespace": list(NS)})

    def merge(self, one: str, other: str) -> None:
        """The first stands for the second, if both are known and the first stands for nobody yet."""
        with Gathering(self.store).knowledge(NS) as knowledge:
            keys = {entity.name: entity.key for entity in knowledge.everyone()}
            linked = knowledge.links()
        if (
            {one, other} <= keys.keys()
            and keys[one] not in linked
            and linked.get(keys[other]) != keys[one]
        ):
            run = self._correct(LinkEntities(key=keys[one], same_as=keys[other]))
            self.links.append(run.run_id)

    def part(self, place: int) -> None:
        """Take one of the merges back, if no other stands on it."""
        try:
            self.store.changes.undo(self.links[place])
        except UndoRefusedError:
            return
        del self.links[place]

    def change(self, chance: random.Random) -> None:
        """A fact is changed by hand, or a run is undone, or two are made one."""
        facts = [one for one in self.store.search(NS, limit=100) if one.key.startswith("fact/")]
        key = chance.choice(facts).key if facts else ""
        match chance.randrange(6):
            case 0 if key:
                self.store.changes.archive(NS, key, reason="by hand")
            case 1 if key:
                self.store.changes.remove(NS, key, reason="by hand")
            case 2 if key:
                self._correct(Invalidate(key=key, invalid_at=day(chance.randint(0, 40))))
            case 3:
                self.merge(*chance.sample(PEOPLE, 2))
            case _:
                for run in chance.sample(self.standing(), min(1, len(self.standing()))):
                    self.undo(run)

    def undo(self, run: str) -> bool:
        """Whether nothing stands on it; the rehearsal says the same as the undo."""
        try:
            rehearsed = self.store.changes.undo(run, dry_run=True)
        except UndoRefusedError:
            return False
        assert self.store.changes.undo(run).lines == rehearsed.lines
        return True

    def standing(self) -> list[str]:
        """Runs that are not undone."""
        found = self.store.changes.runs(NS, limit=500)
        return [one.id for one in found if one.undone_by is None and one.kind != "undo"]

    def names(self, on: int) -> set[tuple[str, str, str]]:
        """Edges as of a day, by name."""
        graph = self.store.graph(NS, as_of=day(on) + timedelta(hours=1))
        called = {entity.key: entity.name for entity in graph.entities(past=True)}
        return {
            (called[one.subject], one.relation, one.literal or called[one.object or ""])
            for one in graph.edges()
        }

    def claims(self, **scope: Any) -> set[tuple[str | None, ...]]:
        """Edges by key, each with the fact that claims it."""
        edges = self.store.graph(NS, **scope).edges()
        return {(one.subject, one.relation, one.object, one.literal, one.fact) for one in edges}

    def _correct(self, change: LinkEntities | Invalidate) -> Applied:
        self.runs += 1
        one = ChangeSet(
            namespace=NS, run_id=f"by-hand-{self.runs}", kind="correction", reason="", changes=(change,)
        )  # fmt: skip
        return self.store.changes.apply(one)


@pytest.mark.parametrize("seed", seeds(range(3), first=1))
def test_people_taken_for_one_and_told_apart_again_are_who_they_were(
    tmp_path: Path, seed: int
) -> None:
    """Merges that come and go while things are learned leave, once all are undone, the graph there is
    without them: now, and on every day before."""
    chance = random.Random(seed)
    talk = Talk(chance, 10)
    plain, merged = Memory(tmp_path / "plain.db", talk), Memory(tmp_path / "merged.db", talk)
    for on, text in talk.said:
        plain.tell(on, text)
        merged.tell(on, text)
        if chance.random() < 0.5:
            merged.merge(*chance.sample(PEOPLE, 2))
        elif merged.links and chance.random() < 0.3:
            merged.part(chance.randrange(len(merged.links)))
    while merged.links:
        merged.part(chance.randrange(len(merged.links)))
    for on in (*(on for on, _ in talk.said), 1_000):
        assert merged.names(on) == plain.names(on)
    assert problems(merged.store) == []


@pytest.mark.parametrize("seed", seeds(range(4), first=1))
def test_whatever_runs_did_is_undone_in_some_order_and_leaves_nothing(
    tmp_path: Path, seed: int
) -> None:
    """Reflections, merges and changes by hand, undone and done in any order: the file is whole after
    each, a copy by export and import has the same graph, what was believed is found again, and once
    all is undone nobody is known."""
    chance = random.Random(seed)
    talk = Talk(chance, 8)
    memory = Memory(tmp_path / "m.db", talk)
    for on, text in talk.said:
        memory.tell(on, text)
        for _ in range(chance.randrange(3)):
            memory.change(chance)
            assert problems(memory.store) == []
        memory.believed.append((datetime.now(UTC), memory.claims()))
    copy = MemoryStore(tmp_path / "copy.db")
    copy.admin.import_rows(list(memory.store.admin.export()))
    assert set(copy.graph(NS).edges(past=True)) == set(memory.store.graph(NS).edges(past=True))
    for at, claims in memory.believed:
        assert memory.claims(known_at=at) == claims
    while left := memory.standing():
        chance.shuffle(left)
        undone = [memory.undo(run) for run in left if run in memory.standing()]
        assert any(undone)
    assert memory.store.graph(NS).entities(past=True) == ()
    assert memory.store.graph(NS).edges(past=True) == ()
    assert problems(memory.store) == []
