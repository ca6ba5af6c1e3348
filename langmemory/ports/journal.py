"""The seam between the journal and an engine: rows of what was learned, and pages that are stale."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from langmemory.ports.candidates import Floats
from langmemory.types import Memory, Namespace

Pages = set[tuple[Namespace, str]]
"""Pages of the journal: namespaces and days, ISO 8601."""


class DerivedRow(NamedTuple):
    """A fact or a summary, and where it was told."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    day: str
    owner: str | None
    privacy: str
    status: str
    until: datetime | None
    """When it stopped being true, by the clock of who told it."""
    thread: str | None


class ReplacedRow(NamedTuple):
    """A fact that gave way to another."""

    key: str
    by: str
    value: dict[str, Any]
    owner: str | None
    privacy: str


class QuestionRow(NamedTuple):
    """An open review, and one of the facts it is about."""

    review: str
    question: str
    key: str
    value: dict[str, Any]
    owner: str | None
    privacy: str


class RememberedRow(NamedTuple):
    """A memory that holds, as `MEMORY.md` tells it."""

    key: str
    text: str
    statement: str
    """``preference``, ``habit`` and others; ``""`` where nobody said."""
    owner: str | None
    privacy: str


class DreamRow(NamedTuple):
    """A change that a night made, as `DREAMS.md` tells it."""

    day: str
    night: str
    action: str
    text: str
    before: str
    reason: str
    owner: str | None
    privacy: str
    summary_of: str = ""
    """Of a summary, what it covers: ``day 2026-05-03``."""


class StateRow(NamedTuple):
    """A task, decision or session, as `STATE.md` tells it."""

    key: str
    record: str
    value: Mapping[str, Any]
    holds: bool
    owner: str | None
    privacy: str
    at: datetime
    """When it changed last; of what is not changed, when it was recorded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """What one namespace holds."""

    namespace: Namespace
    core: Mapping[str, str]
    """Core blocks that say something, by label."""
    rows: Sequence[RememberedRow]
    """The most salient first."""


class Naming(Protocol):
    """Names of people, as one reader may read them."""

    def told(
        self, namespace: Namespace, owner: str | None, value: Mapping[str, Any], text: str
    ) -> str:
        """Return a text of a stored value with the name of whom it is about."""

    def of(self, namespace: Namespace, owner: str | None) -> str | None:
        """Return what somebody said they are called; None where they did not."""

    def of_entity(self, namespace: Namespace, entity: str) -> str | None:
        """Return what an entity is called whose name is somebody's id; None where it is not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """All that the journal tells of one namespace."""

    namespace: Namespace
    derived: Sequence[DerivedRow]
    replaced: Sequence[ReplacedRow]
    questions: Sequence[QuestionRow]
    names: Callable[[str | None], Naming]
    """Names as an owner reads them; None is everybody."""


class Spoken(NamedTuple):
    """A person or thing that a fact speaks of."""

    entity: str
    """Its key, links followed."""
    names: tuple[str, ...]
    """What it is called, the usual name first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthRows:
    """All that the journal tells of one month of a namespace."""

    learned: Learned
    nodes: Mapping[str | None, Memory]
    """The month's node of the tree of summaries, by whose alone it is; None is everybody's."""
    retold: Mapping[str, Memory]
    """What the nodes retell, by key."""
    vectors: Mapping[str, Floats]
    """float32[dims] by key, of unit length, of what was learned."""
    evidence: Mapping[str, tuple[str, ...]]
    """Keys of the turns that each was learned from."""
    spoken: Mapping[str, tuple[Spoken, ...]]
    """What each fact speaks of."""


class JournalRows(Protocol):
    """A store as the journal reads it."""

    @property
    def path(self) -> str:
        """Where the store is, as a person names it."""

    def learned(self, prefix: Namespace, days: Collection[str] | None) -> Iterator[Learned]:
        """Yield the namespaces in a prefix where something was learned, from one snapshot. ``days``:
        only what was told on these; None is all."""

    def remembered(self, prefix: Namespace, now_us: int) -> Iterator[Remembered]:
        """Yield what the namespaces in a prefix hold, by salience at a time."""

    def holding(
        self, namespace: Namespace, keys: Sequence[str], owner: str | None
    ) -> frozenset[str]:
        """Return those of the memories that hold and may stand on a page: of an owner what is private to
        them, of None what is not private."""

    def core(self, namespace: Namespace) -> Mapping[str, str]:
        """Return the core blocks of a namespace that say something, by label."""

    def dreaming(self) -> list[Namespace]:
        """Return the namespaces that nights have changed."""

    def dreamt(self, namespace: Namespace) -> list[DreamRow]:
        """Return what nights that stand changed in a namespace, the newest first."""

    def with_state(self, prefix: Namespace) -> list[Namespace]:
        """Return the namespaces in a prefix that have tasks, decisions or sessions, or had."""

    def state(self, namespace: Namespace) -> list[StateRow]:
        """Return the tasks, decisions and sessions of a namespace that are not archived."""

    def stamp(self) -> object:
        """Return what is another one after every change, and after something was forgotten."""

    def month(self, namespace: Namespace, month: str) -> AbstractContextManager[MonthRows | None]:
        """Return what was learned in a month, YYYY-MM, from one snapshot, which it is to be read within;
        None where nothing was."""

    def distilled(self) -> Mapping[Namespace, str]:
        """Return the last month that is distilled, YYYY-MM, of each namespace that has any."""

    def distil(self, prefix: Namespace, through: str | None, *, dry_run: bool) -> Pages:
        """Note in one transaction that the namespaces in a prefix are distilled up to a month, YYYY-MM;
        mark, and return, the days whose pages are elsewhere then. None: no month is distilled."""

    def days(self, namespace: Namespace, keys: Sequence[str]) -> set[date]:
        """Return the days whose pages tell of these memories."""

    def tell_names(self, namespace: Namespace, keys: Sequence[str]) -> bool:
        """Return whether one of these memories tells what somebody is called."""

    def folders(self) -> list[Path]:
        """Return the folders that the journal is written to."""

    def keep(self, folder: Path) -> None:
        """Note that the journal is written to this folder."""

    def stale(self) -> tuple[Pages, int]:
        """Return the pages that were marked, and the newest of the marks; 0 where there are none."""

    def unmark(self, newest: int) -> None:
        """Take back the marks up to this one."""


class Projection(Protocol):
    """Files beside a store that follow what it holds."""

    def follow(self) -> object:
        """Bring up to date what transactions have marked."""

    def rebuild(self) -> list[Path] | None:
        """Write all anew; return the folders that could not be written, None where it is not known
        which there are."""
