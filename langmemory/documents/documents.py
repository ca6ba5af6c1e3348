"""`store.documents`: files and texts that are searched beside what was said, and cited by path and line.

A document is an item that says what was read, under ``doc/{id}``, and one item for each chunk, under
``doc/{id}/{hash of its text}``; all have the kind ``resource``. A chunk whose text stays keeps its key, its
vector and what was linked with it. Each document is written in one transaction, some others with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from langgraph.store.base import GetOp, Item, SearchItem

from langmemory.documents import files, places
from langmemory.documents.files import Content, Stamp
from langmemory.documents.project import REGISTRY, checked_name, is_project, namespace_of
from langmemory.documents.records import (
    Chunk,
    Document,
    Known,
    Source,
    Synced,
    folder,
    known_of,
)
from langmemory.documents.storing import Looking, Storing, Taking
from langmemory.documents.writing import Writer
from langmemory.errors import ConfigError, ImportFormatError, with_extra
from langmemory.namespaces import check_namespace
from langmemory.resources import CLIENT, KEYS, MOST_BYTES, NAMESPACE
from langmemory.twins import twin
from langmemory.types import Namespace

if TYPE_CHECKING:
    import threading

DEFAULT_NAMESPACE: Final[Namespace] = (NAMESPACE,)
PAGE: Final = 10_000
"""Items that are read at a time."""
MOST_FAILED: Final = 200
"""Files of a folder that are kept as unread, with the reason."""

Items: TypeAlias = list[SearchItem]

Progress = Callable[[int, int, str], None]
"""Takes how many files are done, of how many, and the path of the next."""


class Documents:
    """Files and texts in a store. Reading them asks no model; what changed is embedded, and nothing else."""

    __slots__ = ("_store", "_writing")
    _sends = False
    """Whether they are read on a client's machine and sent to a server."""

    def __init__(self, store: Storing) -> None:
        self._store: Looking = store
        self._writing: Callable[..., Taking] = partial(Writer, store)

    def add(
        self,
        source: str | os.PathLike[str] | bytes | Sequence[str | os.PathLike[str]] | None = None,
        *,
        text: str | None = None,
        name: str | None = None,
        namespace: Namespace | None = None,
        project: str | None = None,
        ignore: Iterable[str] = (),
        most_bytes: int = MOST_BYTES,
        progress: Progress | None = None,
        dry_run: bool = False,
    ) -> Synced:
        """Read a file, a folder, a glob, a text or bytes. What is as it was costs nothing.

        Args:
            source: A path, a pattern such as ``docs/**/*.md``, several of these, or the bytes of a file.
            text: A text, in place of a source.
            name: Of a text or of bytes: under what it is known and cited. Its end says the format, as of a
                file. The same name again replaces what it held.
            namespace: Whose documents they are; None is ``("documents",)``.
            project: The project that they are of, in place of a namespace.
            ignore: Patterns, as in ``.gitignore``, of files in a folder that are left out.
            most_bytes: Of one file; a larger one is refused.
            progress: Is told of each file.
            dry_run: Say what would be done, and write nothing.

        Returns:
            What was done. One of several files that cannot be read stands in `Synced.failed`, and does not
            stop the others.

        Raises:
            ImportFormatError: A single file cannot be read; nothing was written.
            ConfigError: Nothing is there, or the arguments do not fit together.
        """
        namespace = self._place(namespace, project)
        writer = self._writing(namespace, dry_run=dry_run)
        if text is not None or isinstance(source, bytes):
            if not name or (text is not None and source is not None):
                raise ConfigError(
                    "Pass one text or one file's bytes, and name=… under which it is known."
                )
            data = source if isinstance(source, bytes) else _encoded(str(text))
            writer.take("", name, Content.of(data), self.known(namespace, "", name))
            return self._linked(writer, namespace)
        if source is None or name is not None:
            raise ConfigError("Pass a path, a folder or a glob; or text=… or bytes, with name=….")
        given = [source] if isinstance(source, str | os.PathLike) else source
        several = given is source
        folders, single = list[Source](), list[Path]()
        for path in (Path(one).expanduser() for one in given):
            if path.exists() and not path.is_dir():
                single.append(path)
                continue
            root, pattern = places.divided(path)
            found = Source(
                namespace=namespace, root=self._root(root), pattern=pattern, ignore=tuple(ignore)
            )
            folders.append(found)
        for found in folders:
            if not self._read(found, writer, most_bytes, progress):
                where = str(folder(found.root) / found.pattern)
                unread = writer.done.failed.pop(
                    found.root, "there is none of a format that is read"
                )
                if not several:
                    raise ConfigError(f"There is no file in {where!r} that can be read: {unread}.")
                writer.done.failed[where] = unread
        if several:
            self._add_files(namespace, single, writer, most_bytes, progress)
        elif single:
            self._add_file(namespace, single[0], writer, most_bytes)
        return self._linked(writer, namespace)

    aadd = twin(add)

    def refresh(
        self,
        namespace: Namespace | None = None,
        *,
        project: str | None = None,
        root: str | os.PathLike[str] | None = None,
        most_bytes: int = MOST_BYTES,
        progress: Progress | None = None,
        dry_run: bool = False,
    ) -> Synced:
        """Read again what was added from folders and files: new files come, changed ones are read, those that
        are gone go, and those that moved keep what is known of them.

        Args:
            namespace: Whose documents they are; None is ``("documents",)``.
            project: The project that they are of, in place of a namespace.
            root: Only those of this folder.
            most_bytes: Of one file.
            progress: Is told of each file.
            dry_run: Say what would be done, and write nothing.

        Returns:
            What was done. A folder that is not there or empty, as on a disk that is not mounted, stands in
            `Synced.failed` and loses nothing.
        """
        namespace = self._place(namespace, project)
        writer = self._writing(namespace, dry_run=dry_run)
        only = None if root is None else self._root(Path(root).expanduser().resolve())
        sources = [one for one in self._readable(namespace) if only in (None, one.root)]
        every, written = self._known(namespace), writer.done.documents
        for source in sources:
            held = any(root == source.root for root, _ in every)
            missing = files.missing(folder(source.root), held=held)
            if missing:
                writer.done.failed[source.root] = missing
            else:
                self._read(source, writer, most_bytes, progress, every)
            if writer.done.documents > written and not dry_run:
                every, written = self._known(namespace), writer.done.documents
        roots = {one.root for one in sources}
        for (where, name), known in every.items():
            if where and self._reads(where) and where not in roots and only in (None, where):
                _read_file_again(where, name, known, writer, most_bytes)
        return self._linked(writer, namespace)

    arefresh = twin(refresh)

    def sources(self, namespace: Namespace = DEFAULT_NAMESPACE) -> Sequence[Source]:
        """Return the folders that `refresh` reads again, and what of them could not be read."""
        return [Source.of(item) for item in self._items(check_namespace(namespace), "source")]

    def list(
        self,
        namespace: Namespace | None = None,
        *,
        project: str | None = None,
        prefix: str = "",
    ) -> Sequence[Document]:
        """Return the documents of a namespace or project whose path begins so, by path."""
        known = sorted(self._known(self._place(namespace, project)).items(), key=_by_path)
        return [one.document for (_, path), one in known if path.startswith(prefix)]

    def get(self, key: str, namespace: Namespace = DEFAULT_NAMESPACE) -> Document | None:
        """Return one document by its `Document.key`; None where there is none."""
        item = self._store.get(check_namespace(namespace), key)
        is_document = item is not None and item.value.get("record") == "document"
        return known_of(item).document if item is not None and is_document else None

    def chunks(self, key: str, namespace: Namespace = DEFAULT_NAMESPACE) -> Sequence[Chunk]:
        """Return the parts of a document in order, by its `Document.key` or the key of one of them.

        Raises:
            ConfigError: There is no such document.
        """
        keys = self._keys(key, check_namespace(namespace))
        if keys is None:
            raise ConfigError(f"There is no document of the key {key!r} in {namespace}.")
        found = self._store.batch([GetOp(namespace, one, refresh_ttl=False) for one in keys])
        return [Chunk.of(item) for item in found if isinstance(item, Item)]

    def remove(
        self,
        path: str | os.PathLike[str],
        namespace: Namespace | None = None,
        *,
        project: str | None = None,
        dry_run: bool = False,
    ) -> Synced:
        """Take documents out: one by its path or name, or all of a folder. They are not read again, but where
        they are added again.

        Raises:
            ConfigError: None of them is known by this, or those of several folders.
        """
        namespace = self._place(namespace, project)
        writer = self._writing(namespace, dry_run=dry_run)
        given = os.fspath(path)
        known, sources = self._known(namespace), self.sources(namespace)
        meant, over, left_out = places.meant(given, self._places(given), known, sources)
        for one in sorted(meant, key=lambda one: one[::-1]):
            writer.remove(known[one])
        if not dry_run:
            for source in over:
                self._store.delete(namespace, source.key)
            for source, name in left_out:
                self._leave_out(source, name)
        return writer.done

    aremove = twin(remove)

    def leave_out(self, root: str, path: str, namespace: Namespace = DEFAULT_NAMESPACE) -> None:
        """Read a file of a folder no longer, or none of the files below it."""
        for source in self.sources(check_namespace(namespace)):
            if source.root == root:
                self._leave_out(source, path)

    def follow(
        self,
        root: str,
        pattern: str,
        namespace: Namespace,
        *,
        ignore: tuple[str, ...],
        progress: Progress | None = None,
        dry_run: bool = False,
    ) -> Synced:
        """Read the files of a folder that match a glob, empty for all; `refresh` reads them again from then
        on, also where there are none yet."""
        writer = self._writing(check_namespace(namespace), dry_run=dry_run)
        source = Source(namespace=namespace, root=root, pattern=pattern, ignore=ignore)
        item = self._store.get(namespace, source.key)
        if item is not None:
            source = replace(source, left_out=Source.of(item).left_out)
        if not dry_run:
            self._remember(source)
        self._read(source, writer, MOST_BYTES, progress)
        return self._linked(writer, namespace)

    def unfollow(self, source: Source, *, dry_run: bool = False) -> Synced:
        """Read a folder no longer, and take out the documents that no other one of them holds."""
        writer = self._writing(source.namespace, dry_run=dry_run)
        others = [one for one in self.sources(source.namespace) if one.key != source.key]
        for (root, path), known in self._known(source.namespace).items():
            held = any(one.root == root and one.holds(path) for one in others)
            if root == source.root and source.holds(path) and not held:
                writer.remove(known)
        if not dry_run:
            self._store.delete(source.namespace, source.key)
        return writer.done

    def take_out(self, namespace: Namespace, *, dry_run: bool = False) -> Synced:
        """Take out all documents of a namespace."""
        writer = self._writing(check_namespace(namespace), dry_run=dry_run)
        for _, known in sorted(self._known(namespace).items(), key=_by_path):
            writer.remove(known)
        return writer.done

    def around(
        self,
        key: str,
        namespace: Namespace = DEFAULT_NAMESPACE,
        *,
        before: int = 1,
        after: int = 1,
    ) -> Sequence[str]:
        """Return the keys of a chunk and of its neighbours in the document, in order.

        Raises:
            ConfigError: There is no such chunk.
        """
        keys = self._keys(key, check_namespace(namespace))
        if keys is None or key not in keys:
            raise ConfigError(f"There is no chunk {key!r} in {namespace}.")
        at = keys.index(key)
        return keys[max(at - before, 0) : at + after + 1]

    def watch(
        self,
        namespace: Namespace = DEFAULT_NAMESPACE,
        *,
        stop: threading.Event | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> Iterator[Synced]:
        """Refresh, and again whenever a file of a folder that was added changes, until stopped.

        Args:
            namespace: Whose documents they are.
            stop: Ends it when it is set.
            most_bytes: Of one file.

        Yields:
            What was done at first, and then each time that anything was.

        Raises:
            ConfigError: No folder was added.
        """
        try:
            import watchfiles
        except ImportError as error:
            raise ConfigError(f"Watching needs {error.name}: {with_extra('documents')}") from error
        folders = sorted({folder(one.root) for one in self._readable(namespace)})
        folders = [root for root in folders if root.is_dir()]
        if not folders:
            raise ConfigError("No folder was added, so there is none to watch: add one first.")
        yield self.refresh(namespace, most_bytes=most_bytes)
        for changes in watchfiles.watch(*folders, stop_event=stop):
            paths = {Path(path) for _, path in changes}
            for root in folders:
                if any(path.is_relative_to(root) for path in paths):
                    done = self.refresh(namespace, root=root, most_bytes=most_bytes)
                    if done:
                        yield done

    # What is known.

    def _place(self, namespace: Namespace | None, project: str | None) -> Namespace:
        """Return the namespace that is meant by it, or by the name of a project.

        Raises:
            ConfigError: Both are given, or there is no such project.
        """
        if project is None:
            return DEFAULT_NAMESPACE if namespace is None else check_namespace(namespace)
        if namespace is not None:
            raise ConfigError("Pass namespace=… or project=…, not both.")
        item = self._store.get(REGISTRY, checked_name(project))
        if item is None or not is_project(item.value):
            raise ConfigError(
                f"There is no project {project!r}: add it with `langmemory projects add FOLDER`."
            )
        return namespace_of(checked_name(project))

    def _keys(self, key: str, namespace: Namespace) -> Sequence[str] | None:
        """Return the keys of all chunks of the document that a key is of; None where there is none."""
        document = key.removeprefix(KEYS).partition("/")[0]
        item = self._store.get(namespace, f"{KEYS}{document}")
        if item is None or not key.startswith(KEYS) or item.value.get("record") != "document":
            return None
        return [f"{item.key}/{part}" for part in known_of(item).keys]

    def _items(self, namespace: Namespace, record: str, **named: str) -> Sequence[SearchItem]:
        found: Items = []
        while True:
            page = self._store.search(
                namespace, filter={"record": record, **named}, limit=PAGE, offset=len(found),
                refresh_ttl=False,
            )  # fmt: skip
            found += page
            if len(page) < PAGE:
                return [one for one in found if tuple(one.namespace) == namespace]

    def _known(self, namespace: Namespace) -> dict[tuple[str, str], Known]:
        """Return the documents of a namespace by root and path."""
        found = (known_of(item) for item in self._items(namespace, "document"))
        return {(one.document.root, one.document.path): one for one in found}

    def known(self, namespace: Namespace, root: str, path: str) -> Known | None:
        """Return what is known of one document, without looking at the others."""
        found = self._items(namespace, "document", root=root, path=path)
        return known_of(found[0]) if found else None

    def _linked(self, writer: Taking, namespace: Namespace) -> Synced:
        """Make the links of documents those that their front matter names, now that all are there."""
        if not writer.dry_run:
            writer.link(lambda: self._known(namespace))
        return writer.done

    def link(self, namespace: Namespace = DEFAULT_NAMESPACE) -> Synced:
        """Make the links of all documents those that their front matter names."""
        namespace = check_namespace(namespace)
        writer = self._writing(namespace, dry_run=False)
        writer.link(lambda: self._known(namespace), every=True)
        return writer.done

    alink = twin(link)

    # Folders of this machine, and of those that sent theirs over REST.

    def _root(self, path: Path) -> str:
        """Return how a folder of this machine is known.

        Raises:
            ConfigError: Its name cannot be stored.
        """
        if not files.is_text(str(path)):
            raise ConfigError(f"The folder {str(path)!r} cannot be kept: {files.NO_TEXT}.")
        return f"{CLIENT if self._sends else ''}{path}"

    def _places(self, given: str) -> Sequence[str]:
        """Return what a path may mean: a file or link in its folder, or where a link leads."""
        if given.startswith(CLIENT):
            return [given]
        path = Path(given).expanduser().absolute()
        itself = (
            path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve()
        )
        return [self._root(itself), self._root(path.resolve())]

    def _reads(self, root: str) -> bool:
        """Return whether a folder is of this machine, not of a client's or, for a client, the server's."""
        return root.startswith(CLIENT) == self._sends

    def _readable(self, namespace: Namespace) -> Sequence[Source]:
        return [one for one in self.sources(namespace) if self._reads(one.root)]

    def _leave_out(self, source: Source, path: str) -> None:
        if not source.leaves_out(path):
            self._remember(replace(source, left_out=(*source.left_out, path)))

    def _remember(self, source: Source) -> None:
        item = self._store.get(source.namespace, source.key)
        if item is None or Source.of(item) != source:
            self._store.put(source.namespace, source.key, source.value, index=False)

    # Files.

    def _read(
        self,
        source: Source,
        writer: Taking,
        most_bytes: int,
        progress: Progress | None,
        every: Mapping[tuple[str, str], Known] | None = None,
    ) -> int:
        """Read a folder; how many files it has that can be read. ``every`` is what is known, where that was
        asked already."""
        failed = dict[str, str]()
        found = files.walk(folder(source.root), source.ignore, unreadable=failed)
        every = self._known(source.namespace) if every is None else every
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
        others = places.Others(source.root, gone.values(), every.values(), self._reads)
        if there and not writer.dry_run:  # what is stopped from here on is finished by `refresh`
            self._remember(source)
        with writer.together(failed):
            for number, (name, path) in enumerate(there):
                if progress is not None:
                    progress(number, len(there), name)
                try:
                    before = known.get(name)
                    if (before is not None and Stamp.of(path.stat()) == before.stamp) or (
                        before is None and others.hold(path)  # added before, in another folder
                    ):
                        writer.done.unchanged += 1
                        continue
                    content = files.read(path, most_bytes=most_bytes)
                    old = None if before is not None else others.moved(content)
                    if old is not None:
                        writer.move(old, source.root, name, content)
                        if old.document.root == source.root:
                            del gone[old.document.path]
                    else:
                        writer.take(source.root, name, content, before)
                except (ImportFormatError, OSError) as error:
                    failed[name] = files.why(error)
        for one in gone.values():
            writer.remove(one)
        writer.done.failed.update(failed)
        if not writer.dry_run and (there or known or source.failed):
            kept = dict(sorted(failed.items())[:MOST_FAILED])
            self._remember(replace(source, failed=kept))
        return len(there)

    def _add_files(
        self,
        namespace: Namespace,
        paths: Sequence[Path],
        writer: Taking,
        most_bytes: int,
        progress: Progress | None,
    ) -> None:
        """Read several files as `_add_file` does each."""
        failed = dict[str, str]()
        known = self._known(namespace)
        roots = [one.root for one in self._readable(namespace)]
        with writer.together(failed):
            found = dict.fromkeys(self._found_in(roots, path) for path in paths)
            for number, (root, name) in enumerate(found):
                path = folder(root) / name
                if progress is not None:
                    progress(number, len(found), name)
                try:
                    content = _content(path, most_bytes)
                    writer.take(root, name, content, known.get((root, name)))
                except (ImportFormatError, OSError) as error:
                    failed[name] = files.why(error)
        writer.done.failed.update(failed)

    def _add_file(self, namespace: Namespace, path: Path, writer: Taking, most_bytes: int) -> None:
        """Read one file, as one of the folder that was added if there is one, else of its own."""
        root, name = self._found_in([one.root for one in self._readable(namespace)], path)
        try:
            content = _content(path, most_bytes)
        except OSError as error:
            raise ImportFormatError(f"{path} cannot be read: {files.why(error)}.") from error
        writer.take(root, name, content, self.known(namespace, root, name))

    def _found_in(self, roots: Sequence[str], path: Path) -> tuple[str, str]:
        """Return the folder that a file is known by, and its path there."""
        whole = path.parent.resolve() / path.name
        within = [root for root in roots if whole.is_relative_to(folder(root))]
        root = max(within, key=len) if within else self._root(whole.parent)
        return root, whole.relative_to(folder(root)).as_posix()


def _content(path: Path, most_bytes: int) -> Content:
    if not files.is_text(path.name):
        raise ImportFormatError(f"{str(path)!r} cannot be kept: {files.NO_TEXT}.")
    return files.read(path, most_bytes=most_bytes)


def _read_file_again(root: str, name: str, known: Known, writer: Taking, most_bytes: int) -> None:
    """Read a file again that was added by itself."""
    path = folder(root) / name
    try:
        if Stamp.of(path.stat()) == known.stamp:
            writer.done.unchanged += 1
        else:
            writer.take(root, name, files.read(path, most_bytes=most_bytes), known)
    except FileNotFoundError:
        if folder(root).is_dir():
            writer.remove(known)
        else:
            writer.done.failed[name] = "its folder is not there"
    except (ImportFormatError, OSError) as error:
        writer.done.failed[name] = files.why(error)


def _by_path(known: tuple[tuple[str, str], Known]) -> tuple[str, str]:
    (root, path), _ = known
    return path, root


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"The text has half a character (a lone surrogate) at {error.start}: it was decoded wrongly."
        ) from error
