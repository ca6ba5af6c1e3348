"""Facts that depend on one that is over, or on one that began: ended where that is sure, else asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from langmemory.changes import Change, Facets, Invalidate, OpenReview, Supersede, UpdateMemory
from langmemory.formation.contradiction.comparable import BEGINNING, END, ComparableFact, words_of
from langmemory.formation.relations import vocabulary
from langmemory.languages import split_words
from langmemory.languages.tables import read
from langmemory.ports.facts import Claim, Knowledge, KnownFact, digest
from langmemory.types import Memory, Namespace


@dataclass(frozen=True, kw_only=True, slots=True)
class Consequence:
    """A rule for other facts about the subject of a claim."""

    when: tuple[str, ...]
    """Relations of the claim."""
    of: Literal["end", "beginning"]
    """Whether it follows from the claim's end, or from its beginning."""
    over: tuple[str, ...] = ()
    """Relations of facts that are over with it."""
    doubtful: tuple[str, ...] = ()
    """Relations of facts that are asked about."""
    either: bool = False
    """Also facts that claim it of others with the subject as their object: "Lena has a dog, Rex"."""
    together: bool = False
    """Only facts about the same two."""
    within: str | None = None
    """Only as far as the subject has nothing else under this relation that goes on: of two jobs, one
    that ends leaves open which of them a boss belongs to."""
    unless: frozenset[str] = frozenset()
    """Objects of the claim from which nothing follows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    consequences: tuple[Consequence, ...]


CONSEQUENCES: Final = read(
    _Table, Path(vocabulary.__file__).with_name("consequences.toml")
).consequences

MOST_ASKED: Final = 5
"""Questions that one end leads to: nobody answers fifty about fifty colleagues."""
REASON: Final = "it depended on what is over"

_QUESTION: Final = "This depended on something that changed. Does it still hold?"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Transition:
    """Something that ended or began, and why."""

    key: str
    """Of the fact by which it did, or that ended with nothing in its place."""
    claims: tuple[Claim, ...]
    until: datetime
    """Since when what depends on it is over."""
    said_at: datetime
    owner: str | None
    private: bool
    heir: bool
    """Whether what depends on it gives way to the fact of the key."""


def consequences(
    knowledge: Knowledge,
    namespace: Namespace,
    effects: Iterable[Change],
    begun: Iterable[ComparableFact],
    now: datetime,
) -> Iterator[Change]:
    """Ends of what cannot go on, and questions about what need not.

    Args:
        effects: what becomes of known facts; those that are over may have had others depend on them.
        begun: facts that are new.
        now: what is over only after it holds until then.
    """
    effects, new = tuple(effects), {one.key: one for one in begun}
    gone = {one.key for one in effects if isinstance(one, Supersede | Invalidate)}
    told = {(claim.subject, claim.relation) for one in new.values() for claim in one.claims}
    for transition, row, claim in _transitions(effects, new, knowledge):
        asked = 0
        for known, sure in _depending(transition, row, claim, knowledge):
            one = ComparableFact.of_known(known)
            if one.key in gone or one.key in new or not _concerns(transition, one):
                continue
            gone.add(one.key)
            again = any((each.subject, each.relation) in told for each in one.claims)
            if sure and not again and not one.protected and one.privacy != "private":
                yield _over(transition, one.key, max(transition.until, one.start), now)
            elif asked < MOST_ASKED:
                asked += 1
                yield _question(namespace, transition, one.key, max(transition.until, one.start))


def _transitions(
    effects: Iterable[Change], new: Mapping[str, ComparableFact], knowledge: Knowledge
) -> Iterator[tuple[_Transition, Consequence, Claim]]:
    """Facts that ended and that began, each claim of it with the rows it concerns."""
    for change in effects:
        if not isinstance(change, Supersede | Invalidate | UpdateMemory):
            continue
        known = knowledge.by_key(change.key)
        if known is None or known.memory.status not in ("active", "superseded"):
            continue
        old, until = (
            ComparableFact.of_known(known),
            (change.facets.invalid_at if isinstance(change, UpdateMemory) else change.invalid_at),
        )
        if until is None or until <= old.start or old.past or old.waiting:
            continue  # what never was true had nothing depend on it
        heir = change.by if isinstance(change, Supersede) else None
        by = new.get(heir) if heir else None
        transition = _Transition(
            key=heir or old.key, claims=old.claims, until=until, heir=heir is not None,
            said_at=by.said_at if by else max(until, old.told_at),
            owner=by.owner if by else old.owner,
            private="private" in (old.privacy, by.privacy if by else old.privacy),
        )  # fmt: skip
        for claim in old.claims[:1]:
            for row in CONSEQUENCES:
                if row.of == "end" and claim.relation in row.when:
                    yield transition, row, claim
    for one in new.values():
        start = one.occasion[0] if one.occasion else one.start
        transition = _Transition(
            key=one.key, claims=one.claims, until=one.said_at if start == BEGINNING else start,
            said_at=one.said_at, owner=one.owner, private=one.privacy == "private", heir=True,
        )  # fmt: skip
        for claim in one.claims if one.end == END else ():
            for row in CONSEQUENCES:
                begins = row.of == "beginning" and claim.relation in row.when
                if begins and words_of(claim.object) not in row.unless:
                    yield transition, row, claim


def _depending(
    transition: _Transition, row: Consequence, claim: Claim, knowledge: Knowledge
) -> Iterator[tuple[KnownFact, bool]]:
    """Known facts under the relations of a row, those told last first, and whether they are surely
    over."""
    goes_on = [] if row.within is None else _going_on(transition, row.within, claim, knowledge)
    for relations, sure in ((row.over, True), (row.doubtful, False)):
        for relation in relations:
            found = knowledge.about(claim.subject, relation, either=row.either)
            for known in islice(
                sorted(found, key=lambda one: one.told_at or one.memory.created_at, reverse=True),
                20,
            ):
                if known.memory.status != "active" or not known.claims:
                    continue
                main = [one for one in known.claims if one.relation == relation]
                pair = {claim.subject, claim.object}
                if row.together and not any({one.subject, one.object} == pair for one in main):
                    continue
                if any(_names(known, one) for one in goes_on):
                    continue
                only = all(claim.subject in (one.subject, one.object) for one in known.claims)
                others = {one.relation for one in known.claims} - {*row.over, *row.doubtful}
                yield known, sure and only and not others and not goes_on


def _going_on(
    transition: _Transition, relation: str, claim: Claim, knowledge: Knowledge
) -> list[str]:
    """Objects that a subject has besides under a relation, since before something of it ended."""
    found: list[str] = []
    for known in knowledge.about(claim.subject, relation):
        one = ComparableFact.of_known(known)
        if (
            one.waiting
            or one.start >= transition.until
            or one.end <= transition.until
            or one.key == transition.key
        ):
            continue
        found += [
            each.object
            for each in one.claims
            if each.relation == relation and each.object != claim.object
        ]
    return found


def _names(known: KnownFact, place: str) -> bool:
    words = set(words_of(place).split())
    return bool(words) and words <= set(split_words(known.memory.text))


def _concerns(transition: _Transition, one: ComparableFact) -> bool:
    """Whether a fact began before the transition, was not told since, and may be known to who told it."""
    if one.waiting or one.ends or one.start > transition.until or one.told_at > transition.said_at:
        return False
    return not (one.privacy == "private" or transition.private) or one.owner == transition.owner


def _over(transition: _Transition, key: str, until: datetime, now: datetime) -> Change:
    if until > now:
        return UpdateMemory(key=key, facets=Facets(invalid_at=until), reason=REASON)
    if transition.heir:
        return Supersede(key=key, by=transition.key, invalid_at=until, reason=REASON)
    return Invalidate(key=key, invalid_at=until, reason=REASON)


def _question(
    namespace: Namespace, transition: _Transition, key: str, until: datetime
) -> OpenReview:
    over: Change = Invalidate(key=key, invalid_at=until, reason=REASON)
    if transition.heir:
        over = Supersede(key=key, by=transition.key, invalid_at=until, reason=REASON)
    return OpenReview(
        id=question_id("dependant", namespace, transition.key, key),
        about="dependant",
        question=_QUESTION,
        memories=(key, transition.key),
        options={"still_true": (), "over": (over,)},
    )


def dependants(
    knowledge: Knowledge, namespace: Namespace, effects: Iterable[Change]
) -> Iterator[OpenReview]:
    """Ask about memories derived from facts that are over. A review asks when it is decided,
    for more may have been derived since it was opened."""
    gone = {c.key: c.invalid_at for c in effects if isinstance(c, Supersede | Invalidate)}
    for key, until in gone.items():
        for known in knowledge.derived_from([key]):
            name = known.memory.key
            if name not in gone and known.memory.status == "active":
                yield OpenReview(
                    id=question_id("dependant", namespace, key, name),
                    about="dependant",
                    question="This was derived from a fact that is over. Does it still hold?",
                    memories=(name, key),
                    options={"still_true": (), "over": (Invalidate(key=name, invalid_at=until),)},
                )


MANDATE: Final = "mandate"
"""`Review.about` of the question whether a memory is to stand in every prompt."""


def mandate_question(memory: Memory) -> OpenReview:
    """Return the question whether a memory is to stand in every prompt."""
    return OpenReview(
        id=question_id(MANDATE, memory.namespace, memory.key, memory.text),
        about=MANDATE,
        question=f"Should every prompt say: {memory.text}",
        memories=(memory.key,),
        options={
            "always": (UpdateMemory(key=memory.key, facets=Facets(priority="mandate")),),
            "leave": (),
        },
    )


def question_id(about: str, namespace: Namespace, *parts: str) -> str:
    """The same for the same question in one namespace: what was asked once is not asked again."""
    return f"review/{digest(*namespace, '', about, *parts)}"
