"""A question to the graph: the facts that claim it of whom it names; and claims of memories that are gone.

"Where does my sister live?" names the one who asks, and by its words the relations `sibling_of` and
`lives_in`. That Katrin lives in Bremen answers it, since another fact says whose sister she is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from langmemory.formation.batch import NO_PERSON
from langmemory.formation.entities.roles import person_words
from langmemory.formation.relations.questions import (
    first_person,
    framing,
    plain_words,
    relations_asked,
)
from langmemory.formation.relations.vocabulary import PLANNED, relation_named
from langmemory.languages import is_unspaced, split_words
from langmemory.languages.spelling import name_key
from langmemory.ledger import graph_rows, graph_writing, namespaces, runs, versions
from langmemory.ledger.connection import Connection
from langmemory.ledger.graph_rows import (
    ClaimRow,
    ClockRow,
    EdgeRow,
    EntityRow,
    claims_about,
    claims_made,
    claims_of,
    fact_sources,
    relations_of,
)
from langmemory.ledger.scopes import CompiledScope, compile_scope
from langmemory.ledger.values import to_us
from langmemory.ports.candidates import NOTHING, ClaimQuery, Ids, ScoredIds
from langmemory.types import NO_LONGER, Scope

_LIVING: Final = ("person", "animal")

Terms = frozenset[str]

MOST_STEPS: Final = 3
"""Relations that one question follows: what the children of Lena's sister are allergic to."""
MOST_BEYOND: Final = 16
"""Whom a relation may lead to, for the next to be looked up of them."""

OLDER: Final = 0.3
"""Worth of an answer beside a newer one to the same, where there need not be several at a time; and of
what is only planned."""

_NO_WORDS: Final[Terms] = frozenset()


class _Answer(NamedTuple):
    """A claim that a relation asks for, seen from whom it is asked about."""

    claim: ClaimRow
    relation: str
    """As it is asked for."""
    near: int
    far: int | None
    met: Terms
    """Words of the question."""
    stance: str
    """`NO_LONGER` or `PLANNED` of what holds no longer, or not yet; "" of what holds."""


def claims_asked(
    connection: Connection, scope: CompiledScope, query: ClaimQuery, limit: int
) -> ScoredIds:
    """Return facts in scope that claim what a question asks of whom it names, the best first.

    Of whom a first one names the relation to, as well: "my sister". The newest answer to the same comes
    first, unless it asks when; what holds no longer answers where nothing else does. Where it asks what
    was before, it is the turns in scope that told what has given way since.

    Returns:
        Their ids, at most ``limit``, and the square of the share of the words that each meets, 0..1;
        less where it is not the newest.
    """
    terms = query.terms
    near, mine = _asked_about(connection, scope, query)
    if "self" in query.asks:
        speakers = {name for name in query.speakers if name.casefold() not in NO_PERSON}
        mine = mine | graph_rows.named_by(connection, scope, speakers)
        return _all_of(connection, scope, query, mine, limit)
    if not near:
        return NOTHING
    used = relations_of(connection, graph_rows.roots(connection, near), plain_words(terms))
    asked = relations_asked(query.text, terms, used)
    if not asked:
        return NOTHING
    before = "before" in query.asks
    known = scope
    if before:
        place, viewer = scope.scope.namespace, scope.scope.viewer
        known = compile_scope(Scope(namespace=place, viewer=viewer, statuses=("superseded",)))
    answers = _follow_claims(connection, known, query, near, asked, mine)
    always = framing(terms)
    if before:  # "before Valencia" names what came after
        always = always.union(*near.values())
    score: dict[int, float] = {}
    for one, worth in _worth(answers):
        share = len((one.met | always).intersection(terms)) / len(terms)
        worth = share**2 * (1.0 if "when" in query.asks else worth)
        score[one.claim.item] = max(score.get(one.claim.item, 0.0), worth)
    return _best(_of_sources(connection, scope, score) if before else score, limit)


def _best(score: Mapping[int, float], limit: int) -> ScoredIds:
    best = sorted(score, key=lambda item: (-score[item], -item))[:limit]
    return ScoredIds(np.array(best, np.int64), np.array([score[one] for one in best], np.float32))


