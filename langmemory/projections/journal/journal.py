"""The journal of a memory file: its pages as values."""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from langmemory.errors import ClosedStoreError, DatabaseError
from langmemory.namespaces import check_namespace
from langmemory.ports import journal as ports
from langmemory.ports.journal import DerivedRow, JournalRows, Naming, QuestionRow, ReplacedRow
from langmemory.projections.journal.files import JournalFiles
from langmemory.projections.journal.memory_files import MemoryFiles
from langmemory.projections.journal.pages import Learned, Page, Session, sessions
from langmemory.types import Namespace

logger = logging.getLogger("langmemory.store")

QUOTED_CHARACTERS: Final = 120
"""Of each fact that a question is about."""
UNREACHED: Final = (OSError, DatabaseError, ClosedStoreError)
"""Why files cannot follow: of theirs, or because the store cannot be read any more."""


class Journal:
    """The journal of what was learned, day by day. It holds nothing itself: every page is read
    from the memory file."""

    __slots__ = ("_rows",)

    def __init__(self, rows: JournalRows) -> None:
        self._rows = rows

    def pages(self, prefix: Namespace = (), *, days: Collection[date] | None = None) -> list[Page]:
        """Return a page of what was learned for each day, by namespace, owner and day.

        Args:
            prefix: By whole labels; ``()`` is the whole store.
            days: Only these, by the clock of who spoke; None is all.
        """
        prefix = check_namespace(prefix, may_be_empty=True)
        chosen = None if days is None else {day.isoformat() for day in days}
        return [page for found in self._rows.learned(prefix, chosen) for page in _pages(found)]

    def days(self, namespace: Namespace, keys: Sequence[str]) -> set[date]:
        """The days whose pages tell of these memories."""
        return self._rows.days(check_namespace(namespace), keys)

    def tell_names(self, namespace: Namespace, keys: Sequence[str]) -> bool:
        """Whether one of these memories tells what somebody is called."""
        return self._rows.tell_names(check_namespace(namespace), keys)

    def memory_files(self, folder: str | os.PathLike[str]) -> MemoryFiles:
        """`MEMORY.md` and `DREAMS.md` in a folder of the journal."""
        return MemoryFiles(folder, self._rows)

    def folders(self) -> list[Path]:
        """Where files of the journal stand, whoever had them written: what is undone, decided,
        forgotten, deleted or expired is followed in each of them."""
        return self._rows.folders()

    def keep(self, folder: Path) -> None:
        """Note in the file that the journal is written to this folder."""
        if folder not in self.folders():
            self._rows.keep(folder)

    def follow(self) -> None:
        """Make the files of the pages that were marked say what the file says, in every folder.

        A page is marked by the transaction that changes what it tells of, so that it also follows
        what a process wrote that ended before its files did.
        """
        try:
            pages, newest = self._rows.stale()
        except UNREACHED as error:
            _warn_unread(self._rows.path, error)
            return
        if not newest:
            return
        days: dict[Namespace, set[date]] = defaultdict(set)
        for namespace, day in pages:
            days[namespace].add(date.fromisoformat(day))
        folders = self._folders()
        behind = folders is None
        for folder in folders or ():
            if not folder.is_dir():
                continue
            try:
                for namespace in days:
                    JournalFiles(folder).rewrite(self, namespace, days[namespace])
                self.memory_files(folder).prune(days)
            except UNREACHED as error:  # what was to be deleted is deleted all the same
                _warn(folder, error)
                behind = True
        if not behind:
            self._unmark(newest)

    def _newest_mark(self) -> int:
        with suppress(DatabaseError, ClosedStoreError):
            return self._rows.stale()[1]
        return 0

    def _unmark(self, newest: int) -> None:
        with suppress(DatabaseError, ClosedStoreError):  # else the next one follows once more
            self._rows.unmark(newest)

    def rebuild(self) -> list[Path] | None:
        """Make every page of every folder what the file says, after something was forgotten.

        Returns:
            Folders that are behind, which is logged; None where it is not known which there are.
        """
        newest = self._newest_mark()
        folders = self._folders()
        if folders is None:
            return None
        behind = []
        for folder in folders:
            try:
                if folder.is_dir():
                    JournalFiles(folder).rebuild(self)
                    self.memory_files(folder).prune()
            except UNREACHED as error:
                _warn(folder, error)
                behind.append(folder)
        if newest and not behind:
            self._unmark(newest)
        return behind

    def _folders(self) -> list[Path] | None:
        """Return where the journal stands, after a transaction that is done whatever becomes of it."""
        try:
            return self.folders()
        except UNREACHED as error:
            _warn_unread(self._rows.path, error)
            return None


