"""Facts that are said again: found by their fingerprint, by their claim, by their nearest neighbours.

A duplicate gives its evidence and its confidence to what is known instead of a row of its own.
Nearest neighbours are looked at directly, because a fused ranking hides the one memory that says
the same in other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from langmemory.formation.contradiction.comparable import (
    END,
    ComparableFact,
    one_occasion,
    overlap_in_time,
    same_circle,
    spoken_name,
)
from langmemory.formation.relations.vocabulary import BY_NAME, relation_named
from langmemory.formation.repetition import is_reassertion
from langmemory.formation.statements import cues
from langmemory.formation.wording import Wording, wording
from langmemory.languages import split_words
from langmemory.ports.facts import Claim, Fact, Knowledge, KnownFact, fingerprint
from langmemory.procedures import is_procedure
from langmemory.types import NO_LONGER

SAME: Final = 0.98
"""Cosine of the store's embedder, -1..1. At least this near, two facts say the same, unless numbers,
dates, names or negation differ."""
GREY: Final = 0.88
"""At least this near, they do when their words agree, too; else it is asked."""
OVERLAP: Final = 0.8
"""Share of the longer text's content words that both have to have in the grey zone, 0..1; one has no
word then that the other lacks ("in the morning", "in the evening")."""
NEIGHBOURS: Final = 5
"""Nearest facts looked at for each."""
DETAILS: Final = 2
"""Words that one of two facts of the same claim may have beyond it for them to be asked about; with
more it says something else besides."""
REWORDED: Final = 0.7
"""Cosine from which two of these words are asked about, and not only one."""
REPEAT_WEIGHT: Final = 0.5
"""Weight of a repetition for the confidence, 0..1: people repeat what is wrong, too."""
MOST_CONFIDENT: Final = 0.99
"""The most that repetition alone leads to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Division:
    """Facts by whether they are known. Fields name facts as they go on: of duplicates within the
    batch only the first is left, with the evidence of all."""

    fresh: tuple[Fact, ...] = ()
    repeated: tuple[tuple[Fact, KnownFact], ...] = ()
    grey: tuple[tuple[Fact, KnownFact, float], ...] = ()
    """Facts that may be known, with what they may repeat and the cosine to it; they are not among
    the fresh."""
    within: int = 0
    """Duplicates within the batch."""


def divide(facts: Sequence[Fact], knowledge: Knowledge) -> Division:
    """Which facts, with entity keys in their claims, are known."""
    distinct = [_confirmed(fact, knowledge) for fact in _distinct(facts)]
    fresh: list[Fact] = []
    repeated: list[tuple[Fact, KnownFact]] = []
    grey: list[tuple[Fact, KnownFact, float]] = []
    for place, fact in enumerate(distinct):
        known = _find_same_fact(fact, knowledge)
        if known is not None and _reasserts(known, fact, distinct[:place], knowledge):
            fresh.append(fact)
            continue
        if known is not None:
            repeated.append((fact, known))
            continue
        near = _nearest(fact, knowledge) or _find_reworded_fact(fact, knowledge)
        if near is None or _reasserts(near[0], fact, distinct[:place], knowledge):
            fresh.append(fact)
        elif near[2]:
            repeated.append((fact, near[0]))
        else:
            grey.append((fact, near[0], near[1]))
    return Division(
        fresh=tuple(fresh),
        repeated=tuple(repeated),
        grey=tuple(grey),
        within=len(facts) - len(distinct),
    )


def said_twice(
    first: KnownFact, last: KnownFact, cosine: float, knowledge: Knowledge
) -> bool | None:
    """Return whether two known facts, the older first, say the same; False where that is to be asked, None
    where they do not. What became so again after it was over is no repetition.

    Args:
        first: The one that was said earlier.
        last: The other one.
        cosine: Of their vectors, -1..1.
        knowledge: What is known.
    """
    old, new = ComparableFact.of_known(first), ComparableFact.of_known(last)
    if not (_is_fact(first) and _is_fact(last) and _same_scope(new, old)):
        return None
    worded = fingerprint(old.text) == fingerprint(new.text) and not _of_namesakes(old, new)
    plain = _is_plain(last) and bool(first.claims)
    near = None if cosine < GREY or plain else _near(new, first, cosine)
    if worded or near or _says_the_same(new, old) or _says_the_same(old, new):
        again = is_reassertion(old, new, _known_between(old, new, new, knowledge))
        return None if again else True
    if near is not None:
        mine, theirs = (wording(one.text, one.language) for one in (new, old))
        return False if mine.agrees(theirs) else None
    details = _details(new, first) if new.claims else None
    asks = details is not None and (details <= 1 or cosine >= REWORDED)
    return False if asks else None


