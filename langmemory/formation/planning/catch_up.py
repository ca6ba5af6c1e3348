"""Facts learned while another was not believed: put away, taken back, or waiting for a person.

Nobody compared the two, so both would hold from the moment the fact is believed again. What structure
says of them is done then, and what it leaves open is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from langmemory.changes import Change, Supersede
from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.contradiction.comparing import compare_facts
from langmemory.formation.contradiction.grouping import (
    is_named,
    meant_together,
    values_of,
)
from langmemory.formation.contradiction.pairs import Pair
from langmemory.formation.planning.comparison import known_over, over, twins_over, which_holds
from langmemory.formation.planning.consequences import dependants
from langmemory.formation.planning.reinstate import corrected_since, restore_superseded
from langmemory.formation.planning.residual_claims import residual_claims
from langmemory.formation.planning.writing import rest_memories
from langmemory.ports.facts import FullKnowledge

MOST_CLAIMS = 50
"""Of one fact that are looked at: what somebody says has a few, an application's graph any number."""


def catch_up(
    back: Sequence[ComparableFact],
    learned_since: Callable[[str, str], bool],
    knowledge: FullKnowledge,
    now: datetime,
) -> Iterator[Change]:
    """Yield changes to facts that are believed again, and to those learned since they were not.

    Args:
        back: the facts, as they are to stand; what gave way before may have done so earlier.
        learned_since: whether a fact (the second key) was learned since one of them (the first) was
            compared with what is known.
        knowledge: what is known.
        now: what is over only after it holds until then.
    """
    found: list[Change] = []
    for mine in back:
        others = [*_facts_learned_since(mine, learned_since, knowledge)]
        found += _end_changes(mine, others, knowledge, now)
    given_way = [
        (over, change, max(over.said_at, new.said_at))
        for over, new, change in known_over(found, knowledge)
    ]
    found += twins_over(given_way, lambda over: knowledge.worded(over.text))
    yield from found
    yield from dependants(knowledge, knowledge.namespace, found)


def _facts_learned_since(
    mine: ComparableFact, learned_since: Callable[[str, str], bool], knowledge: FullKnowledge
) -> Iterator[ComparableFact]:
    """Facts learned since that are to be compared with one."""
    seen = {mine.key}
    for claim in mine.claims[:MOST_CLAIMS]:
        for relation in meant_together(claim.relation):
            for known in knowledge.about(claim.subject, relation, past=True):
                key = known.memory.key
                if key not in seen and learned_since(mine.key, key):
                    one = ComparableFact.of_known(known)
                    if not one.waiting:
                        corrects = one.corrects and _takes_back(one, mine, knowledge)
                        yield replace(one, new=True, corrects=corrects)
                seen.add(key)


def _takes_back(correction: ComparableFact, mine: ComparableFact, knowledge: FullKnowledge) -> bool:
    """Whether a correction names a fact, or has taken nothing else back."""
    if is_named(values_of(correction, mine), correction):
        return True
    instead = map(ComparableFact.of_known, knowledge.gave_way_to(correction.key))
    return all(one.start < one.end for one in instead)


def _end_changes(
    mine: ComparableFact, others: Sequence[ComparableFact], knowledge: FullKnowledge, now: datetime
) -> Iterator[Change]:
    """First the end of the fact itself, which then stands against less."""
    ends = [pair for one in others if (pair := compare_facts(one, mine)) and _goes(pair, pair.old)]
    first = min(ends, key=lambda pair: pair.over_since, default=None)
    if first is not None:
        rest = tuple(_residual_memories(first, knowledge))
        # It says more than what is over, or a person confirmed it.
        if rest or (mine.protected and not mine.past):
            yield which_holds(knowledge.namespace, first, rest)
            return
        change = over(first, now)
        yield change
        if isinstance(change, Supersede):
            yield from restore_superseded(mine, first.new, change, knowledge)
            if first.new.corrects and change.invalid_at <= mine.start:
                yield from corrected_since(first.new.key, mine.start, knowledge)
        mine = replace(mine, end=first.over_since)
    for one in others:
        pair = compare_facts(one, mine)
        if pair is None or (first is not None and one is first.new):
            continue
        open_still = (pair.verdict or pair.undecided) == "unclear" or _goes(pair, one)
        if _goes(pair, one) and not one.protected:
            yield over(pair, now)
        elif open_still and not (one.past or mine.past or mine.waiting):
            yield which_holds(knowledge.namespace, pair, _residual_memories(pair, knowledge))


def _goes(pair: Pair, one: ComparableFact) -> bool:
    return pair.verdict == "supersedes" and pair.loser is one


def _residual_memories(pair: Pair, knowledge: FullKnowledge) -> Iterator[Change]:
    known = knowledge.by_key(pair.old.key)
    if known is not None and not pair.old.past:
        told = set(pair.new.claims)
        rest = residual_claims(pair.old, known.claims, told, knowledge, {}, own=known.own)
        yield from rest_memories(dict(rest), knowledge, {})
