"""One Markdown file of a core block: read whole or not at all, and written without a trace but its text."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from langmemory.core_files.bindings import Stamp
from langmemory.errors import LangMemoryError
from langmemory.files import read_whole

MOST_BYTES: Final = 1_000_000
RACY_NS: Final = 2_000_000_000
"""A file that changed so shortly ago may change again without another time of change: it is read again."""
_BOM: Final = "\ufeff"
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_END: Final = re.compile(r"\r\n|\r|\n")


class CoreFileError(LangMemoryError, ValueError):
    """A file cannot be read or written; nothing was changed. The message says what to do."""


class CoreFileChangedError(CoreFileError):
    """A file is not as it was when it was read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkdownFile:
    """A file as it was at one moment."""

    text: str
    """Without byte-order mark, line ends as ``\\n``, without white space around it: as a block holds it."""
    raw: str
    """All characters of the file."""
    stamp: Stamp | None
    """None: it changed just now, so the stamp would not tell the next change."""

    @property
    def digest(self) -> str:
        """SHA-256 of `text`."""
        return digest(self.text)


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def plain(raw: str) -> str:
    """Return the text of a file as a block holds it."""
    return _END.sub("\n", raw.removeprefix(_BOM)).strip()


def stamp_of(path: str) -> Stamp | None:
    """Return the stamp of a file; None where there is none that can be looked at."""
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_size, found.st_mtime_ns, found.st_ino


def read(path: str) -> MarkdownFile:
    """Return a file.

    Raises:
        CoreFileError: It is gone, no regular file, too large, unreadable, or no UTF-8.
    """

    def check(found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise CoreFileError(f"{path} is no regular file. Bind a file with Markdown.")
        if found.st_size > MOST_BYTES:
            raise CoreFileError(
                f"{path} has {found.st_size:,} bytes, more than {MOST_BYTES:,}; it would stand in "
                "every prompt. Shorten it, or add it as a document."
            )

    try:
        whole = read_whole(path, check)
    except FileNotFoundError as error:
        raise CoreFileError(
            f"{path} is gone; the block keeps its text. Bring the file back, bind it anew with create=True "
            "(`langmemory core bind --create`), or unbind it."
        ) from error
    except OSError as error:
        raise CoreFileError(
            f"{path} cannot be read: {error.strerror or error}. Nothing was changed."
        ) from error
    if whole is None:
        raise CoreFileError(f"{path} changed while it was read. It is read again next time.")
    data, found = whole
    return _decoded(path, data, _stamp(found))


def _decoded(path: str, data: bytes, stamp: Stamp) -> MarkdownFile:
    try:
        raw = data.decode("utf-8")
    except UnicodeDecodeError as error:
        other = " (it looks like UTF-16)" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise CoreFileError(
            f"{path} is not UTF-8 at byte {error.start}{other}. Save it as UTF-8; nothing was changed."
        ) from error
    if "\0" in raw:
        raise CoreFileError(f"{path} has a NUL character, so it is no text. Nothing was changed.")
    recent = time.time_ns() - stamp[1] < RACY_NS
    return MarkdownFile(text=plain(raw), raw=raw, stamp=None if recent else stamp)


def check_writable(path: str) -> None:
    """Check that a file may be replaced.

    Raises:
        CoreFileError: It may not.
    """
    found = os.stat(path)
    if not found.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise CoreFileError(
            f"{path} is read-only. Make it writable and sync again; the block has the new text."
        )
    if found.st_nlink > 1:
        raise CoreFileError(
            f"{path} has {found.st_nlink} names (hard links), which writing would part. Write the text of "
            "the block by hand, or bind a file of its own."
        )


def write(path: str, text: str, *, expected: str) -> MarkdownFile:
    """Replace the text of a file at once, and keep everything else: permissions, owner, symbolic links, its
    byte-order mark, line ends, and white space at both ends.

    Args:
        path: May be a symbolic link; the file it leads to is replaced.
        text: As a block holds it.
        expected: `MarkdownFile.digest` as it was read.

    Returns:
        The file as it is now.

    Raises:
        CoreFileChangedError: The file has another text by now; it was left as it is.
        CoreFileError: It cannot be written; it was left as it is.
    """
    real = Path(path).resolve()
    try:
        with _locked(real.parent):
            there = read(str(real))
            if there.digest != expected:
                raise CoreFileChangedError(f"{path} changed meanwhile; it was not written.")
            check_writable(str(real))
            _replace(real, _rendered(there.raw, text))
            return read(str(real))
    except OSError as error:
        raise CoreFileError(
            f"{path} cannot be written: {error.strerror or error}. The block has the new text; sync again."
        ) from error


def create(path: str, text: str) -> MarkdownFile:
    """Write a file that is not there.

    Raises:
        CoreFileError: It is there, or cannot be written.
    """
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(f"{text}\n" if text else "")
    except FileExistsError as error:
        raise CoreFileError(f"{path} is there. Bind it without create=True.") from error
    except OSError as error:
        raise CoreFileError(f"{path} cannot be written: {error.strerror or error}.") from error
    return read(path)


def _rendered(raw: str, text: str) -> str:
    """Return all characters of a file with another text: lines that stay end as they did, new ones as most
    lines do."""
    mark = _BOM if raw.startswith(_BOM) else ""
    body = raw.removeprefix(_BOM)
    inner = body.strip()
    if not inner:
        return f"{mark}{text}\n" if text else raw
    lead, tail = body[: body.index(inner)], body[body.index(inner) + len(inner) :]
    ends = _END.findall(inner) or _END.findall(body) or ["\n"]
    usual = max(dict.fromkeys(ends), key=ends.count)
    old = [one for one in _LINE.findall(inner) if one]
    bare = [_END.sub("", one) for one in old]
    new = text.split("\n")
    lines: list[str] = []
    for kind, start, end, first, last in SequenceMatcher(None, bare, new, False).get_opcodes():
        if kind == "equal":
            lines += [one if _END.search(one) else one + usual for one in old[start:end]]
        else:
            lines += [one + usual for one in new[first:last]]
    joined = "".join(lines)
    ended = next((one for one in ("\r\n", "\r", "\n") if joined.endswith(one)), "")
    return mark + lead + joined[: len(joined) - len(ended)] + tail


def _replace(real: Path, raw: str) -> None:
    before = os.stat(real)
    descriptor, name = tempfile.mkstemp(prefix=f".{real.name}.", suffix=".tmp", dir=real.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        made = os.stat(name)
        if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
            os.chown(name, before.st_uid, before.st_gid)
        shutil.copystat(real, name)  # permissions and extended attributes, and the time
        os.utime(name)
        os.replace(name, real)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one langmemory at a time compare and replace files of a folder, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
