"""The journal as files: Markdown pages of days and months, written whole and put in place at once."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from langmemory.files import create_file, create_folder
from langmemory.projections.journal.pages import ARCHIVE, MARK, archived, folders_of
from langmemory.types import Namespace

if TYPE_CHECKING:
    from langmemory.projections.journal.journal import Journal

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger("langmemory.store")

_DRAFT: Final = re.compile(
    r"\.(?:\d{4}-\d\d(?:-\d\d)?|MEMORY|DREAMS|STATE(?:-archive)?)\.md\.\d+\.\d+"
)
"""Names of pages that are being written, by process and thread."""


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
        while changed := set(self._followed(told(), written())):
            different |= changed
        return len(different)

    def _followed(
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


def tidy(folder: Path, top: Path) -> None:
    """Remove a folder below another, and those above it up to there, as far as they are empty now."""
    with suppress(OSError):  # somebody writes into it, or was faster
        while folder != top:
            folder.rmdir()
            folder = folder.parent


def _of_days(folder: Path, days: Iterable[date]) -> Iterator[Path]:
    """Files that pages of these days and their months may stand in, everybody's and those of single
    owners."""
    names = {f"{day}.md" for day in days} | {"/".join(archived(day)) for day in days}
    names |= {f"{day:%Y-%m}.md" for day in days}
    for name in sorted(names):
        yield folder / name
        yield from sorted(folder.glob(f"*.private/{name}"))


def write_file(file: Path, text: bytes, is_ours: Callable[[Path], bool]) -> bool:
    """Put a page in place at once, unless a file of somebody else is there; whether it is different now."""
    if file.is_file() and (file.read_bytes() == text or not is_ours(file)):
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
    """A new file that only its owner may read, locked as long as it is written: `remove_left`
    takes none that somebody still writes."""
    while True:
        with suppress(FileNotFoundError):
            draft.unlink()  # of a process of this number that was killed
        create_file(draft)
        with draft.open("r+b") as stream:
            if _locked(stream) and _is_same(draft, stream):
                yield stream
                return


def remove_left(drafts: Iterable[Path]) -> list[Path]:
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


def _is_page(file: Path) -> bool:
    return file.is_file() and file.read_bytes().split(b"\n", 2)[1:2] == [MARK.encode()]
