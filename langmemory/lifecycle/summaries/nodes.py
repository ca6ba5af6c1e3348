"""Nodes of the tree: their keys, the time that they cover, and their values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Literal

from langmemory.changes import AddMemory, Facets, UpdateMemory
from langmemory.pluralize import count_noun, memories
from langmemory.types import Memory

Level = Literal["day", "week", "month", "year", "theme"]
"""The stretch of time, or the theme, that a summary of the tree is about."""

LEVELS: Final[tuple[Level, ...]] = ("day", "week", "month", "year", "theme")
"""In the order in which they are built. Weeks and months are built from days, since a week may lie in two
months; years from months."""
SENTENCES: Final[Mapping[Level, int]] = {"day": 6, "week": 8, "month": 10, "year": 12, "theme": 10}
"""Sentences of a node at most."""
BELOW: Final[dict[Level, tuple[Level, ...]]] = {
    "week": ("day",), "month": ("day",), "year": ("month", "day"),
}  # fmt: skip
"""What a level is built from; a year has those days itself of whose month there is no summary."""
FEWEST: Final = 2
"""Summaries that one above them retells, at least: of a single one it would say the same again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """One sentence of a summary."""

    text: str
    sources: tuple[str, ...]
    """Keys of the node's children that it retells."""
    leaves: tuple[str, ...]
    """Keys of the turns and facts that these retell."""

    def as_value(self) -> dict[str, Any]:
        return {"text": self.text, "sources": list(self.sources), "leaves": list(self.leaves)}


def period_of(day: date, level: Level) -> str:
    """Return the period of a level that a day is in: ``2026-05-03``, ``2026-W18``, ``2026-05``, ``2026``."""
    if level == "week":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02d}"
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[level]]


def key_of(level: Level, name: str, owner: str | None) -> str:
    """Return the key of a node: of a period, or of a theme by its entity; ``owner`` is whose alone it is."""
    begins = f"theme/{name}" if level == "theme" else f"summary/{level}/{name}"
    return begins if owner is None else f"{begins}/{owner}"


def day_of(at: datetime) -> date:
    """Return the day that something was said on, UTC."""
    return at.astimezone(UTC).date()


def reader_of(memory: Memory) -> str | None:
    """Return whose alone a memory is; None for everybody's. ``""`` is private to nobody known."""
    return (memory.owner or "") if memory.privacy == "private" else None


def level_of(node: Memory) -> str:
    return str(node.value.get("level", ""))


def sentences_of(node: Memory) -> list[Sentence]:
    """Return the sentences of a node."""
    return [
        Sentence(
            text=str(one["text"]),
            sources=tuple(one["sources"]),
            leaves=tuple(one["leaves"]),
        )
        for one in node.value.get("sentences", ())
    ]


def digest_of(children: Iterable[tuple[str, str]]) -> str:
    """Return what changes when a child comes, goes, or says something else."""
    told = "\0".join(f"{key}\1{says}" for key, says in sorted(children))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_whole(node: Memory, evidence: Sequence[str]) -> bool:
    """Whether all children of a node are there, and it is readable by whom its key says."""
    value = node.value
    return len(evidence) == value.get("children") and reader_of(node) == value.get("reader")


def node_change(
    known: Memory | None,
    evidence: Sequence[str],
    *,
    level: Level,
    name: str,
    reader: str | None,
    days: tuple[date, date],
    sentences: Sequence[Sentence],
    children: Sequence[str],
    digest: str,
    by: str,
    refused: bool = False,
) -> AddMemory | UpdateMemory:
    """Return the change that makes a node what it is to be.

    Args:
        known: The node as it is; None where there is none.
        evidence: Keys that it rests on now.
        days: First and last day that it covers.
        by: ``rules`` or ``model``.
        refused: Whether a model was asked, and nothing that it answered could be used.
    """
    value: dict[str, Any] = {
        "text": "\n".join(one.text for one in sentences),
        "level": level,
        "period": name,
        "first_day": days[0].isoformat(),
        "last_day": days[1].isoformat(),
        "sentences": [one.as_value() for one in sentences],
        "children": len(children),
        "digest": digest,
        "by": by,
        "reader": reader,
        **({"refused": True} if refused else {}),
    }
    facets = Facets(
        kind="archival",
        priority="archive",
        owner=reader or None,
        privacy="shared" if reader is None else "private",
    )
    key = key_of(level, name, reader)
    below = BELOW.get(level)
    of = count_noun(len(children), below[-1]) if below else memories(len(children))
    reason = f"{count_noun(len(sentences), 'sentence')} from {of}, by {by}"
    if known is None:
        return AddMemory(
            key=key, value=value, facets=facets, evidence=tuple(children), reason=reason
        )
    return UpdateMemory(
        key=key,
        value=value,
        facets=facets,
        evidence=tuple(sorted(set(children) - set(evidence))),
        withdrawn=tuple(sorted(set(evidence) - set(children))),
        reason=reason,
    )
