"""How far a memory is trusted: by where it came from, and by the least trusted of what it rests on.

The column ``trust`` of a memory holds it. This module alone tells what a value says of it, which of two
sources is trusted less, and what a memory of a source may become by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, get_args

from langmemory.citing import FOLLOWED
from langmemory.types import Priority, Trust

SOURCES: Final[tuple[Trust, ...]] = get_args(Trust)
"""Sources, the most trusted first."""
MARKED: Final[Mapping[Trust, str]] = {
    "agent": "agent", "import": "imported", "document": "document", "tool": "tool",
}  # fmt: skip
"""Sources that a prompt names beside what they say, and how."""
OF_ROLE: Final[Mapping[str, Trust]] = {
    "assistant": "agent", "ai": "agent", "tool": "tool", "function": "tool",
}  # fmt: skip
"""Sources by the speakers that are no person."""
ROLES: Final = frozenset({"user", "human", *OF_ROLE})
"""Speakers that name nobody."""
TELLS_TRUST: Final = ("trust", "role", "kind", "editor", "source")
"""What of a value tells where it comes from."""
_EDITORS: Final = frozenset({"assistant", "summarizer"})
"""Models that write a core block."""
MAY_BECOME: Final[Mapping[Priority, frozenset[Trust]]] = {
    "mandate": frozenset({"person"}),
    "guardrail": frozenset(FOLLOWED),
}
"""Sources of what may get a priority that a prompt follows, without a person who decides on it."""


def least(trusts: Iterable[Trust]) -> Trust:
    """Return the least trusted of some sources; of none a person."""
    return max(trusts, key=SOURCES.index, default="person")


def at_least(trust: Trust) -> tuple[Trust, ...]:
    """Return the sources that are trusted as much as one, or more."""
    return SOURCES[: SOURCES.index(trust) + 1]


def trust_of(value: Mapping[str, Any]) -> Trust:
    """Return the source that a value tells: by its role, its kind, its editor, and what it says itself, which
    can only lower it."""
    said, role = value.get("trust"), value.get("role")
    found: list[Trust] = [said] if isinstance(said, str) and said in SOURCES else []
    if isinstance(role, str):
        found.append(OF_ROLE.get(role.casefold(), "person"))
    if value.get("kind") == "resource":
        found.append("document")
    if value.get("editor") in _EDITORS or value.get("source") == "agent":
        found.append("agent")
    return least(found)


_WRITER: ContextVar[Trust] = ContextVar("langmemory_writer", default="person")


@contextmanager
def written_by(writer: Trust) -> Iterator[None]:
    """Let what operations within state anew be trusted no more than who asks for it."""
    token = _WRITER.set(writer)
    try:
        yield
    finally:
        _WRITER.reset(token)


def as_written(value: Mapping[str, Any], writer: Trust | None = None) -> dict[str, Any]:
    """Return a value that is trusted no more than its writer, who is by default that of `written_by`."""
    limit = writer or _WRITER.get()
    return {**value} if limit == "person" else {**value, "trust": least([limit, trust_of(value)])}


def may_become(trust: str, priority: Priority) -> bool:
    """Return whether what comes from a source may get a priority, without a person who decides on it."""
    return trust in MAY_BECOME.get(priority, SOURCES)


def capped(trust: Trust, priority: Priority) -> Priority:
    """Return the highest priority, at most the one that is asked for, that a source may have by itself."""
    lower: tuple[Priority, ...] = (
        ("guardrail", "reference") if priority == "mandate" else ("reference",)
    )
    return next(one for one in (priority, *lower) if may_become(trust, one))
