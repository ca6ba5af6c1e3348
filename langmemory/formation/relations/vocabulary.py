"""The relations formation knows, by any of their names, and claims in their canonical form.

``relations.toml`` has one table for each relation; its phrases and the words of questions for it stand
in ``languages/<code>/relations.toml``. A phrase stands for one relation only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal

from langmemory.formation.statements import cues
from langmemory.languages import Topic
from langmemory.languages.tables import read
from langmemory.ports.facts import Claim
from langmemory.types import NO_LONGER

Values = Literal["one", "usually one", "many", "unknown"]
"""How many objects a subject has under a relation at one time. ``usually one`` gives way to a newer
value only with a cue that something changed, or by a judge's word; ``unknown``, by a judge's word
alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """A kind of claim. Unknown ones have a name and otherwise these defaults."""

    name: str
    """snake_case, read from subject to object: ``lives_in``."""
    values: Values = "many"
    inverse_of: str | None = None
    """Relation that says the same with subject and object exchanged; claims are kept as that one."""
    symmetric: bool = False
    """Subject and object may be exchanged."""
    opposite: str | None = None
    """Relation that cannot hold of the same subject and object at the same time."""
    ends: str | None = None
    """Relation to the same object that is over when this one holds."""
    also_ends: tuple[str, ...] = ()
    """Further relations to the same object that are over then; this one may say more than an end."""
    holds: bool = True
    """Says how things are, and not only what somebody means to do: of a plan it is no claim."""
    timeless: bool = False
    """Holds at any time when it holds at all: without a time of its own it has no beginning."""
    temporal_class: Literal["timeless", "habitual", "episodic"] | None = None
    """How facts of it age, see `lifecycle.retention`; None is as other facts of their kind do."""
    on_workdays: bool = False
    """Holds on workdays, and so as a rule, though it may hold on no other days."""
    to_assistant: bool = False
    """Says how the assistant is to answer its subject: shown to them whatever they talk about."""
    subject: str = "person"
    """Kind of entity its subject is."""
    object: str = "person"
    """Kind of entity its object is, or ``literal``."""
    roles: tuple[str, ...] = ()
    """The roles of its subject for its object, and of its object for its subject; empty for none."""
    family: bool = False
    """Whether those roles are of one family: of two such roles somebody has one for somebody."""

    @property
    def phrases(self) -> frozenset[str]:
        """Other names, as `snake` writes them."""
        return _phrases().get(self.name, frozenset())

    @property
    def ended(self) -> tuple[str, ...]:
        """Every relation to the same object that is over when this one holds."""
        return (*((self.ends,) if self.ends else ()), *self.also_ends)

    @property
    def is_single(self) -> bool:
        """Whether a subject has one object at a time, always or usually."""
        return self.values in ("one", "usually one")


def snake(text: str) -> str:
    """A phrase as one lower-case word: "is married to" → ``is_married_to``.

    Diacritics of Latin script are left out, so that ``fiancé`` and ``fiance`` are one.
    """
    folded = unicodedata.normalize("NFKD", text.replace("'", "").replace("’", "")).casefold()
    plain = "".join(c for c in folded if not "\u0300" <= c <= "\u036f")
    spaced = "".join(c if c.isalnum() else " " for c in unicodedata.normalize("NFC", plain))
    return "_".join(spaced.split())


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationWords:
    """Words of one language for relations, by the relation's name."""

    frame: frozenset[str] = frozenset()
    """Words that ask what something is called, or whether now or before."""
    favourite: frozenset[str] = frozenset()
    """Words that ask for what somebody likes best."""
    first_person: frozenset[str] = frozenset()
    """Verbs by which somebody speaks of themselves without a pronoun."""
    phrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words that people and models write for the relation, without auxiliary words in front."""
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words of questions for it, from whom the question names to the answer."""
    several: Mapping[str, str] = field(default_factory=dict)
    """Phrases of questions to the relations that they ask for, whatever their words ask for alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Roles:
    """Roles that somebody has for somebody, by their English names."""

    unique: frozenset[str]
    """Held by one alone at a time, so that the role is another name of whoever is said to hold it."""
    single: frozenset[str]
    """Held by one as a rule. Of any other, what is said of "my sister" now need not end what was said of
    her before."""
    spoken_as_names: frozenset[str]
    """Stand for a person without "my": "Mum called"."""
    animals: frozenset[str]
    """Held by an animal."""
    women: frozenset[str]
    """What the names of roles end with that "she" holds; others may be of either."""
    men: frozenset[str]
    never_both: tuple[tuple[str, str], ...]
    """Two roles that are not of one family, of which nobody has both for somebody."""
    often_both: tuple[tuple[str, str], ...]
    """Two roles of which one is often followed by the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    relations: tuple[Relation, ...]
    roles: Roles


