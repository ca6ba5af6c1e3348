"""How facts age: by the relation of their claims, by the form of their sentence, by the word of a model.

A fact is timeless where it states what does not change (birth, kin, allergies), whatever else it tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, get_args

from langmemory.formation.relations.vocabulary import (
    AT_TIMES,
    BY_NAME,
    PLANNED,
    Relation,
    relation_named,
)
from langmemory.formation.statements import Pattern
from langmemory.languages import Topic
from langmemory.languages.tables import NEVER
from langmemory.ports.facts import Fact
from langmemory.types import NO_LONGER, TemporalClass

CLASSES: Final[tuple[TemporalClass, ...]] = get_args(TemporalClass)
_BY_KIND: Final[Mapping[str, TemporalClass]] = {"event": "episodic", "plan": "episodic"}
AILMENT: Final = "has_condition"
"""The relation to an illness: timeless, but for what goes away."""
_MEANT: Final = (NO_LONGER, PLANNED, AT_TIMES)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AgeingWords:
    """Forms of sentences that state what does not change."""

    timeless: Pattern = NEVER
    """A state: "is allergic to"."""
    milestones: Pattern = NEVER
    """A day of the year, or an event whose outcome does not change: "was born"."""
    passing: Pattern = NEVER
    """An ailment that goes away."""


_AGEING: Final = Topic(
    AgeingWords,
    "ageing",
    about="forms of sentences that state what does not change: birth, kin, allergies",
    without="a fact is timeless by its relation alone",
)


def temporal_class(relation: str, fact_kind: str, told: str = "") -> TemporalClass:
    """Return how a memory ages, by what its value says.

    Args:
        relation: Of its first claim, ``""`` for none.
        fact_kind: What kind of statement it is, ``""`` where nobody said.
        told: What formation, a person or an application wrote; anything else than a class counts for nothing.
    """
    for one in CLASSES:
        if told == one:
            return one
    known = BY_NAME.get(relation)
    if known is not None and (known.temporal_class or known.timeless):
        return known.temporal_class or "timeless"
    if relation.startswith(PLANNED):
        return "episodic"
    state = BY_NAME.get(relation.removeprefix(NO_LONGER))
    if (
        state is not None
        and state.holds
        and state.temporal_class != "episodic"
        and fact_kind == "event"
    ):
        return "habitual"  # what was bought, begun or given up is so from then on
    return _BY_KIND.get(fact_kind, "habitual")


def class_of(fact: Fact) -> TemporalClass:
    """Return how a fact ages; what a model said counts where neither a claim nor the sentence tells."""
    ailing = words().passing.search(fact.text) is not None
    if _claims_timeless(fact, ailing) or _says_timeless(fact):
        return "timeless"
    relation = fact.claims[0].relation if fact.claims else ""
    if ailing and fact.kind == "fact" and relation in ("", AILMENT):
        return "episodic"
    return fact.temporal_class or temporal_class(relation, fact.kind)


def _claims_timeless(fact: Fact, ailing: bool) -> bool:
    """Whether the first claim does not change, or most of them: "lives here with a son and two daughters"."""
    if fact.ends or fact.kind in ("plan", "procedure"):
        return False
    found = [
        not one.relation.startswith(_MEANT) and _is_timeless(relation_named(one.relation), ailing)
        for one in fact.claims
    ]
    return found[:1] == [True] or sum(found) * 2 > len(found)


def _is_timeless(relation: Relation, ailing: bool) -> bool:
    if ailing and relation.name == AILMENT:
        return False
    return relation.timeless or relation.temporal_class == "timeless"


def _says_timeless(fact: Fact) -> bool:
    """Whether the sentence has the form of a state or an event that does not change. A denial may: "eats
    no meat"."""
    if fact.kind == "procedure":
        return False
    if words().milestones.search(fact.text):
        return True
    planned = bool(fact.claims) and all(one.relation.startswith(PLANNED) for one in fact.claims)
    over = fact.ends and fact.implied is None
    if fact.kind not in ("fact", "preference") or planned or over:
        return False
    return words().timeless.search(fact.text) is not None


def words() -> AgeingWords:
    """Return the forms of all languages: a sentence may be too short to tell its own."""
    return _AGEING.everywhere