def waiting_twins(fact: Fact, knowledge: Knowledge) -> Iterator[KnownFact]:
    """Yield what a model alone read before, and waits, that says the same as a fact of its speaker."""
    statement = ComparableFact.of_fact(fact)
    found = [*knowledge.by_fingerprint(fact.text)]
    found += [known for claim in fact.claims[:1] for known in _claiming(claim, knowledge)]
    for known in {one.memory.key: one for one in found}.values():
        other = ComparableFact.of_known(known)
        may_be = other.unconfirmed and other.speaker == statement.speaker
        if (
            may_be
            and other.key != statement.key
            and _says_the_same(statement, replace(other, waiting=False))
        ):
            yield known


def _confirmed(fact: Fact, knowledge: Knowledge) -> Fact:
    """The fact, no longer as what a model alone read where it read it in another conversation, too."""
    if not fact.unconfirmed:
        return fact
    heard = {_conversation(turn) for turn in fact.evidence}
    for known in waiting_twins(fact, knowledge):
        if heard.isdisjoint(map(_conversation, known.evidence)):
            confidence = raise_confidence(known.memory.confidence, fact.confidence)
            return replace(fact, unconfirmed=False, confidence=confidence)
    return fact


def _conversation(turn: str) -> str:
    """The part of a turn's key that those of one conversation share."""
    return turn.rpartition("/")[0]


def says_less(one: KnownFact, other: KnownFact) -> bool:
    """Return whether one of two facts that mean the same leaves out what the other says besides."""
    mine, theirs = ComparableFact.of_known(one), ComparableFact.of_known(other)
    if mine.claims and theirs.claims:
        ours, others = _beyond_claim(mine), _beyond_claim(theirs)
    else:
        ours = wording(mine.text, mine.language).words
        others = wording(theirs.text, theirs.language).words
    return bool(others - ours) and not ours - others


def as_good_as_same(statement: ComparableFact, knowledge: Knowledge) -> Iterator[KnownFact]:
    """Yield known facts in nearly the words of a fact, as an embedder says."""
    for known, cosine in knowledge.nearest(statement.text, NEIGHBOURS):
        if cosine < SAME:
            break
        yield known


def plain_twins(statement: ComparableFact, alike: Iterable[KnownFact]) -> Iterator[ComparableFact]:
    """Those of memories in like words that are the application's, say what a fact says for the same
    readers, and that no person has confirmed."""
    for known in alike:
        one = ComparableFact.of_known(known)
        holds = not (one.protected or one.past or one.waiting)
        if holds and _is_fact(known) and _is_plain(known) and _says_the_same(one, statement):
            yield one


def raise_confidence(confidence: float, by: float) -> float:
    """Confidence of a fact that is said again: noisy-or (Pearl 1988), the repetition weighted.

    ``1 - (1 - confidence) * (1 - weight * by)``, at most `MOST_CONFIDENT` and never less than
    before.
    """
    risen = 1 - (1 - confidence) * (1 - REPEAT_WEIGHT * by)
    return max(confidence, min(MOST_CONFIDENT, round(risen, 4)))


def _distinct(facts: Sequence[Fact]) -> list[Fact]:
    """The batch's facts, each said once."""
    kept: list[Fact] = []
    told: list[ComparableFact] = []
    for fact in facts:
        mine = ComparableFact.of_fact(fact)
        for at, theirs in reversed([*enumerate(told)]):
            if _says_the_same(mine, theirs) and not is_reassertion(theirs, mine, told[at + 1 :]):
                kept[at] = replace(
                    kept[at],
                    evidence=tuple(dict.fromkeys((*kept[at].evidence, *fact.evidence))),
                    confidence=_within(kept[at], fact),
                    unconfirmed=kept[at].unconfirmed and fact.unconfirmed,
                )
                told[at] = ComparableFact.of_fact(kept[at])
                break
        else:
            kept.append(fact)
            told.append(mine)
    return kept


def _within(one: Fact, other: Fact) -> float:
    """Another turn that says it makes it surer, the same one read twice does not. What a model alone read
    makes nothing surer."""
    if one.unconfirmed or other.unconfirmed:
        return max(one.confidence, other.confidence)
    if set(other.evidence) <= set(one.evidence):
        return max(one.confidence, other.confidence)
    return raise_confidence(one.confidence, other.confidence)


