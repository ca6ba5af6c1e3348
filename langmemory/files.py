"""Files that only their owner may read: what people told an assistant is nobody else's on the machine.

Only what is created here gets these modes. What was there keeps the mode its owner gave it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


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
