"""The journal of a memory file: its pages as values."""

from __future__ import annotations

import logging
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

from langmemory.errors import ClosedStoreError, DatabaseError
from langmemory.namespaces import check_namespace
from langmemory.ports.journal import JournalRows
from langmemory.projections.journal import memory_page, month_page, state_files
from langmemory.projections.journal.files import remove_left, tidy, write_file
from langmemory.projections.journal.memory_files import MemoryFiles, memory_pages
from langmemory.projections.journal.memory_page import MemoryPage
from langmemory.projections.journal.month_page import MonthPage
from langmemory.projections.journal.months import month_page as of_month
from langmemory.projections.journal.months import pages_of
from langmemory.projections.journal.pages import (
    ARCHIVE,
    MARK,
    Page,
    archive_path_of_day,
    folders_of,
    render,
)
from langmemory.projections.journal.state_files import StateFiles
from langmemory.types import Namespace

logger = logging.getLogger("langmemory.store")

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
        return [page for found in self._rows.learned(prefix, chosen) for page in pages_of(found)]

    def written(
        self, namespace: Namespace | None = None, *, days: Collection[date] | None = None
    ) -> dict[tuple[str, ...], str]:
        """Return the files of the journal, as folders and name with their text: a page for each day, in the
        archive where its month is distilled, and a page for each such month.

        Args:
            namespace: Exactly this one; None is all.
            days: Only these, and their months; None is all.
        """
        through = self._rows.distilled()
        files: dict[tuple[str, ...], str] = {}
        months: dict[tuple[Namespace, str], None] = {}
        if namespace is not None and days is not None:
            touched = sorted({f"{day:%Y-%m}" for day in days})
            last = through.get(namespace, "")
            months = {(namespace, one): None for one in touched if one <= last}
        for page in self.pages(namespace or (), days=days):
            if namespace not in (None, page.namespace):
                continue
            month = f"{page.day:%Y-%m}"
            is_distilled = month <= through.get(page.namespace, "")
            files[page.archived if is_distilled else page.path] = render(page)
            if is_distilled:
                months[page.namespace, month] = None
        for namespace, month in months:
            for distilled in self.month(namespace, month):
                files[distilled.path] = month_page.render(distilled)
        return files

    def month(self, namespace: Namespace, month: str) -> list[MonthPage]:
        """Return what a month came to, for everybody and for each owner of private memories.

        Args:
            month: YYYY-MM.
        """
        by_owner: dict[str | None, list[Page]] = defaultdict(list)
        with self._rows.month(check_namespace(namespace), month) as rows:
            if rows is None:
                return []
            for page in pages_of(rows.learned):
                by_owner[page.owner].append(page)
            return [of_month(rows, month, owner, pages) for owner, pages in by_owner.items()]

    def distil(
        self, prefix: Namespace = (), *, through: str | None, dry_run: bool = False
    ) -> dict[tuple[Namespace, str], int]:
        """Let one page stand for each month up to this one, and move its days to the archive; the store's
        memories stay as they are, and the files follow by `follow`.

        Args:
            prefix: By whole labels; ``()`` is the whole store.
            through: YYYY-MM, see `distilled_through`; None moves the days of every month back.

        Returns:
            The months of namespaces that are concerned, with their days.
        """
        prefix = check_namespace(prefix, may_be_empty=True)
        days = self._rows.distil(prefix, through, dry_run=dry_run)
        return dict(sorted(Counter((namespace, day[:7]) for namespace, day in days).items()))

    def days(self, namespace: Namespace, keys: Sequence[str]) -> set[date]:
        """The days whose pages tell of these memories."""
        return self._rows.days(check_namespace(namespace), keys)

    def tell_names(self, namespace: Namespace, keys: Sequence[str]) -> bool:
        """Whether one of these memories tells what somebody is called."""
        return self._rows.tell_names(check_namespace(namespace), keys)

    def memory_files(self, folder: str | os.PathLike[str]) -> MemoryFiles:
        """`MEMORY.md` and `DREAMS.md` in a folder of the journal."""
        return MemoryFiles(folder, self._rows)

    def state_files(self, folder: str | os.PathLike[str]) -> StateFiles:
        """`STATE.md` and its archive in a folder of the journal."""
        return StateFiles(folder, self._rows)

    def state_pages(self, namespace: Namespace) -> dict[str | None, str]:
        """Return `STATE.md` of one namespace as text: None has what everybody may read, and each owner of
        what is private theirs.

        Args:
            namespace: Exactly this one.
        """
        namespace = check_namespace(namespace)
        rows = self._rows.state(namespace)
        found = {one.owner: one for one in state_files.pages(namespace, rows)}
        found.setdefault(None, state_files.StatePage(namespace=namespace, owner=None, rows=()))
        return {owner: state_files.render(page)[state_files.NAME] for owner, page in found.items()}

    def memory_pages(
        self, namespace: Namespace, *, budget_tokens: int, now: datetime
    ) -> dict[str | None, str]:
        """Return `MEMORY.md` of one namespace as text: None has what everybody may read, and each owner of
        private memories theirs.

        Args:
            namespace: Exactly this one.
            budget_tokens: How long a page may be, about.
            now: The most salient at this time come first.
        """
        namespace = check_namespace(namespace)
        pages: dict[str | None, MemoryPage] = {None: MemoryPage(namespace=namespace, owner=None)}
        for found in self._rows.remembered(namespace, int(now.timestamp() * 1_000_000)):
            if found.namespace == namespace:
                pages |= {page.owner: page for page in memory_pages(found)}
        return {owner: memory_page.render(page, budget_tokens) for owner, page in pages.items()}

    def folders(self) -> list[Path]:
        """Where files of the journal stand, whoever had them written: what is undone, decided,
        forgotten, deleted or expired is followed in each of them."""
        return self._rows.folders()

    def keep(self, folder: Path) -> None:
        """Note in the file that the journal is written to this folder."""
        if folder not in self.folders():
            self._rows.keep(folder)

    def follow(self) -> bool:
        """Make the files of the pages that were marked say what the file says, in every folder; return
        whether they do.

        A page is marked by the transaction that changes what it tells of, so that it also follows
        what a process wrote that ended before its files did.
        """
        try:
            pages, newest = self._rows.stale()
        except UNREACHED as error:
            _warn_unread(self._rows.path, error)
            return False
        if not newest:
            return True
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
                self.state_files(folder).follow(days)
            except UNREACHED as error:  # what was to be deleted is deleted all the same
                _warn(folder, error)
                behind = True
        if not behind:
            self._unmark(newest)
        return not behind

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
                    self.state_files(folder).rebuild()
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