def _find_same_fact(fact: Fact, knowledge: Knowledge) -> KnownFact | None:
    """A known fact with the same words or the same claim, or made of the same turn before,
    whatever became of it since; one that gave way, for news of when it held."""
    statement = ComparableFact.of_fact(fact)
    before = knowledge.by_key(statement.key)
    if before is not None:
        return before
    for known in knowledge.by_fingerprint(fact.text):
        other = ComparableFact.of_known(known)
        if (
            _is_fact(known)
            and _same_scope(statement, other)
            and not _of_namesakes(statement, other)
        ):
            return known
    for claim in fact.claims[:1]:
        about = [
            (known, ComparableFact.of_known(known))
            for known in _claiming(claim, knowledge, past=True)
        ]
        for known, other in about:  # the turn is read once more, and it gave way since
            same = claim in other.claims and statement.ends == other.ends
            same_turns = set(statement.evidence) <= set(other.evidence)
            if other.past and same and same_turns and same_circle(statement, other):
                return known
        for known, other in sorted(about, key=lambda one: one[1].past):
            # What gave way since may have held when the late news of it was told.
            held = other.start < other.end and other.start <= statement.start
            may_be = not other.past or (held and statement.said_at < other.end)
            if may_be and _says_the_same(statement, other):
                return known
    return _taken_back(fact, statement, knowledge)


def _claiming(claim: Claim, knowledge: Knowledge, *, past: bool = False) -> Iterable[KnownFact]:
    """Return known facts of the same subject, relation and object."""
    key, literal = (claim.object, None) if claim.object_is_entity else (None, claim.object)
    return knowledge.about(claim.subject, claim.relation, also=key, literal=literal, past=past)


def _taken_back(fact: Fact, statement: ComparableFact, knowledge: Knowledge) -> KnownFact | None:
    """Find a fact that somebody rejected or deleted: it is not learned again in other words from the turn
    it was made of; from another turn it is."""
    if len(fact.evidence) > 1:
        return None
    mine = wording(statement.text, statement.language)
    for known in knowledge.taken_back(fact.evidence[0], fact.said_at):
        other = ComparableFact.of_known(known)
        theirs = wording(other.text, other.language)
        same = mine.words == theirs.words and mine.names == theirs.names
        if same and mine.matches(theirs):
            return known
        for one, gone in zip(statement.claims[:1], other.claims[:1], strict=False):
            if one.relation == gone.relation and all(
                _wording_of_value(ours, statement) == _wording_of_value(past, other)
                for ours, past in ((one.subject, gone.subject), (one.object, gone.object))
            ):
                return known
    return None


def _wording_of_value(value: str, statement: ComparableFact) -> tuple[Wording, str]:
    """An entity, by key or name, or a literal as it is compared with another from the same turn."""
    text = spoken_name(value).casefold()
    found = wording(text, statement.language)
    return found, "" if found.words else text


def _nearest(fact: Fact, knowledge: Knowledge) -> tuple[KnownFact, float, bool] | None:
    """The nearest fact that may say the same, its cosine, and whether it does."""
    statement = ComparableFact.of_fact(fact)
    doubtful: tuple[KnownFact, float, bool] | None = None
    for known, cosine in knowledge.nearest(fact.text, NEIGHBOURS):
        if cosine < GREY:
            break
        same = _near(statement, known, cosine)
        if same:
            return known, cosine, True
        if same is not None:
            doubtful = doubtful or (known, cosine, False)
    return doubtful


def _near(statement: ComparableFact, known: KnownFact, cosine: float) -> bool | None:
    """Whether a known fact so near says the same; None where it surely does not."""
    other = ComparableFact.of_known(known)
    if not _is_fact(known) or not _same_scope(statement, other):
        return None
    if _different_claims(statement, other) or (statement.claims and _is_plain(known)):
        return None
    mine = wording(statement.text, statement.language)
    theirs = wording(other.text, other.language)
    if mine.speaks_of_others(theirs):
        return None
    worded_alike = mine.overlap(theirs) >= OVERLAP and not mine.swaps_words(theirs)
    return mine.matches(theirs) and (cosine >= SAME or worded_alike)


def _find_reworded_fact(fact: Fact, knowledge: Knowledge) -> tuple[KnownFact, float, bool] | None:
    """A fact of the same claim that says nearly the same in other words, and how near it is."""
    statement = ComparableFact.of_fact(fact)
    near = None
    for claim in fact.claims[:1]:
        for known in _claiming(claim, knowledge):
            details = _details(statement, known)
            if details is None:
                continue
            if details > 1:
                near = near or {
                    one.memory.key: cosine
                    for one, cosine in knowledge.nearest(fact.text, NEIGHBOURS)
                }
                if near.get(known.memory.key, 0.0) < REWORDED:
                    continue
            return known, GREY, False
    return None


def _details(statement: ComparableFact, known: KnownFact) -> int | None:
    """How many words a fact has beyond its claim that a known fact of the same claim has not: one more
    may be a detail. None where they say different things, as with more words than `DETAILS`."""
    other = ComparableFact.of_known(known)
    mine = wording(statement.text, statement.language)
    if not _is_fact(known) or not _same_scope(statement, other):
        return None
    if statement.claims[0] not in other.claims:
        return None
    if not mine.agrees(wording(other.text, other.language)):
        return None
    more = _beyond_claim(statement) - _beyond_claim(other)
    if len(more) > DETAILS or more & mine.names or more & mine.numbers:
        return None
    return len(more)


