"""`ports.facts.Knowledge` in memory, for tests of the pure parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from langmemory.formation.relations.vocabulary import BY_NAME
from langmemory.languages.spelling import name_key, normalised_text
from langmemory.ports.facts import Claim, Fact, KnownFact, fingerprint
from langmemory.types import Entity, Memory, Namespace, Review

NS = ("memories", "home")
BOTH_WAYS = {name for name, relation in BY_NAME.items() if relation.symmetric}
DAY = datetime(2023, 5, 1, 12, tzinfo=UTC)


def fact(text: str, *claims: Claim, **more: Any) -> Fact:
    """Said by Lena on 1 May 2023, in a turn of its own."""
    options = {"speaker": "Lena", "evidence": (f"t/{text}",), "said_at": DAY, **more}
    return Fact(text=text, claims=claims, **options)


def claim(subject: str, relation: str, about: str, *, literal: bool = False) -> Claim:
    return Claim(subject=subject, relation=relation, object=about, object_is_entity=not literal)


def known(
    key: str, text: str, *claims: Claim, evidence: tuple[str, ...] = ("t/0",), **more: Any
) -> KnownFact:
    """A memory of Lena's, said on 1 May 2023."""
    value = {"text": text, "said_at": DAY.isoformat(), **more.pop("value", {})}
    options = {"speaker": "Lena", "valid_at": DAY, "confidence": 0.8, **more}
    memory = Memory(
        id=1,
        namespace=NS,
        key=key,
        value=value,
        text=text,
        created_at=DAY,
        updated_at=DAY,
        **options,
    )
    return KnownFact(memory=memory, claims=claims, evidence=evidence)


def entity(key: str, name: str, *aliases: str) -> Entity:
    return Entity(key=key, namespace=NS, name=name, kind=key.partition("/")[0], aliases=aliases)


class MemoryKnowledge:
    """Facts and entities as given; ``near`` holds the cosines of `nearest`, by known key."""

    seq = 7

    def __init__(
        self,
        *facts: KnownFact,
        entities: Sequence[Entity] = (),
        near: Mapping[str, float] | None = None,
        namespace: Namespace = NS,
    ) -> None:
        self.namespace = namespace
        self.facts = facts
        self.people = entities
        self.near = near or {}

    def by_fingerprint(self, text: str) -> list[KnownFact]:
        return [f for f in self._believed() if fingerprint(f.memory.text) == fingerprint(text)]

    def worded(self, text: str) -> list[KnownFact]:
        return [f for f in self._believed() if f.memory.text == text]

    def nearest(self, text: str, limit: int) -> list[tuple[KnownFact, float]]:
        found = [
            (f, self.near[f.memory.key]) for f in self._believed() if f.memory.key in self.near
        ]
        return sorted(found, key=lambda pair: -pair[1])[:limit]

    def about(
        self,
        subject: str,
        relation: str | None = None,
        *,
        also: str | None = None,
        literal: str | None = None,
        corrects: bool = False,
        past: bool = False,
        either: bool = False,
    ) -> list[KnownFact]:
        return [
            f
            for f in (self.facts if past else self._believed())
            if not (corrects and f.memory.value.get("corrects") is not True)
            and any(
                (
                    c.subject == subject
                    or (c.object == subject and (either or c.relation in BOTH_WAYS))
                )
                and relation in (None, c.relation)
                and (literal is None or _same_literal(c, literal))
                for c in f.claims
            )
            and (also is None or any(also in (c.subject, c.object) for c in f.claims))
        ]

    def derived_from(self, keys: Sequence[str]) -> list[KnownFact]:
        return [f for f in self._believed() if set(f.evidence) & set(keys)]

    def taken_back(self, turn: str, said_at: datetime) -> list[KnownFact]:
        return [f for f in self.facts if f.memory.status == "archived" and turn in f.evidence]

    def gave_way_to(self, key: str) -> list[KnownFact]:
        over = [f for f in self.facts if f.memory.status == "superseded"]
        return [f for f in over if f.memory.superseded_by == key]

    def rests_on(self, turns: Sequence[str]) -> list[tuple[str, KnownFact, bool, datetime | None]]:
        return []  # no turn was edited

    def asked(self, keys: Collection[str]) -> list[Review]:
        return []

    def by_key(self, key: str) -> KnownFact | None:
        return next((f for f in self.facts if f.memory.key == key), None)

    def entities(self, norm: str) -> list[Entity]:
        return self.called(norm)

    def called(self, norm: str) -> list[Entity]:
        return [e for e in self.people if norm in map(name_key, (e.name, *e.aliases))]

    def entity(self, key: str) -> Entity | None:
        return next((e for e in self.people if e.key == key), None)

    def everyone(self, kind: str | None = None) -> list[Entity]:
        return [e for e in self.people if kind in (None, e.kind)]

    def names(self) -> list[str]:
        return list(dict.fromkeys(name_key(n) for e in self.people for n in (e.name, *e.aliases)))

    def links(self) -> dict[str, str]:
        return {}

    def _believed(self) -> list[KnownFact]:
        return [f for f in self.facts if f.memory.status not in ("superseded", "archived")]


def _same_literal(claim: Claim, literal: str) -> bool:
    return not claim.object_is_entity and normalised_text(claim.object) == normalised_text(literal)


def of(found: KnownFact, **facets: Any) -> KnownFact:
    """The same with other facets."""
    return replace(found, memory=replace(found.memory, **facets))
