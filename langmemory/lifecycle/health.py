"""Health of a memory: figures, and what each that is out of bounds asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, Literal

from langmemory.pluralize import count_noun

FADED: Final = 0.1
"""Retention below which a memory that holds counts as stale."""
WEEKS: Final = 12
"""Weeks of growth that are told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """Figures of a namespace and what is below it, at one time."""

    turns: int
    unread_turns: int
    """Turns that no reflection has read."""
    facts: int
    """Derived memories that hold."""
    without_evidence: int
    """Of these, those made by reflection of which no source is left."""
    duplicates: int
    """Of these, those whose normalised text another one has as well."""
    contradictions: int
    """Open reviews about contradictions."""
    reviews: int
    """Open reviews in all."""
    stale: int
    """Facts that hold, whose retention is below `FADED`, and that nobody cited."""
    never_shown: int
    """Facts older than thirty days that stood in no prompt."""
    entities: int
    entities_without_facts: int
    """People and things of which no memory that holds speaks."""
    without_vector: int
    """Memories that are to be found by meaning and have no vector."""
    archived: int
    """Archived memories in the memory file."""
    moved: int
    """Memories in the archive file."""
    file_bytes: int
    archive_bytes: int
    read_tokens: int = 0
    """What showing memories to models cost in all."""
    saved_tokens: int = 0
    """What it saved: the tokens of finding out, each time, what was shown, less those of showing it."""
    growth: Sequence[int] = field(default=())
    """Memories added in each of the last `WEEKS` weeks, the oldest first."""
    shown: bool = False
    """Whether it is counted at all what stands in prompts."""
    rules: Sequence[str] = field(default=())
    """Rules of the lifecycle that cannot fire, each with the reason and the next step."""

    def findings(self) -> list[Finding]:
        """Return what is out of bounds, with the next step."""
        return list(_findings(self))


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A figure out of bounds."""

    state: Literal["warn", "fail"]
    what: str
    advice: str
    """The next step."""


def _findings(one: Health) -> Iterator[Finding]:
    if one.unread_turns > 200:
        yield _warn(
            f"{count_noun(one.unread_turns, 'turn')} not yet reflected on",
            "Run `langmemory worker`, or `langmemory reflect`.",
        )
    if one.without_evidence:
        yield _warn(
            f"{count_noun(one.without_evidence, 'fact')} without any source left",
            "`langmemory list --kind semantic` shows them; archive what nobody can vouch for.",
        )
    if one.duplicates:
        yield _warn(
            f"{count_noun(one.duplicates, 'fact')} with the text of another one",
            "Run `langmemory maintain --task duplicates`.",
        )
    if one.reviews > 20 or one.contradictions:
        yield _warn(
            f"{count_noun(one.reviews, 'open review')}, {one.contradictions} about contradictions",
            "`langmemory reviews` shows and decides them.",
        )
    if one.facts and one.stale / one.facts > 0.5:
        yield _warn(
            f"{one.stale} of {one.facts} facts have faded and were never cited",
            "Run `langmemory maintain --dry-run` to see what it would put away.",
        )
    if one.shown and one.facts and one.never_shown / one.facts > 0.8:
        yield _warn(
            f"{one.never_shown} of {one.facts} facts never stood in a prompt",
            "Check the namespace and the budget of the memory block.",
        )
    if one.without_vector:
        yield Finding(
            state="fail",
            what=f"{count_noun(one.without_vector, 'memory', 'memories')} without a vector",
            advice="Run `langmemory reembed`.",
        )
    for rule in one.rules:
        what, _, advice = rule.partition(". ")
        yield _warn(what, advice or "See docs/how-to/ageing.md.")


def _warn(what: str, advice: str) -> Finding:
    return Finding(state="warn", what=what, advice=advice)


def as_json(one: Health) -> Mapping[str, object]:
    """Return the figures and findings as plain JSON."""
    return {**asdict(one), "findings": [asdict(finding) for finding in one.findings()]}
