"""`store.documents`: files and texts that are searched beside what was said, and cited by path and line.

A document is an item that says what was read, under ``doc/{id}``, and one item for each chunk, under
``doc/{id}/{hash of its text}``; all have the kind ``resource``. A chunk whose text stays keeps its key, its
vector and what was linked with it. Each document is written in one transaction, some others with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from langgraph.store.base import GetOp, Item

from langmemory.documents import files, places
from langmemory.documents.files import Content
from langmemory.documents.index import DocumentIndex
from langmemory.documents.places import Roots
from langmemory.documents.project import REGISTRY, checked_name, is_project, namespace_of
from langmemory.documents.reading import Progress, Reading
from langmemory.documents.records import (
    Chunk,
    Document,
    Source,
    StoredDocument,
    Synced,
    folder,
    is_record,
    stored_document,
)
from langmemory.documents.storing import ConditionalStore, DocumentSink, ItemStore
from langmemory.documents.writing import Writer
from langmemory.errors import ConfigError, with_extra
from langmemory.namespaces import check_namespace
from langmemory.resources import KEYS, MOST_BYTES, NAMESPACE
from langmemory.steps import twin
from langmemory.types import Namespace

if TYPE_CHECKING:
    import threading

DEFAULT_NAMESPACE: Final[Namespace] = (NAMESPACE,)


class Documents:
    """Files and texts in a store. Reading them asks no model; what changed is embedded, and nothing else."""

    __slots__ = ("_index", "_roots", "_store", "_writing")

    def __init__(self, store: ConditionalStore) -> None:
        self._begin(store, partial(Writer, store), Roots(sends=False))

    def _begin(self, store: ItemStore, writing: Callable[..., DocumentSink], roots: Roots) -> None:
        self._store, self._writing, self._roots = store, writing, roots
        self._index = DocumentIndex(store)

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
        reading = self._reading(writer, namespace, most_bytes, progress)
        folders, single = list[Source](), list[Path]()
        for path in (Path(one).expanduser() for one in given):
            if path.exists() and not path.is_dir():
                single.append(path)
                continue
            root, pattern = places.split_glob(path)
            found = Source(
                namespace=namespace,
                root=self._roots.of(root),
                pattern=pattern,
                ignore=tuple(ignore),
            )
            folders.append(found)
        for found in folders:
            if not reading.read_folder(found):
                where = str(folder(found.root) / found.pattern)
                unread = writer.done.failed.pop(
                    found.root, "there is none of a format that is read"
                )
                if not several:
                    raise ConfigError(f"There is no file in {where!r} that can be read: {unread}.")
                writer.done.failed[where] = unread
        if several:
            reading.read_files(single)
        elif single:
            reading.read_file(single[0])
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
        reading = self._reading(writer, namespace, most_bytes, progress)
        only = None if root is None else self._roots.of(Path(root).expanduser().resolve())
        sources = [
            one for one in self._roots.readable(self.sources(namespace)) if only in (None, one.root)
        ]
        every, written = self._index.documents(namespace), writer.done.documents
        for source in sources:
            had_files = any(root == source.root for root, _ in every)
            missing = files.missing(folder(source.root), had_files=had_files)
            if missing:
                writer.done.failed[source.root] = missing
            else:
                reading.read_folder(source, every)
            if writer.done.documents > written and not dry_run:
                every, written = self._index.documents(namespace), writer.done.documents
        roots = {one.root for one in sources}
        for (where, name), known in every.items():
            if (
                where
                and self._roots.are_here(where)
                and where not in roots
                and only in (None, where)
            ):
                reading.read_again(where, name, known)
        return self._linked(writer, namespace)

    arefresh = twin(refresh)

    def sources(self, namespace: Namespace = DEFAULT_NAMESPACE) -> Sequence[Source]:
        """Return the folders that `refresh` reads again, and what of them could not be read."""
        return self._index.sources(check_namespace(namespace))

    def list(
        self,
        namespace: Namespace | None = None,
        *,
        project: str | None = None,
        prefix: str = "",
    ) -> Sequence[Document]:
        """Return the documents of a namespace or project whose path begins so, by path."""
        known = sorted(self._index.documents(self._place(namespace, project)).items(), key=_by_path)
        return [one.document for (_, path), one in known if path.startswith(prefix)]

    def get(self, key: str, namespace: Namespace = DEFAULT_NAMESPACE) -> Document | None:
        """Return one document by its `Document.key`; None where there is none."""
        item = self._store.get(check_namespace(namespace), key)
        is_document = item is not None and is_record(item.value, "document")
        return stored_document(item).document if item is not None and is_document else None

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
        known, sources = self._index.documents(namespace), self.sources(namespace)
        meant, over, left_out = places.resolve_name(
            given, self._roots.meant_by(given), known, sources
        )
        for one in sorted(meant, key=lambda one: one[::-1]):
            writer.remove(known[one])
        if not dry_run:
            for source in over:
                self._store.delete(namespace, source.key)
            for source, name in left_out:
                self._index.leave_out(source, name)
        return writer.done

    aremove = twin(remove)

    def leave_out(self, root: str, path: str, namespace: Namespace = DEFAULT_NAMESPACE) -> None:
        """Read a file of a folder no longer, or none of the files below it."""
        for source in self.sources(check_namespace(namespace)):
            if source.root == root:
                self._index.leave_out(source, path)

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
            self._index.remember(source)
        self._reading(writer, namespace, MOST_BYTES, progress).read_folder(source)
        return self._linked(writer, namespace)

    def unfollow(self, source: Source, *, dry_run: bool = False) -> Synced:
        """Read a folder no longer, and take out the documents that no other one of them holds."""
        writer = self._writing(source.namespace, dry_run=dry_run)
        others = [one for one in self.sources(source.namespace) if one.key != source.key]
        for (root, path), known in self._index.documents(source.namespace).items():
            is_shared = any(one.root == root and one.holds(path) for one in others)
            if root == source.root and source.holds(path) and not is_shared:
                writer.remove(known)
        if not dry_run:
            self._store.delete(source.namespace, source.key)
        return writer.done

    def take_out(self, namespace: Namespace, *, dry_run: bool = False) -> Synced:
        """Take out all documents of a namespace."""
        writer = self._writing(check_namespace(namespace), dry_run=dry_run)
        for _, known in sorted(self._index.documents(namespace).items(), key=_by_path):
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
        folders = sorted(
            {folder(one.root) for one in self._roots.readable(self.sources(namespace))}
        )
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

    def _reading(
        self, writer: DocumentSink, namespace: Namespace, most_bytes: int, progress: Progress | None
    ) -> Reading:
        return Reading(
            index=self._index, roots=self._roots, namespace=namespace, writer=writer, most_bytes=most_bytes,
            progress=progress,
        )  # fmt: skip

    def _keys(self, key: str, namespace: Namespace) -> Sequence[str] | None:
        """Return the keys of all chunks of the document that a key is of; None where there is none."""
        document = key.removeprefix(KEYS).partition("/")[0]
        item = self._store.get(namespace, f"{KEYS}{document}")
        if item is None or not key.startswith(KEYS) or not is_record(item.value, "document"):
            return None
        return [f"{item.key}/{part}" for part in stored_document(item).keys]

    def known(self, namespace: Namespace, root: str, path: str) -> StoredDocument | None:
        """Return what is known of one document, without looking at the others."""
        return self._index.document(namespace, root, path)

    def _linked(self, writer: DocumentSink, namespace: Namespace) -> Synced:
        """Make the links of documents those that their front matter names, now that all are there."""
        if not writer.dry_run:
            writer.link(lambda: self._index.documents(namespace))
        return writer.done

    def link(self, namespace: Namespace = DEFAULT_NAMESPACE) -> Synced:
        """Make the links of all documents those that their front matter names."""
        namespace = check_namespace(namespace)
        writer = self._writing(namespace, dry_run=False)
        writer.link(lambda: self._index.documents(namespace), every=True)
        return writer.done

    alink = twin(link)


def _by_path(known: tuple[tuple[str, str], StoredDocument]) -> tuple[str, str]:
    (root, path), _ = known
    return path, root


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"The text has half a character (a lone surrogate) at {error.start}: it was decoded wrongly."
        ) from error
