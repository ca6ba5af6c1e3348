"""A lock that keeps another SQLite library in this process from deleting the WAL under a store.

POSIX locks belong to a process: they do not hold off Python's ``sqlite3`` in the same one, and
closing any descriptor of a file gives up all of them. So whoever opens the file with ``sqlite3``
for a look and closes it counts as its last user, for whom SQLite writes the WAL back and deletes
it, and what the store writes from then on goes into a file without a name
(https://sqlite.org/howtocorrupt.html, 2.2.1). A lock of an open file description (Linux 3.15) holds
within a process as well: with one on the bytes that SQLite's last user locks, nobody is the last.

It does not make it safe to write with both libraries at once: give LangGraph's SqliteSaver a file of
its own.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

try:
    import fcntl
except ImportError:  # Windows, where a lock belongs to a handle and none of this is needed
    fcntl = None  # type: ignore[assignment]

SHARED_FIRST: Final = 0x40000002
SHARED_BYTES: Final = 510
"""The bytes that every user of a file locks for reading, and its last one for writing (os.h)."""
_FLOCK: Final = "hhqqi4x"
"""``struct flock`` of 64-bit Linux: type, whence, start, length, pid."""


class Guard:
    """The lock on one file, shared by all who have it open in this process."""

    __slots__ = ("_descriptor", "_inode", "_pid", "_users")

    def __init__(self, inode: tuple[int, int], descriptor: int) -> None:
        self._inode = inode
        self._descriptor = descriptor
        self._pid = os.getpid()
        self._users = 0

    def lift(self) -> None:
        """Say that one's connections are about to be closed: the last of them may delete the WAL."""
        with _changing():
            if self._users == 1:
                _set(self._descriptor, fcntl.F_UNLCK)

    def leave(self) -> None:
        """Say that one's connections are closed; once for each `guard`. At any moment: of a store that
        was dropped, garbage collection says so, in whatever a thread is doing."""
        if self._pid != os.getpid():  # closing it here gives up locks that are of this process
            return
        _left.append(self)
        _see_off()


_guards: dict[tuple[int, tuple[int, int]], Guard] = {}
_left: list[Guard] = []
"""Once for each user who has left and is still counted."""
_lock = threading.Lock()


@contextmanager
def _changing() -> Iterator[None]:
    """While the guards are looked at or changed."""
    try:
        with _lock:
            yield
    finally:
        _see_off()


def _see_off() -> None:
    """Count who has left, unless somebody has the lock, in this very thread perhaps: they do."""
    while _left and _lock.acquire(blocking=False):
        try:
            while _left:
                one = _left.pop()
                one._users -= 1
                if one._users == 0:
                    del _guards[one._pid, one._inode]
                    os.close(one._descriptor)
        finally:
            _lock.release()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _left.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def guard(file: str) -> Guard | None:
    """Return the lock on a file that is open, once more; None where the system has no such locks."""
    if not hasattr(fcntl, "F_OFD_SETLK") or sys.platform != "linux" or sys.maxsize < 1 << 32:
        return None
    with _changing():
        try:
            found = os.stat(file)
        except OSError:
            return None
        key = os.getpid(), (found.st_dev, found.st_ino)
        if key not in _guards:
            # Once open it must stay so: closing it gives up SQLite's locks on the file.
            _guards[key] = Guard(key[1], os.open(file, os.O_RDONLY | os.O_CLOEXEC))
        one = _guards[key]
        one._users += 1
        _set(one._descriptor, fcntl.F_RDLCK)
        return one


def _set(descriptor: int, kind: int) -> None:
    """Lock or unlock, where the file system has such locks."""
    wanted = struct.pack(_FLOCK, kind, os.SEEK_SET, SHARED_FIRST, SHARED_BYTES, 0)
    with suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, wanted)
