"""Files to be read: which of a folder, and their bytes, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from langmemory.documents.converting import readable
from langmemory.errors import ImportFormatError, with_extra
from langmemory.files import read_whole
from langmemory.resources import MOST_BYTES

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

UNREAD: Final = (
    "node_modules/", "__pycache__/", "venv/", "dist/", "build/", "target/", "*.min.js", "*.lock",
    "package-lock.json", "*.map",
)  # fmt: skip
"""Patterns of files that tools make, left out of every folder."""
MADE: Final = frozenset(name.rstrip("/") for name in UNREAD if name.endswith("/"))
"""Names of the folders among them."""
SHOWN: Final = frozenset({".github", ".claude", ".cursor", ".cursorrules"})
"""Hidden files and folders that people write for others."""


NO_TEXT: Final = "its name is not UTF-8; rename it"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells without reading that a file is as it was."""

    size: int
    modified_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        return cls(found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was at one moment."""

    data: bytes
    stamp: Stamp
    sha256: str

    @classmethod
    def of(cls, data: bytes, stamp: Stamp | None = None) -> Content:
        return cls(data, stamp or Stamp(len(data), 0), hashlib.sha256(data).hexdigest())


def read(path: Path, *, most_bytes: int = MOST_BYTES) -> Content:
    """Return a file's bytes.

    Raises:
        ImportFormatError: It is no regular file, too large, or changed whenever it was read.
        OSError: It cannot be opened.
    """

    def check(found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise ImportFormatError(f"{path} is no regular file.")
        if found.st_size > most_bytes:
            raise ImportFormatError(
                f"{path} has {found.st_size:,} bytes, more than {most_bytes:,}. Divide it, or allow "
                "more (most_bytes, --most-bytes)."
            )

    whole = read_whole(path, check)
    if whole is None:
        raise ImportFormatError(f"{path} changed while it was read. Add it again when it is whole.")
    data, found = whole
    return Content.of(data, Stamp.of(found))


def walk(
    root: Path,
    ignore: Iterable[str] = (),
    *,
    unreadable: dict[str, str],
    accepts: Callable[[str], bool] = readable,
) -> Iterator[tuple[str, Path]]:
    """Yield the readable files below a folder, each as its path relative to it, with ``/``, in order.

    Left out are `UNREAD`, what the folder's ``.gitignore`` files name, what is hidden, formats that are not
    read, and links that lead to a folder or out of this one.

    Args:
        root: The folder.
        ignore: Further patterns, as in ``.gitignore``.
        unreadable: Gets the folders and links that cannot be read, and why.
        accepts: Which names of files.
    """
    specs = [("", _spec((*UNREAD, *ignore)))]
    yield from _below(root, root.resolve(), "", specs, unreadable, accepts)


def _below(
    folder: Path,
    root: Path,
    prefix: str,
    specs: Sequence[tuple[str, GitIgnoreSpec]],
    unreadable: dict[str, str],
    accepts: Callable[[str], bool],
) -> Iterator[tuple[str, Path]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda one: one.name)
        own = folder / ".gitignore"
        if any(one.name == ".gitignore" and one.is_file(follow_symlinks=False) for one in entries):
            specs = [*specs, (prefix, _spec(own.read_text("utf-8", "replace").splitlines()))]
    except OSError as error:
        unreadable[prefix] = reason(error)
        return
    for entry in entries:
        relative = f"{prefix}{entry.name}"
        is_folder = entry.is_dir(follow_symlinks=False)
        shown = f"{relative}/" if is_folder else relative
        if entry.name.startswith(".") and entry.name not in SHOWN:
            continue
        if any(spec.match_file(shown[len(base) :]) for base, spec in specs):
            continue
        if not is_text(entry.name):
            if is_folder or accepts(entry.name):
                unreadable[_escaped(shown)] = NO_TEXT
        elif is_folder:
            yield from _below(Path(entry.path), root, shown, specs, unreadable, accepts)
        elif accepts(entry.name):
            path = Path(entry.path)
            try:
                if entry.is_symlink() and not path.resolve(strict=True).is_relative_to(root):
                    continue
                if entry.is_file():
                    yield relative, path
            except (OSError, RuntimeError) as error:  # a link that leads nowhere, or to itself
                unreadable[relative] = reason(error)


def missing(folder: Path, *, had_files: bool) -> str:
    """Return why a folder cannot be read now, as where its disk is not mounted; empty where it can.

    Args:
        folder: A folder that was read before.
        had_files: Whether anything was in it.
    """
    if not folder.is_dir():
        return "the folder is not there"
    try:
        with os.scandir(folder) as entries:
            if had_files and next(entries, None) is None:
                return "the folder is empty; `documents remove` takes out what was in it"
    except OSError as error:
        return reason(error)
    return ""


def is_text(name: str) -> bool:
    """Return whether the bytes of a file's name are UTF-8, so that it can be stored and shown."""
    return _escaped(name) == name


def _escaped(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def reason(error: Exception) -> str:
    """Return why something cannot be read, without a period."""
    return str(getattr(error, "strerror", None) or error).rstrip(".")


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    try:
        from pathspec import GitIgnoreSpec
    except ImportError as error:
        raise ImportFormatError(f"Folders need {error.name}: {with_extra('documents')}") from error
    return GitIgnoreSpec.from_lines(lines)


def literally(path: str) -> str:
    """Return the pattern of one file, as in ``.gitignore``, by its path relative to the folder."""
    return "/" + re.sub(r"([\\\[\]!*#?])", r"\\\1", path)


def matches(pattern: str, name: str) -> bool:
    """Return whether a path, relative to a folder, matches a glob; ``**`` is any number of folders."""
    return _glob(pattern).match_file(name)


@lru_cache(maxsize=64)
def _glob(pattern: str) -> GitIgnoreSpec:
    return _spec([f"/{pattern}"])
