"""Who and what facts speak of: from names to entities, exact first and careful after.

A name is looked up as it is written (`name_key`), then as part of a longer name, then by
spelling, then by meaning. Only the exact step uses an entity that is there; what the others find
becomes an entity of its own with a link to the one found, so that a person can take it back, and
what they are not sure of becomes a question. A wrong merge mixes two lives, a missed one costs a
question, so every doubt falls to the question's side.

Names learned in private stay so: an entity first named in a private fact belongs to its owner
(its key says so), nobody else's facts find it, and private facts add no names or links to
entities others may see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from langmemory.formation.entities.batch_entities import BatchEntities, EntityRef, Similar
from langmemory.formation.entities.lookup import Lookup, Which
from langmemory.formation.entities.names import is_private, names_in, within_reach, written_as
from langmemory.formation.entities.relationships import RELATIONS
from langmemory.formation.entities.resolution import Resolution
from langmemory.formation.entities.roles import Role, person_words, role_in
from langmemory.formation.relations.vocabulary import (
    PLANNED,
    ROLES,
    canonical,
    relation_named,
    snake,
)
from langmemory.formation.wording import is_host
from langmemory.languages import is_unspaced
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Claim, Fact, FullKnowledge
from langmemory.types import NO_LONGER


class FactNames:
    """The names of one fact, as its speaker means them."""

    def __init__(self, entities: BatchEntities, index: int, fact: Fact) -> None:
        self.entities = entities
        self.index = index
        self.fact = fact
        self.private = fact.privacy == "private"
        named = fact.speaker is not None and name_key(fact.speaker) in name_key(fact.text)
        self.speaker = entities.speaker(fact) if fact.claims or named else None
        self.lookup = Lookup(entities, index, fact, self.speaker)
        self.own: dict[str, str] = {}
        self._keys: dict[str, None] = {}

    def claims(self) -> Iterator[Claim]:
        """Claims whose names are clear; what may mean several is kept with the question."""
        for claim in self.fact.claims:
            yield from self._claim(claim)

    def mentioned(self) -> Iterator[str]:
        """Entities of the claims and those the text names."""
        keys = dict.fromkeys(self._keys)
        for name in names_in(self.fact.text):
            called = self.entities.called(name_key(name))
            if len(called) > 1 and not self._keys.keys().isdisjoint(one.key for one in called):
                continue  # which of them is meant is clear
            for entity in self.entities.distinct(called):
                if within_reach(entity, self.fact) and written_as(entity, name):
                    self.entities.use(entity)
                    keys.setdefault(entity.key)
        return iter(keys)

    def _claim(self, raw: Claim) -> Iterator[Claim]:
        claim = canonical(raw)
        relation = relation_named(claim.relation.removeprefix(NO_LONGER))
        turned = claim.subject == raw.object and claim.object == raw.subject
        # Only what says it itself tells a person from an animal: both are three and live in Bonn.
        own = relation.name in RELATIONS
        subject = self._entity(claim.subject, relation.subject, certain=own)
        if subject is None:
            return
        as_entity = self._is_entity(claim, relation.object, known=relation.phrases != frozenset())
        found = (
            self._entity(
                claim.object,
                relation.object if relation.object != "literal" else "thing",
                certain=own,
            )
            if as_entity
            else None
        )
        if as_entity and found is None:
            return
        if isinstance(subject, Which) or isinstance(found, Which):
            self._ask_which(claim, subject, found)
            return
        written = replace(
            claim,
            relation=self._as_told(claim.relation, raw.subject),
            subject=subject.followed,
            object=claim.object.strip() if found is None else found.followed,
            object_is_entity=found is not None,
        )
        self._note(subject)
        self.entities.relationships.claimed(written)
        if found is not None:
            self._note(found)
            self._role_alias(raw, subject, found, turned=turned)
        elif relation.name in ("named", "nickname", "addressed_as"):
            self._also_named(subject, claim.object)
        yield written
        if relation.symmetric and relation.is_single and found is not None:
            # Written both ways, because what can be only one is looked for from either side.
            yield replace(written, subject=written.object, object=written.subject)

    def _as_told(self, relation: str, subject: str) -> str:
        """A fact that something is over claims just that, and so does a plan; but where they live whom
        somebody plans to visit is no part of the plan."""
        plain = relation_named(relation)
        if self.fact.ends and plain.ends is None and not relation.startswith(NO_LONGER):
            return NO_LONGER + relation
        if self.fact.kind == "plan" and plain.holds and not relation.startswith(PLANNED):
            hosted = plain.is_single and is_host(self.fact.text, subject)
            return relation if hosted else PLANNED + relation
        return relation

    def _role(self, name: str) -> Role | None:
        speaker = None if self.speaker is None else self.speaker.name
        return role_in(name, speaker, known=lambda one: bool(self.entities.called(name_key(one))))

    def _is_entity(self, claim: Claim, kind: str, *, known: bool) -> bool:
        """The kind of a known relation counts more than what an extractor did; a literal for it
        is still somebody when it names one ("likes Anna")."""
        if not known:
            return claim.object_is_entity
        bare = claim.object.casefold()
        names_somebody = (
            _looks_like_name(claim.object)
            or bare in person_words().self
            or self._role(claim.object) is not None
        )
        if kind in ("literal", "person", "animal"):
            named = self.entities.called(name_key(claim.object))
            is_known = any(
                e.kind in ("person", "animal") and within_reach(e, self.fact) for e in named
            )
            return claim.object_is_entity and (is_known or (kind != "literal" and names_somebody))
        return claim.object_is_entity or _looks_like_name(claim.object)

    def _entity(self, name: str, kind: str, *, certain: bool) -> EntityRef | Which | None:
        name = " ".join(name.split())
        bare = name.casefold()
        if not name_key(name) or bare in person_words().nobody:  # "'" is nobody
            return None
        if bare in person_words().self:
            return None if self.speaker is None else self.entities.use(self.speaker)
        role = self._role(name)
        if role is not None:
            if role.what in person_words().many:
                return None
            return self.lookup.find(f"{role.whose}'s {role.what}", role.kind or kind)
        if kind not in ("person", "animal", "thing"):
            return self.lookup.find(name, kind)
        if self.speaker is not None and name_key(name) == name_key(self.speaker.name):
            if self.entities.introduced.of_namesake(self.fact):
                return None
            return (
                self.entities.use(self.speaker)
                if kind == "person"
                else self.lookup.find(name, kind)
            )
        bond = self.entities.introduced.bond(self.fact, name_key(name))
        return self.lookup.find(name, "being" if kind == "person" and not certain else kind, bond)

    def _ask_which(
        self, claim: Claim, subject: EntityRef | Which, found: EntityRef | Which | None
    ) -> None:
        doubt = subject if isinstance(subject, Which) else found
        assert isinstance(doubt, Which)
        if isinstance(subject, Which) and isinstance(found, Which):
            return  # two doubts in one claim: the text alone stays
        clear = subject.own if isinstance(subject, EntityRef) else None
        end = found.own if isinstance(found, EntityRef) else claim.object if found is None else None
        options = {
            entity.key: (
                replace(
                    claim,
                    subject=entity.key if clear is None else clear,
                    object=entity.key if end is None else end,
                    object_is_entity=found is not None,
                ),
            )
            for entity in doubt.candidates
        }
        for known in (subject, found):
            if isinstance(known, EntityRef):
                self._note(known)
        name = claim.subject if isinstance(subject, Which) else claim.object
        described = {entity.key: self.lookup.described(entity) for entity in doubt.candidates}
        self.entities.ask(
            name,
            self.index,
            doubt.candidates,
            claims=options,
            who={key: who for key, (who, _) in described.items() if who},
            because=tuple(fact for _, fact in described.values() if fact),
        )

    def _note(self, found: EntityRef) -> None:
        self._keys.setdefault(found.own)
        if found.own != found.followed:
            self.own[found.followed] = found.own

    def _role_alias(
        self, raw: Claim, subject: EntityRef, found: EntityRef, *, turned: bool
    ) -> None:
        """ "Ruth is Lena's mother" makes "Lena's mother" a name of Ruth's."""
        said = snake(raw.relation)
        for role in ROLES.unique:
            if said == f"{role}_of":
                holder, of = (found, subject) if turned else (subject, found)
            elif said in (role, f"has_{role}"):
                holder, of = (subject, found) if turned else (found, subject)
            else:
                continue
            self._also_named(holder, f"{self.entities.used[of.own].name}'s {role}")

    def _also_named(self, found: EntityRef, name: str) -> None:
        """An alias, where no other entity has that name already; else the question whether they
        are one."""
        entity = self.entities.used[found.own]
        if self.private and not is_private(entity, self.fact):
            return
        others = [
            other
            for other in self.entities.called(name_key(name))
            if self.entities.followed(other) != found.followed and within_reach(other, self.fact)
        ]
        if not others:
            self.entities.add_alias(entity, name)
        elif not self.private:
            whole = self.entities.root(entity)
            known = not self.entities.is_new(whole)
            other = self.entities.root(others[0])
            self.entities.ask(name, self.index, (other,), key=whole.key, was_known=known)


def _looks_like_name(text: str) -> bool:
    first = text.strip()[:1]
    return first.isupper() or is_unspaced(first)


def resolve(
    facts: Sequence[Fact],
    knowledge: FullKnowledge,
    *,
    similar: Similar | None = None,
) -> Resolution:
    """The facts with entities for names.

    Args:
        facts: with names in their claims.
        similar: compares names by meaning; without it that step is left out.
    """
    entities = BatchEntities(facts, knowledge, similar)
    resolved: list[Fact] = []
    named: list[FactNames] = []
    own: dict[int, Mapping[str, str]] = {}
    for index, fact in enumerate(facts):
        names = FactNames(entities, index, fact)
        resolved.append(replace(fact, claims=tuple(names.claims())))
        named.append(names)
        if names.own:
            own[index] = names.own
    mentions = {index: tuple(names.mentioned()) for index, names in enumerate(named)}
    return Resolution(
        facts=tuple(resolved),
        changes=tuple(entities.changes()),
        mentions=mentions,
        unclear=tuple(entities.unclear),
        own=own,
        names={key: entity.name for key, entity in entities.used.items()},
        kinds={key: entity.kind for key, entity in entities.used.items()},
        speakers=entities.speakers,
    )
