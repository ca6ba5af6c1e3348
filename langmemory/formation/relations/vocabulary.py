"""Relations by any of their names, and claims in their canonical form."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from langmemory.formation.relations.data import RELATIONS
from langmemory.formation.relations.relation import Relation, Values, snake
from langmemory.formation.statements import cues
from langmemory.ports.facts import Claim

__all__ = [
    "AT_TIMES",
    "BY_NAME",
    "NO_LONGER",
    "PLANNED",
    "TO_ASSISTANT",
    "Relation",
    "Values",
    "canonical",
    "relation_named",
    "snake",
]

BY_NAME: dict[str, Relation] = {relation.name: relation for relation in RELATIONS}
"""The relations known, by canonical name."""

NO_LONGER = "no_longer_"
"""Prefix of the relation of a fact that says another no longer holds: ``no_longer_works_at``."""

PLANNED = "planned_"
"""Prefix of the relation of a plan: ``planned_lives_in``."""

AT_TIMES = "at_times_"
"""Prefix of the relation of what holds for a time, or at times, beside what holds as a rule: of a home
on weekdays ``at_times_lives_in``."""

TO_ASSISTANT: tuple[str, ...] = tuple(one.name for one in RELATIONS if one.to_assistant)
"""Relations that say how the assistant is to answer somebody."""

_BY_PHRASE: dict[str, Relation] = {
    phrase: relation for relation in RELATIONS for phrase in (relation.name, *relation.phrases)
}


@lru_cache(maxsize=4096)
def relation_named(relation: str) -> Relation:
    """The relation of this name or phrase; an unknown one keeps its words as snake_case.

    "is currently living in" → ``lives_in``; "favorite colour" → ``favourite_colour``, of which
    there is one; "no longer works at" → ``no_longer_works_at``.
    """
    name = snake(relation)
    for stance in (NO_LONGER, PLANNED, AT_TIMES):
        if name.startswith(stance):
            plain = relation_named(name.removeprefix(stance))
            unknown = stance == PLANNED and plain.values == "unknown"
            return Relation(
                name=stance + plain.name,
                values="unknown" if unknown else "many",
                subject=plain.subject,
                object=plain.object,
            )
    if name in _BY_PHRASE:
        return _BY_PHRASE[name]
    words = name.split("_")
    while len(words) > 1 and words[0] in cues().auxiliaries:
        words = words[1:]
        if "_".join(words) in _BY_PHRASE:
            return _BY_PHRASE["_".join(words)]
    while len(words) > 1 and words[-1] in cues().auxiliaries:
        words = words[:-1]
        if "_".join(words) in _BY_PHRASE:
            return _BY_PHRASE["_".join(words)]
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
