"""Where documents are: which of them a path or name means, and which a new file was before it moved."""

from __future__ import annotations

import glob
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from langmemory.documents.files import NO_TEXT, Content, is_text
from langmemory.documents.records import Source, StoredDocument, folder
from langmemory.errors import ConfigError
from langmemory.resources import CLIENT

Place = tuple[str, str]
"""The root and the path of a document."""


def split_glob(path: Path) -> tuple[Path, str]:
    """Return a folder and no pattern; or the folder that a glob begins with, and the pattern within it.

    Raises:
        ConfigError: There is no such folder, and it is no glob.
    """
    if path.is_dir():
        return path.resolve(), ""
    if not glob.has_magic(str(path)):
        raise ConfigError(f"There is no file or folder {str(path)!r}. A text needs a name as well.")
    parts = path.parts
    first = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first]).resolve(), "/".join(parts[first:])


def resolve_name(
    given: str, paths: Iterable[str], known: Iterable[Place], sources: Sequence[Source]
) -> tuple[list[Place], list[Source], list[tuple[Source, str]]]:
    """Return the documents and the sources that somebody names; and the sources that hold these documents
    among others, each with their path there.

    Args:
        given: A path, or the name of a text, or the path of a document from its root.
        paths: What it means as a path, the first that is known.
        known: All documents.
        sources: All sources.

    Raises:
        ConfigError: Nothing is known by it, or it is the name of documents in several folders.
    """
    known = list(known)
    for path in paths:
        found = [one for one in known if one[0] and _is_in(*one, path)]
        over = [one for one in sources if _is_in(one.root, "", path)]
        around = [one for one in sources if one not in over and _is_in(path, "", one.root)]
        if found or over:
            return found, over, [(one, os.path.relpath(path, one.root)) for one in around]
    name = given.rstrip("/")
    found = [one for one in known if one[1] == name or one[1].startswith(f"{name}/")]
    if not found:
        raise ConfigError(f"No document is known by {given!r}; `documents.list()` lists them.")
    roots = sorted({root for root, _ in found})
    if "" in roots:  # a text has no other name
        return [one for one in found if not one[0]], [], []
    if len(roots) > 1:
        raise ConfigError(
            f"{given!r} is in {len(roots)} folders: {', '.join(roots)}. Pass its whole path."
        )
    return found, [], [(one, name) for one in sources if one.root in roots]


def _is_in(root: str, path: str, where: str) -> bool:
    return Path(root, path).is_relative_to(where)


class Roots:
    """Folders of this machine as they are known; a client's are known to a server beside its own."""

    def __init__(self, *, sends: bool) -> None:
        """``sends``: files are read on a client's machine and sent to a server."""
        self._sends = sends

    def of(self, path: Path) -> str:
        """Return how a folder of this machine is known.

        Raises:
            ConfigError: Its name cannot be stored.
        """
        if not is_text(str(path)):
            raise ConfigError(f"The folder {str(path)!r} cannot be kept: {NO_TEXT}.")
        return f"{CLIENT if self._sends else ''}{path}"

    def meant_by(self, given: str) -> Sequence[str]:
        """Return what a path may mean: a file or link in its folder, or where a link leads."""
        if given.startswith(CLIENT):
            return [given]
        path = Path(given).expanduser().absolute()
        itself = (
            path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve()
        )
        return [self.of(itself), self.of(path.resolve())]

    def are_here(self, root: str) -> bool:
        """Return whether a folder is of this machine, not of a client's or, for a client, the server's."""
        return root.startswith(CLIENT) == self._sends

    def readable(self, sources: Iterable[Source]) -> Sequence[Source]:
        """Return those of these folders that can be read here."""
        return [one for one in sources if self.are_here(one.root)]


class Candidates:
    """Documents that the files of a folder may be already: of other folders, or gone from this one."""

    def __init__(
        self,
        root: str,
        gone: Iterable[StoredDocument],
        every: Iterable[StoredDocument],
        reads: Callable[[str], bool],
    ) -> None:
        """``gone`` are those of the folder whose files are not there, ``every`` are all; ``reads`` tells
        which folders are of this machine."""
        self._root, self._gone, self._every, self._reads = root, gone, every, reads

    @cached_property
    def _elsewhere(self) -> Sequence[StoredDocument]:
        others = (one for one in self._every if one.document.root not in ("", self._root))
        return [one for one in others if self._reads(one.document.root)]

    @cached_property
    def _paths(self) -> Collection[str]:
        return {str(_file(one)) for one in self._elsewhere}

    @cached_property
    def _contents(self) -> Mapping[str, list[StoredDocument]]:
        found = defaultdict[str, list[StoredDocument]](list)
        for documents in (self._gone, self._elsewhere):
            for one in sorted(documents, key=lambda one: one.document.path):
                found[one.document.sha256].append(one)
        return found

    def hold(self, path: Path) -> bool:
        """Return whether a file is a document of another folder."""
        return str(path) in self._paths

    def moved(self, content: Content) -> StoredDocument | None:
        """Return a document that has this content, and whose file is gone; each one once."""
        waiting = self._contents.get(content.sha256, [])
        while waiting:
            one = waiting.pop(0)
            if one.document.root == self._root or not _file(one).exists():
                return one
        return None


def _file(one: StoredDocument) -> Path:
    return folder(one.document.root) / one.document.path