WORDS: Final[Mapping[str, RelationWords]] = Topic(
    RelationWords,
    "relations",
    about="phrases for relations, and words that ask for them",
    without="claims keep their own names",
)


_KNOWN: Final = read(_Known, Path(__file__).with_name("relations.toml"))
ROLES: Final = _KNOWN.roles


RELATIONS: Final = _KNOWN.relations


BY_NAME: dict[str, Relation] = {relation.name: relation for relation in RELATIONS}
"""The relations known, by canonical name."""

PLANNED = "planned_"
"""Prefix of the relation of a plan: ``planned_lives_in``."""

AT_TIMES = "at_times_"
"""Prefix of the relation of what holds for a time, or at times, beside what holds as a rule: of a home
on weekdays ``at_times_lives_in``."""

TO_ASSISTANT: tuple[str, ...] = tuple(one.name for one in RELATIONS if one.to_assistant)
"""Relations that say how the assistant is to answer somebody."""


@cache
def _phrases() -> Mapping[str, frozenset[str]]:
    """The phrases of each relation, of all languages, which are read when a phrase is first asked for."""
    return {
        relation.name: frozenset(
            snake(phrase)
            for words in WORDS.values()
            for phrase in words.phrases.get(relation.name, ())
        )
        for relation in RELATIONS
    }


@cache
def _by_phrase() -> Mapping[str, Relation]:
    return {
        phrase: relation for relation in RELATIONS for phrase in (relation.name, *relation.phrases)
    }


@lru_cache(maxsize=4096)
def relation_named(relation: str) -> Relation:
    """The relation of this name or phrase; an unknown one keeps its words as snake_case.

    "is currently living in" → ``lives_in``; "favorite colour" → ``favourite_colour``, of which
    there is one; "no longer works at" → ``no_longer_works_at``.
    """
    name = snake(relation)
    for prefix in (NO_LONGER, PLANNED, AT_TIMES):
        if name.startswith(prefix):
            plain = relation_named(name.removeprefix(prefix))
            unknown = prefix == PLANNED and plain.values == "unknown"
            return Relation(
                name=prefix + plain.name,
                values="unknown" if unknown else "many",
                subject=plain.subject,
                object=plain.object,
            )
    if name in BY_NAME:
        return BY_NAME[name]
    by_phrase = _by_phrase()
    if name in by_phrase:
        return by_phrase[name]
    words = name.split("_")
    while len(words) > 1 and words[0] in cues().auxiliaries:
        words = words[1:]
        if "_".join(words) in by_phrase:
            return by_phrase["_".join(words)]
    while len(words) > 1 and words[-1] in cues().auxiliaries:
        words = words[:-1]
        if "_".join(words) in by_phrase:
            return by_phrase["_".join(words)]
    if len(words) > 1 and words[0] in ("favorite", "favourite"):
        what = "colour" if words[1:] == ["color"] else "_".join(words[1:])
        return Relation(name=f"favourite_{what}", values="one", object="literal")
    return Relation(name=name or "related_to", values="unknown", subject="thing", object="thing")


def canonical(claim: Claim) -> Claim:
    """The claim under its relation's canonical name, turned round where it is kept as its inverse."""
    relation = relation_named(claim.relation)
    if relation.inverse_of is not None and claim.object_is_entity:
        return Claim(subject=claim.object, relation=relation.inverse_of, object=claim.subject)
    return replace(claim, relation=relation.name)
