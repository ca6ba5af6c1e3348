"""Facts that cannot be true together: found by structure, decided by structure where that is enough.

Two facts are compared only when they claim of one subject, under a relation that has one value at
a time, different things for an overlapping time. What remains open after that is for a judge, and
what no judge decides for a person: invalidating what is true loses knowledge, not invalidating
what is false leaves two facts and a question. Of a relation nobody knows, structure cannot tell:
a judge is asked where the words suggest it, and without one both hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from langmemory.formation.batch import Batch
from langmemory.formation.contradiction.comparable import (
    BEGINNING,
    ComparableFact,
    overlap_in_time,
    spoken_name,
)
from langmemory.formation.contradiction.comparing import compare_facts
from langmemory.formation.contradiction.denial import denial_pairs
from langmemory.formation.contradiction.pairs import Group, Pair
from langmemory.formation.relations.vocabulary import BY_NAME, PLANNED, relation_named
from langmemory.languages import split_words
from langmemory.ports.facts import Fact, Knowledge, KnownFact
from langmemory.types import NO_LONGER

MOST_UNDECIDED = 10
"""Known facts that a new one is put beside for a judge, or a person, to decide between them."""


def groups(
    fresh: Sequence[Fact],
    grey: Sequence[tuple[Fact, KnownFact, float]],
    knowledge: Knowledge,
    *,
    batch: Batch | None = None,
) -> list[Group]:
    """Return the facts that may contradict or repeat others, grouped for a judge.

    Args:
        fresh: facts that are new, with entity keys in their claims.
        grey: facts that may repeat one that is known; they may contradict others, too.
        batch: what they were made of, where its words may say more than theirs.
    """
    asked = {ComparableFact.of_fact(fact).key: known for fact, known, _ in grey}
    new = [ComparableFact.of_fact(fact, batch) for fact in (*fresh, *(fact for fact, _, _ in grey))]
    return _groups_of(new, asked, knowledge)


def groups_of_known(facts: Sequence[KnownFact], knowledge: Knowledge) -> list[Group]:
    """Return the known facts that contradict others which nobody compared them with, grouped for a judge.

    Args:
        facts: compared with one another and with all that is known.
        knowledge: what is known, these facts included.
    """
    statements = [ComparableFact.of_known(one) for one in facts]
    return _groups_of(statements, {}, knowledge, apart={one.key for one in statements})


def _groups_of(
    new: Sequence[ComparableFact],
    asked: Mapping[str, KnownFact],
    knowledge: Knowledge,
    *,
    apart: Collection[str] = (),
) -> list[Group]:
    """``asked`` are known facts that new ones may repeat, by key of the new one; ``apart`` the keys of those
    that are known and told in their turn."""
    pairs: list[Pair] = []
    told: list[ComparableFact] = []
    over: dict[str, datetime] = {}
    untold = set(apart)
    read: dict[str, ComparableFact] = {}
    # As it happened, and in the order of telling; corrections last, because they speak of what was said.
    for statement in sorted(new, key=lambda one: (one.corrects, one.start, one.said_at)):
        near = asked.get(statement.key)
        seen: set[str] = set()
        found: list[Pair] = []
        candidates = [
            replace(old, end=min(old.end, over[old.key])) if old.key in over else old
            for old in _candidates(statement, told, knowledge, without=apart, read=read)
        ]
        for old in candidates:
            pair = compare_facts(statement, old)
            if pair is not None and old.key not in seen:
                seen.add(old.key)
                found.append(pair)
        if not found:
            gone = {key for key, until in over.items() if until <= statement.start}
            found = list(denial_pairs(statement, seen | untold | gone, knowledge))
            seen.update(pair.old.key for pair in found)  # whether they say the same is no question
        for pair in _few(_settle_correction(_late(_not_of_many(found), candidates), candidates)):
            pairs.append(pair)
            if pair.verdict == "supersedes":
                loser, until = pair.loser, pair.over_since
                over[loser.key] = until
        if near is not None and near.memory.key not in seen:
            pairs.append(Pair(new=statement, old=ComparableFact.of_known(near), about="duplicate"))
        told.append(statement)
        untold.discard(statement.key)
    return list(_group_pairs(pairs))


def _not_of_many(pairs: list[Pair]) -> list[Pair]:
    """Of a relation nobody knows, whose values already hold side by side, nothing is asked."""
    loose = [pair for pair in pairs if pair.verdict is None and pair.undecided == "both_true"]
    holding = [pair.old for pair in loose if not pair.old.past and not pair.old.new]
    if any(overlap_in_time(one, other) for one, other in combinations(holding, 2)):
        return [pair for pair in pairs if pair not in loose]
    return pairs


def _few(pairs: list[Pair]) -> list[Pair]:
    """Of what nothing decides, the pairs with the latest facts: where hundreds stand side by side,
    nobody answers hundreds of questions about each new one."""
    undecided = [pair for pair in pairs if pair.verdict is None]
    undecided.sort(key=lambda pair: (pair.old.start, pair.old.said_at, pair.old.key))
    left_out = {pair.old.key for pair in undecided[:-MOST_UNDECIDED]}
    return [pair for pair in pairs if pair.verdict is not None or pair.old.key not in left_out]


def _late(pairs: list[Pair], candidates: Iterable[ComparableFact]) -> list[Pair]:
    """Leave to a known correction what it takes back though it comes late: what it
    names, the last time that was so, and another value for a time when there is only its own."""
    others = [one for one in candidates if pairs and one.key != pairs[0].new.key]
    kept = []
    for pair in pairs:
        if pair.comes_late and not _is_taken_back(pair, others):
            found = compare_facts(pair.new, replace(pair.old, corrects=False))
            kept += [found] if found is not None else []
        else:
            kept.append(pair)
    return [pair for pair in kept if pair.comes_late] or kept


def _is_taken_back(pair: Pair, others: Sequence[ComparableFact]) -> bool:
    new, old = pair.new, pair.old
    said = [one for one in others if one.key != old.key]
    naming = _naming(new, old, said)
    if naming is None:
        return relation_named(new.claims[0].relation).is_single and old.start <= new.start
    values = values_of(old, new)
    return not any(
        new.start < one.start and one.said_at < naming.said_at and values & values_of(old, one)
        for one in said
    )


def _naming(
    new: ComparableFact, by: ComparableFact, others: Sequence[ComparableFact]
) -> ComparableFact | None:
    """The correction that names what a new fact says: the one given, or one that this takes back in
    turn, and that was said after the new fact."""
    if is_named(values_of(by, new), by):
        return by
    for one in others:
        taken_back = (
            one.corrects and one.end <= one.start and new.said_at < one.said_at < by.said_at
        )
        if taken_back and is_named(values_of(by, one), by):
            found = _naming(new, one, others)
            if found is not None:
                return found
    return None


def _settle_correction(pairs: list[Pair], candidates: Iterable[ComparableFact]) -> list[Pair]:
    """A correction takes back what it names ("in Kiel, not in Bonn"), or the one value that stands.
    Of several, nobody knows which; and to what it does not take back it is news."""
    taken = [
        pair
        for pair in pairs
        if pair.new.corrects and pair.verdict == "supersedes" and pair.loser is pair.old
    ]
    if len(taken) < 2:
        return pairs
    named = [pair for pair in taken if is_named(values_of(pair.new, pair.old), pair.new)]
    named = _latest(named, candidates)
    meant = named or [pair for pair in taken if not pair.old.past] or taken
    doubtful = not named and len({values_of(pair.new, pair.old) for pair in meant}) > 1
    if doubtful:
        meant = [replace(pair, verdict=None, reason="which one is corrected") for pair in meant]
    since = min(pair.old.start for pair in meant)
    settled = {pair.old.key: pair for pair in meant}
    for pair in taken:
        if pair.old.key not in settled:
            start = pair.new.start if doubtful or pair.new.dated else since
            other = compare_facts(replace(pair.new, corrects=False, start=start), pair.old)
            if other is not None:
                settled[pair.old.key] = other
    kept = [pair for pair in pairs if pair not in taken or pair.old.key in settled]
    return [settled.get(pair.old.key, pair) for pair in kept]


def _latest(named: list[Pair], candidates: Iterable[ComparableFact]) -> list[Pair]:
    """Of what is named, the latest time it was so: not what was before something else."""
    last = max((pair.old.start for pair in named), default=BEGINNING)
    keys = {pair.old.key for pair in named}
    others = [one.start for one in candidates if one.key not in keys and one.start < one.end]
    return [one for one in named if not any(one.old.start < at <= last for at in others)]


def values_of(correction: ComparableFact, other: ComparableFact) -> frozenset[str]:
    """Return the values that another fact has for whom a correction speaks of."""
    subjects = {claim.subject for claim in correction.claims}
    return frozenset(claim.object for claim in other.claims if claim.subject in subjects)


def is_named(values: Iterable[str], correction: ComparableFact) -> bool:
    """Whether a correction, or who told it, names one of these values."""
    said = set(split_words(f"{correction.text} {correction.heard}"))
    words = (split_words(spoken_name(value)) for value in values)
    return any(bool(one) and said.issuperset(one) for one in words)


def _candidates(
    new: ComparableFact,
    told: Iterable[ComparableFact],
    knowledge: Knowledge,
    *,
    without: Collection[str],
    read: dict[str, ComparableFact],
) -> Iterator[ComparableFact]:
    """Facts that claim something of the same subject under a relation that concerns the new one;
    ``without`` are keys of others, ``read`` are known facts as they were compared before, by key."""
    for claim in new.claims:
        concerned = _related_relations(claim.relation, corrects=new.corrects)
        known = [
            one
            for relation in concerned
            for one in knowledge.about(claim.subject, relation, past=True)
        ]
        if claim.relation not in concerned:  # of many values, one may have been corrected before
            known += knowledge.about(claim.subject, claim.relation, corrects=True, past=True)
        for one in known:
            key = one.memory.key
            if key not in without:
                if key not in read:
                    read[key] = ComparableFact.of_known(one)
                yield read[key]
        for other in told:
            if any(
                theirs.subject == claim.subject
                and theirs.relation in _related_relations(claim.relation, corrects=new.corrects)
                for theirs in other.claims
            ):
                yield other


def meant_together(relation: str) -> tuple[str, ...]:
    """Relations, this one included, whose facts of one subject are compared with each other."""
    return tuple({relation, *_related_relations(relation, corrects=True)})


def _related_relations(name: str, *, corrects: bool) -> tuple[str, ...]:
    """Relations whose facts a new one under this relation may stand against."""
    if name.startswith(NO_LONGER):
        over = name.removeprefix(NO_LONGER)
        return (over, PLANNED + over)
    relation = relation_named(name)
    others = [NO_LONGER + name, *_ENDED_BY.get(name, ())]
    if relation.values != "many" or corrects:
        others.append(name)
    if relation.opposite is not None:
        others.append(relation.opposite)
    others.extend(relation.ended)
    return tuple(dict.fromkeys(others))


_ENDED_BY: dict[str, tuple[str, ...]] = {
    name: tuple(one.name for one in BY_NAME.values() if name in one.ended) for name in BY_NAME
}


def _group_pairs(pairs: Iterable[Pair]) -> Iterator[Group]:
    """By subject and relation; what claims nothing is one group, and what claims something under
    relations nobody knows: a judge is asked once for all of it."""
    by: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        claim = pair.new.claims[0] if pair.new.claims else None
        apart = pair.undecided == "unclear"
        about = (claim.subject, claim.relation) if claim and apart else ("", "")
        by.setdefault(about, []).append(pair)
    for (subject, relation), found in by.items():
        yield Group(subject=subject, relation=relation, pairs=tuple(found))
