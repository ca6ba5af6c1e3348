"""Two facts that may not both hold, or may be one, and which of them gives way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.statements import cues

Verdict = Literal["duplicate", "supersedes", "both_true", "unrelated", "unclear"]
"""The verdict on a new fact beside an older one. ``supersedes``: only one of them can hold at a time, and the
one that began later is the one that holds."""

About = Literal["contradiction", "duplicate"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A new fact and one it may stand against."""

    new: ComparableFact
    old: ComparableFact
    """Known, or from the same batch."""
    about: About
    verdict: Verdict | None = None
    """None: structure does not decide it."""
    undecided: Verdict = "unclear"
    """The verdict where no judge decides it either: a question, or both hold."""
    reason: str = ""
    until: datetime | None = None
    """When the fact that gives way stopped being true, where it is not when the other began."""
    comes_late: bool = False
    """The known fact corrects what the new one says, which was said before it."""

    @property
    def loser(self) -> ComparableFact:
        """The fact that is over where both cannot hold: the one that began earlier. News that comes late
        does not replace what is known of a later time."""
        is_news = not self.comes_late and (
            self.until is not None or later(self.new, self.old) is not self.old
        )
        return self.old if is_news else self.new

    @property
    def winner(self) -> ComparableFact:
        """The other fact."""
        return self.old if self.loser is self.new else self.new

    @property
    def over_since(self) -> datetime:
        """When the loser stopped being true."""
        if self.comes_late:
            return self.new.start  # it never was true
        if self.until is not None:
            return self.until
        return self.old.start if self.loser is self.new else max(self.new.start, self.old.start)


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Pairs about one subject and relation as a rule: what one call of a judge decides."""

    subject: str
    """Entity key; empty where the facts claim nothing, or under relations nobody knows."""
    relation: str
    pairs: tuple[Pair, ...]

    @property
    def open(self) -> tuple[Pair, ...]:
        """Pairs a judge has to decide."""
        return tuple(pair for pair in self.pairs if pair.verdict is None)


def later(new: ComparableFact, old: ComparableFact) -> ComparableFact | None:
    """Which one began later; None where their times and the order of telling do not say."""
    if new.start == old.start:
        changed = [one for one in (new, old) if speaks_of_change(one)]
        return changed[0] if len(changed) == 1 else None
    if new.start < old.start:
        return old
    return new if new.said_at >= old.said_at else None


def speaks_of_change(statement: ComparableFact) -> bool:
    """Whether the words themselves say that something changed."""
    return cues().changed.search(f"{statement.text} {statement.heard}") is not None
