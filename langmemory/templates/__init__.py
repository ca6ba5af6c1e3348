"""Templates: small working applications to start from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from langmemory.errors import LangMemoryError

RENAMED = {"gitignore": ".gitignore"}
"""A real .gitignore inside the package would keep files out of it."""

README = PurePosixPath("README.md")

SKIPPED = {"__pycache__", "__init__.py"}


class ProjectExistsError(LangMemoryError, FileExistsError):
    """A file of the new project is already there; nothing was written."""


def init_project(path: str | os.PathLike[str]) -> list[Path]:
    """Write a chat application into `path`, which is created if need be.

    Returns:
        The files written.

    Raises:
        ProjectExistsError: one of them exists; nothing is ever overwritten.
        OSError: the folder cannot be written.
    """
    target = Path(path)
    title = " ".join(os.fsencode(target.resolve().name).decode("utf-8", "replace").split())
    contents = {
        target / name: text.replace("{name}", title) if name == README else text
        for name, text in _template(files(__name__) / "chat", PurePosixPath())
    }
    taken = sorted(str(file) for file in contents if os.path.lexists(file))
    if taken:
        raise ProjectExistsError(
            f"{', '.join(taken)} already there; nothing was written. Choose another folder."
        )
    for folder in {file.parent for file in contents}:  # all, before the first file is written
        folder.mkdir(parents=True, exist_ok=True)
    for file, text in contents.items():
        file.write_text(text, encoding="utf-8")
    return list(contents)


def _template(folder: Traversable, below: PurePosixPath) -> Iterator[tuple[PurePosixPath, str]]:
    """Name and text of every file in a template folder."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name in SKIPPED:
            continue
        if entry.is_dir():
            yield from _template(entry, below / entry.name)
        else:
            name = RENAMED.get(entry.name, entry.name)
            yield below / name, entry.read_text(encoding="utf-8")
