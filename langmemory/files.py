"""Files: made so that only their owner may read them, and read whole or not at all.

What people told an assistant is nobody else's on the machine. Only what is created here gets these modes;
what was there keeps the mode its owner gave it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
ATTEMPTS: Final = 3
"""How often a file is read that changes meanwhile."""


def create_file(path: str | os.PathLike[str]) -> bool:
    """Create an empty file that only its owner may read. Return False where something has the name.

    Raises:
        OSError: The folder does not exist or may not be written to.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except FileExistsError:
        return False
    os.close(descriptor)
    return True


def create_folder(path: Path) -> None:
    """Create a folder, and the missing ones above it, that only their owner may look into."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    for folder in reversed(missing):
        with suppress(FileExistsError):  # another process was faster
            folder.mkdir(mode=FOLDER_MODE)
    path.mkdir(exist_ok=True)  # raises where a file has the name


def read_whole(
    path: str | os.PathLike[str], check: Callable[[os.stat_result], None]
) -> tuple[bytes, os.stat_result] | None:
    """Return the bytes of a file as they were at one moment, and what tells of that; None where it changed at
    each of `ATTEMPTS`.

    Args:
        path: Of the file.
        check: Raises where such a file is not to be read, for its kind or its size.

    Raises:
        OSError: It cannot be opened.
    """
    for _ in range(ATTEMPTS):
        # A pipe that nobody writes to would be waited for.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            before = os.fstat(file.fileno())
            check(before)
            data = file.read(before.st_size + 1)
            after = os.fstat(file.fileno())
        same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        if same and len(data) == before.st_size:
            return data, before
    return None
