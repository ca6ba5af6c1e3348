"""Reads of the graph against a plain model of the change sets that were applied: whoever asks, of
whatever time."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    Facets,
    Invalidate,
    LinkEntities,
    RemoveMemory,
    SetStatus,
    Supersede,
    UnlinkEntities,
    UpdateMemory,
)
from langmemory.errors import ChangeError, EntityNameError, UndoRefusedError
from langmemory.operations.graph import Graph
from langmemory.stores import MemoryStore
from langmemory.stores.face import bound
from tests.seeds import seeds
from tests.stores.change_sets import NS, apply, fact, problems

Claimed = tuple[str, str, str, str | None, str | None]
"""Memory, subject, relation, object or literal."""
OWNERS = ("ada", "ben")


def day(number: int) -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=number)


@dataclass(kw_only=True)
class Told:
    """A memory, and what it claims."""

    status: str
    privacy: str
    owner: str | None
    valid_at: datetime | None
    invalid_at: datetime | None
    edges: list[tuple[str, str, str | None, str | None]] = field(default_factory=list)
    mentions: set[str] = field(default_factory=set)
    gave_way: bool = False

    def open_to(self, viewer: str | None) -> bool:
        return viewer is None or self.privacy != "private" or self.owner == viewer


@dataclass
class World:
    """The entities and edges at a moment."""

    told: dict[str, Told] = field(default_factory=dict)
    heirs: set[str] = field(default_factory=set)
    """Keys of what ever took the place of another."""
    entities: list[str] = field(default_factory=list)
    """Oldest first."""
    links: dict[str, str] = field(default_factory=dict)

    def apply(self, change: Change) -> None:
        match change:
            case AddEntity():
                self.entities += [change.key] if change.key not in self.entities else []
            case AddMemory(facets=facets):
                self.told[change.key] = Told(
                    status=facets.status or "active",
                    privacy=facets.privacy or "shared",
                    owner=facets.owner,
                    valid_at=facets.valid_at,
                    invalid_at=facets.invalid_at,
                )
            case AddEdge():
                told = self.told[change.fact]
                edge = (change.subject, change.relation, change.object, change.literal)
                told.edges += [edge] if edge not in told.edges else []
                told.mentions |= {change.subject, change.object or change.subject}
            case Supersede() | Invalidate():
                self.told[change.key].status = "superseded"
                self.told[change.key].invalid_at = change.invalid_at
                self.told[change.key].gave_way = isinstance(change, Supersede)
                self.heirs |= {change.by} if isinstance(change, Supersede) else set()
            case SetStatus():
                self.told[change.key].status = change.status
            case UpdateMemory():
                for name, given in change.facets.given().items():
                    setattr(self.told[change.key], name, given)
            case RemoveMemory():
                del self.told[change.key]
            case LinkEntities():
                self.links[change.key] = change.same_as
            case UnlinkEntities():
                self.links.pop(change.key, None)

    def root(self, entity: str) -> str:
        while entity in self.links:
            entity = self.links[entity]
        return entity


class Walk:
    """Random changes of a store, and of the model beside it."""

    def __init__(self, seed: int, store: MemoryStore) -> None:
        self.dice = random.Random(seed)
        self.store = store
        self.world = World()
        self.timestamps: list[tuple[datetime, World]] = []
        self.runs = 0
        self.undoable: list[tuple[str, World]] = []
        self.private_to: dict[str, set[str | None]] = {}

    def step(self) -> None:
        getattr(self, self.dice.choices(*zip(*WEIGHTS.items(), strict=True))[0])()
        for key, told in self.world.told.items():
            if told.privacy == "private":
                self.private_to.setdefault(key, set()).add(told.owner)
        time.sleep(0.001)
        self.timestamps.append((datetime.now(UTC), deepcopy(self.world)))
        time.sleep(0.001)

    def _do(self, *changes: Change) -> None:
        self.runs += 1
        before = deepcopy(self.world)
        try:
            apply(self.store, f"r{self.runs}", *changes)
        except ChangeError:  # a link to what is linked to it
            return
        for change in changes:
            self.world.apply(change)
        self.undoable.append((f"r{self.runs}", before))

    def _one(self, *statuses: str) -> Iterator[str]:
        """A memory of one of these statuses, if there is any."""
        keys = [key for key, told in self.world.told.items() if told.status in statuses]
        yield from [self.dice.choice(keys)] if keys else []

    def tell(self) -> None:
        dice, ends = self.dice, [f"t/{self.dice.randrange(8)}" for _ in range(2)]
        literal = "blue" if ends[0] == ends[1] or dice.random() < 0.15 else None
        private = dice.random() < 0.3
        valid_at = day(dice.randrange(300)) if dice.random() < 0.8 else None
        ends_too = valid_at is not None and dice.random() < 0.15
        key = f"f{self.runs}"
        facets: dict[str, Any] = {
            "privacy": "private" if private else "shared",
            "owner": dice.choice(OWNERS) if private else None,
            "valid_at": valid_at,
            "invalid_at": valid_at + timedelta(days=99) if valid_at and ends_too else None,
            "status": dice.choices(("active", "pending"), (9, 1))[0],
        }
        used = ends[:1] if literal else ends
        self._do(
            *(AddEntity(key=end, name=f"Thing{end[2:]}x") for end in used),
            fact(key, f"{key}: Thing{ends[0][2:]}x is near Thing{ends[1][2:]}x.", **facets),
            AddEdge(
                fact=key, subject=ends[0], relation=dice.choice(("near", "by")),
                object=None if literal else ends[1], literal=literal,
            ),
        )  # fmt: skip

    def end(self) -> None:
        until = day(self.dice.randrange(400))
        for key in self._one("active"):
            heirs = [other for other in self.world.told if other != key]
            if heirs and self.dice.random() < 0.7:
                self._do(Supersede(key=key, by=self.dice.choice(heirs), invalid_at=until))
            else:
                self._do(Invalidate(key=key, invalid_at=until))

    def put_away(self) -> None:
        for key in self._one("active", "pending"):
            if key not in self.world.heirs:  # else others hold again: test_reinstated.py
                self._do(SetStatus(key=key, status="archived"))

    def confide(self) -> None:
        for key in self._one("active"):
            mine = Facets(privacy="private", owner=self.dice.choice(OWNERS))
            shared = self.dice.random() < 0.5
            self._do(UpdateMemory(key=key, facets=Facets(privacy="shared") if shared else mine))

    def date(self) -> None:
        for key in self._one("active"):
            self._do(UpdateMemory(key=key, facets=Facets(valid_at=day(self.dice.randrange(300)))))

    def claim(self) -> None:
        """Of a memory that is there; not undone, for an undo keeps no record of such a claim."""
        for key in self._one("active") if self.world.entities else ():
            ends = [self.dice.choice(self.world.entities) for _ in range(2)]
            self._do(AddEdge(fact=key, subject=ends[0], relation="far", object=ends[1]))
            self.undoable.clear()

    def remove(self) -> None:
        for key in self._one("active", "superseded"):
            if key in self.world.heirs:
                continue
            if self.dice.random() < 0.5:
                self._do(RemoveMemory(key=key))
            else:
                self.store.delete(NS, key)
                del self.world.told[key]
                self.undoable.clear()

    def link(self) -> None:
        if len(self.world.entities) > 1:
            one, other = self.dice.sample(self.world.entities, 2)
            self._do(LinkEntities(key=one, same_as=other))

    def part(self) -> None:
        """Not where something gave way: it may hold again (`tests/graphs/test_merged_names.py`)."""
        if self.world.links and not any(told.gave_way for told in self.world.told.values()):
            self._do(UnlinkEntities(key=self.dice.choice(sorted(self.world.links))))

    def undo(self) -> None:
        if self.undoable:
            run, before = self.undoable.pop()
            with suppress(UndoRefusedError):
                self.store.changes.undo(run)
                self.world = before

    def check(self, viewer: str | None, as_of: datetime | None, moment: int | None) -> None:
        known_at, world = (None, self.world) if moment is None else self.timestamps[moment]
        graph = bound(self.store, viewer).graph(NS, as_of=as_of, known_at=known_at)
        for past in (False, True):
            model = Model(self, world, viewer, as_of, known_at, past=past)
            whole = graph.subgraph(past=past)
            assert {one.key for one in whole.entities} == model.there
            assert Counter(map(claimed, whole.edges)) == model.between(model.there)
            over = [claimed(edge) for n, edge in enumerate(whole.edges) if n in whole.over]
            assert Counter(over) <= model.over
            for entity in self.dice.sample(world.entities, min(3, len(world.entities))):
                self._check_around(graph, model, entity, past=past)

    def _check_around(self, graph: Graph, model: Model, entity: str, *, past: bool) -> None:
        depth = self.dice.randrange(4)
        if not model.is_known(entity):
            with pytest.raises(EntityNameError):
                graph.subgraph(entity, depth, past=past)
            return
        found = graph.subgraph(entity, depth, past=past)
        away = model.away(entity, depth)
        keys = [one.key for one in found.entities]
        assert sorted(keys) == sorted(away)
        assert [away[key] for key in keys] == sorted(away.values())
        assert Counter(map(claimed, found.edges)) == model.between(set(away))
        other = self.dice.choice(model.world.entities)
        if not past:
            assert [one.key for one in graph.neighbours(entity, depth)] == keys[1:]
            if model.is_known(other):
                ways = graph.paths(entity, other, depth + 1, limit=10_000)
                stops = [tuple(one.key for one in way.entities) for way in ways]
                assert sorted(stops) == sorted(model.ways(entity, other, depth + 1))
                assert [len(way) for way in ways] == sorted(len(way) for way in ways)


WEIGHTS = {
    "tell": 38, "end": 12, "put_away": 5, "confide": 5, "date": 4, "claim": 4, "remove": 6,
    "link": 10, "part": 4, "undo": 12,
}  # fmt: skip


class Model:
    """The graph of a world as it is to be read."""

    def __init__(
        self,
        walk: Walk,
        world: World,
        viewer: str | None,
        as_of: datetime | None,
        known_at: datetime | None,
        *,
        past: bool,
    ) -> None:
        self.world, self.viewer = world, viewer
        at = as_of or known_at or datetime.now(UTC)
        now = walk.world.told
        wide = {
            key: told
            for key, told in world.told.items()
            if told.status in ("active", "superseded")
            and told.open_to(viewer)
            # What was open then is so now, and what is gone was never somebody else's alone.
            and (
                now[key].open_to(viewer)
                if key in now
                else viewer is None or walk.private_to.get(key, set()) <= {viewer}
            )
        }
        holding = {
            key: told
            for key, told in wide.items()
            if (told.status == "active" if as_of is None else not told.valid_at or told.valid_at <= as_of)
            and not (as_of and told.invalid_at and told.invalid_at <= as_of)
        }  # fmt: skip
        self.spoken = set[str]().union(*(told.mentions for told in wide.values()))
        scope = wide if past else holding
        self.there = {self.stands_for(one) for told in scope.values() for one in told.mentions}
        held = {key for key, told in holding.items() if not told.invalid_at or told.invalid_at > at}
        begun = {key for key, told in wide.items() if not told.valid_at or told.valid_at <= at}
        self.over = Counter(self._edges(wide, begun - held if past else ()))
        self.edges = Counter(self._edges(wide, held)) + self.over

    def _edges(self, told: dict[str, Told], keys: Any) -> Iterator[Claimed]:
        for key in keys:
            for subject, relation, end, literal in told[key].edges:
                object = None if end is None else self.stands_for(end)
                yield key, self.stands_for(subject), relation, object, literal

    def stands_for(self, entity: str) -> str:
        """Return the entity it is linked to; for a viewer who may not know the link, the oldest
        they may see."""
        root = self.world.root(entity)
        if self.viewer is None or root in self.spoken:
            return root
        linked = [one for one in self.world.entities if self.world.root(one) == root]
        return next((one for one in linked if one in self.spoken), root)

    def is_known(self, entity: str) -> bool:
        if self.viewer is not None:
            return entity in self.spoken
        root = self.world.root(entity)
        return any(self.world.root(one) == root for one in self.spoken)

    def between(self, entities: set[str]) -> Counter[Claimed]:
        return Counter({e: n for e, n in self.edges.items() if {e[1], e[3] or e[1]} <= entities})

    def near(self, entity: str) -> set[str]:
        ends = [(one, other) for _, one, _, other, _ in self.edges if other is not None]
        found = {other for one, other in ends if one == entity}
        return found | {one for one, other in ends if other == entity}

    def away(self, entity: str, depth: int) -> dict[str, int]:
        """Those at most so many edges away, and how many."""
        found = {self.stands_for(entity): 0}
        for step in range(1, depth + 1):
            ring = set[str]().union(*(self.near(one) for one in found))
            found |= dict.fromkeys(ring - found.keys(), step)
        return found

    def ways(self, first: str, last: str, longest: int) -> list[tuple[str, ...]]:
        start, goal = self.stands_for(first), self.stands_for(last)
        found: list[tuple[str, ...]] = []
        begun = [(start,)] if start != goal else []
        while begun:
            way = begun.pop()
            if way[-1] == goal:
                found.append(way)
            elif len(way) <= longest:
                begun += [(*way, one) for one in self.near(way[-1]) - set(way)]
        return found


def claimed(edge: Any) -> Claimed:
    return edge.fact, edge.subject, edge.relation, edge.object, edge.literal


@pytest.mark.parametrize("seed", seeds(range(8), first=1))
def test_the_graph_is_what_was_applied(seed: int) -> None:
    """After any changes, merges and undos, what a viewer reads of people and things, of what is claimed
    between them, of whoever is near and of ways from one to another is what the memories they may read
    claim, now, as of a day, and as it was known at any moment."""
    with MemoryStore(":memory:", index=False) as store:
        walk = Walk(seed, store)
        for number in range(40):
            walk.step()
            if number % 8 == 7 and walk.world.entities:
                for viewer in (None, *OWNERS, ""):
                    for as_of in (None, day(walk.dice.randrange(400))):
                        walk.check(viewer, as_of, None)
                        walk.check(viewer, as_of, walk.dice.randrange(len(walk.timestamps)))
        assert problems(store) == []