def _all_of(
    connection: Connection, scope: CompiledScope, query: ClaimQuery, mine: set[int], limit: int
) -> ScoredIds:
    """Return what is claimed of those who ask, the newest first: each, less what is over."""
    root, viewer = graph_rows.roots(connection, mine), scope.scope.viewer
    answers = [
        _Answer(claim, held, root[claim.subject], claim.object, frozenset((held,)), stance)
        for claim in claims_of(connection, scope, root, limit)
        if viewer is None or claim.owner in (None, viewer)
        for stance, held in [_stance(_as_of(claim, query.now))]
        if stance != NO_LONGER
    ]
    score: dict[int, float] = {}
    for one, worth in _worth(answers):
        score[one.claim.item] = max(score.get(one.claim.item, 0.0), worth)
    return _best(score, limit)


def rivals_among(connection: Connection, items: Ids, now: int) -> tuple[Ids, Ids]:
    """Return pairs of these facts that claim of one subject another value of what has one at a
    time, or, of a relation that nobody knows, may have: (int64[m] earlier, int64[m] later). That
    something is over comes after that it was so."""
    rows = [_as_of(row, now) for row in claims_made(connection, items.tolist())]
    root = graph_rows.roots(connection, {row.subject for row in rows})
    told: defaultdict[tuple[int, str], list[ClaimRow]] = defaultdict(list)
    for row in rows:
        told[root.get(row.subject, row.subject), row.relation.removeprefix(NO_LONGER)].append(row)
    pairs = {
        (one.item, other.item)
        for (_, name), claims in told.items()
        if len(claims) > 1 and _has_one_value(name)
        for one in claims
        for other in claims
        if (one.object, one.literal) != (other.object, other.literal)
        if one.valid_at is None or other.valid_at is None or one.valid_at < other.valid_at
    }
    found = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _as_of(claim: ClaimRow, now: int) -> ClaimRow:
    """Return a claim as it is at a time: what was announced for a day ("starts at Hooli tomorrow")
    holds from that day on."""
    came = claim.announced and (claim.valid_at or now) <= now
    return claim._replace(relation=claim.relation.removeprefix(PLANNED)) if came else claim


def _has_one_value(name: str) -> bool:
    relation = relation_named(name)
    return relation.values != "many" and not relation.timeless


def _asked_about(
    connection: Connection, scope: CompiledScope, query: ClaimQuery
) -> tuple[Mapping[int, set[str]], set[int]]:
    """Return entities a question is about, with its words that name each; and those it means by "I"
    alone."""
    norms = {name_key(name): frozenset(split_words(name)) for name in query.names}
    near: defaultdict[int, set[str]] = defaultdict(set)
    for norm, entity in graph_rows.by_names(connection, scope, list(norms)):
        near[entity] |= norms[norm].intersection(query.terms)
    mine = set[int]()
    if (own := _own_words(query.text, query.terms)) is not None:
        spoken = [name_key(name) for name in query.speakers]
        mine = {
            entity for _, entity in graph_rows.by_names(connection, scope, spoken)
        } - near.keys()
        for entity in mine:
            near[entity] |= own
    return near, mine


def _follow_claims(
    connection: Connection,
    scope: CompiledScope,
    query: ClaimQuery,
    near: Mapping[int, set[str]],
    asked: Mapping[str, Terms],
    mine: set[int],
) -> list[_Answer]:
    """Return claims of these relations about some entities, and of whom these claims lead to."""
    answers = step = _answers(connection, scope, query, near, asked, mine)
    for _ in range(min(len(asked), MOST_STEPS) - 1):
        beyond: defaultdict[int, set[str]] = defaultdict(set)
        for one in step:
            if one.far is not None and one.far not in near and not one.stance:
                beyond[one.far] |= one.met
        newest = sorted(beyond, reverse=True)[:MOST_BEYOND]
        further = {entity: beyond[entity] for entity in newest}
        step = _answers(connection, scope, query, further, asked, set()) if further else []
        answers = [*answers, *step]
    return answers


