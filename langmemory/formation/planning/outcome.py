"""The outcome of a batch for its facts, and for known ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from langmemory.changes import Change, Facets, Merge, Supersede, UpdateMemory
from langmemory.formation.batch import Batch, kept_close
from langmemory.formation.contradiction.comparable import BEGINNING, END, ComparableFact, fact_key
from langmemory.formation.contradiction.pairs import Pair
from langmemory.formation.duplicates import (
    Division,
    as_good_as_same,
    raise_confidence,
    waiting_twins,
)
from langmemory.formation.entities.resolution import Resolution
from langmemory.formation.judging import Decision, Verdicts
from langmemory.formation.planning.approval import (
    AGAINST_CONFIRMED,
    HEARSAY,
    MIN_CONFIDENCE,
    UNCONFIRMED,
    UNSURE,
    Objection,
    hearsay,
)
from langmemory.formation.planning.comparison import over, twins_over
from langmemory.formation.planning.reinstate import corrected_since, restore_superseded
from langmemory.formation.planning.residual_claims import residual_claims
from langmemory.formation.planning.writing import rest_memories
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.ports.facts import Claim, Fact, Knowledge, KnownFact


class Outcome:
    """The facts that come about, what stands against each, and what they do to others."""

    def __init__(
        self,
        batch: Batch,
        resolution: Resolution,
        division: Division,
        verdicts: Sequence[Verdicts],
        knowledge: Knowledge,
        now: datetime,
    ) -> None:
        self.now = max((now, *(turn.said_at for turn in batch.turns)))
        self.batch = batch
        self.resolution = resolution
        self.knowledge = knowledge
        self.decisions = [one for group in verdicts for one in group.decisions]
        self._division = division
        self._places = {fact_key(f): at for at, f in reversed([*enumerate(resolution.facts)])}
        self._repeats = {
            one.pair.new.key: one.pair.old.key
            for one in self.decisions
            if one.verdict == "duplicate" and not one.pair.old.new
        }
        self.facts: Mapping[str, Fact] = self._come_about()
        """By key, in the order they were said."""
        self.against: Mapping[str, Objection | None] = {
            key: self._objection(key, fact) for key, fact in self.facts.items()
        }
        """The rule that keeps a fact from becoming active by itself, by its key."""
        self.pairs: Sequence[Decision] = [one for one in self.decisions if self._stands(one.pair)]
        """Decisions on facts that come about as they were compared."""

    def waits(self, key: str) -> bool:
        """Whether a fact is one of the batch that waits for a person."""
        return self.against.get(key) is not None

    def begun(self) -> Iterator[ComparableFact]:
        """The facts of the batch that do not wait."""
        return (ComparableFact.of_fact(f) for key, f in self.facts.items() if not self.waits(key))

    def mentions(self, key: str) -> tuple[str, ...]:
        """Entities a fact of the batch speaks of."""
        return self.resolution.mentions.get(self._places.get(key, -1), ())

    def own(self, key: str) -> Mapping[str, str]:
        """See `Resolution.own`."""
        return self.resolution.own.get(self._places.get(key, -1), {})

    def names(self, key: str) -> Mapping[str, str]:
        """The name for each entity key in the claims of a fact of the batch: the one it was told
        by, also where that is linked to somebody of another name."""
        known = self.resolution.names
        return {**known, **{k: known[one] for k, one in self.own(key).items() if one in known}}

    def repeated(self) -> Iterator[UpdateMemory]:
        """Evidence and confidence for what was said again, once for each known fact."""
        said: dict[str, tuple[KnownFact, list[Fact]]] = {}
        grey = [
            (fact, known)
            for fact, known, _ in self._division.grey
            if self._repeats.get(fact_key(fact)) == known.memory.key
        ]
        for fact, known in (*self._division.repeated, *grey):
            if known.memory.status not in ("superseded", "archived") and not self._too_open(fact):
                said.setdefault(known.memory.key, (known, []))[1].append(fact)
        for key, (known, facts) in said.items():
            confidence = known.memory.confidence
            evidence: list[str] = []
            mentions: list[str] = []
            for fact in facts:
                new = [one for one in fact.evidence if one not in (*known.evidence, *evidence)]
                if new:
                    evidence += new
                    mentions += self.mentions(fact_key(fact))
                    confidence = raise_confidence(confidence, fact.confidence)
            if evidence:
                since, before = self._told_since(known, facts)
                facets = Facets(confidence=confidence)
                yield UpdateMemory(
                    key=key,
                    facets=facets if since is None else Facets(**facets.given(), valid_at=since),
                    evidence=tuple(evidence),
                    mentions=tuple(dict.fromkeys(mentions)),
                    reason="said again" if since is None else "said again, and since when",
                )
                for one in before:
                    yield UpdateMemory(
                        key=one,
                        facets=Facets(invalid_at=since),
                        reason="what took its place began earlier",
                    )

    def confirmed(self) -> Iterator[tuple[str, str]]:
        """Yield the facts that do not wait, each with what a model alone read before and says the same, by
        key."""
        for key, fact in self.facts.items():
            if not self.waits(key):
                for twin in waiting_twins(fact, self.knowledge):
                    yield key, twin.memory.key

    def _told_since(
        self, known: KnownFact, facts: Sequence[Fact]
    ) -> tuple[datetime | None, Sequence[str]]:
        """Since when a known fact holds, of which an earlier time is told only now, and the keys of
        those that gave way to it and so ended earlier. Nothing where something else is known of that
        time."""
        old = ComparableFact.of_known(known)
        new = [one for one in map(ComparableFact.of_fact, facts) if one.kind == old.kind == "fact"]
        starts = [one.start for one in new if one.start > BEGINNING]
        since = min(starts, default=old.start)
        if old.dated or old.protected or since >= old.start:
            return None, ()
        before: list[str] = []
        for claim in known.claims:
            if not relation_named(claim.relation).is_single:
                continue
            for other in self.knowledge.about(claim.subject, claim.relation, past=True):
                one = ComparableFact.of_known(other)
                if one.key == old.key or one.waiting or one.end <= since or one.start >= old.start:
                    continue
                if other.memory.superseded_by != old.key or one.start >= since or one.protected:
                    return None, ()
                before.append(one.key)
        return since, tuple(dict.fromkeys(before))

    def superseded(self) -> Iterator[Change]:
        """Yield what is superseded by facts that do not wait, each at its earliest end."""
        ends: dict[str, Supersede | UpdateMemory] = {}
        again: dict[str, Change] = {}
        given_way: list[tuple[ComparableFact, Supersede, datetime]] = []
        for pair, change in self._giving_way():
            if ends.setdefault(change.key, change) is change and isinstance(change, Supersede):
                given_way.append((pair.loser, change, pair.winner.said_at))
            if isinstance(change, Supersede) and change.key == pair.old.key:
                found = restore_superseded(pair.old, pair.new, change, self.knowledge)
                again |= {one.key: one for one in found}
        yield from ends.values()
        twins = twins_over(given_way, lambda over: as_good_as_same(over, self.knowledge))
        yield from (twin for twin in twins if twin.key not in ends)
        yield from self._corrected_before()
        yield from (one for key, one in again.items() if key not in ends)
        for one in self.pairs:
            if one.verdict == "duplicate" and one.pair.old.key in self.facts:
                yield Merge(key=one.pair.old.key, others=(one.pair.new.key,), reason="the same")

    def _corrected_before(self) -> Iterator[UpdateMemory]:
        """A known correction was so since the time of what it takes back, of which one hears
        only now."""
        late: dict[str, list[ComparableFact]] = {}
        for one in self.pairs:
            new, old = one.pair.new, one.pair.old
            if one.pair.comes_late and one.verdict == "supersedes" and not self.waits(new.key):
                late.setdefault(old.key, []).append(new)
        for key, told in late.items():
            first = min(told, key=lambda one: one.start)
            yield from corrected_since(key, first.start, self.knowledge, late=first)

    def _giving_way(self) -> Iterator[tuple[Pair, Supersede | UpdateMemory]]:
        """Pairs of which one gives way to what does not wait, the earliest ends first."""
        for one in sorted(self.pairs, key=lambda one: one.pair.over_since):
            change = self.supersede(one.pair) if one.verdict == "supersedes" else None
            if change is not None and not self.waits(one.pair.new.key):
                yield one.pair, change

    def remaining(self) -> Iterator[tuple[str, Fact]]:
        """Yield residual claims of superseded facts that nothing changes, by key."""
        giving_way = list(self._giving_way())
        over = {change.key for _, change in giving_way}
        told = {claim for key, one in self.facts.items() if key not in over for claim in one.claims}
        said: set[tuple[Claim, ...]] = set()
        for pair, change in giving_way:
            loser, winner = pair.loser, pair.winner
            for key, fact in self.rest(loser, change, {*told, *winner.claims}, over):
                if fact.claims not in said:
                    said.add(fact.claims)
                    yield key, fact

    def rest(
        self,
        old: ComparableFact,
        change: Change,
        told: Collection[Claim],
        gone: Collection[str] = (),
    ) -> Iterator[tuple[str, Fact]]:
        """Yield residual claims of a fact superseded by one that claims what was ``told``, by key;
        those that are ``gone`` with it say nothing any more."""
        if not isinstance(change, Supersede) or old.past:
            return
        known = self.knowledge.by_key(old.key)
        claims = known.claims if known else self.facts[old.key].claims
        own = known.own if known else self.own(old.key)
        met = self.resolution.names
        yield from residual_claims(old, claims, told, self.knowledge, met, own=own, gone=gone)

    def rest_memories(self, facts: Mapping[str, Fact]) -> Iterator[Change]:
        """Return the facts that `rest` found as memories."""
        yield from rest_memories(facts, self.knowledge, self.resolution.names)

    def supersede(self, pair: Pair) -> Supersede | UpdateMemory | None:
        """How one of two gives way: news of what is over gives way to what is known. Nothing gives
        way to what waits, but for the new fact of the pair, whose approval may bring it about."""
        loser, winner = pair.loser, pair.winner
        by = self._repeats.get(winner.key, winner.key)
        if self.waits(loser.key) or self.waits(pair.old.key) or by == loser.key:
            return None
        return over(pair, self.now, by=by)

    def _come_about(self) -> dict[str, Fact]:
        corrected: dict[str, datetime] = {}
        met = {one.pair.new.key for one in self.decisions}
        for one in self.decisions:
            takes_back = one.pair.new.corrects and one.pair.loser is one.pair.old
            if one.verdict == "supersedes" and takes_back:
                key, since = one.pair.new.key, one.pair.old.start
                corrected[key] = min(since, corrected.get(key, since))
        grey = (fact for fact, _, _ in self._division.grey)
        too_open = (fact for fact, _ in self._division.repeated if self._too_open(fact))
        found: dict[str, Fact] = {}
        for fact in (*self._division.fresh, *grey, *too_open):
            key = fact_key(fact)
            kept = kept_close(fact, self.batch)
            if kept is None or (key in self._repeats and not self._too_open(fact)):
                continue
            if fact.implied == "denied" and key not in met:
                kept = replace(kept, claims=(), ends=False)  # nobody said that it was so
            statement = ComparableFact.of_fact(fact)
            start = statement.start
            if key in corrected and not statement.dated:
                start = corrected[key]  # it was so all the time
            found[key] = replace(
                kept,
                valid_at=None if start == BEGINNING else start,
                invalid_at=None if statement.end == END else statement.end,
            )
        return dict(sorted(found.items(), key=lambda item: self._places.get(item[0], 0)))

    def _too_open(self, fact: Fact) -> bool:
        """Whether more people were to read it than its turns. It is kept for fewer, and what was
        compared with it was compared for the wrong readers, so it changes nothing else."""
        kept = kept_close(fact, self.batch)
        return kept is None or (kept.privacy, kept.owner) != (fact.privacy, fact.owner)

    def _stands(self, pair: Pair) -> bool:
        new = self.facts.get(pair.new.key)
        old = self.facts.get(pair.old.key) if pair.old.new else pair.old
        return new is not None and old is not None and new.privacy == pair.new.privacy

    def _objection(self, key: str, fact: Fact) -> Objection | None:
        against_confirmed = any(
            one.pair.new.key == key
            and one.pair.about == "contradiction"
            and one.verdict in ("unclear", "supersedes")
            and one.pair.loser.protected
            for one in self.decisions
        )
        if against_confirmed:
            return AGAINST_CONFIRMED
        if hearsay(fact, self.resolution, self.knowledge):
            return HEARSAY
        if fact.unconfirmed:
            return UNCONFIRMED
        return UNSURE if fact.confidence < MIN_CONFIDENCE else None
