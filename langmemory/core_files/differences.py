"""Differences of two and of three texts, by lines."""

from __future__ import annotations

from difflib import SequenceMatcher, unified_diff
from itertools import pairwise

CONTEXT_LINES = 3


def difference(before: str, after: str, *, old: str, new: str) -> str:
    """Return a unified diff of two texts, with the names of both; empty where they are the same."""
    lines = unified_diff(
        before.split("\n") if before else [],
        after.split("\n") if after else [],
        old,
        new,
        lineterm="",
        n=CONTEXT_LINES,
    )
    return "\n".join(lines)


def merged(base: str, one: str, other: str) -> str | None:
    """Return a text with the changes that two texts made to a third; None where both changed the same lines,
    or lines beside each other."""
    lines = base.split("\n")
    changes = sorted({*_changes(lines, one.split("\n")), *_changes(lines, other.split("\n"))})
    for (_, end, _), (start, _, _) in pairwise(changes):
        if start <= end:
            return None
    for start, end, new in reversed(changes):
        lines[start:end] = new
    return "\n".join(lines)


def _changes(base: list[str], text: list[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return which lines, from and up to, a text replaces by which."""
    matcher = SequenceMatcher(None, base, text, False)
    return [
        (start, end, tuple(text[first:last]))
        for kind, start, end, first, last in matcher.get_opcodes()
        if kind != "equal"
    ]