def _warn_unread(path: str, error: Exception) -> None:
    logger.warning(
        "Where the journal of %s stands could not be read: %s. If it has files, run `langmemory "
        "journal --rebuild --path` with their folder.", path, error,
    )  # fmt: skip


def _warn(folder: Path, error: Exception) -> None:
    logger.warning(
        "The journal in %s still tells of what is gone: %s. Once it can be written to, run "
        "`langmemory journal --rebuild --path %s`.", folder, error, folder,
    )  # fmt: skip


def _pages(found: ports.Learned) -> Iterator[Page]:
    by_page: dict[tuple[str | None, str], list[DerivedRow]] = defaultdict(list)
    for told in found.derived:
        by_page[_reader(told), told.day].append(told)
    replaced: dict[str, list[ReplacedRow]] = defaultdict(list)
    for row in found.replaced:
        replaced[row.by].append(row)
    for (owner, day), rows in sorted(by_page.items(), key=lambda one: (one[0][0] or "", one[0][1])):
        names = found.names(owner)
        parts = [_part(row, replaced.get(row.key, ()), names) for row in rows]
        yield Page(
            namespace=found.namespace,
            owner=owner,
            day=date.fromisoformat(day),
            sessions=sessions([*parts, *_questions(rows, found.questions, names)]),
        )


def _reader(row: DerivedRow | ReplacedRow | QuestionRow) -> str | None:
    """Whose alone it is; None for everybody."""
    return (row.owner or "") if row.privacy == "private" else None


def _part(row: DerivedRow, replaced: Iterable[ReplacedRow], names: Naming) -> Session:
    def told(text: object, by: DerivedRow | ReplacedRow = row) -> str:
        return names.told(row.namespace, by.owner, by.value, str(text))

    value, text = row.value, told(row.value.get("text", ""))
    if row.key.startswith("summary/"):
        return Session(
            thread_id=str(value.get("thread_id", "")),
            summaries=(text,),
            decisions=tuple(map(told, _texts(value.get("decisions")))),
            open_points=tuple(map(told, _texts(value.get("open_points")))),
        )
    instead_of = [
        told(old.value.get("text", ""), old)
        for old in replaced
        if _reader(old) in (None, _reader(row)) and _said(old.value) <= _said(value)
    ]
    learned = Learned(
        text=text,
        until=row.until,
        instead_of=tuple(instead_of),
        waits=row.status in ("pending", "approved"),
    )
    return Session(thread_id=row.thread or "", learned=(learned,))


def _questions(
    rows: Sequence[DerivedRow], asked: Iterable[QuestionRow], names: Naming
) -> Iterator[Session]:
    """Questions about a fact of the page, with the facts they are about."""
    facts = {row.key: row for row in rows}
    for _, group in groupby(asked, key=lambda row: row.review):
        about = list(group)
        fact = facts.get(about[0].key)
        if fact is not None and all(_reader(one) in (None, _reader(fact)) for one in about):
            texts = (
                names.told(fact.namespace, one.owner, one.value, _quoted(one.value))
                for one in about
            )
            quoted = " / ".join(f"“{text}”" for text in texts)
            question = f"{about[0].question} {quoted}"
            yield Session(thread_id=fact.thread or "", questions=(question,))


def _quoted(value: dict[str, Any]) -> str:
    return " ".join(str(value.get("text", "")).split())[:QUOTED_CHARACTERS]


def _said(value: dict[str, Any]) -> str:
    return str(value.get("said_at", ""))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
