"""The entity a name means: exactly, as part of a longer name, by spelling, by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from langmemory.formation.entities.batch_entities import BatchEntities, EntityRef
from langmemory.formation.entities.names import (
    MAYBE_MEANING,
    MAYBE_SPELLING,
    comparable,
    is_private,
    name_similarity,
    surely_one,
    within_reach,
)
from langmemory.formation.entities.relationships import Fit, counts, fit, kind_of
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Fact
from langmemory.types import Entity


@dataclass(frozen=True, slots=True)
class Which:
    """A name of several."""

    candidates: tuple[Entity, ...]


class Lookup:
    """Looks names up for one fact.

    Args:
        entities: everybody known or met so far.
        index: of the fact in the batch.
        speaker: who says it.
    """

    def __init__(
        self, entities: BatchEntities, index: int, fact: Fact, speaker: Entity | None
    ) -> None:
        self.entities = entities
        self.index = index
        self.fact = fact
        self.speaker = speaker

    def find(self, name: str, kind: str, bond: str | None = None) -> EntityRef | Which:
        """Somebody known, somebody new, or several it may be.

        Args:
            name: as it was written.
            kind: of entity, as far as the relation tells; ``thing`` is any, and ``being`` a person
                or an animal.
            bond: what the name's bearer is to the speaker, where that is said (`bonds`).
        """
        found = self._find(name, kind if bond is None else kind_of(bond), bond)
        if bond is not None and self.speaker is not None and isinstance(found, EntityRef):
            self.entities.relationships.add(self._me(), found.followed, bond, self.fact)
        return found

    def described(self, entity: Entity) -> tuple[str, str]:
        """Who somebody is, to tell them from others of their name, and the key of the fact that
        says so; nothing where it is not known."""
        if self.speaker is None:
            return "", ""
        known = self.entities.relationships.between(
            self._me(), self.entities.followed(entity), self.fact
        )
        what, fact = next(iter(known.items()), ("", ""))
        return what and f"{self.speaker.name}'s {what}", fact

    def _find(self, name: str, kind: str, bond: str | None) -> EntityRef | Which:
        entities, fact = self.entities, self.fact
        norm = name_key(name)
        exact = [e for e in entities.called(norm) if within_reach(e, fact)]
        exact = [e for e in exact if any(_kinds_agree(k, kind) for k in entities.kinds(e))]
        kind = "person" if kind == "being" else kind
        if fact.privacy == "private":
            exact = [e for e in exact if is_private(e, fact)] or exact
        exact = entities.distinct(exact)
        if exact and bond is not None:
            return self._match_introduction(name, norm, exact, bond)
        if len(exact) == 1:
            return entities.use(exact[0])
        if exact:
            mine = [
                e for e in exact if self.speaker is not None and entities.followed(e) == self._me()
            ]
            near = self._by_company(mine or exact)
            return Which(tuple(exact)) if near is None else entities.use(near)
        if fact.privacy == "private":
            return entities.use(entities.make(name, kind, fact))
        if kind == "person":
            part = self._part_of_name(name, norm, bond)
            if part is not None:
                return part
        return self._by_likeness(name, norm, kind)

    def _match_introduction(
        self, name: str, norm: str, exact: Sequence[Entity], bond: str
    ) -> EntityRef | Which:
        """Who of this name is that to the speaker; somebody new where none of them can be."""
        fits = {e.key: self._fit(e, norm, bond) for e in exact}
        for wanted in ("same", "likely"):
            found = [e for e in exact if fits[e.key] == wanted]
            if found:
                one = self._by_company(found)
                if one is None:
                    return Which(tuple(found))
                return self.entities.use(self._introduced_as(bond, one, norm))
        apart = f"{self._me()}\0{bond}"
        made = self.entities.make(name, kind_of(bond), self.fact, apart=apart)
        doubtful = [e for e in exact if fits[e.key] == "doubtful"]
        if doubtful and self.fact.privacy != "private" and self.entities.is_new(made):
            other = self.entities.root(doubtful[0])  # the one who is most like
            who, fact = self.described(other)
            whose = "" if self.speaker is None else self.speaker.name
            known_as = {made.key: f"{whose}'s {bond}", other.key: who}
            because = (fact,) if fact else ()
            self.entities.ask(
                name, self.index, (other,), key=made.key, who=known_as, because=because
            )
        return self.entities.use(made)

    def _introduced_as(self, bond: str, entity: Entity, norm: str) -> Entity:
        """Of several of one name that are linked with one another, who was introduced as that."""
        root = self.entities.followed(entity)
        own = self.entities.relationships.own(self._me(), root, bond, self.fact)
        linked = [e for e in self.entities.called(norm) if self.entities.followed(e) == root]
        return next((e for e in linked if e.key == own), entity)

    def _fit(self, entity: Entity, norm: str, bond: str | None) -> Fit:
        """Whether somebody known may be who is introduced."""
        if bond is None or self.speaker is None:
            return "likely"
        known = self.entities.relationships.between(
            self._me(), self.entities.followed(entity), self.fact
        )
        fits = {fit(one, bond) for one in known}
        if "same" in fits:
            return "same"
        for worst in ("never", "doubtful"):
            if worst in fits:
                return worst
        against = self.entities.relationships.stands_against
        claims = self.entities.introduced.claims(self.fact, norm) if known else ()
        told_apart = any(
            against(claim, self.entities.followed(entity), self.fact) for claim in claims
        )
        return "doubtful" if told_apart else "likely"

    def _me(self) -> str:
        return "" if self.speaker is None else self.entities.followed(self.speaker)

    def _part_of_name(self, name: str, norm: str, bond: str | None) -> EntityRef | Which | None:
        """ "Anna" where an "Anna Schmidt" is known, or the other way round."""
        entities, fact = self.entities, self.fact
        words = norm.split()
        if len(words) == 1:
            in_batch = entities.fuller(norm)
            longer = entities.distinct(
                e
                for other in entities.norms()
                if other.startswith(f"{norm} ")
                for e in entities.called(other)
                if e.kind == "person" and within_reach(e, fact) and name_key(e.name) == other
            )
            fits = {e.key: self._fit(e, norm, bond) for e in longer}
            known = [e for e in longer if fits[e.key] != "never"]
            near = [
                e
                for e in known
                if fits[e.key] != "doubtful"
                and (name_key(e.name) in in_batch or self._keeps_company(e))
            ]
            if len(near) == 1:
                return self._make_linked(name, "person", near[0])
            if len(known) > 1:
                return Which(tuple(known))
            return self._asked(name, "person", known) if known else None
        known_first = entities.distinct(
            e
            for e in entities.called(words[0])
            if e.kind == "person" and within_reach(e, fact) and name_key(e.name) == words[0]
            if self._fit(e, norm, bond) != "never"
        )
        return self._asked(name, "person", known_first) if len(known_first) == 1 else None

    def _by_likeness(self, name: str, norm: str, kind: str) -> EntityRef:
        """By spelling, then by meaning, else somebody new."""
        entities = self.entities
        person = kind == "person"
        best: tuple[float, Entity] | None = None
        if comparable(norm):
            close = process.extract(
                norm,
                entities.norms(),
                scorer=fuzz.token_sort_ratio if person else fuzz.ratio,
                score_cutoff=MAYBE_SPELLING * 100,
                limit=5,
            )
            for other, _, _ in close:
                score = name_similarity(norm, other, person=person)
                for entity in entities.called(other):
                    fits = _kinds_agree(entity.kind, kind) and within_reach(entity, self.fact)
                    if fits and score >= MAYBE_SPELLING and score > (best or (0.0,))[0]:
                        best = (score, entity)
        if best is not None:
            score, entity = best
            if surely_one(score, person=person):
                return self._make_linked(name, kind, entity)
            return self._asked(name, kind, [entity])
        return self._by_meaning(name, kind)

    def _by_meaning(self, name: str, kind: str) -> EntityRef:
        entities = self.entities
        if entities.similar is not None and kind != "person":
            others = entities.of_kind(kind)
            scores = entities.similar(name, [entity.name for entity in others])
            near = [
                (score, entity)
                for score, entity in zip(scores, others, strict=True)
                if score >= MAYBE_MEANING and within_reach(entity, self.fact)
            ]
            if near:
                return self._asked(name, kind, [max(near, key=lambda pair: pair[0])[1]])
        return entities.use(entities.make(name, kind, self.fact))

    def _make_linked(self, name: str, kind: str, to: Entity) -> EntityRef:
        made = self.entities.make(name, to.kind if kind == "thing" else kind, self.fact)
        return self.entities.link(made, to)

    def _asked(self, name: str, kind: str, candidates: list[Entity]) -> EntityRef:
        made = self.entities.make(name, kind, self.fact)
        self.entities.ask(name, self.index, map(self.entities.root, candidates), key=made.key)
        return self.entities.use(made)

    def _by_company(self, candidates: Sequence[Entity]) -> Entity | None:
        """The only one, or the one the speaker has spoken of before, when it is one."""
        if len(candidates) > 1:
            candidates = [entity for entity in candidates if self._keeps_company(entity)]
        return candidates[0] if len(candidates) == 1 else None

    def _keeps_company(self, entity: Entity) -> bool:
        """Whether the same speaker said something about the entity, or it about the speaker."""
        if self.speaker is None:
            return False
        about, whom = self.entities.knowledge.about, self.entities.followed(entity)
        if any(
            known.memory.speaker == self.fact.speaker and counts(known, self.fact)
            for known in about(whom)
        ):
            return True
        return any(
            claim.object == whom and claim.object_is_entity
            for known in about(self.speaker.key, also=whom)
            if counts(known, self.fact)
            for claim in known.claims
        )


def _kinds_agree(one: str, other: str) -> bool:
    if other == "being":
        return one in ("person", "animal", "thing")
    return one == other or "thing" in (one, other)
