"""A batch of turns that one reflection reads, and who may know what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from langmemory.formation.confidences import told_openly
from langmemory.ports.facts import Fact, digest
from langmemory.types import Namespace, Privacy

MOST_READ = 100_000
"""Characters of one text, about 50 pages: of a longer one the first and last half of them, where people
write themselves when they paste (1 s)."""
NO_PERSON = frozenset({"assistant", "tool", "function", "system", "developer"})
"""Roles whose words are no evidence for what is true of a person."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One remembered message."""

    key: str
    text: str
    role: str
    """``user``, ``assistant`` or another; what an assistant says about a person is no evidence."""
    speaker: str
    said_at: datetime
    """Timezone-aware, in the speaker's timezone where the message told it, else UTC."""
    owner: str | None = None
    privacy: Privacy = "shared"
    confided: bool = False
    """It is private by rule, for what some of its sentences say: see `formation.confidences`."""

    def privacy_of(self, statement: str) -> Privacy:
        """Return the privacy of a statement that is made of it."""
        return "shared" if self.confided and told_openly(statement, self.text) else self.privacy


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Turns that fit into one model call."""

    namespace: Namespace
    thread_id: str
    turns: tuple[Turn, ...]
    """In the order they were said."""
    before: tuple[Turn, ...] = ()
    """A few turns before them, read by an earlier run: for understanding, not for facts."""
    tokens: int | None = None
    """So many are meant to be read in one call: a longer turn is read in parts. None: whole."""
    again: int = 0
    """How often just these turns were read before: the run was let go, or they were edited."""
    read_at: int | None = None
    """`HistoryEntry.seq` of the newest change there was; None does not check whether a turn was
    edited since."""

    @property
    def run_id(self) -> str:
        """``reflect/<16 hex>`` of namespace, thread, turns and `again`: the same batch is the same
        run."""
        parts = [*self.namespace, "", self.thread_id, *(turn.key for turn in self.turns)]
        return f"reflect/{digest(*parts, *([str(self.again)] if self.again else []))}"

    def turn(self, key: str) -> Turn | None:
        """The turn of this key, among those to be read."""
        return next((turn for turn in self.turns if turn.key == key), None)


def kept_close(fact: Fact, batch: Batch) -> Fact | None:
    """The fact with the privacy and owner of what it was made of; None where that has several
    private owners, so that nobody may read it.

    An extractor may make a fact more private than its turns, never less.
    """
    turns = [turn for key in fact.evidence if (turn := batch.turn(key)) is not None]
    whose = owner_of([replace(turn, privacy=turn.privacy_of(fact.text)) for turn in turns])
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
