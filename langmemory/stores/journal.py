"""The journal of a store: its pages as values, and as files that follow it."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Final

from langmemory.engines.sqlite.background import journal
from langmemory.engines.sqlite.background.journal import DerivedRow, QuestionRow, ReplacedRow
from langmemory.engines.sqlite.file import settings
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.file.times import by_clock
from langmemory.engines.sqlite.records import items, standing
from langmemory.engines.sqlite.writing.naming import Names
from langmemory.errors import ClosedStoreError, DatabaseError
from langmemory.files import create_file, create_folder
from langmemory.lifecycle.journal import (
    MARK,
    Learned,
    Page,
    Session,
    file_name,
    render,
    sessions,
)
from langmemory.stores.base import Pages, SQLiteBaseStore
from langmemory.types import Namespace

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger("langmemory.store")

QUOTED_CHARACTERS: Final = 120
"""Of each fact that a question is about."""
_DRAFT: Final = re.compile(r"\.\d{4}-\d\d-\d\d\.md\.\d+\.\d+")
"""Names of pages that are being written, by process and thread."""
UNREACHED: Final = (OSError, DatabaseError, ClosedStoreError)
"""Why files cannot follow: of theirs, or because the store cannot be read any more."""


class Journaling(SQLiteBaseStore):
    """What was learned, day by day."""

    __slots__ = ()

    def journal(
        self, prefix: Namespace = (), *, days: Collection[date] | None = None
    ) -> list[Page]:
        """What was said came to, a page for each day, by namespace, owner and day.

        Args:
            prefix: By whole labels; ``()`` is the whole store.
            days: Only these, by the clock of who spoke; None is all.
        """
        prefix = self._check_namespace(prefix, may_be_empty=True)
        chosen = None if days is None else {day.isoformat() for day in days}
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            return [
                page
                for namespace, path in journal.namespaces(connection, prefix)
                for page in _pages(connection, namespace, path, chosen)
            ]

    def journal_days(self, namespace: Namespace, keys: Sequence[str]) -> set[date]:
        """The days whose pages tell of these memories."""
        namespace = self._check_namespace(namespace)
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            found = [items.find(connection, namespace, key) for key in keys]
            pages = journal.pages_of(connection, [item for item in found if item is not None])
        return {date.fromisoformat(day) for _, day in pages}

    def tell_names(self, namespace: Namespace, keys: Sequence[str]) -> bool:
        """Whether one of these memories tells what somebody is called."""
        with self._engine.read() as snapshot:
            return standing.tell_names(snapshot.connection, self._check_namespace(namespace), keys)

    def journal_folders(self) -> list[Path]:
        """Where files of the journal stand, whoever had them written: what is undone, decided,
        forgotten, deleted or expired is followed in each of them."""
        with self._engine.glance() as snapshot:
            return [Path(folder) for folder in settings.journals(snapshot.connection)]

    def keep_journal(self, folder: Path) -> None:
        """Note in the file that the journal is written to this folder."""
        if folder not in self.journal_folders():
            with self._engine.write() as connection:
                settings.add_journal(connection, str(folder))

    def _rewrite(self, pages: Pages) -> None:
        days: dict[Namespace, set[date]] = defaultdict(set)
        for namespace, day in pages:
            days[namespace].add(date.fromisoformat(day))
        for folder in (_folders(self) or ()) if days else ():
            if not folder.is_dir():
                continue
            try:
                for namespace in days:
                    JournalFiles(folder).rewrite(self, namespace, days[namespace])
            except UNREACHED as error:  # what was to be deleted is deleted all the same
                _warn(folder, error)


class JournalFiles:
    """One Markdown file a day, in a folder for each namespace: what `Journaling.journal` says.

    Files are written whole and put in place at once. Only files that begin as pages do are ever
    overwritten or removed. The store keeps in mind where they are (`Journaling.journal_folders`).

    Args:
        folder: Where; made when something is written.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser().absolute()

    def write(self, store: Journaling, namespace: Namespace, keys: Sequence[str]) -> int:
        """After these memories changed: write their days anew; how many files are different."""
        days = store.journal_days(namespace, keys) if keys else set()
        if not days:
            return 0
        store.keep_journal(self.folder)
        if store.tell_names(namespace, keys):  # which stand on every page
            return self.rebuild(store)
        return self.rewrite(store, namespace, days)

    def rewrite(self, store: Journaling, namespace: Namespace, days: Collection[date]) -> int:
        """Make these days of a namespace what the store says, also where that is nothing; how many
        files are different."""

        def pages() -> list[Page]:
            found = store.journal(namespace, days=days)
            return [page for page in found if page.namespace == namespace]

        here = self.folder.joinpath(*map(file_name, namespace))
        _remove_left((*here.glob(".*"), *here.glob("*.private/.*")))
        return self._follow(pages, lambda: _of_days(here, days))

    def rebuild(self, store: Journaling) -> int:
        """Make the folder what the store says, also where that is nothing; how many files are
        different."""

        def pages() -> list[Page]:
            found = store.journal()
            if found:
                store.keep_journal(self.folder)
            return found

        for draft in _remove_left(list(self.folder.rglob(".*"))):
            self._tidy(draft.parent)
        return self._follow(pages, lambda: sorted(self.folder.rglob("*.md")))

    def _follow(
        self, pages: Callable[[], list[Page]], written: Callable[[], Iterable[Path]]
    ) -> int:
        """Write pages and remove the others of those written, until nothing is different any more:
        other processes delete and write, too, and the last to write must not write what was."""
        different: set[Path] = set()
        while changed := set(self._followed(pages(), written())):
            different |= changed
        return len(different)

    def _followed(self, pages: Iterable[Page], written: Iterable[Path]) -> Iterator[Path]:
        told = {self.folder.joinpath(*page.path): page for page in pages}
        for file, page in told.items():
            if _write(file, render(page).encode()):
                yield file
        for file in written:
            if file not in told and _is_page(file):
                file.unlink(missing_ok=True)
                self._tidy(file.parent)
                yield file

    def _tidy(self, folder: Path) -> None:
        """Remove folders that are empty now."""
        with suppress(OSError):  # somebody writes into it, or was faster
            while folder != self.folder:
                folder.rmdir()
                folder = folder.parent


