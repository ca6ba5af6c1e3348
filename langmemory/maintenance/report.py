"""What a task of a night did: its runs, figures and lines, and its changes as sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from langmemory.changes import (
    AddMemory,
    Change,
    Invalidate,
    Merge,
    OpenReview,
    RemoveMemory,
    SetStatus,
    Supersede,
    UpdateMemory,
    WithdrawReview,
)

PRIORITIES: Final = {
    "mandate": "promoted to mandate",
    "guardrail": "promoted to guardrail",
    "reference": "brought back",
    "archive": "put away",
}
STATUSES: Final = {"archived": "archived", "active": "active now", "approved": "approved"}
LONGEST: Final = 100
"""Characters of a memory's text that a sentence quotes."""


def sentences(changes: Sequence[Change], texts: Mapping[str, str]) -> list[str]:
    """Return a sentence for each change that a person is told of, as in "put away: 'Ada likes tea.' (unused
    for 120 days)".

    Args:
        changes: Of one namespace.
        texts: By key, what the memories said before.
    """
    return list(_each(changes, texts))


def quote_line(text: str) -> str:
    """Return a text on one line in quotes, its beginning where it is long."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        text = text[:LONGEST].rsplit(" ", 1)[0] + " …"
    return f"'{text}'"


def _each(changes: Sequence[Change], texts: Mapping[str, str]) -> Iterator[str]:
    added = {
        one.key: str(one.value.get("text", "")) for one in changes if isinstance(one, AddMemory)
    }

    def text_of(key: str) -> str:
        return quote_line(texts.get(key) or added.get(key) or key)

    for one in changes:
        why = f" ({one.reason})" if one.reason else ""
        match one:
            case AddMemory() | UpdateMemory() if one.facets.kind == "archival" and one.value:
                period = f"{one.value.get('level')} {one.value.get('period')}"
                yield f"summarised: {period}, {quote_line(str(one.value.get('text')))}{why}"
            case AddMemory():
                yield f"learned: {text_of(one.key)}{why}"
            case UpdateMemory() if one.facets.priority is not None:
                yield f"{PRIORITIES[one.facets.priority]}: {text_of(one.key)}{why}"
            case UpdateMemory():
                yield f"changed: {text_of(one.key)}{why}"
            case SetStatus():
                yield f"{STATUSES.get(one.status, one.status)}: {text_of(one.key)}{why}"
            case Supersede():
                yield f"superseded: {text_of(one.key)} by {text_of(one.by)}{why}"
            case Invalidate():
                yield f"no longer true: {text_of(one.key)}{why}"
            case RemoveMemory():
                yield f"deleted: {text_of(one.key)}{why}"
            case Merge():
                others = ", ".join(map(text_of, one.others))
                yield f"merged: {others} into {text_of(one.key)}{why}"
            case OpenReview():
                yield f"asked: {one.question}"
            case WithdrawReview():
                yield f"withdrawn: a question{why}"
            case _:  # of the graph, and what was read: the changes in full tell them
                continue


@dataclass(kw_only=True, slots=True)
class TaskReport:
    """What one task did in one night. Plain JSON by `dataclasses.asdict`."""

    task: str
    runs: list[str] = field(default_factory=list)
    """Ids of the runs, in order."""
    lines: list[str] = field(default_factory=list)
    """What changed, or with a dry run would; one line a change."""
    told: list[str] = field(default_factory=list)
    """The same as sentences for people, with the texts of the memories."""
    figures: dict[str, float] = field(default_factory=dict)
    """Counts and sizes by name."""
    advice: list[str] = field(default_factory=list)
    """What a person is told, with the next step."""
    refused: list[str] = field(default_factory=list)
    """What was not done, and why."""
    model_calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    unfinished: bool = False
    """Whether the budget ended it; the next night goes on."""
    error: str | None = None
    """Why it failed; never memory text."""