def _of_sources(
    connection: Connection, scope: CompiledScope, score: Mapping[int, float]
) -> dict[int, float]:
    """Return the scores of facts as those of the turns in scope that they were derived from."""
    derived, sources = fact_sources(connection, scope, np.array(list(score), np.int64))
    of_turn: dict[int, float] = {}
    for fact, turn in zip(derived.tolist(), sources.tolist(), strict=True):
        of_turn[turn] = max(of_turn.get(turn, 0.0), score[fact])
    return of_turn


def _worth(answers: Sequence[_Answer]) -> Iterator[tuple[_Answer, float]]:
    """Yield the value of the answers beside each other, 0..1."""
    holding = {(one.near, one.relation) for one in answers if not one.stance}
    newest: dict[tuple[int, Terms], int] = {}
    for one in answers:
        if not one.stance:
            key, since = (one.near, one.met), one.claim.valid_at or 0
            newest[key] = max(newest.get(key, since), since)
    for one in answers:
        if one.stance == PLANNED:
            yield one, OLDER
        elif one.stance:
            if (one.near, one.relation) not in holding:
                yield one, 1.0
        elif relation_named(one.relation).values == "many":
            yield one, 1.0
        else:
            yield one, 1.0 if (one.claim.valid_at or 0) >= newest[one.near, one.met] else OLDER


def _own_words(text: str, terms: Sequence[str]) -> Terms | None:
    """Return the terms by which somebody asks about themselves, often none; None where nobody does."""
    (words, unspaced), folded = _me(), text.casefold()
    if not words.isdisjoint(split_words(folded)):
        return frozenset()
    if not any(word in folded for word in unspaced):
        return None
    return frozenset(term for term in terms if any(word in term for word in unspaced))


@cache
def _me() -> tuple[frozenset[str], tuple[str, ...]]:
    """The words by which people speak of themselves, and those of scripts without spaces."""
    words = frozenset((*person_words().self, *person_words().my, *first_person()))
    return words, tuple(filter(is_unspaced, words))


def _answers(
    connection: Connection,
    scope: CompiledScope,
    query: ClaimQuery,
    near: Mapping[int, Iterable[str]],
    asked: Mapping[str, Terms],
    mine: set[int],
) -> list[_Answer]:
    """Return claims of these relations about some entities."""
    root = graph_rows.roots(connection, near)
    met: dict[int, Terms] = {}
    for entity, words in near.items():
        met[root[entity]] = met.get(root[entity], _NO_WORDS).union(words)
    own = {root[entity] for entity in mine} - {root[one] for one in near.keys() - mine}
    stored = {relation_named(name).inverse_of or name for name in asked}
    stances = [stance + name for name in stored for stance in ("", NO_LONGER, PLANNED)]
    rows = claims_about(connection, scope, root, stances)
    viewer = scope.scope.viewer
    found = []
    for claim in rows:
        for one in _readings(_as_of(claim, query.now), asked):
            at = root.get(one.near)
            if at is None or asked[one.relation] <= met[at]:
                continue  # these words have led there
            if at in own and viewer is not None and claim.owner not in (None, viewer):
                continue
            there = met.get(root.get(one.far or -1, -1), _NO_WORDS)
            words = (one.met | met[at] | there).intersection(query.terms)
            found.append(one._replace(near=at, met=words))
    return found


def _stance(claim: ClaimRow) -> tuple[str, str]:
    """Return the stance of a claim, and its relation without it."""
    stance = next((one for one in (NO_LONGER, PLANNED) if claim.relation.startswith(one)), "")
    return stance, claim.relation.removeprefix(stance)


def _readings(claim: ClaimRow, asked: Mapping[str, Terms]) -> Iterator[_Answer]:
    """Yield a claim from either end, as far as a relation asks for it from there."""
    stance, held = _stance(claim)
    for name, words in asked.items():
        relation = relation_named(name)
        if held != (relation.inverse_of or name):
            continue
        if claim.object is None:
            words |= frozenset(split_words(claim.literal or ""))
        there = _Answer(claim, name, claim.subject, claim.object, words, stance)
        if relation.inverse_of is None:
            yield there
        # "Who works at Initech?" asks from the other end with the same word, "mother" does not.
        turned = relation.inverse_of or relation.symmetric or relation.object not in _LIVING
        if turned and claim.object is not None:
            yield there._replace(near=claim.object, far=claim.subject)