def _of_days(folder: Path, days: Iterable[date]) -> Iterator[Path]:
    """Files that pages of these days may stand in, everybody's and those of single owners."""
    for day in days:
        yield folder / f"{day}.md"
        yield from sorted(folder.glob(f"*.private/{day}.md"))


def _write(file: Path, text: bytes) -> bool:
    """Whether it is different now."""
    if file.is_file() and (file.read_bytes() == text or not _is_page(file)):
        return False
    create_folder(file.parent)
    draft = file.with_name(f".{file.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with _held(draft) as stream:
            stream.write(text)
            stream.flush()
            if file.exists():
                shutil.copymode(file, draft)
            if os.name != "nt":  # there it cannot be moved while it is open
                draft.replace(file)
        if os.name == "nt":
            draft.replace(file)
    except OSError:  # a full disk; on Windows, somebody who reads the page
        with suppress(OSError):
            draft.unlink()  # nothing would ever look at it again
        raise
    return True


@contextmanager
def _held(draft: Path) -> Iterator[BinaryIO]:
    """A new file that only its owner may read, locked as long as it is written: `_remove_left`
    takes none that somebody still writes."""
    while True:
        with suppress(FileNotFoundError):
            draft.unlink()  # of a process of this number that was killed
        create_file(draft)
        with draft.open("r+b") as stream:
            if _locked(stream) and _is_same(draft, stream):
                yield stream
                return


def _remove_left(drafts: Iterable[Path]) -> list[Path]:
    """Remove drafts of pages whose writer was killed, and return them.

    Raises:
        OSError: One of them cannot be removed, and it may hold what is forgotten.
    """
    removed: list[Path] = []
    for draft in drafts:
        if not _DRAFT.fullmatch(draft.name) or not draft.is_file():
            continue
        try:
            with draft.open("r+b") as stream:
                if _locked(stream) and _is_same(draft, stream):
                    if os.name != "nt":
                        draft.unlink()
                    removed.append(draft)
            if os.name == "nt":  # where it cannot be removed while somebody writes it
                draft.unlink()
        except FileNotFoundError:  # put in place meanwhile
            continue
    if removed:
        logger.info("journal_drafts_removed count=%d", len(removed))
    return removed


def _locked(stream: BinaryIO) -> bool:
    """Whether the file is now locked by this stream. The system unlocks it when the process ends."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_same(path: Path, stream: BinaryIO) -> bool:
    """Whether the path still names the open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False


def follow(store: Journaling) -> list[Path] | None:
    """Make the journal, wherever it stands, what the store says: after something was forgotten. Folders
    that are behind, which is logged; None where it is not known which there are."""
    folders = _folders(store)
    if folders is None:
        return None
    behind = []
    for folder in folders:
        try:
            if folder.is_dir():
                JournalFiles(folder).rebuild(store)
        except UNREACHED as error:
            _warn(folder, error)
            behind.append(folder)
    return behind


def _folders(store: Journaling) -> list[Path] | None:
    """Where the journal stands, after a transaction that is done whatever becomes of its files."""
    try:
        return store.journal_folders()
    except UNREACHED as error:
        logger.warning(
            "Where the journal of %s stands could not be read: %s. If it has files, run `langmemory "
            "journal --rebuild --path` with their folder.", store.path, error,
        )  # fmt: skip
        return None


def _warn(folder: Path, error: Exception) -> None:
    logger.warning(
        "The journal in %s still tells of what is gone: %s. Once it can be written to, run "
        "`langmemory journal --rebuild --path %s`.", folder, error, folder,
    )  # fmt: skip


def _is_page(file: Path) -> bool:
    return file.is_file() and file.read_bytes().split(b"\n", 2)[1:2] == [MARK.encode()]


def _pages(
    connection: Connection, namespace: int, path: Namespace, days: Collection[str] | None
) -> Iterator[Page]:
    told = journal.derived(connection, namespace, path, days)
    if not told:
        return
    by_page: dict[tuple[str | None, str], list[DerivedRow]] = defaultdict(list)
    for found in told:
        by_page[_reader(found), found.day].append(found)
    keys = [found.key for found in told]
    replaced: dict[str, list[ReplacedRow]] = defaultdict(list)
    for row in journal.replaced(connection, namespace, keys):
        replaced[row.by].append(row)
    asked = journal.questions(connection, namespace, keys)
    for (owner, day), rows in sorted(by_page.items(), key=lambda one: (one[0][0] or "", one[0][1])):
        names = Names(connection, owner or "")
        parts = [_part(row, replaced.get(row.key, ()), names) for row in rows]
        yield Page(
            namespace=path,
            owner=owner,
            day=date.fromisoformat(day),
            sessions=sessions([*parts, *_questions(rows, asked, names)]),
        )


def _reader(row: DerivedRow | ReplacedRow | QuestionRow) -> str | None:
    """Whose alone it is; None for everybody."""
    return (row.owner or "") if row.privacy == "private" else None


def _part(row: DerivedRow, replaced: Iterable[ReplacedRow], names: Names) -> Session:
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
        until=by_clock(row.invalid_at_us, row.ended_said_at, row.value.get("said_at")),
        instead_of=tuple(instead_of),
        waits=row.status in ("pending", "approved"),
    )
    return Session(thread_id=row.thread or "", learned=(learned,))


def _questions(
    rows: Sequence[DerivedRow], asked: Iterable[QuestionRow], names: Names
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
