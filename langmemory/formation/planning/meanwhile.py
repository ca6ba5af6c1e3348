"""What was learned while a fact was not believed: put away, taken back, or waiting for a person.

Nobody compared the two, so both would hold from the moment the fact is believed again. What structure
says of them is done then, and what it leaves open is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from langmemory.changes import Change, Supersede
from langmemory.formation.contradiction.comparing import compared
from langmemory.formation.contradiction.grouping import (
    is_named,
    meant_together,
    values_of,
)
from langmemory.formation.contradiction.pairs import Pair, gives_way
from langmemory.formation.contradiction.statements import Statement
from langmemory.formation.planning.comparison import over, twins_over, which_holds
from langmemory.formation.planning.dependants import dependants
from langmemory.formation.planning.remainder import remainders
from langmemory.formation.planning.restoring import corrected_since, restored
from langmemory.formation.planning.writing import rest_memories
from langmemory.ports.facts import Knowledge

MOST_CLAIMS = 50
"""Of one fact that are looked at: what somebody says has a few, an application's graph any number."""


def caught_up(
    back: Sequence[Statement],
    learned_since: Callable[[str, str], bool],
    knowledge: Knowledge,
    now: datetime,
) -> Iterator[Change]:
    """What becomes of facts that are believed again, and of what was learned since they were not.

    Args:
        back: the facts, as they are to stand; what gave way before may have done so earlier.
        learned_since: whether a fact (the second key) was learned since one of them (the first) was
            compared with what is known.
        knowledge: what is known.
        now: what is over only after it holds until then.
    """
    found: list[Change] = []
    for mine in back:
        others = [*_beside(mine, learned_since, knowledge)]
        found += _ended(mine, others, knowledge, now)
    found += _twins(found, knowledge)
    yield from found
    yield from dependants(knowledge, knowledge.namespace, found)


def _twins(found: Sequence[Change], knowledge: Knowledge) -> Iterator[Change]:
    """What an application wrote in just the words of what gives way. An embedder is not asked: this may
    be found within a transaction."""
    given_way = {change.key: change for change in found if isinstance(change, Supersede)}
    ended = set(given_way)
    for key, change in given_way.items():
        known, heir = knowledge.by_key(key), knowledge.by_key(change.by)
        if known is None or heir is None:
            continue
        over, new = Statement.of_known(known), Statement.of_known(heir)
        alike = knowledge.worded(over.text)
        for twin in twins_over(over, change, max(over.said_at, new.said_at), alike):
            if twin.key not in ended:
                ended.add(twin.key)
                yield twin


def _beside(
    mine: Statement, learned_since: Callable[[str, str], bool], knowledge: Knowledge
) -> Iterator[Statement]:
    """What was learned since of whom a fact speaks, and is to be compared with it."""
    seen = {mine.key}
    for claim in mine.claims[:MOST_CLAIMS]:
        for relation in meant_together(claim.relation):
            for known in knowledge.about(claim.subject, relation, past=True):
                key = known.memory.key
                if key not in seen and learned_since(mine.key, key):
                    one = Statement.of_known(known)
                    if not one.waiting:
                        corrects = one.corrects and _takes_back(one, mine, knowledge)
                        yield replace(one, new=True, corrects=corrects)
                seen.add(key)


def _takes_back(correction: Statement, mine: Statement, knowledge: Knowledge) -> bool:
    """Whether a correction names a fact, or has taken nothing else back."""
    if is_named(values_of(correction, mine), correction):
        return True
    instead = map(Statement.of_known, knowledge.gave_way_to(correction.key))
    return all(one.start < one.end for one in instead)


def _ended(
    mine: Statement, others: Sequence[Statement], knowledge: Knowledge, now: datetime
) -> Iterator[Change]:
    """First the end of the fact itself, which then stands against less."""
    ends = [pair for one in others if (pair := compared(one, mine)) and _goes(pair, pair.old)]
    first = min(ends, key=lambda pair: gives_way(pair)[1], default=None)
    if first is not None:
        rest = tuple(_rest(first, knowledge))
        # It says more than what is over, or a person confirmed it.
        if rest or (mine.protected and not mine.past):
            yield which_holds(knowledge.namespace, first, rest)
            return
        change = over(first, now)
        yield change
        if isinstance(change, Supersede):
            yield from restored(mine, first.new, change, knowledge)
            if first.new.corrects and change.invalid_at <= mine.start:
                yield from corrected_since(first.new.key, mine.start, knowledge)
        mine = replace(mine, end=gives_way(first)[1])
    for one in others:
        pair = compared(one, mine)
        if pair is None or (first is not None and one is first.new):
            continue
        open_still = (pair.verdict or pair.undecided) == "unclear" or _goes(pair, one)
        if _goes(pair, one) and not one.protected:
            yield over(pair, now)
        elif open_still and not (one.past or mine.past or mine.waiting):
            yield which_holds(knowledge.namespace, pair, _rest(pair, knowledge))


def _goes(pair: Pair, one: Statement) -> bool:
    return pair.verdict == "supersedes" and gives_way(pair)[0] is one


def _rest(pair: Pair, knowledge: Knowledge) -> Iterator[Change]:
    known = knowledge.by_key(pair.old.key)
    if known is not None and not pair.old.past:
        told = set(pair.new.claims)
        rest = remainders(pair.old, known.claims, told, knowledge, {}, own=known.own)
        yield from rest_memories(dict(rest), knowledge, {})
