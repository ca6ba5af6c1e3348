"""Numbers with what they count, as English has it."""

from __future__ import annotations


def count_noun(count: int, noun: str, plural: str | None = None) -> str:
    """ "1 turn", "2 turns", "1,200 memories"; `plural` where it is not the noun with an "s"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def memories(count: int) -> str:
    """ "1 memory", "2 memories"."""
    return count_noun(count, "memory", "memories")
