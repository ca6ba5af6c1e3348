"""Relationships of people to the person who speaks, and whether one being can have two of them.

A sister and a colleague may have one name. Whoever is introduced with what cannot be said of the
one known by that name is somebody else; where it only seldom can, that is asked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from langmemory.formation.contradiction.comparable import fact_key, spoken_name
from langmemory.formation.entities.roles import person_words
from langmemory.formation.relations.vocabulary import BY_NAME, PLANNED, ROLES, relation_named, snake
from langmemory.languages import is_unspaced
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Claim, Fact, Knowledge, KnownFact
from langmemory.types import NO_LONGER

RELATIONS = {name: relation.roles for name, relation in BY_NAME.items() if relation.roles}
"""By relations whose ends are what they say (a sister is a person, a pet is not), what their subject is to
their object, and their object to their subject. Who was a partner is the same person still."""

FAMILY = frozenset(role for one in BY_NAME.values() if one.family for role in one.roles)
"""Of these, somebody is one."""

Fit = Literal["same", "likely", "doubtful", "never"]
"""Whether somebody known as one thing is who is introduced as another. ``likely``: as long as
nothing else tells them apart."""


def fit(known: str, new: str) -> Fit:
    """Whether one being can be both to somebody."""
    pair = frozenset({known, new})
    if known == new:
        return "same"
    if pair <= FAMILY or pair in map(frozenset, ROLES.never_both) or "pet" in pair:
        return "never"
    if pair not in map(frozenset, ROLES.often_both) and pair & (FAMILY | {"relative"}):
        return "doubtful"
    return "likely"


def kind_of(bond: str) -> str:
    """Kind of entity that is this to somebody."""
    return "animal" if bond == "pet" else "person"


def bond(claim: Claim, whose: str) -> tuple[str, str] | None:
    """Who is what to ``whose``; both as the claim writes them, names or keys."""
    name = snake(claim.relation).removeprefix(NO_LONGER).removeprefix(PLANNED)
    relation = relation_named(name)
    subject, object_ = claim.subject, claim.object
    if relation.inverse_of is not None:
        relation, subject, object_ = relation_named(relation.inverse_of), object_, subject
    if whose not in (subject, object_) or subject == object_ or relation.name not in RELATIONS:
        return None
    of_subject, of_object = RELATIONS[relation.name]
    return (object_, of_object) if subject == whose else (subject, of_subject)


class Introductions:
    """As what the facts of a batch introduce those they name, by name and turn. A turn that takes
    something back introduces nobody: it speaks of who was introduced before."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._bonds: defaultdict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
        self._claims: defaultdict[tuple[str, str, str], list[Claim]] = defaultdict(list)
        self._namesakes: set[tuple[str, str]] = set()
        self._corrected = {turn for fact in facts if fact.corrects for turn in fact.evidence}
        for fact in facts:
            told = list(_bonds_of_fact(fact))
            self._namesakes |= {
                (fact.speaker or "", t) for t in fact.evidence if _of_namesake(fact)
            }
            for turn in fact.evidence:
                for name, what in told:
                    self._bonds[fact.speaker or "", turn, name][what] = None
                for claim in () if fact.ends else fact.claims:
                    self._claims[fact.speaker or "", turn, name_key(claim.subject)].append(claim)

    def bond(self, fact: Fact, norm: str) -> str | None:
        """Return the role of a name's bearer for the speaker of a fact, by itself or else its turns; None
        where they do not say, or say it of two."""
        if fact.speaker is None or not self._corrected.isdisjoint(fact.evidence):
            return None
        own = {what: None for name, what in _bonds_of_fact(fact) if name == norm}
        for turn in () if own else fact.evidence:
            own |= self._bonds.get((fact.speaker, turn, norm), {})
        return next(iter(own)) if len(own) == 1 else None

    def of_namesake(self, fact: Fact) -> bool:
        """Whether the turns of a fact speak of another who has the speaker's own name, so that it
        is not clear whom it means there."""
        return any((fact.speaker or "", turn) in self._namesakes for turn in fact.evidence)

    def claims(self, fact: Fact, norm: str) -> Iterator[Claim]:
        """Return the claims of the turn that first says a fact about a name's bearer, as it was written."""
        return iter(self._claims.get((fact.speaker or "", fact.evidence[0], norm), ()))


