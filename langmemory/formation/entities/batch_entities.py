"""Everybody and everything the facts of one batch speak of, known before or new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langmemory.changes import AddEntity, Change, LinkEntities
from langmemory.formation.entities.names import entity_key, within_reach
from langmemory.formation.entities.relationships import Introductions, Relationships
from langmemory.formation.entities.resolution import AmbiguousName
from langmemory.formation.entities.roles import person_words
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Fact, FullKnowledge
from langmemory.types import Entity

Similar = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosines (-1..1) of a name to others, in their order."""


@dataclass(frozen=True, slots=True)
class EntityRef:
    """The entity a name means."""

    own: str
    """Key that is written."""
    followed: str
    """Key that is compared: of the entity it is linked to."""


class BatchEntities:
    """The entities of a batch.

    Args:
        facts: with names in their claims.
        knowledge: what is known.
        similar: compares names by meaning, if there is something that can.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        knowledge: FullKnowledge,
        similar: Similar | None,
    ) -> None:
        self.knowledge = knowledge
        self.similar = similar
        self.introduced = Introductions(facts)
        self.unclear: list[AmbiguousName] = []
        self.links: dict[str, str] = {}
        """Key of an entity made here to the one it is the same as."""
        self._linked = knowledge.links()
        self.speakers: dict[str, str] = {}
        self.used: dict[str, Entity] = {}
        self.relationships = Relationships(knowledge)
        self._made: dict[str, Entity] = {}
        self._aliases: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._called: dict[str, dict[str, Entity]] = {}
        """By normalised name and key, those that were looked for."""
        self._known_of_kind: dict[str, list[Entity]] = {}
        self._added: dict[str, None] = {}
        """Normalised names of the batch."""
        self._full = _full_names(facts)

    def called(self, norm: str) -> list[Entity]:
        """Entities of this normalised name."""
        return list(self._bearers(norm).values())

    def _bearers(self, norm: str) -> dict[str, Entity]:
        if norm not in self._called:
            self._called[norm] = {one.key: one for one in self.knowledge.called(norm)}
        return self._called[norm]

    def _name(self, norm: str, entity: Entity) -> None:
        self._bearers(norm)[entity.key] = entity
        self._added[norm] = None

    def _entity(self, key: str) -> Entity | None:
        return self._made.get(key) or self.knowledge.entity(key)

    def followed(self, entity: Entity) -> str:
        """Key of the entity that one stands for."""
        key = entity.key
        while key in self.links:
            key = self.links[key]
        return self._linked.get(key, key)

    def root(self, entity: Entity) -> Entity:
        """The entity that one stands for."""
        root = self.followed(entity)
        return entity if root == entity.key else self._entity(root) or entity

    def kinds(self, entity: Entity) -> set[str]:
        """Of an entity, and of the one it stands for."""
        return {entity.kind, self.root(entity).kind}

    def distinct(self, entities: Iterable[Entity]) -> list[Entity]:
        """One for each of those that are linked with one another: what they stand for, or the first."""
        found: dict[str, Entity] = {}
        for entity in entities:
            root = self.followed(entity)
            if root not in found or entity.key == root:
                found[root] = entity
        return list(found.values())

    @cached_property
    def _known_norms(self) -> dict[str, None]:
        return dict.fromkeys(self.knowledge.names())

    def norms(self) -> list[str]:
        """Every normalised name."""
        known = self._known_norms
        return [*known, *(norm for norm in self._added if norm not in known)]

    def of_kind(self, kind: str) -> list[Entity]:
        """Everybody or everything of a kind."""
        if kind not in self._known_of_kind:
            self._known_of_kind[kind] = list(self.knowledge.everyone(kind))
        made = (entity for entity in self._made.values() if entity.kind == kind)
        return [*self._known_of_kind[kind], *made]

    def is_new(self, entity: Entity) -> bool:
        """Whether it was made for these facts."""
        return entity.key in self._made

    def changes(self) -> Iterator[Change]:
        """New entities in the order of their first use, then what else old ones are called."""
        for key in dict.fromkeys((*self._made, *self._aliases)):
            entity = self._entity(key)
            assert entity is not None
            yield AddEntity(
                key=key, name=entity.name, kind=entity.kind, aliases=tuple(self._aliases[key])
            )
        for key, same_as in self.links.items():
            yield LinkEntities(key=key, same_as=same_as, reason="one name, written differently")

    def use(self, entity: Entity) -> EntityRef:
        """An entity a claim speaks of."""
        root = self.root(entity)
        self.used.setdefault(entity.key, entity)
        self.used.setdefault(root.key, root)
        return EntityRef(entity.key, self.followed(entity))

    def make(
        self, name: str, kind: str, fact: Fact, *, private: bool | None = None, apart: str = ""
    ) -> Entity:
        """A new entity; its key grows where another name's looks the same.

        Args:
            private: Whether it is its owner's alone; None is as the fact is.
            apart: what tells it from others of its name.
        """
        private = fact.privacy == "private" if private is None else private
        owner = fact.owner if private else None
        norm, digits = name_key(name), 4
        key = entity_key(name, kind, owner=owner, apart=apart)
        while (found := self._entity(key)) is not None and name_key(found.name) != norm:
            digits += 4
            key = entity_key(name, kind, owner=owner, digits=digits, apart=apart)
        if found is not None:
            return found
        made = Entity(key=key, namespace=self.knowledge.namespace, name=name, kind=kind)
        self._made[key] = made
        self._name(norm, made)
        return made

    def link(self, entity: Entity, to: Entity) -> EntityRef:
        """An entity made here is one that there was."""
        if self.followed(entity) != self.followed(to):
            self.links[entity.key] = to.key
        self.use(to)
        return self.use(entity)

    def add_alias(self, entity: Entity, alias: str) -> None:
        """Another name of an entity, unless it or one linked to it has that."""
        norm = name_key(alias)
        if all(self.followed(other) != self.followed(entity) for other in self.called(norm)):
            self._aliases[entity.key][alias] = None
            self._name(norm, entity)

    def speaker(self, fact: Fact) -> Entity | None:
        """The person who says the fact. Applications know speakers by their names, so a name is
        one person here, and never a secret."""
        if fact.speaker is None:
            return None
        anonymous = (
            fact.speaker.casefold() in person_words().self
        )  # "user" is somebody else for every owner
        name = fact.owner if anonymous and fact.owner else fact.speaker
        persons = [
            entity
            for entity in self.called(name_key(name))
            if entity.kind in ("person", "thing") and within_reach(entity, fact)
        ]
        # Of several with this name the first one known: who was told apart later has more digits.
        persons.sort(key=lambda entity: len(entity.key.rpartition("-")[2]))
        entity = persons[0] if persons else self.make(name, "person", fact, private=False)
        self.speakers[fact.speaker] = self.followed(entity)
        return entity

    def ask(self, name: str, fact: int, candidates: Iterable[Entity], **doubt: Any) -> None:
        """Leave a name to a person; see `AmbiguousName`."""
        found = AmbiguousName(name=name, fact=fact, candidates=tuple(candidates), **doubt)
        self.unclear.append(found)

    def fuller(self, norm: str) -> set[str]:
        """Full names in this batch's facts that begin with this one."""
        return {full for full in self._full if full.startswith(f"{norm} ")}


def _full_names(facts: Sequence[Fact]) -> set[str]:
    """Normalised names of more than one word in claims that are no secret."""
    return {
        norm
        for fact in facts
        if fact.privacy != "private"
        for claim in fact.claims
        for name in (claim.subject, claim.object if claim.object_is_entity else "")
        if " " in (norm := name_key(name) if name else "")
    }
