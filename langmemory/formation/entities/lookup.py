"""The entity a name means: exactly, as part of a longer name, by spelling, by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from langmemory.formation.entities.batch_entities import BatchEntities, EntityRef
from langmemory.formation.entities.names import (
    MAYBE_MEANING,
    MAYBE_SPELLING,
    SAME_SPELLING,
    alike,
    comparable,
    is_private,
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
        cast: everybody known or met so far.
        index: of the fact in the batch.
        speaker: who says it.
    """

    def __init__(self, cast: BatchEntities, index: int, fact: Fact, speaker: Entity | None) -> None:
        self.cast = cast
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
            self.cast.bonds.add(self._me(), found.followed, bond, self.fact)
        return found

    def described(self, entity: Entity) -> tuple[str, str]:
        """Who somebody is, to tell them from others of their name, and the key of the fact that
        says so; nothing where it is not known."""
        if self.speaker is None:
            return "", ""
        known = self.cast.bonds.between(self._me(), self.cast.followed(entity), self.fact)
        what, fact = next(iter(known.items()), ("", ""))
        return what and f"{self.speaker.name}'s {what}", fact

    def _find(self, name: str, kind: str, bond: str | None) -> EntityRef | Which:
        cast, fact = self.cast, self.fact
        norm = name_key(name)
        exact = [e for e in cast.called(norm) if within_reach(e, fact)]
        exact = [e for e in exact if any(_kinds_agree(k, kind) for k in cast.kinds(e))]
        kind = "person" if kind == "being" else kind
        if fact.privacy == "private":
            exact = [e for e in exact if is_private(e, fact)] or exact
        exact = cast.distinct(exact)
        if exact and bond is not None:
            return self._introduced(name, norm, exact, bond)
        if len(exact) == 1:
            return cast.use(exact[0])
        if exact:
            mine = [e for e in exact if self.speaker is not None and cast.followed(e) == self._me()]
            near = self._by_company(mine or exact)
            return Which(tuple(exact)) if near is None else cast.use(near)
        if fact.privacy == "private":
            return cast.use(cast.make(name, kind, fact))
        if kind == "person":
            part = self._part_of_name(name, norm, bond)
            if part is not None:
                return part
        return self._by_likeness(name, norm, kind)

    def _introduced(
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
                return self.cast.use(self._introduced_as(bond, one, norm))
        apart = f"{self._me()}\0{bond}"
        made = self.cast.make(name, kind_of(bond), self.fact, apart=apart)
        doubtful = [e for e in exact if fits[e.key] == "doubtful"]
        if doubtful and self.fact.privacy != "private" and self.cast.is_new(made):
            other = self.cast.root(doubtful[0])  # the one who is most like
            who, fact = self.described(other)
            whose = "" if self.speaker is None else self.speaker.name
            known_as = {made.key: f"{whose}'s {bond}", other.key: who}
            because = (fact,) if fact else ()
            self.cast.ask(name, self.index, (other,), key=made.key, who=known_as, because=because)
        return self.cast.use(made)

    def _introduced_as(self, bond: str, entity: Entity, norm: str) -> Entity:
        """Of several of one name that are linked with one another, who was introduced as that."""
        root = self.cast.followed(entity)
        own = self.cast.bonds.own(self._me(), root, bond, self.fact)
        linked = [e for e in self.cast.called(norm) if self.cast.followed(e) == root]
        return next((e for e in linked if e.key == own), entity)

    def _fit(self, entity: Entity, norm: str, bond: str | None) -> Fit:
        """Whether somebody known may be who is introduced."""
        if bond is None or self.speaker is None:
            return "likely"
        known = self.cast.bonds.between(self._me(), self.cast.followed(entity), self.fact)
        fits = {fit(one, bond) for one in known}
        if "same" in fits:
            return "same"
        for worst in ("never", "doubtful"):
            if worst in fits:
                return worst
        against = self.cast.bonds.stands_against
        claims = self.cast.introduced.claims(self.fact, norm) if known else ()
        told_apart = any(against(claim, self.cast.followed(entity), self.fact) for claim in claims)
        return "doubtful" if told_apart else "likely"

    def _me(self) -> str:
        return "" if self.speaker is None else self.cast.followed(self.speaker)

    def _part_of_name(self, name: str, norm: str, bond: str | None) -> EntityRef | Which | None:
        """ "Anna" where an "Anna Schmidt" is known, or the other way round."""
        cast, fact = self.cast, self.fact
        words = norm.split()
        if len(words) == 1:
            in_batch = cast.fuller(norm)
            longer = cast.distinct(
                e
                for other in cast.norms()
                if other.startswith(f"{norm} ")
                for e in cast.called(other)
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
                return self._linked(name, "person", near[0])
            if len(known) > 1:
                return Which(tuple(known))
            return self._asked(name, "person", known) if known else None
        known_first = cast.distinct(
            e
            for e in cast.called(words[0])
            if e.kind == "person" and within_reach(e, fact) and name_key(e.name) == words[0]
            if self._fit(e, norm, bond) != "never"
        )
        return self._asked(name, "person", known_first) if len(known_first) == 1 else None

    def _by_likeness(self, name: str, norm: str, kind: str) -> EntityRef:
        """By spelling, then by meaning, else somebody new."""
        cast = self.cast
        person = kind == "person"
        best: tuple[float, Entity] | None = None
        if comparable(norm):
            close = process.extract(
                norm,
                cast.norms(),
                scorer=fuzz.token_sort_ratio if person else fuzz.ratio,
                score_cutoff=MAYBE_SPELLING * 100,
                limit=5,
            )
            for other, _, _ in close:
                score = alike(norm, other, person=person)
                for entity in cast.called(other):
                    fits = _kinds_agree(entity.kind, kind) and within_reach(entity, self.fact)
                    if fits and score >= MAYBE_SPELLING and score > (best or (0.0,))[0]:
                        best = (score, entity)
        if best is not None:
            score, entity = best
            sure = score == 1.0 or (not person and score >= SAME_SPELLING)
            if sure:
                return self._linked(name, kind, entity)
            return self._asked(name, kind, [entity])
        return self._by_meaning(name, kind)

    def _by_meaning(self, name: str, kind: str) -> EntityRef:
        cast = self.cast
        if cast.similar is not None and kind != "person":
            others = cast.of_kind(kind)
            scores = cast.similar(name, [entity.name for entity in others])
            near = [
                (score, entity)
                for score, entity in zip(scores, others, strict=True)
                if score >= MAYBE_MEANING and within_reach(entity, self.fact)
            ]
            if near:
                return self._asked(name, kind, [max(near, key=lambda pair: pair[0])[1]])
        return cast.use(cast.make(name, kind, self.fact))

    def _linked(self, name: str, kind: str, to: Entity) -> EntityRef:
        made = self.cast.make(name, to.kind if kind == "thing" else kind, self.fact)
        return self.cast.link(made, to)

    def _asked(self, name: str, kind: str, candidates: list[Entity]) -> EntityRef:
        made = self.cast.make(name, kind, self.fact)
        self.cast.ask(name, self.index, map(self.cast.root, candidates), key=made.key)
        return self.cast.use(made)

    def _by_company(self, candidates: Sequence[Entity]) -> Entity | None:
        """The only one, or the one the speaker has spoken of before, when it is one."""
        if len(candidates) > 1:
            candidates = [entity for entity in candidates if self._keeps_company(entity)]
        return candidates[0] if len(candidates) == 1 else None

    def _keeps_company(self, entity: Entity) -> bool:
        """Whether the same speaker said something about the entity, or it about the speaker."""
        if self.speaker is None:
            return False
        about, whom = self.cast.knowledge.about, self.cast.followed(entity)
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
