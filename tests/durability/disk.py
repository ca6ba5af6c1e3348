"""A disk whose power may go and which may fail: a VFS of SQLite above the real one.

Every write goes to the real file. Beside it stands what would be on a disk whose power goes now: what was
synced, and of later writes any sectors.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

SECTOR: Final = 512
"""Bytes that a disk writes whole or not at all. A page has eight, so pages tear."""
NAME: Final = "langmemory-test-disk"
REAL: Final = apsw.vfs_names()[0]


class Image:
    """What is safe of a file, and the later writes; a number is a truncation."""

    def __init__(self) -> None:
        self.safe = bytearray()
        self.unsynced: list[tuple[int, bytes] | int] = []

    def sync(self) -> None:
        for change in self.unsynced:
            _apply(self.safe, change)
        self.unsynced.clear()

    def after_power_loss(self, rng: random.Random) -> bytes:
        """Return the file as it may be found when the power is back."""
        found, share = bytearray(self.safe), rng.choice((0.0, 0.3, 0.7, 1.0))
        for change in self.unsynced:
            for piece in _sectors(change):
                if rng.random() < share:
                    _apply(found, piece)
        return bytes(found)


def _sectors(change: tuple[int, bytes] | int) -> Iterator[tuple[int, bytes] | int]:
    if isinstance(change, int):
        yield change
        return
    at, data = change
    while data:
        size = SECTOR - at % SECTOR
        yield at, data[:size]
        at, data = at + size, data[size:]


def _apply(image: bytearray, change: tuple[int, bytes] | int) -> None:
    if isinstance(change, int):
        del image[change:]
        return
    at, data = change
    if len(image) < at:
        image.extend(bytes(at - len(image)))
    image[at : at + len(data)] = data


class Disk(apsw.VFS):
    """The VFS. `before` is called before each call of the file layer, and may raise what the disk says."""

    def __init__(self) -> None:
        self.images: dict[str, Image] = {}
        self.before: Callable[[str], None] = lambda call: None
        self.lock = threading.RLock()
        super().__init__(NAME, REAL)

    def after_power_loss(self, path: Path, rng: random.Random) -> dict[str, bytes]:
        """Return the file and its WAL as they may be found, by the end of their names."""
        with self.lock:
            return {
                suffix: image.after_power_loss(rng)
                for suffix in ("", "-wal")
                if (image := self.images.get(f"{path}{suffix}")) is not None
            }

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.before("open")
        return _File(self, path, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        with self.lock:
            self.before("delete")
            super().xDelete(name, sync)
            self.images.pop(name, None)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, path: str | None, name: Any, flags: list[int]) -> None:
        self.disk = disk
        super().__init__(REAL, name, flags)
        self.image = Image() if path is None else disk.images.setdefault(path, Image())

    def xRead(self, amount: int, offset: int) -> bytes:
        self.disk.before("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        with self.disk.lock:
            self.disk.before("write")
            super().xWrite(data, offset)
            self.image.unsynced.append((offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        with self.disk.lock:
            self.disk.before("truncate")
            super().xTruncate(size)
            self.image.unsynced.append(size)

    def xSync(self, flags: int) -> None:
        with self.disk.lock:
            self.disk.before("sync")
            self.image.sync()


@contextmanager
def failing_disk() -> Iterator[Disk]:
    """Let SQLite use such a disk for the files that it opens meanwhile."""
    disk = Disk()
    apsw.set_default_vfs(NAME)
    try:
        yield disk
    finally:
        apsw.set_default_vfs(REAL)
