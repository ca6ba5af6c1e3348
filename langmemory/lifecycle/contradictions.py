"""Facts that came to contradict each other without anybody noticing: superseded, or asked about.

Formation finds these for what it learns. This looks at what came another way: by an import, by a change
set of an application. `formation.contradiction` finds the pairs and decides by their structure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from langmemory.changes import Change
from langmemory.formation.contradiction.grouping import groups_of_known
from langmemory.formation.contradiction.pairs import Group, Pair
from langmemory.formation.judging import Verdicts
from langmemory.formation.planning.comparison import (
    follow_from,
    over,
    residual_memories,
    which_holds,
)
from langmemory.ports.facts import FullKnowledge, KnownFact


def contradicting(
    facts: Sequence[KnownFact],
    knowledge: FullKnowledge,
    asked: Collection[frozenset[str]],
) -> list[Group]:
    """Return pairs of active facts of one owner that may exclude each other, grouped for a judge.

    Args:
        facts: That nobody compared.
        knowledge: What is known.
        asked: Keys of memories that a person was asked about together.
    """
    active = [one for one in facts if one.memory.status == "active" and one.claims]
    found: list[Group] = []
    for group in groups_of_known(active, knowledge):
        pairs = tuple(pair for pair in group.pairs if _is_to_decide(pair, asked))
        if pairs:
            found.append(replace(group, pairs=pairs))
    return found


def _is_to_decide(pair: Pair, asked: Collection[frozenset[str]]) -> bool:
    new, old = pair.new, pair.old
    return (
        (new.owner, new.privacy) == (old.owner, old.privacy)
        and not (new.waiting or old.waiting or new.past or old.past)
        and frozenset((new.key, old.key)) not in asked
    )


def changes_of_verdicts(
    verdicts: Iterable[Verdicts], knowledge: FullKnowledge, now: datetime
) -> list[Change]:
    """Return the changes that verdicts lead to. What a person confirmed, and what says more than is over,
    is asked about.

    Args:
        verdicts: On the groups that `contradicting` found.
        knowledge: What is known.
        now: What is over only after it holds until then.
    """
    changes: dict[str, Change] = {}
    questions: list[Change] = []
    for one in (each for group in verdicts for each in group.decisions):
        pair = one.pair
        if one.verdict not in ("supersedes", "unclear", "duplicate"):
            continue
        sure = one.verdict == "supersedes" and not pair.loser.protected
        if not sure or any(residual_memories(pair.loser, pair.winner, knowledge)):
            rest = residual_memories(pair.old, pair.new, knowledge)
            questions.append(which_holds(knowledge.namespace, pair, rest))
        else:
            changes.setdefault(pair.loser.key, over(pair, now))
    found = list(changes.values())
    return [*found, *follow_from(found, knowledge), *questions]