@dataclass(kw_only=True, slots=True)
class DeletedClaims:
    """Claims of memories that are gone, and who they are about. An edge has an id below 0, as has an
    entity that is not in the file any more."""

    rows: list[EdgeRow] = field(default_factory=list)
    entities: dict[int, EntityRow] = field(default_factory=dict)
    """All that the memories speak of, by id."""
    names: list[tuple[int, str, str]] = field(default_factory=list)
    """(entity, name, normalised name); for a viewer, of those that stand in a memory."""
    spoken: dict[int, set[int]] = field(default_factory=dict)
    """The entities that a memory speaks of, by its id."""
    clocks: dict[int, ClockRow] = field(default_factory=dict)
    holding: frozenset[int] = frozenset()
    """Ids of the memories that held at the time asked about."""

    @classmethod
    def read(
        cls,
        connection: Connection,
        wide: Scope,
        narrow: Scope,
        now_us: int,
        *,
        alive_at_us: int | None,
    ) -> DeletedClaims:
        """Read those of exactly one namespace, at its ``known_at``.

        Args:
            connection: A reader.
            wide: What held whenever.
            narrow: What held at the time asked about.
            now_us: What had a TTL that has ended by then is nowhere.
            alive_at_us: See `compile_scope`.
        """
        made = cls()
        place = namespaces.find(connection, wide.namespace)
        if wide.known_at is None or place is None:
            return made
        there = versions.departed_versions(connection, wide, now_us, alive_at_us=alive_at_us)
        found = [one for one in there if one.namespace == wide.namespace]
        held = versions.within(connection, narrow, alive_at_us, found)
        made.holding = frozenset(one.item for one in held)
        later = runs.after(connection, to_us(wide.known_at)) if found else set[str]()
        ids: dict[str, int] = {}
        for one in found:
            spoken = made.spoken[one.item] = set()
            for key, (name, kind, *run) in one.claims["entities"].items():
                if key not in ids:
                    ids[key] = graph_writing.find_entity(connection, place, key) or -len(ids) - 1
                    made.entities[ids[key]] = EntityRow(ids[key], key, name, kind)
                if not later.isdisjoint(run):  # they came to be spoken of after that time
                    continue
                spoken.add(ids[key])
                if wide.viewer is None or name.casefold() in one.said.casefold():
                    made.names.append((ids[key], name, name_key(name)))
            made.clocks[one.item] = ClockRow(one.item, one.value.get("said_at"), None)
            facts = [one.columns[name] for name in graph_rows.FACT_COLUMNS]
            for subject, relation, object, literal, run in one.claims["edges"]:
                known = subject in ids and (object is None or object in ids)  # no anchor
                if known and run not in later:
                    end = None if object is None else ids[object]
                    claim = (-len(made.rows) - 1, ids[subject], relation, end, literal)
                    made.rows.append(EdgeRow(*claim, one.key, one.item, *facts))
        return made

    def edges(
        self, ends: Collection[int] | None, relation: str | None, *, holding: bool
    ) -> list[EdgeRow]:
        """As `graph.edges`: with one of these entities at either end, of this relation."""
        return [
            row
            for row in self.rows
            if (not holding or row.item in self.holding)
            and (ends is None or row.subject in ends or row.object in ends)
            and relation in (None, row.relation)
        ]

    def spoken_of(self, *, holding: bool = False) -> set[int]:
        """Return entities that the memories speak of."""
        of = (self.spoken[one] for one in self.spoken if not holding or one in self.holding)
        return set[int]().union(*of)

    def called(self, norm: str) -> set[int]:
        """Return entities of this normalised name."""
        return {entity for entity, _, known in self.names if known == norm}

    def by_key(self, key: str) -> int | None:
        return next((row.id for row in self.entities.values() if row.key == key), None)