class Relationships:
    """Roles of entities for speakers, as far as it is known or the batch has said so far."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._new: defaultdict[tuple[str, str], dict[str, Fact]] = defaultdict(dict)
        self._values: defaultdict[tuple[str, str], list[str]] = defaultdict(list)

    def add(self, speaker: str, entity: str, what: str, fact: Fact) -> None:
        """A fact of the batch says so. Keys, links followed."""
        self._new[speaker, entity].setdefault(what, fact)

    def between(self, speaker: str, entity: str, fact: Fact) -> dict[str, str]:
        """Return the roles of an entity for a speaker, each with the key of a fact that says so; of private
        facts only those of the same owner count."""
        known = {what: found.memory.key for what, found in self._known(speaker, entity, fact)}
        new = {
            what: fact_key(one)
            for what, one in self._new[speaker, entity].items()
            if one.privacy != "private" or one.owner == fact.owner
        }
        return new | known

    def own(self, speaker: str, entity: str, what: str, fact: Fact) -> str | None:
        """Key of whoever is known as that to a speaker: the entity, or one linked to it."""
        known = self._known(speaker, entity, fact)
        return next((one.own.get(entity, entity) for told, one in known if told == what), None)

    def _known(self, speaker: str, entity: str, fact: Fact) -> Iterator[tuple[str, KnownFact]]:
        for found in self._knowledge.about(speaker, also=entity, either=True):
            for claim in found.claims if counts(found, fact) else ():
                one = bond(claim, speaker) if claim.object_is_entity else None
                if one is not None and one[0] == entity:
                    yield one[1], found

    def claimed(self, claim: Claim) -> None:
        """Note a claim of the batch, with keys."""
        self._values[claim.subject, claim.relation].append(claim.object)

    def stands_against(self, claim: Claim, entity: str, fact: Fact) -> bool:
        """Whether what a fact claims of a name cannot be so of an entity of which something else is."""
        relation = relation_named(claim.relation)
        if not relation.is_single:
            return False
        known = [one for one in self._knowledge.about(entity, relation.name) if counts(one, fact)]
        values = {one.object for found in known for one in found.claims if one.subject == entity}
        values |= set(self._values[entity, relation.name])
        said = name_key(claim.object)
        return bool(values) and said not in {name_key(spoken_name(value)) for value in values}


def counts(known: KnownFact, fact: Fact) -> bool:
    """Whether what is known says anything for a new fact: of private facts only the owner's own."""
    return known.memory.privacy != "private" or known.memory.owner == fact.owner


def _bonds_of_fact(fact: Fact) -> Iterator[tuple[str, str]]:
    """Normalised names, and what they are to the speaker: as it is claimed, else as the text calls
    them: "Lena's colleague Anna"."""
    if fact.speaker is None:
        return
    me = name_key(fact.speaker)
    found: dict[str, str] = {}
    names: dict[str, None] = {}
    for claim in fact.claims:
        mine = replace(
            claim,
            subject=_normalise_name(claim.subject, me),
            object=_normalise_name(claim.object, me),
        )
        names |= dict.fromkeys((claim.subject, claim.object if claim.object_is_entity else ""))
        if (one := bond(mine, me)) is not None:
            found[one[0]] = one[1]
    for name in names:
        norm = _normalise_name(name, me)
        if norm and norm != me and norm not in found:
            called = _claim_by_role_word(fact.text, name, fact.speaker)
            if called is not None and (one := bond(replace(called, object=norm), "")) is not None:
                found[norm] = one[1]
    yield from found.items()


def _of_namesake(fact: Fact) -> bool:
    """Whether somebody of the speaker's name is something to the speaker: "My friend Lena"."""
    me = name_key(fact.speaker) if fact.speaker else ""
    return any(
        name_key(claim.object) == me == name_key(claim.subject)
        for claim in fact.claims
        if (one := bond(replace(claim, subject="", object=me), "")) is not None
        and kind_of(one[1]) == "person"
    )


def _normalise_name(name: str, me: str) -> str:
    return me if name.casefold() in person_words().self else name_key(name) if name else ""


def _claim_by_role_word(text: str, name: str, speaker: str) -> Claim | None:
    """The word of a text for a name's bearer, as a claim of nobody's: "my sister Anna", "Lenas
    Kollegin Anna", "la hermana de Lena, Ana", "我姐姐小红"."""
    me = "|".join(re.escape(one) for one in (speaker, *person_words().speaker_named))
    my = "|".join(re.escape(one) for one in person_words().my)
    role, who = r"(?P<role>[^\W\d_][\w-]*)", rf",? {re.escape(name)}(?!\w)"
    of, within = "|".join(person_words().of), "|".join(filter(is_unspaced, person_words().self))
    for pattern in (
        rf"\b(?:(?:{me})(?:['’]?s|['’])|{my}) (?:\w+ ){{0,2}}?{role}{who}",
        rf"\b{role} (?:{of}) (?:{me}){who}",
        rf"(?:{me}|{within})(?:{'|'.join(person_words().of_within)})?(?P<role>\w{{1,3}}?){re.escape(name)}",
    ):
        for match in re.finditer(pattern, text, re.IGNORECASE):
            word = match["role"].casefold()
            relation = relation_named(person_words().role_of.get(word, word))
            if relation.name in RELATIONS or relation.inverse_of in RELATIONS:
                return Claim(subject="", relation=relation.name, object=name)
    return None
