"""Entities whose names look alike and of which the same is said: linked, or asked about; never rewritten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from langmemory.changes import Change, LinkEntities, OpenReview
from langmemory.formation.entities import names
from langmemory.formation.planning.consequences import question_id
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.lifecycle import minhash
from langmemory.ports.lifecycle import NamedEntity
from langmemory.types import Namespace

LIKE: Final = 0.5
"""Jaccard similarity of letter n-grams, 0..1, from which names look alike."""
FEW: Final = 32
"""Entities of one claim of which every two are compared."""


def one_and_the_same(
    namespace: Namespace, entities: Sequence[NamedEntity], asked: frozenset[str]
) -> Iterator[Change]:
    """Yield links and questions for entities of which the same is said under names that look alike.

    Args:
        namespace: Of the entities.
        entities: Oldest first.
        asked: Ids of reviews there were.
    """
    nearest: dict[tuple[int, int], tuple[float, str, str]] = {}
    for first, norm, second, like, likeness in _named_alike(entities):
        told = (likeness, norm, like)
        nearest[first, second] = max(nearest.get((first, second), told), told)
    linked: set[str] = set()
    for (first, second), (likeness, norm, like) in sorted(nearest.items()):
        old, new = entities[first], entities[second]
        ids = [
            question_id("entity", namespace, *pair)
            for pair in ((new.key, old.key), (old.key, new.key))
        ]
        shared = {one for one in old.claims & new.claims if one[1] not in (old.key, new.key)}
        if old.kind != new.kind or not shared or _told_apart(old, new):
            continue
        if not linked.isdisjoint((old.key, new.key)) or not asked.isdisjoint(ids):
            continue
        person = new.kind == "person"
        spelled = names.alike(norm, like, person=person)
        link = LinkEntities(
            key=new.key,
            same_as=old.key,
            reason=f"names {likeness:.2f} alike, and {len(shared)} claims of both are the same",
        )
        sure = names.comparable(norm) and names.surely_one(spelled, person=person)
        if sure and not _stand_against(old, new):
            linked.add(new.key)
            yield link
        elif names.numbers(norm) == names.numbers(like):
            yield OpenReview(
                id=ids[0],
                about="entity",
                question=f"Is {new.name!r} the same as {old.name!r} ({old.kind})?",
                memories=tuple(dict.fromkeys((new.facts[0], old.facts[0]))),
                options={"same": (link,), "different": ()},
            )


def _named_alike(
    entities: Sequence[NamedEntity],
) -> Iterator[tuple[int, str, int, str, float]]:
    """Yield what has a claim in common and names that look alike: the place of the older, its name, those of
    the other, and how much alike. Where many have one claim, not all pairs of them are compared."""
    by_claim: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, one in enumerate(entities):
        if one.facts and not one.parted:
            for claim in one.claims:
                by_claim[claim].append(place)
    few = {
        (first, second)
        for group in by_claim.values()
        if len(group) <= FEW
        for at, second in enumerate(group)
        for first in group[:at]
    }
    for first, second in sorted(few):
        for norm, like in product(sorted(entities[first].norms), sorted(entities[second].norms)):
            likeness = minhash.jaccard(minhash.grams(norm), minhash.grams(like))
            if likeness >= LIKE:
                yield first, norm, second, like, likeness
    many = {place for group in by_claim.values() if len(group) > FEW for place in group}
    known = [(place, norm) for place in sorted(many) for norm in sorted(entities[place].norms)]
    for at, other, likeness in minhash.alike([norm for _, norm in known], LIKE):
        (first, norm), (second, like) = sorted((known[at], known[other]))
        if first != second:
            yield first, norm, second, like, likeness


def _told_apart(one: NamedEntity, other: NamedEntity) -> bool:
    """Whether something is claimed between two."""
    return any(end == other.key for _, end in one.claims)


def _stand_against(one: NamedEntity, other: NamedEntity) -> bool:
    """Whether they have different values where one being has one."""
    single = {name for name, _ in one.claims if relation_named(name).is_single}
    return any(
        {claim for claim in one.claims if claim[0] == name}.isdisjoint(other.claims)
        for name in single & {name for name, _ in other.claims}
    )
