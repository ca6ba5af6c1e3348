"""Turns that were edited after a reflection read them: what is known without their earlier words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langmemory.changes import (
    AddMemory,
    Change,
    Facets,
    Invalidate,
    OpenReview,
    Supersede,
    UpdateMemory,
    WithdrawReview,
)
from langmemory.formation.batch import Batch
from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.duplicates import Division, divide
from langmemory.formation.planning.consequences import question_id
from langmemory.formation.planning.reinstate import again, as_it_is, standing
from langmemory.ports.facts import Fact, FullKnowledge, Knowledge, KnownFact, fingerprint

REASON = "what it was made of says something else now"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Held:
    """A fact that rests on edited turns, and what became of it."""

    known: KnownFact
    without: tuple[str, ...]
    """Turns that do not say it any more."""
    since: datetime | None
    """When the first of the other turns was said; None where there are none."""
    told: frozenset[datetime]
    """When those that do not say it were said."""


class EditedTurns:
    """`facts.Knowledge` as if the turns of a batch had always said what they say now.

    A fact that they do not say any more is not there, and what gave way to it stands as it would
    without it; one that rests on other turns, too, rests on these alone.
    """

    def __init__(
        self, knowledge: FullKnowledge, batch: Batch, division: Division | None = None
    ) -> None:
        """
        Args:
            knowledge: what is known.
            batch: what is read, some of it once more.
            division: what of it is known; without one, only what an earlier edit took back is not
                there.
        """
        self._knowledge = knowledge
        self.namespace, self.seq = knowledge.namespace, knowledge.seq
        self.entity, self.taken_back = knowledge.entity, knowledge.taken_back
        self._batch = batch
        self._instead: dict[str, KnownFact | None] = {}
        self._taken: dict[str, _Held] = {}
        self._kept: dict[str, _Held] = {}
        self._asked: dict[str, tuple[KnownFact, str]] = {}
        self._restored: dict[str, KnownFact] = {}
        self._earlier = self._rests()
        if division is not None:
            self._let_go(_evidence_of_repetitions(division))
            self._bring_back()

    @property
    def is_needed(self) -> bool:
        """Whether anything rests on turns that were edited."""
        return bool(self._earlier)

    def known_before(self, key: str) -> bool:
        """Whether there is such a memory, though this shows none."""
        return key in self._instead and self._knowledge.by_key(key) is not None

    def retells(self, key: str) -> bool:
        """Whether a memory rests on edited turns, and on nothing that is not read with them."""
        held = self._earlier.get(key)
        return held is not None and {*held.known.evidence} <= {t.key for t in self._batch.turns}

    def changes(self, effects: Iterable[Change], facts: Collection[str]) -> Iterator[Change]:
        """Yield changes to facts that the turns do not say any more, and to those they had superseded.

        Args:
            effects: what else the batch does to known facts: these have the last word.
            facts: keys of the facts that come about.
        """
        gone: set[str] = set()
        for key, held in self._taken.items():
            over = ComparableFact.of_known(held.known)
            if key not in facts and not over.never_held:
                yield Invalidate(key=key, invalid_at=over.start, reason=REASON)
                gone.add(key)
        yield from self._withdrawn(gone)
        for key, held in self._kept.items():
            yield _with_less(key, held)
        ended = {one.key for one in effects if isinstance(one, Supersede | Invalidate)}
        for key, known in self._restored.items():
            if key not in ended:
                yield as_it_is(known, "what had taken its place never was said")

    def _withdrawn(self, gone: Collection[str]) -> Iterator[WithdrawReview]:
        """Questions that nothing is left of without what is taken back."""
        for one in self._knowledge.asked(gone) if gone else ():
            pair = one.about in ("contradiction", "duplicate")
            if pair or (one.about == "approval" and one.memories[0] in gone):
                yield WithdrawReview(id=one.id, reason=REASON)

    def questions(self, replaced: Collection[str] = ()) -> Iterator[OpenReview]:
        """Whether what a person confirmed, or what retells the turns, holds still.

        Args:
            replaced: keys of memories that are written anew.
        """
        for key, (known, turn) in self._asked.items():
            retells = not key.startswith("fact/")
            if key in replaced or (retells and not (self._taken or self._kept)):
                continue
            start = ComparableFact.of_known(known).start
            yield OpenReview(
                id=question_id("dependant", self.namespace, turn, key),
                about="dependant",
                question="This was derived from words that were changed. Does it still hold?",
                memories=(key, turn),
                options={"still_true": (), "over": (Invalidate(key=key, invalid_at=start),)},
            )

    def by_fingerprint(self, text: str) -> Sequence[KnownFact]:
        found = self._replace_edited(self._knowledge.by_fingerprint(text))
        keys = {one.memory.key for one in found}
        wanted = fingerprint(text)
        return found + [
            one
            for key, one in self._restored.items()
            if key not in keys and _is_in_force(one) and fingerprint(one.memory.text) == wanted
        ]

    def nearest(self, text: str, limit: int) -> Sequence[tuple[KnownFact, float]]:
        found = self._knowledge.nearest(text, limit + len(self._instead))
        seen = [(self._instead.get(one.memory.key, one), cosine) for one, cosine in found]
        return [(one, cosine) for one, cosine in seen if one is not None][:limit]

    def about(
        self, subject: str, relation: str | None = None, *, past: bool = False, **only: Any
    ) -> Sequence[KnownFact]:
        known = self._knowledge.about(subject, relation, past=past or self.is_needed, **only)
        return [one for one in self._replace_edited(known) if past or _is_in_force(one)]

    def derived_from(self, keys: Sequence[str]) -> Sequence[KnownFact]:
        return self._replace_edited(self._knowledge.derived_from(keys))

    def gave_way_to(self, key: str) -> Sequence[KnownFact]:
        return self._replace_edited(self._knowledge.gave_way_to(key))

    def by_key(self, key: str) -> KnownFact | None:
        return self._instead[key] if key in self._instead else self._knowledge.by_key(key)

    def _replace_edited(self, found: Iterable[KnownFact]) -> list[KnownFact]:
        seen = (self._instead.get(one.memory.key, one) for one in found)
        return [one for one in seen if one is not None]

    def _rests(self) -> Mapping[str, _Held]:
        """By key, what rests on earlier words of the batch's turns; what an edit took back before
        is not there from now on."""
        found: dict[str, _Held] = {}
        said_at = {turn.key: turn.said_at for turn in self._batch.turns}
        for turn, known, outdated, since in self._knowledge.rests_on(list(said_at)):
            key = known.memory.key
            before = found.get(key)
            if ComparableFact.of_known(known).never_held:
                self._instead[key] = None
            elif not outdated or known.memory.status == "archived":
                continue  # a person's decision, or one with another
            found[key] = _Held(
                known=known,
                without=(*before.without, turn) if before else (turn,),
                since=since,
                told=(before.told if before else frozenset()) | {said_at[turn]},
            )
        return found

    def _let_go(self, said: Mapping[str, set[str]]) -> None:
        """Whatever the turns say again stays as it is; ``said`` names the turns by fact."""
        claimed = {
            (claim, turn)
            for key, turns in said.items()
            if (known := self._knowledge.by_key(key)) is not None
            for claim in known.claims
            for turn in turns
        }
        for key, held in self._earlier.items():
            known = held.known
            again = said.get(key, set())
            gone = tuple(
                turn
                for turn in held.without
                if turn not in again
                and not (known.claims and all((one, turn) in claimed for one in known.claims))
            )
            if key in self._instead or not gone:
                continue
            if not key.startswith("fact/") or known.memory.pinned or known.memory.verified:
                self._asked[key] = known, gone[0]
                continue
            left = tuple(one for one in known.evidence if one not in gone)
            now = replace(held, without=gone, since=held.since if left else None)
            if not left:
                self._taken[key] = now
                self._instead[key] = None
            else:
                self._kept[key] = now
                self._instead[key] = _resting_on(left, now)

    def _bring_back(self) -> None:
        """Reinstate what a fact that is not there had superseded, unless another supersedes it
        since; what gave way to one that began later than was said gave way then."""
        taken = {key: held.known for key, held in self._taken.items()}
        for key, held in self._taken.items():
            for known in self._replace_edited(self._knowledge.gave_way_to(key)):
                self._restore(standing(again(known), held.known, taken, self))
            over = ComparableFact.of_known(held.known)
            for claim in over.claims:
                for known in self.about(claim.subject, claim.relation):
                    if known.memory.invalid_at == over.start and "when" not in known.memory.value:
                        self._restore(again(known))
        for key, held in self._kept.items():
            now = self._instead[key]
            if now is None or now.memory.valid_at == held.known.memory.valid_at:
                continue
            for known in self._replace_edited(self._knowledge.gave_way_to(key)):
                if known.memory.invalid_at == held.known.memory.valid_at:
                    self._restore(known.as_if(invalid_at=now.memory.valid_at))

    def _restore(self, known: KnownFact) -> None:
        self._restored[known.memory.key] = self._instead[known.memory.key] = known


def divide_facts(batch: Batch, facts: Sequence[Fact], knowledge: FullKnowledge) -> Division:
    """`duplicates.divide`, where turns of the batch may have been edited since they were read."""
    first = EditedTurns(knowledge, batch)
    if not first.is_needed:
        return divide(facts, knowledge)
    return divide(facts, EditedTurns(knowledge, batch, divide(facts, first)))


def known_now(knowledge: FullKnowledge, batch: Batch, division: Division) -> Knowledge:
    """Return what is known without the earlier words of the batch's turns."""
    found = EditedTurns(knowledge, batch, division)
    return found if found.is_needed else knowledge


