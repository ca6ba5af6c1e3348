"""Memories that came to say the same: found among what is new, merged or asked about.

Formation compares what it learns with all that is known. This looks at what came another way, too: what an
application wrote, what was edited into the words of another, what two reflections learned at a time.
The rules of `formation.duplicates` decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from langmemory import swarm
from langmemory.changes import Change, Merge, OpenReview
from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.contradiction.pairs import Pair
from langmemory.formation.duplicates import GREY, NEIGHBOURS, SAME, said_twice, says_less
from langmemory.formation.planning.comparison import which_holds
from langmemory.formation.planning.writing import edges
from langmemory.lifecycle.neighbours import neighbours
from langmemory.lifecycle.notes import NOTE
from langmemory.ports.candidates import Ids
from langmemory.ports.facts import KnownFact, SnapshotKnowledge
from langmemory.ports.lifecycle import Aged, LifecycleView, News
from langmemory.procedures import KEYS
from langmemory.types import Namespace
from langmemory.values import TEXT_FIELDS

MOST_ASKED: Final = 20
"""Questions that a look at what is new leads to."""

Alike = Mapping[tuple[int, int], float]
"""Pairs of ids, the lower first, with the cosine of their vectors, or what stands for it."""


@dataclass(kw_only=True, slots=True)
class Repetitions:
    """Pairs of facts that say the same, or may."""

    merged: list[tuple[KnownFact, KnownFact]] = field(default_factory=list)
    """Each with the fact that is kept first."""
    unsure: list[tuple[KnownFact, KnownFact, float]] = field(default_factory=list)
    """Each with the older first, and the cosine."""


def alike(view: LifecycleView, aged: Aged, news: News) -> Alike:
    """Return which new memories may say the same as others, of one owner and as private.

    Each pair is found once: when the one of the two that changed later is new.
    """
    usable = aged.one_of(aged.status, "active") & aged.one_of(aged.kind, "semantic", "procedural")
    # Two procedures with the same steps are two, and so are two tasks of one title.
    usable &= ~aged.begins(KEYS, *swarm.KEYS)
    usable &= ~np.isin(aged.ids, np.fromiter(news.later, np.int64, len(news.later)))
    known = aged.take(usable)
    circle = dict(
        zip(known.ids.tolist(), zip(known.owner, known.privacy, strict=True), strict=True)
    )
    new = known.ids[np.isin(known.ids, news.ids)]
    order = dict(zip(known.ids[_by_rank(known)].tolist(), range(len(known)), strict=True))
    pairs: dict[tuple[int, int], float] = {}
    repeated: set[int] = set()
    is_new = set(new.tolist())

    def note(group: Iterable[int], near: float, most: int) -> Iterator[int]:
        by_circle: dict[object, list[int]] = defaultdict(list)
        for item in group:
            if item in circle:
                by_circle[circle[item]].append(item)
        for found in by_circle.values():
            found.sort(key=order.__getitem__)
            for place, item in enumerate(found):
                for best in found[: min(place, most)]:
                    if item in is_new or best in is_new:
                        pairs.setdefault((min(item, best), max(item, best)), near)
                        yield item

    for group in view.same_words(new):
        repeated.update(note(group, 1.0, 1))
    for group in view.same_claims(new):
        list(note(group, 0.0, NEIGHBOURS))
    single = np.array([one for one in known.ids.tolist() if one not in repeated], np.int64)
    among, others = view.vectors(single)
    wanted = np.isin(among, new)
    for item, other, cosine in neighbours(
        among[wanted], others[wanted], among, others, GREY, NEIGHBOURS
    ):
        if circle[item] == circle[other]:
            pair = (min(item, other), max(item, other))
            pairs[pair] = max(pairs.get(pair, cosine), cosine)
    return pairs


def _by_rank(aged: Aged) -> Ids:
    """int64[n]: places, what is kept before others first: confirmed by a person, of more evidence, older."""
    confirmed = aged.pinned | aged.verified
    return np.lexsort((aged.ids, -aged.evidence, ~confirmed)).astype(np.int64)


def compared(
    pairs: Alike, knowledge: SnapshotKnowledge, formed: Collection[int] = ()
) -> Repetitions:
    """Return which pairs say the same, and which are to be asked about.

    Args:
        pairs: As `alike` found them.
        knowledge: What is known.
        formed: What reflections compared already: what was in doubt then was asked then.
    """
    found = Repetitions()
    ids = sorted({one for pair in pairs for one in pair})
    facts = {one.memory.id: one for one in knowledge.known(ids)}
    for (one, other), cosine in pairs.items():
        if one not in facts or other not in facts:
            continue
        first, last = sorted((facts[one], facts[other]), key=_told)
        if first.memory.kind != last.memory.kind or _beside(first) != _beside(last):
            continue
        same = said_twice(first, last, cosine, knowledge)
        if same is None:
            continue
        kept = _kept(first, last) if same else None
        if kept is not None:
            found.merged.append((kept, last if kept is first else first))
        elif last.memory.id not in formed:
            found.unsure.append((first, last, cosine))
    return found


def _beside(known: KnownFact) -> dict[str, Any]:
    """What an application keeps in a memory beside its text: only with the same there it is the same."""
    value = known.memory.value
    if "fact_kind" in value:
        return {}
    return {
        name: one
        for name, one in value.items()
        if name != NOTE and (name not in TEXT_FIELDS or not isinstance(one, str))
    }


def _told(known: KnownFact) -> tuple[object, int]:
    return ComparableFact.of_known(known).said_at, known.memory.id


def _kept(one: KnownFact, other: KnownFact) -> KnownFact | None:
    """Return which of two is kept: what a person confirmed, what says more, has more evidence, is older;
    None where a person has to say it."""
    best = min((one, other), key=rank)
    rest = other if best is one else one
    if not says_less(best, rest):
        return None if _confirmed(rest) else best
    return None if _confirmed(best) else rest


def rank(known: KnownFact) -> tuple[bool, int, int]:
    """Return what is less for a fact that is kept before another."""
    return not _confirmed(known), -len(known.evidence), known.memory.id


def _confirmed(known: KnownFact) -> bool:
    return known.memory.pinned or known.memory.verified


def merges(found: Iterable[tuple[KnownFact, KnownFact]]) -> list[Change]:
    """Return the changes that merge facts, each with the one that is kept first. What a fact claims that
    goes and the kept one does not, the kept one claims from now on."""
    gone: dict[str, str] = {}
    by_key: dict[str, KnownFact] = {}
    for kept, other in sorted(found, key=lambda pair: (rank(pair[0]), rank(pair[1]))):
        by_key |= {kept.memory.key: kept, other.memory.key: other}
        if kept.memory.key not in gone and other.memory.key not in (*gone, *gone.values()):
            gone[other.memory.key] = kept.memory.key
    groups: dict[str, list[str]] = defaultdict(list)
    for key, kept_key in gone.items():
        groups[kept_key].append(key)
    changes: list[Change] = []
    for key, others in groups.items():
        changes.append(Merge(key=key, others=tuple(others), reason="they say the same"))
        claimed = set(ComparableFact.of_known(by_key[key]).claims)
        for one in (by_key[other] for other in others):
            comparable = ComparableFact.of_known(one).claims
            new = tuple(
                claim
                for claim, as_compared in zip(one.claims, comparable, strict=False)
                if as_compared not in claimed
            )
            claimed.update(comparable)
            changes += edges(key, new, one.own)
    return changes


def questions(
    namespace: Namespace, unsure: Sequence[tuple[KnownFact, KnownFact, float]]
) -> list[OpenReview]:
    """Return a review for each pair that may say the same, the nearest first, `MOST_ASKED` at most."""
    nearest = sorted(unsure, key=lambda one: (-one[2], one[0].memory.id, one[1].memory.id))
    return [
        which_holds(
            namespace,
            Pair(
                new=ComparableFact.of_known(last),
                old=ComparableFact.of_known(first),
                about="duplicate",
                reason="nearly the same words" if cosine >= SAME else "",
            ),
            (),
        )
        for first, last, cosine in nearest[:MOST_ASKED]
    ]