def _reasserts(known: KnownFact, fact: Fact, before: Sequence[Fact], knowledge: Knowledge) -> bool:
    """Whether something else was so between what is known and what a fact of the batch says anew,
    or said before it. What the same turn made before is no return."""
    old, new = ComparableFact.of_known(known), ComparableFact.of_fact(fact)
    if old.key == new.key:
        return False
    is_late = new.said_at < old.said_at and new.start < old.start  # though it is read only now
    first, last = (new, old) if is_late else (old, new)
    between = (*map(ComparableFact.of_fact, before), *_known_between(first, last, new, knowledge))
    return is_reassertion(first, last, between)


def _known_between(
    first: ComparableFact, last: ComparableFact, new: ComparableFact, knowledge: Knowledge
) -> Iterator[ComparableFact]:
    """Of what is known, what may end the first of two that say the same: what began again after it
    was over, and of news that comes late, what took its place."""
    for claim in new.claims[:1]:
        relation = relation_named(claim.relation)
        over = relation.ends or claim.relation.removeprefix(NO_LONGER)
        if over == claim.relation and not (first is new and relation.is_single):
            continue
        for known in knowledge.about(claim.subject, over, past=True):
            one = ComparableFact.of_known(known)
            if not one.waiting and one.start < one.end and one.key not in (first.key, last.key):
                yield one


def _is_fact(known: KnownFact) -> bool:
    """A summary, a chunk of a document or a procedure that says the same is no fact."""
    memory = known.memory
    return memory.kind in ("semantic", "procedural") and not is_procedure(memory.value)


def _is_plain(known: KnownFact) -> bool:
    """A memory that the application wrote, and that claims nothing: in place of a fact that does, it
    could neither give way to another nor take the place of one."""
    return "fact_kind" not in known.memory.value and not known.claims


def _says_the_same(one: ComparableFact, other: ComparableFact) -> bool:
    """By words or by claim, with nothing in one that the other does not say."""
    if not _same_scope(one, other) or _different_claims(one, other):
        return False
    if fingerprint(one.text) == fingerprint(other.text):
        return True
    mine, theirs = wording(one.text, one.language), wording(other.text, other.language)
    if not mine.agrees(theirs):
        return False
    follows = mine.follows(theirs)
    if mine.words == theirs.words and (follows or not one.claims):
        return follows and not (mine.names ^ theirs.names)
    if not one.claims or not other.claims or one.claims[0] not in other.claims:
        return False
    more = _beyond_claim(one)
    return more <= _beyond_claim(other) and (follows or not more)


def _beyond_claim(statement: ComparableFact) -> frozenset[str]:
    """Words of a text that its claim does not say already."""
    claim = statement.claims[0]
    relation = BY_NAME.get(claim.relation)
    said = {word for phrase in (relation.phrases if relation else ()) for word in phrase.split("_")}
    said |= set(claim.relation.split("_"))
    for name in (claim.subject, claim.object):
        said |= set(split_words(spoken_name(name)))
    if statement.speaker:
        said |= set(split_words(statement.speaker))
    words = wording(statement.text, statement.language).words - cues().tells_nothing
    spoken = {word for one in said for word in wording(one, statement.language).words}
    return frozenset(
        word
        for word in words - spoken
        if not any(len(one) > 3 and len(word) > 3 and word[:4] == one[:4] for one in spoken)
    )


def _same_scope(one: ComparableFact, other: ComparableFact) -> bool:
    """Of the same people, for the same readers, for the same time, in the same sense. A fact need not wait
    with one that waits for approval where somebody else says it, or the same person more surely."""
    return (
        not (other.waiting and (one.speaker != other.speaker or one.confidence > other.confidence))
        and same_circle(one, other)
        and one.ends == other.ends
        and not one.corrects
        and not (one.end < END and other.end == END)  # it says until when
        and overlap_in_time(one, other)
        and one_occasion(one, other)
    )


def _of_namesakes(one: ComparableFact, other: ComparableFact) -> bool:
    """Whether the same words are said of two who have one name."""
    return any(
        mine.subject != theirs.subject and spoken_name(mine.subject) == spoken_name(theirs.subject)
        for mine in one.claims[:1]
        for theirs in other.claims[:1]
    )


def _different_claims(one: ComparableFact, other: ComparableFact) -> bool:
    """Whether both claim something, and not the same: then no likeness of words makes them one."""
    return bool(one.claims and other.claims) and one.claims[0] not in other.claims