def as_update(add: AddMemory) -> UpdateMemory:
    """A memory that is there already, as it was to be added."""
    facets = {"invalid_at": None, **add.facets.given()}
    return UpdateMemory(
        key=add.key, value=add.value, facets=Facets(**facets), evidence=add.evidence,
        mentions=add.mentions, reason=add.reason,
    )  # fmt: skip


def _evidence_of_repetitions(division: Division) -> Mapping[str, set[str]]:
    """The turns that say a known fact again, for the same time."""
    said: dict[str, set[str]] = {}
    for fact, known in division.repeated:
        new, old = ComparableFact.of_fact(fact), ComparableFact.of_known(known)
        same_end = old.past or new.end == old.end
        if new.key != old.key or (new.start == old.start and same_end):
            said.setdefault(old.key, set()).update(fact.evidence)
    return said


def _is_in_force(known: KnownFact) -> bool:
    return known.memory.status not in ("superseded", "archived")


def _resting_on(evidence: tuple[str, ...], held: _Held) -> KnownFact:
    """A fact without some of its turns: where it was taken to hold since one of them was said, it
    holds since the first of the others was."""
    memory, since = held.known.memory, held.since
    begun = memory.valid_at
    if since is not None and begun is not None and begun in held.told and begun < since:
        value = memory.value | {"said_at": since.isoformat()}
        memory = replace(memory, valid_at=since, value=value)
    return replace(held.known, memory=memory, evidence=evidence)


def _with_less(key: str, held: _Held) -> UpdateMemory:
    left = tuple(one for one in held.known.evidence if one not in held.without)
    now, before = _resting_on(left, held).memory, held.known.memory
    if now.valid_at == before.valid_at:
        return UpdateMemory(key=key, withdrawn=held.without, reason=REASON)
    return UpdateMemory(
        key=key, value=now.value, facets=Facets(valid_at=now.valid_at), withdrawn=held.without,
        reason=REASON,
    )  # fmt: skip