class JournalFiles:
    """Markdown files of days and months, in a folder for each namespace: what `Journal.written` says.

    Files are written whole and put in place at once. Only files that begin as pages do are ever
    overwritten or removed. The store keeps in mind where they are (`Journal.folders`).

    Args:
        folder: Where; made when something is written.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser().absolute()

    def write(self, journal: Journal, namespace: Namespace, keys: Sequence[str]) -> int:
        """After these memories changed: write their days anew; how many files are different."""
        days = journal.days(namespace, keys) if keys else set()
        if not days:
            return 0
        journal.keep(self.folder)
        if journal.tell_names(namespace, keys):  # which stand on every page
            return self.rebuild(journal)
        return self.rewrite(journal, namespace, days)

    def rewrite(self, journal: Journal, namespace: Namespace, days: Collection[date]) -> int:
        """Make these days of a namespace what the store says, also where that is nothing; how many
        files are different."""

        here = self.folder.joinpath(*folders_of(namespace, None))
        places = ("", "*.private/", f"{ARCHIVE}/*/", f"*.private/{ARCHIVE}/*/")
        remove_left(draft for place in places for draft in here.glob(f"{place}.*"))
        return self._follow(
            lambda: journal.written(namespace, days=days), lambda: _of_days(here, days)
        )

    def rebuild(self, journal: Journal) -> int:
        """Make the folder what the store says, also where that is nothing; how many files are
        different."""

        def told() -> dict[tuple[str, ...], str]:
            found = journal.written()
            if found:
                journal.keep(self.folder)
            return found

        for draft in remove_left(list(self.folder.rglob(".*"))):
            tidy(draft.parent, self.folder)
        return self._follow(told, lambda: sorted(self.folder.rglob("*.md")))

    def _follow(
        self,
        told: Callable[[], Mapping[tuple[str, ...], str]],
        written: Callable[[], Iterable[Path]],
    ) -> int:
        """Write pages and remove the others of those written, until nothing is different any more:
        other processes delete and write, too, and the last to write must not write what was."""
        different: set[Path] = set()
        while changed := set(self._sync_files(told(), written())):
            different |= changed
        return len(different)

    def _sync_files(
        self, told: Mapping[tuple[str, ...], str], written: Iterable[Path]
    ) -> Iterator[Path]:
        files = {self.folder.joinpath(*path): text for path, text in told.items()}
        for file, text in files.items():
            if write_file(file, text.encode(), _is_page):
                yield file
        for file in written:
            if file not in files and _is_page(file):
                file.unlink(missing_ok=True)
                tidy(file.parent, self.folder)
                yield file


def _of_days(folder: Path, days: Iterable[date]) -> Iterator[Path]:
    """Files that pages of these days and their months may stand in, everybody's and those of single
    owners."""
    names = {f"{day}.md" for day in days} | {"/".join(archive_path_of_day(day)) for day in days}
    names |= {f"{day:%Y-%m}.md" for day in days}
    for name in sorted(names):
        yield folder / name
        yield from sorted(folder.glob(f"*.private/{name}"))


def _is_page(file: Path) -> bool:
    return file.is_file() and file.read_bytes().split(b"\n", 2)[1:2] == [MARK.encode()]


def distilled_through(mode: Literal["distilled", "full"], now: datetime) -> str | None:
    """Return the last month, YYYY-MM, that is over by every clock on earth; None where the journal is to
    keep all days in their places (``full``)."""
    if mode == "full":
        return None
    first = (now.astimezone(UTC) - timedelta(hours=12)).replace(day=1)
    return f"{first - timedelta(days=1):%Y-%m}"


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
