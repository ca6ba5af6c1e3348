"""A household at random: several people on one file, each with secrets that carry a token of their own.

Every private memory, and everything that only a private memory says (names, claims, notes, reasons,
questions), has a token ``zq<owner><number>`` in it. Whoever finds a token of somebody else has found
a leak. What is forgotten may be found by nobody.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from langgraph.store.base import BaseStore

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    Facets,
    LinkEntities,
    MarkReflected,
    Merge,
    OpenReview,
    SetStatus,
    Supersede,
    UpdateMemory,
)
from langmemory.context import Usage
from langmemory.errors import ChangeError, OwnershipError
from langmemory.nodes.core_memory import CoreMemory
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

OWNERS = ("alice", "bob", "cara")
SPACES: tuple[Namespace, ...] = (("home",), ("home", "kitchen"), ("office",))
TOPICS = (
    "the garden needs water", "dinner is at seven", "the train to Bern was late",
    "we bought a new lamp", "Lena works at Initech", "the dog is ill again",
    "der Zug nach Zürich war voll", "我们去北京",
)  # fmt: skip
TOKEN = re.compile(r"zq(alice|bob|cara)(\d{6})")
START = datetime(2024, 1, 1, tzinfo=UTC)


def _tokens(text: str) -> list[str]:
    return [found[0] for found in TOKEN.finditer(text)]


class Household:
    """Random writes to a file, and who may know of what."""

    def __init__(self, path: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.store = MemoryStore(path)
        self.count = 0
        self.forgotten: set[str] = set()
        """Owners' tokens up to their last forgetting."""
        self.open: set[str] = set()
        """Tokens of keys that others wrote to when they were free: no secrets any more."""
        self.whispered: list[str] = []
        """Tokens in what private turns say."""
        self.live: dict[str, list[str]] = {owner: [] for owner in OWNERS}
        self.keys: list[tuple[Namespace, str]] = []
        """Where something is, or was."""
        self.private: dict[tuple[Namespace, str], str] = {}
        """Keys of facts that are somebody's, by place."""
        self.shared: dict[Namespace, list[str]] = {space: [] for space in SPACES}
        """Keys of facts that are everybody's."""
        self.turns: dict[tuple[Namespace, str], list[str]] = {}
        self.entities: dict[Namespace, list[str]] = {space: [] for space in SPACES}
        self.runs: list[str] = []
        self.done: dict[str, int] = {}

    def token(self, owner: str) -> str:
        self.count += 1
        token = f"zq{owner}{self.count:06}"
        self.live[owner].append(token)
        return token

    def secret(self, owner: str) -> str:
        return f"{self.random.choice(TOPICS)} {self.token(owner)}"

    def step(self) -> None:
        """One random change, by one of the people or by the application for them."""
        act: Callable[[str, Namespace], None] = self.random.choices(
            (
                self.remembers, self.puts, self.puts_by_itself, self.reflects, self.supersedes,
                self.hides, self.publishes, self.asks, self.links, self.edits_core, self.deletes,
                self.clears, self.merges, self.undoes, self.decides, self.forgets, self.is_told,
                self.teaches, self.tells, self.is_named,
            ),
            (8, 6, 6, 10, 3, 2, 5, 4, 2, 2, 4, 0.3, 1, 1, 1, 0.5, 3, 2, 2, 2),
        )[0]  # fmt: skip
        owner, space = self.random.choice(OWNERS), self.random.choice(SPACES)
        self.done[act.__name__] = self.done.get(act.__name__, 0) + 1
        try:
            act(owner, space)
        except (OwnershipError, ChangeError):  # refused: also an outcome
            self.done["refused"] = self.done.get("refused", 0) + 1

    # What people do.

    def remembers(self, owner: str, space: Namespace) -> None:
        private = self.random.random() < 0.5
        number = self.random.randrange(3)
        messages = []
        for _ in range(self.random.randint(1, 3)):
            text = self.secret(owner) if private else self.random.choice(TOPICS)
            self.whispered.extend(_tokens(text))
            name = f"{self.token(owner)}" if private and self.random.random() < 0.3 else owner
            messages.append(
                {
                    "role": "user",
                    "content": text,
                    "name": name,
                    "id": self.token(owner) if private else f"m{self.count}",
                    "at": START + timedelta(hours=self.count),
                }
            )
            self.count += 1
        thread = self.token(owner) if private and self.random.random() < 0.2 else f"thread{number}"
        privacy: Any = "private" if private else self.random.choice(("shared", "public"))
        target: Any = self.store
        if self.random.random() < 0.5:
            target, given = self.store.for_viewer(owner), {}
        else:
            given = {"owner": owner}
        added = target.remember(space, messages, thread_id=thread, privacy=privacy, **given)
        self.turns.setdefault((space, owner if private else ""), []).extend(added)
        self.keys.extend((space, key) for key in added)

    def puts(self, owner: str, space: Namespace) -> None:
        """The application writes for somebody."""
        if self.random.random() < 0.6:
            place = space
            if self.random.random() < 0.5:
                place = (*space, self.token(owner))
            key = self.token(owner) if self.random.random() < 0.5 else f"{owner}-key{self.count}"
            value = {"text": self.secret(owner), "owner": owner, "privacy": "private",
                     "tag": self.token(owner), "at": {self.token(owner): self.token(owner)},
                     "priority": self.random.choice(("mandate", "reference"))}  # fmt: skip
        else:
            place, key = space, f"common{self.random.randrange(20)}"
            value = {"text": self.random.choice(TOPICS), "tag": "common"}
        self.store.put(place, key, value)
        self.keys.append((place, key))

    def puts_by_itself(self, owner: str, space: Namespace) -> None:
        """Somebody writes, where others may have written before."""
        viewer = self.store.for_viewer(owner)
        place, key = (space, f"slot{self.random.randrange(15)}")
        if self.keys and self.random.random() < 0.3:
            place, key = self.random.choice(self.keys)
        if self.random.random() < 0.6:
            viewer.put(place, key, {"text": self.secret(owner), "privacy": "private"})
        else:
            viewer.put(place, key, {"text": self.random.choice(TOPICS)})
        self.keys.append((place, key))
        # Whoever wrote under somebody's key knew it.
        self.open.update(_tokens(f"{place} {key}"))

    def edits_core(self, owner: str, space: Namespace) -> None:
        if self.random.random() < 0.5:
            label = f"block-{owner}"
            value = {"kind": "core", "content": self.secret(owner), "version": 1, "owner": owner,
                     "privacy": "private"}  # fmt: skip
            self.store.put((*space, "core"), label, value, index=False)
        else:
            core = CoreMemory(self.store.for_viewer(owner), space)
            core.rethink("human", self.random.choice(TOPICS))

    def deletes(self, owner: str, space: Namespace) -> None:
        if not self.keys:
            return
        place, key = self.random.choice(self.keys)
        viewer = self.store.for_viewer(owner)
        there, seen = self.store.get(place, key), viewer.get(place, key)
        target = viewer if self.random.random() < 0.7 else self.store
        target.delete(place, key)
        if seen is None and target is viewer:
            assert self.store.get(place, key) == there, "deleted what is somebody else's"

    def clears(self, owner: str, space: Namespace) -> None:
        viewer, kitchen = self.store.for_viewer(owner), ("home", "kitchen")
        there, seen = self.stock(self.store, kitchen), self.stock(viewer, kitchen)
        viewer.admin.delete_namespace(kitchen)
        assert self.stock(self.store, kitchen) == there - seen, "cleared what is somebody else's"

    @staticmethod
    def stock(store: BaseStore, space: Namespace) -> set[tuple[Namespace, str]]:
        return {(item.namespace, item.key) for item in store.search(space, limit=100_000)}

    def is_told(self, owner: str, space: Namespace) -> None:
        """An answer of somebody's model was given these memories, whosever they are."""
        places = self.random.sample(self.keys, min(len(self.keys), 5))
        counts: list[Usage] = [
            {"namespace": [*place], "key": key, "loaded": 1, "referenced": 1, "succeeded": 0,
             "read_tokens": 9, "discovery_tokens": 99}
            for place, key in places
        ]  # fmt: skip
        target: Any = self.store.for_viewer(owner) if self.random.random() < 0.7 else self.store
        target.admin.count_usage(counts)

    def teaches(self, owner: str, space: Namespace) -> None:
        """A way to do something, which its owner keeps to themselves."""
        room = self.store.for_viewer(owner).procedures
        taught = room.add(space, self.secret(owner), [self.token(owner)], privacy="private")
        self.keys.append((space, taught.key))

    def tells(self, owner: str, space: Namespace) -> None:
        """Agents of one person tell each other something."""
        agents = self.store.for_viewer(owner).bus(space, agent="helper")
        agents.share(self.secret(owner), topic=self.token(owner), privacy="private")

    def is_named(self, owner: str, space: Namespace) -> None:
        """Somebody tells in private what they are called."""
        fact = self.fact(space, owner, private=True, mentions=(owner,))
        self.applies(
            space, AddEntity(key=owner, name=owner), fact,
            AddEdge(fact=fact.key, subject=owner, relation="named", literal=self.token(owner)),
            owner=owner,
        )  # fmt: skip
        self.keys.append((space, fact.key))
        self.private[(space, fact.key)] = owner

    def forgets(self, owner: str, space: Namespace) -> None:
        self.store.for_viewer(owner).forget(())
        self.forgotten.update(self.live[owner])
        self.live[owner] = []
        for keys in self.turns.values():
            keys[:] = [key for key in keys if not self.forgotten & set(_tokens(key))]
        for keys in self.entities.values():
            keys[:] = [key for key in keys if not self.forgotten & set(_tokens(key))]

    # What reflection does.

    def applies(self, space: Namespace, *changes: Change, owner: str = "") -> None:
        """A run; one that is about somebody's secrets says so in its own words."""
        run = f"reflect/{self.count}"
        self.count += 1
        told = self.token(owner) if owner else "as usual"
        self.store.changes.apply(
            ChangeSet(
                namespace=space, run_id=run, kind="reflection", reason=told, changes=changes,
                note={"journal": told, "model_calls": 1},
            )
        )  # fmt: skip
        self.runs.append(run)

    def fact(
        self, space: Namespace, owner: str, private: bool, mentions: tuple[str, ...] = ()
    ) -> AddMemory:
        sources = [*self.turns.get((space, owner), ()), *self.turns.get((space, ""), ())]
        evidence = tuple(self.random.sample(sources, min(len(sources), 2)))
        if not private and any(self.store.get(space, key) is None for key in evidence):
            evidence = ()
        text = self.secret(owner) if private else self.random.choice(TOPICS)
        value: dict[str, Any] = {
            "text": f"{text} {self.count}", "fact_kind": "fact", "language": "en",
            "said_at": START.isoformat(),
        }  # fmt: skip
        facets: dict[str, Any] = {"kind": "semantic", "valid_at": START}
        if private:
            facets |= {"owner": owner, "privacy": "private"}
            if self.random.random() < 0.7:
                value |= {"owner": owner, "privacy": "private"}
        elif self.random.random() < 0.5:
            facets["owner"] = owner
        self.count += 1
        key = f"fact/{self.token(owner) if private else self.count}"
        return AddMemory(
            key=key, value=value, facets=Facets(**facets), evidence=evidence, mentions=mentions
        )

    def reflects(self, owner: str, space: Namespace) -> None:
        private = self.random.random() < 0.6
        name = self.token(owner) if private else f"Thing{self.random.randrange(6)}"
        entity = AddEntity(key=f"e/{name}", name=name, aliases=(f"{name} the great",))
        known = self.entities[space]
        other = self.random.choice(known) if known else entity.key
        fact = self.fact(space, owner, private, (entity.key, other) if private else (entity.key,))
        changes: list[Change] = [entity, fact]
        if private or TOKEN.search(other) is None:
            claim: dict[str, Any] = {"object": other} if other != entity.key else {"literal": "big"}
            if private and self.random.random() < 0.3:
                claim = {"literal": self.token(owner)}
            changes.append(AddEdge(fact=fact.key, subject=entity.key, relation="likes", **claim))
        if private and self.random.random() < 0.3 and TOKEN.search(other) is None:
            alias = AddEntity(key=other, name=other, aliases=(self.token(owner),))
            changes.append(alias)
        changes.append(MarkReflected(keys=fact.evidence))
        self.applies(space, *changes, owner=owner if private else "")
        self.keys.append((space, fact.key))
        if private:
            self.private[(space, fact.key)] = owner
        else:
            self.shared[space].append(fact.key)
            self.entities[space].append(entity.key)

    def supersedes(self, owner: str, space: Namespace) -> None:
        """Replace a fact that everybody knew by one that one person knows."""
        key = self.known(space)
        fact = self.fact(space, owner, private=True)
        if key:
            told = self.token(owner)
            self.applies(
                space, fact,
                Supersede(key=key, by=fact.key, invalid_at=START + timedelta(days=9), reason=told),
                owner=owner,
            )  # fmt: skip
            self.keys.append((space, fact.key))

    def hides(self, owner: str, space: Namespace) -> None:
        """A shared fact becomes private by its facets, and says something else."""
        key = self.known(space)
        if key:
            value = {"text": self.secret(owner), "fact_kind": "fact", "said_at": START.isoformat()}
            facets = Facets(privacy="private", owner=owner)
            self.shared[space].remove(key)
            self.applies(space, UpdateMemory(key=key, value=value, facets=facets), owner=owner)
            self.private[(space, key)] = owner

    def publishes(self, owner: str, space: Namespace) -> None:
        """A private fact becomes shared, in other words; what it said stays private."""
        mine = [place for place, whose in self.private.items() if whose == owner]
        if mine:
            place, key = self.random.choice(mine)
            value = {"text": "everybody may know", "privacy": "shared"}
            hidden = self.store.for_anyone().get(place, key) is None
            if TOKEN.search(key) is None and hidden:
                if self.random.random() < 0.5:
                    self.store.for_viewer(owner).put(place, key, value)
                else:
                    self.applies(
                        place, UpdateMemory(key=key, value=value, facets=Facets(privacy="shared")),
                        owner=owner,
                    )  # fmt: skip
                del self.private[(place, key)]

    def asks(self, owner: str, space: Namespace) -> None:
        """A question about what everybody knows, with a secret in its answer; or about a secret."""
        key = self.known(space)
        told = self.fact(space, owner, private=True)
        if key and self.random.random() < 0.5:
            changes: list[Change] = [
                OpenReview(id=f"q{self.count}", about="contradiction", question=self.token(owner),
                           memories=(key,), options={"yes": (told,), "no": ()})
            ]  # fmt: skip
        else:
            changes = [
                told,
                OpenReview(id=f"q{self.count}", about="duplicate", question=self.token(owner),
                           memories=tuple(filter(None, (told.key, key))), options={"no": ()}),
            ]  # fmt: skip
        self.applies(space, *changes, owner=owner)

    def links(self, owner: str, space: Namespace) -> None:
        known = self.entities[space]
        if len(known) > 1:
            one, other = self.random.sample(known, 2)
            self.applies(space, LinkEntities(key=one, same_as=other))

    def merges(self, owner: str, space: Namespace) -> None:
        if len(self.shared[space]) > 2:
            one, other, third = self.random.sample(self.shared[space], 3)
            self.applies(
                space, Merge(key=one, others=(other,)), SetStatus(key=third, status="archived")
            )

    def decides(self, owner: str, space: Namespace) -> None:
        reviews = self.store.changes.reviews()
        if reviews:
            review = self.random.choice(reviews)
            self.store.changes.decide(review.id, self.random.choice(review.options))

    def undoes(self, owner: str, space: Namespace) -> None:
        if self.runs:
            self.store.changes.undo(self.runs[-1 - self.random.randrange(min(5, len(self.runs)))])

    def known(self, space: Namespace) -> str | None:
        """A fact that everybody may read."""
        found = [
            key for key in self.shared[space]
            if self.store.for_anyone().get(space, key) is not None
        ]  # fmt: skip
        return self.random.choice(found) if found else None
