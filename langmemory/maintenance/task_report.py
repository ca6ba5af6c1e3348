"""TaskReport: what one task did in one night, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass, field


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
