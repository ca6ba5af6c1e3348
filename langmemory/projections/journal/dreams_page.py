"""`DREAMS.md`: what nights of maintenance changed and why, the newest night first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from langmemory.ports.journal import DreamRow
from langmemory.projections.journal.memory_page import path_of
from langmemory.projections.journal.pages import line
from langmemory.types import Namespace

NAME: Final = "DREAMS.md"
MARK: Final = (
    "<!-- Written by langmemory from its history. What is changed here is overwritten. -->"
)
MOST_LINES: Final = 50
"""Changes of one night that are told; the others are counted."""
_TOLD: Final[Mapping[str, str]] = {
    "add": "New", "update": "Changed", "supersede": "Outdated", "invalidate": "Over",
    "archive": "Put away", "status": "Standing", "merge": "Merged away", "restore": "Back",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class DreamsPage:
    """What nights changed in one namespace, for everybody in it or for the owner of what is private."""

    namespace: Namespace
    owner: str | None
    rows: Sequence[DreamRow]
    """The newest first."""

    @property
    def path(self) -> tuple[str, ...]:
        """Folders and file name."""
        return path_of(self.namespace, self.owner, NAME)


def render(page: DreamsPage) -> str:
    """Return the page as Markdown."""
    nights = groupby(page.rows, key=lambda row: (row.day, row.night))
    blocks = [f"# Dreams\n{MARK}"]
    for (day, night), rows in nights:
        blocks.append(f"## {day} ({line(night)})\n\n" + "\n".join(_lines(list(rows))))
    return "\n\n".join(blocks) + "\n"


def _lines(rows: Sequence[DreamRow]) -> Iterator[str]:
    told = list(dict.fromkeys(filter(None, map(_line, reversed(rows)))))
    yield from told[:MOST_LINES]
    if len(told) > MOST_LINES:
        yield f"- and {len(told) - MOST_LINES} more: `langmemory maintain --list`"


def _line(row: DreamRow) -> str:
    before = f"~~{line(row.before)}~~ → " if row.before and row.before != row.text else ""
    because = f" ({line(row.reason)})" if row.reason else ""
    what = (
        f"Summary of {line(row.summary_of)}"
        if row.summary_of
        else _TOLD.get(row.action, row.action)
    )
    return f"- {what}: {before}{line(row.text)}{because}"


def pages(namespace: Namespace, rows: Iterable[DreamRow]) -> Iterator[DreamsPage]:
    """Yield a page for everybody, and one for each owner of private memories."""
    by_owner: dict[str | None, list[DreamRow]] = {}
    for row in rows:
        owner = (row.owner or "") if row.privacy == "private" else None
        by_owner.setdefault(owner, []).append(row)
    for owner, found in by_owner.items():
        yield DreamsPage(namespace=namespace, owner=owner, rows=found)
