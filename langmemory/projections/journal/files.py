"""The journal as files: Markdown pages of days and months, written whole and put in place at once."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from langmemory.files import create_file, create_folder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger("langmemory.store")

_DRAFT: Final = re.compile(
    r"\.(?:\d{4}-\d\d(?:-\d\d)?|MEMORY|DREAMS|STATE(?:-archive)?)\.md\.\d+\.\d+"
)
"""Names of pages that are being written, by process and thread."""


def tidy(folder: Path, top: Path) -> None:
    """Remove a folder below another, and those above it up to there, as far as they are empty now."""
    with suppress(OSError):  # somebody writes into it, or was faster
        while folder != top:
            folder.rmdir()
            folder = folder.parent


def write_file(file: Path, text: bytes, is_ours: Callable[[Path], bool]) -> bool:
    """Put a page in place at once, unless a file of somebody else is there; whether it is different now."""
    if file.is_file() and (file.read_bytes() == text or not is_ours(file)):
        return False
    create_folder(file.parent)
    draft = file.with_name(f".{file.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with _draft_file(draft) as stream:
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
def _draft_file(draft: Path) -> Iterator[BinaryIO]:
    """A new file that only its owner may read, locked as long as it is written: `remove_left`
    takes none that somebody still writes."""
    while True:
        with suppress(FileNotFoundError):
            draft.unlink()  # of a process of this number that was killed
        create_file(draft)
        with draft.open("r+b") as stream:
            if _try_lock(stream) and _is_same(draft, stream):
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
                if _try_lock(stream) and _is_same(draft, stream):
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


def _try_lock(stream: BinaryIO) -> bool:
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
