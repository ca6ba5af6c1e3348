"""Nearest neighbours of memories: duplicates among them, which are merged or asked about, and notes.

Formation compares what it learns with all that is known. This looks at what came another way, too: what an
application wrote, what was edited into the words of another, what two reflections learned at a time.
The rules of `formation.duplicates` decide. A note (A-MEM, Xu 2025) has keywords, tags, a line of context, and
links to the nearest; it stands in the value of its memory under ``note`` and is no part of its text.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import numpy as np
from pydantic import BaseModel, Field

from langmemory import swarm
from langmemory.changes import Change, Merge, OpenReview, UpdateMemory
from langmemory.formation.asking.limits import ShortText, at_most
from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.contradiction.pairs import Pair
from langmemory.formation.duplicates import GREY, NEIGHBOURS, SAME, said_twice, says_less
from langmemory.formation.planning.comparison import which_holds
from langmemory.formation.planning.writing import edges
from langmemory.formation.wording import wording
from langmemory.languages import split_words
from langmemory.ports.candidates import Floats, Ids
from langmemory.ports.facts import KnownFact, SnapshotKnowledge
from langmemory.ports.lifecycle import Aged, LifecycleView, News
from langmemory.procedures import KEYS
from langmemory.types import Memory, Namespace
from langmemory.values import TEXT_FIELDS

BLOCK: Final = 128
"""Memories multiplied with all others at once: 50 MB of cosines at 100,000 of them. So few are compared
without looking for bounds first."""
HEAD: Final = 64
"""Dimensions by which most pairs are ruled out."""
SAMPLE: Final = 5_000
"""Vectors, at least, of which the dimensions of most variance are learned, where there are as many."""
FEW: Final = 0.02
"""Share of pairs left, below which they are computed one by one."""
ROUNDING: Final = 1e-4
"""Of float32 products and of vectors that are not quite of length 1."""


def neighbours(
    ids: Ids, vectors: Floats, among: Ids, others: Floats, least: float, most: int
) -> Iterator[tuple[int, int, float]]:
    """Yield the nearest of each memory, itself not counted: its id, the other's, and the cosine.

    Args:
        ids: int64[n].
        vectors: float32[n, dims], L2-normalised.
        among: int64[m].
        others: float32[m, dims], L2-normalised.
        least: Cosine from which one is near, -1..1.
        most: So many for each.
    """
    directions = _most_varied(others) if len(ids) > BLOCK else None
    bounds = None if directions is None else _project_bounds(vectors, directions)
    limits = None if directions is None else _project_bounds(others, directions)
    for start in range(0, len(ids), BLOCK):
        block = slice(start, start + BLOCK)
        exact: Floats | None = None
        if bounds is None or limits is None:
            exact = vectors[block] @ others.T
            may_be = exact >= least
        else:
            may_be = bounds[block] @ limits.T >= least - ROUNDING
            if np.count_nonzero(may_be) >= FEW * may_be.size:
                exact = vectors[block] @ others.T
        for row in np.flatnonzero(may_be.any(axis=1)).tolist():
            item, vector = int(ids[start + row]), vectors[start + row]
            near = np.flatnonzero(may_be[row])
            near = near[among[near] != item]
            if not len(near):
                continue
            cosines = others[near] @ vector if exact is None else exact[row, near]
            order = np.argsort(-cosines, kind="stable")[:most]
            yield from (
                (item, int(among[near[place]]), float(cosines[place]))
                for place in order.tolist()
                if cosines[place] >= least
            )


def _most_varied(vectors: Floats) -> Floats:
    """float32[dims, HEAD]: the orthogonal directions along which vectors are longest."""
    some = vectors[:: max(1, len(vectors) // SAMPLE)]
    _, directions = np.linalg.eigh(some.T @ some)  # by rising variance
    return np.ascontiguousarray(directions[:, : -HEAD - 1 : -1], np.float32)


def _project_bounds(vectors: Floats, directions: Floats) -> Floats:
    """float32[n, HEAD + 1]: the part along these directions and the length of the rest. The product of two
    is never less than their cosine (Cauchy and Schwarz), at a quarter of the work, and the directions of
    most variance leave few pairs to compute."""
    head = vectors @ directions
    rest = np.sqrt(np.maximum(0.0, 1.0 - np.einsum("nd,nd->n", head, head)))
    return np.concatenate([head, rest[:, None]], axis=1, dtype=np.float32)


NOTE: Final = "note"
"""Its place in a value."""
MOST_KEYWORDS: Final = 5
MOST_TAGS: Final = 8
MOST_LINKS: Final = 3
LINKED_FROM: Final = 0.5
"""Cosine, -1..1, from which a memory is linked to another."""
CONTEXT_CHARACTERS: Final = 200


class Written(BaseModel):
    """The part of a note that a model may write."""

    memory: int
    """Its number among those shown, from 1."""
    keywords: list[ShortText] = Field(max_length=MOST_TAGS)
    tags: list[ShortText] = Field(max_length=MOST_TAGS)
    context: str = Field(max_length=CONTEXT_CHARACTERS)


class WrittenNotes(BaseModel):
    """Notes on memories."""

    notes: Annotated[list[Written], at_most(maxItems=40)]


Writer = Callable[[Sequence[tuple[Memory, Sequence[str]]]], Mapping[int, Written]]
"""Writes notes on memories, each with the texts of its nearest; by place, those that are usable."""


def note_changes(
    view: LifecycleView, aged: Aged, news: News, writer: Writer | None = None
) -> list[Change]:
    """Return changes that give each new memory its note, and its neighbours the tags they share with it.

    Args:
        view: Of the namespace.
        aged: Its derived memories.
        news: What is new among them.
        writer: Writes keywords, tags and context in place of the rules.
    """
    usable = aged.one_of(aged.status, "active") & aged.one_of(aged.kind, "semantic", "procedural")
    known = aged.take(usable)
    memories = {one.id: one for one in view.memories(known.ids)}
    new = [one for one in known.ids[np.isin(known.ids, news.ids)].tolist() if one in memories]
    if not new:
        return []
    words = {item: wording(one.text).words for item, one in memories.items()}
    spread = Counter(word for found in words.values() for word in found)
    near = _near(view, known, new)
    entities = {
        item: [key.partition("/")[2].rpartition("-")[0] for key in keys]
        for item, keys in view.mentions(known.ids).items()
    }
    shown = [(memories[item], [memories[one].text for one, _ in near[item]]) for item in new]
    written = writer(shown) if writer is not None else {}
    values: dict[int, dict[str, Any]] = {}
    for place, item in enumerate(new):
        memory = memories[item]
        ranked = sorted(words[item], key=lambda word: (-math.log(len(words) / spread[word]), word))
        keywords = [word for word in ranked if not word.isdigit()][:MOST_KEYWORDS]
        links = [
            _link(memories[one], cosine, words[item] & words[one]) for one, cosine in near[item]
        ]
        shared = {word for one, _ in near[item] for word in words[item] & words[one]}
        tags = [*entities.get(item, ()), *sorted(shared)]
        told = f"{memory.valid_at or memory.created_at:%Y-%m-%d}"
        context = f"{memory.speaker or 'noted'}, {told}: {', '.join(keywords)}"
        if (by_model := written.get(place)) is not None:
            keywords, context = by_model.keywords[:MOST_KEYWORDS], by_model.context
            tags = [*by_model.tags, *tags]
        values[item] = {
            "keywords": keywords,
            "tags": list(dict.fromkeys(tags))[:MOST_TAGS],
            "context": context[:CONTEXT_CHARACTERS],
            "links": links,
        }
    for item in new:
        for one, _ in near[item]:
            _tag(values, memories[one], sorted(words[item] & words[one]))
    return [
        UpdateMemory(
            key=memories[item].key,
            value={**memories[item].value, NOTE: note},
            reason="a note on a new memory" if item in near else "tags shared with a new memory",
        )
        for item, note in values.items()
        if memories[item].value.get(NOTE) != note
    ]


def is_usable(written: Written, memory: Memory, beside: Sequence[str]) -> bool:
    """Return whether a model wrote only what the memory and its nearest say: no word that none of them
    has, and one line."""
    said = {word for text in (memory.text, *beside) for word in wording(text).words}
    told = " ".join((*written.keywords, *written.tags, written.context))
    new = wording(" ".join(split_words(told))).words - said
    return bool(written.keywords) and "\n" not in told and not new


def _near(
    view: LifecycleView, known: Aged, new: Sequence[int]
) -> dict[int, list[tuple[int, float]]]:
    """The nearest memories of the same owner and as private, of each new one."""
    circle = dict(
        zip(known.ids.tolist(), zip(known.owner, known.privacy, strict=True), strict=True)
    )
    found: dict[int, list[tuple[int, float]]] = {item: [] for item in new}
    among, vectors = view.vectors(known.ids)
    wanted = np.isin(among, np.array(new, np.int64))
    for item, other, cosine in neighbours(
        among[wanted], vectors[wanted], among, vectors, LINKED_FROM, 4 * MOST_LINKS
    ):
        if circle[item] == circle[other] and len(found[item]) < MOST_LINKS:
            found[item].append((other, cosine))
    return found


def _link(other: Memory, cosine: float, shared: frozenset[str]) -> dict[str, Any]:
    reason = f"both say {', '.join(sorted(shared)[:3])}" if shared else "near in meaning"
    return {"key": other.key, "reason": reason, "cosine": round(cosine, 3)}


def _tag(values: dict[int, dict[str, Any]], memory: Memory, shared: Sequence[str]) -> None:
    """Add tags to the note of a neighbour that has one."""
    note = values.get(memory.id) or memory.value.get(NOTE)
    if isinstance(note, dict) and isinstance(note.get("tags"), list):
        tags = list(dict.fromkeys([*note["tags"], *shared]))[:MOST_TAGS]
        if tags != note["tags"]:
            values[memory.id] = {**note, "tags": tags}


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


def compare_candidates(
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
        first, last = sorted((facts[one], facts[other]), key=_statement_order)
        if first.memory.kind != last.memory.kind or _application_fields(
            first
        ) != _application_fields(last):
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


def _application_fields(known: KnownFact) -> dict[str, Any]:
    """What an application keeps in a memory beside its text: only with the same there it is the same."""
    value = known.memory.value
    if "fact_kind" in value:
        return {}
    return {
        name: one
        for name, one in value.items()
        if name != NOTE and (name not in TEXT_FIELDS or not isinstance(one, str))
    }


def _statement_order(known: KnownFact) -> tuple[object, int]:
    return ComparableFact.of_known(known).said_at, known.memory.id


def _kept(one: KnownFact, other: KnownFact) -> KnownFact | None:
    """Return which of two is kept: what a person confirmed, what says more, has more evidence, is older;
    None where a person has to say it."""
    best = min((one, other), key=rank)
    rest = other if best is one else one
    if not says_less(best, rest):
        return None if _is_confirmed(rest) else best
    return None if _is_confirmed(best) else rest


def rank(known: KnownFact) -> tuple[bool, int, int]:
    """Return what is less for a fact that is kept before another."""
    return not _is_confirmed(known), -len(known.evidence), known.memory.id


def _is_confirmed(known: KnownFact) -> bool:
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
