"""A reading under way: files of this machine that are taken as documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from langmemory.documents import files, places
from langmemory.documents.files import Content, Stamp
from langmemory.documents.index import DocumentIndex
from langmemory.documents.places import Roots
from langmemory.documents.records import Source, StoredDocument, folder
from langmemory.documents.storing import Documents, DocumentSink
from langmemory.errors import ImportFormatError
from langmemory.types import Namespace

MOST_FAILED: Final = 200
"""Files of a folder that are kept as unread, with the reason."""

Progress = Callable[[int, int, str], None]
"""Takes how many files are done, of how many, and the path of the next."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Reads files into documents of one namespace."""

    index: DocumentIndex
    roots: Roots
    namespace: Namespace
    writer: DocumentSink
    most_bytes: int
    """Of one file; a larger one is refused."""
    progress: Progress | None

    def read_folder(self, source: Source, every: Documents | None = None) -> int:
        """Read a folder; how many files it has that can be read. ``every`` is what is known, where that was
        asked already."""
        writer = self.writer
        failed = dict[str, str]()
        found = files.walk(folder(source.root), source.ignore, unreadable=failed)
        every = self.index.documents(source.namespace) if every is None else every
        known = {
            name: one
            for (root, name), one in every.items()
            if root == source.root and source.holds(name)
        }
        there = [
            (name, path)
            for name, path in found
            if source.holds(name) and (name in known or not source.leaves_out(name))
        ]
        names = {name for name, _ in there}
        gone = {
            name: one
            for name, one in known.items()
            if name not in names and not name.startswith(tuple(failed))
        }
        if "" in failed:
            failed[source.root] = failed.pop("")
        others = places.Candidates(source.root, gone.values(), every.values(), self.roots.are_here)
        if there and not writer.dry_run:  # what is stopped from here on is finished by `refresh`
            self.index.remember(source)
        with writer.together(failed):
            for number, (name, path) in enumerate(there):
                if self.progress is not None:
                    self.progress(number, len(there), name)
                try:
                    before = known.get(name)
                    if (before is not None and Stamp.of(path.stat()) == before.stamp) or (
                        before is None and others.hold(path)  # added before, in another folder
                    ):
                        writer.done.unchanged += 1
                        continue
                    content = files.read(path, most_bytes=self.most_bytes)
                    old = None if before is not None else others.moved(content)
                    if old is not None:
                        writer.move(old, source.root, name, content)
                        if old.document.root == source.root:
                            del gone[old.document.path]
                    else:
                        writer.take(source.root, name, content, before)
                except (ImportFormatError, OSError) as error:
                    failed[name] = files.reason(error)
        for one in gone.values():
            writer.remove(one)
        writer.done.failed.update(failed)
        if not writer.dry_run and (there or known or source.failed):
            listed = dict(sorted(failed.items())[:MOST_FAILED])
            self.index.remember(replace(source, failed=listed))
        return len(there)

    def read_files(self, paths: Sequence[Path]) -> None:
        """Read several files as `read_file` does each."""
        failed = dict[str, str]()
        known = self.index.documents(self.namespace)
        roots = self._known_roots()
        with self.writer.together(failed):
            found = dict.fromkeys(self._found_in(roots, path) for path in paths)
            for number, (root, name) in enumerate(found):
                path = folder(root) / name
                if self.progress is not None:
                    self.progress(number, len(found), name)
                try:
                    content = self._content(path)
                    self.writer.take(root, name, content, known.get((root, name)))
                except (ImportFormatError, OSError) as error:
                    failed[name] = files.reason(error)
        self.writer.done.failed.update(failed)

    def read_file(self, path: Path) -> None:
        """Read one file, as one of the folder that was added if there is one, else of its own."""
        root, name = self._found_in(self._known_roots(), path)
        try:
            content = self._content(path)
        except OSError as error:
            raise ImportFormatError(f"{path} cannot be read: {files.reason(error)}.") from error
        self.writer.take(root, name, content, self.index.document(self.namespace, root, name))

    def read_again(self, root: str, name: str, known: StoredDocument) -> None:
        """Read a file again that was added by itself."""
        path = folder(root) / name
        try:
            if Stamp.of(path.stat()) == known.stamp:
                self.writer.done.unchanged += 1
            else:
                self.writer.take(root, name, files.read(path, most_bytes=self.most_bytes), known)
        except FileNotFoundError:
            if folder(root).is_dir():
                self.writer.remove(known)
            else:
                self.writer.done.failed[name] = "its folder is not there"
        except (ImportFormatError, OSError) as error:
            self.writer.done.failed[name] = files.reason(error)

    def _content(self, path: Path) -> Content:
        if not files.is_text(path.name):
            raise ImportFormatError(f"{str(path)!r} cannot be kept: {files.NO_TEXT}.")
        return files.read(path, most_bytes=self.most_bytes)

    def _known_roots(self) -> Sequence[str]:
        return [one.root for one in self.roots.readable(self.index.sources(self.namespace))]

    def _found_in(self, roots: Sequence[str], path: Path) -> tuple[str, str]:
        """Return the folder that a file is known by, and its path there."""
        whole = path.parent.resolve() / path.name
        within = [root for root in roots if whole.is_relative_to(folder(root))]
        root = max(within, key=len) if within else self.roots.of(whole.parent)
        return root, whole.relative_to(folder(root)).as_posix()
