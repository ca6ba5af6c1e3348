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
from langmemory.formation.planning.comparison import (
    follow_from,
    over,
    residual_memories,
    which_holds,
)
from langmemory.formation.planning.reinstate import corrected_since, restore_superseded
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
    yield from found
    yield from follow_from(found, knowledge)


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
        rest = tuple(residual_memories(mine, first.new, knowledge))
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
            yield which_holds(knowledge.namespace, pair, residual_memories(mine, one, knowledge))


def _goes(pair: Pair, one: ComparableFact) -> bool:
    return pair.verdict == "supersedes" and pair.loser is one
