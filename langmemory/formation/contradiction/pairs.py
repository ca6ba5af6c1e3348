"""Two facts that may not both hold, or may be one, and which of them gives way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from langmemory.formation.contradiction.statements import Statement
from langmemory.formation.statements import cues

Verdict = Literal["duplicate", "supersedes", "both_true", "unrelated", "unclear"]
"""What a new fact is to an older one. ``supersedes``: only one of them can hold at a time, and the
one that began later is the one that holds."""

About = Literal["contradiction", "duplicate"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A new fact and one it may stand against."""

    new: Statement
    old: Statement
    """Known, or from the same batch."""
    about: About
    verdict: Verdict | None = None
    """None: structure does not decide it."""
    undecided: Verdict = "unclear"
    """What it comes to where no judge decides it either: a question, or both hold."""
    reason: str = ""
    until: datetime | None = None
    """When the fact that gives way stopped being true, where it is not when the other began."""
    comes_late: bool = False
    """The known fact corrects what the new one says, which was said before it."""


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


def gives_way(pair: Pair) -> tuple[Statement, datetime]:
    """Which fact of a pair that cannot both hold is over, and since when.

    The one that began earlier, when the other began; news that comes late does not replace what
    is known of a later time.
    """
    new, old = pair.new, pair.old
    if pair.comes_late:
        return new, new.start  # it never was true
    if pair.until is not None:
        return old, pair.until
    if later(new, old) is old:
        return new, old.start
    return old, max(new.start, old.start)


def stays(pair: Pair) -> Statement:
    """The other fact of a pair of which one `gives_way`."""
    return pair.old if gives_way(pair)[0] is pair.new else pair.new


def later(new: Statement, old: Statement) -> Statement | None:
    """Which one began later; None where their times and the order of telling do not say."""
    if new.start == old.start:
        changed = [one for one in (new, old) if speaks_of_change(one)]
        return changed[0] if len(changed) == 1 else None
    if new.start < old.start:
        return old
    return new if new.said_at >= old.said_at else None


def speaks_of_change(statement: Statement) -> bool:
    """Whether the words themselves say that something changed."""
    return cues().changed.search(f"{statement.text} {statement.heard}") is not None
