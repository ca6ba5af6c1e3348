"""Entities whose names look alike and of which the same is said: linked, or asked about; never rewritten."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.changes import Change, LinkEntities, OpenReview
from langmemory.formation.entities import names
from langmemory.formation.planning.consequences import question_id
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.ports.lifecycle import NamedEntity
from langmemory.types import Namespace

GRAM: Final = 3
"""Letters of an n-gram."""
BANDS: Final = 64
ROWS: Final = 3
"""With these a pair of similarity 0.5 is found with a probability of 0.9998, one of 0.2 with 0.4."""
MOST_IN_BUCKET: Final = 200
"""Names that agree in one band and are compared with one another, the first of them."""

Signatures = NDArray[np.uint64]
"""uint64[n, BANDS * ROWS]: the smallest hash of each permutation."""

_DRAWN = np.random.default_rng(1997)
_FACTORS = _DRAWN.integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_TERMS = _DRAWN.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64)


def grams(name: str) -> frozenset[str]:
    """Return the n-grams of a name, with its beginning and its end marked."""
    marked = f" {name} "
    return frozenset(marked[at : at + GRAM] for at in range(max(1, len(marked) - GRAM + 1)))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of elements that both sets have, 0..1."""
    return len(one & other) / len(one | other) if one or other else 1.0


def signatures(sets: Sequence[frozenset[str]]) -> Signatures:
    """Return the MinHash of sets that are not empty. The permutations are multiply-shift hashes
    (Dietzfelbinger 1997), the same in every process."""
    found = np.empty((len(sets), BANDS * ROWS), np.uint64)
    for place, one in enumerate(sets):
        hashes = np.array([_hash(gram) for gram in one], np.uint64)[:, None]
        found[place] = ((hashes * _FACTORS + _TERMS) >> np.uint64(32)).min(axis=0)
    return found


def alike(names: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of names, as places in the sequence, with a Jaccard similarity of at least this (0..1)."""
    sets = [grams(name) for name in names]
    marks = signatures(sets)
    seen: set[tuple[int, int]] = set()
    for band in range(BANDS):
        buckets: dict[bytes, list[int]] = defaultdict(list)
        for place, row in enumerate(marks[:, band * ROWS : (band + 1) * ROWS]):
            buckets[row.tobytes()].append(place)
        for bucket in buckets.values():
            few = bucket[:MOST_IN_BUCKET]
            seen.update((one, other) for at, other in enumerate(few) for one in few[:at])
    for one, other in sorted(seen):
        if (found := jaccard(sets[one], sets[other])) >= least:
            yield one, other, found


def _hash(gram: str) -> int:
    return int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=8).digest(), "little")


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
        spelled = names.name_similarity(norm, like, person=person)
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
            likeness = jaccard(grams(norm), grams(like))
            if likeness >= LIKE:
                yield first, norm, second, like, likeness
    many = {place for group in by_claim.values() if len(group) > FEW for place in group}
    known = [(place, norm) for place in sorted(many) for norm in sorted(entities[place].norms)]
    for at, other, likeness in alike([norm for _, norm in known], LIKE):
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
