"""Whose a memory is that is made of turns, and who may know it: never more people than before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langmemory.formation.batch import Batch, Turn
from langmemory.ports.facts import Fact


def kept_close(fact: Fact, batch: Batch) -> Fact | None:
    """The fact with the privacy and owner of what it was made of; None where that has several
    private owners, so that nobody may read it.

    An extractor may make a fact more private than its turns, never less.
    """
    turns = [turn for key in fact.evidence if (turn := batch.turn(key)) is not None]
    whose = owner_of(turns)
    if whose is None:
        return None
    owner, private = whose
    if private:
        return replace(fact, owner=owner, privacy="private")
    if fact.privacy == "public" and any(turn.privacy != "public" for turn in turns):
        fact = replace(fact, privacy="shared")
    if fact.privacy == "private" and fact.owner is None and owner is None:
        return replace(fact, privacy="shared")  # private to nobody: as shared as its turns are
    return fact


def owner_of(turns: Sequence[Turn]) -> tuple[str | None, bool] | None:
    """Owner of what is made of these turns, and whether it is private; None for two private ones."""
    private = {turn.owner for turn in turns if turn.privacy == "private"}
    if len(private) > 1:
        return None
    if private:
        return private.pop(), True
    owners = {turn.owner for turn in turns}
    return (owners.pop() if len(owners) == 1 else None), False
