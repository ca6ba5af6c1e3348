"""Known facts that a new one denies in their own words, whatever either of them claims."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.contradiction.pairs import Pair
from langmemory.formation.statements import cues
from langmemory.formation.wording import Wording, wording
from langmemory.ports.facts import Knowledge

NEIGHBOURS: Final = 5
"""Nearest facts whose words are compared."""
LIKE: Final = 0.5
"""Cosine from which they are."""


def denial_pairs(
    new: ComparableFact, compared: Collection[str], knowledge: Knowledge
) -> Iterator[Pair]:
    """Pairs with what a fact denies: it has the other's words, and one of the two is negated.

    Args:
        compared: keys of the facts it was compared with by its claims.
    """
    mine = wording(new.text, new.language)
    if not (mine.negated or new.ends or new.corrects):
        return
    for known, cosine in knowledge.nearest(new.text, NEIGHBOURS):
        old = ComparableFact.of_known(known)
        if cosine < LIKE:
            break
        if old.key in compared or old.past or old.waiting or old.ends or old.end <= new.start:
            continue
        private = "private" in (new.privacy, old.privacy)
        if new.said_at < old.told_at or (private and new.owner != old.owner):
            continue
        if known.claims and _opposes(mine, wording(old.text, old.language)):
            pair = Pair(
                new=new, old=old, about="contradiction", until=new.start,
                reason="one says the opposite of the other",
            )  # fmt: skip
            surely = new.corrects and new.speaker == old.speaker and new.privacy == old.privacy
            yield replace(pair, verdict="supersedes", until=old.start) if surely else pair


def _opposes(mine: Wording, theirs: Wording) -> bool:
    return (
        mine.negated != theirs.negated
        and not _apart(theirs.words, mine.words)
        and not _apart(mine.words, theirs.words) - cues().of_denial
        and mine.numbers == theirs.numbers
        and mine.dates == theirs.dates
        and mine.names == theirs.names
    )


def _apart(words: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Words that the others do not have, endings aside ("goes", "go")."""
    return frozenset(word for word in words if not any(_is_one(word, other) for other in others))


def _is_one(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    begun = max(2, shorter - 1) if shorter < 6 else shorter - 2
    return word == other or (abs(len(word) - len(other)) < 4 and word[:begun] == other[:begun])
