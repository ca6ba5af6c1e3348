"""Documents into a store: each whole in one transaction, with what was known of it replaced."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from langgraph.store.base import GetOp, Item, PutOp

from langmemory.documents.converting import Converted, convert
from langmemory.documents.files import Content, reason
from langmemory.documents.front_matter import FrontMatterError, Links, ends_of, links_in, names_any
from langmemory.documents.records import (
    DIGITS,
    Document,
    StoredDocument,
    Synced,
    digest,
    record,
    stored_document,
)
from langmemory.documents.splitting import CHUNK_CHARACTERS, split
from langmemory.documents.storing import ConditionalStore, Documents
from langmemory.errors import ChangedMeanwhileError, InvalidValueError
from langmemory.redaction import redact_text
from langmemory.types import Namespace

ATTEMPTS: Final = 5
"""How often a document is written where somebody else writes it at the same time."""
CHUNKS_TOGETHER: Final = 256
"""From which documents that were taken together are written, in one transaction of some 50 ms."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingDocument:
    """A document that is to be written."""

    document: Document
    content: Content
    known: StoredDocument | None
    converted: Converted | None
    """None: its chunks stay as they are."""
    chunks: dict[str, dict[str, Any]]
    links: Links
    note: Callable[[], object]
    """Is called when it is written."""


def _place(one: PendingDocument | StoredDocument) -> tuple[str, str]:
    return one.document.root, one.document.path


def _renamed(one: PendingDocument) -> PendingDocument:
    """Return a new document under another id, because one that moved away from its path keeps the first."""
    id = digest(one.document.id, one.document.root, one.document.path)
    chunks = {part: {**value, "document": id} for part, value in one.chunks.items()}
    return replace(one, document=replace(one.document, id=id), chunks=chunks)


class Writer:
    """Takes documents, and keeps account of what was done with them."""

    def __init__(self, store: ConditionalStore, namespace: Namespace, *, dry_run: bool) -> None:
        self._store = store
        self._namespace = namespace
        self.dry_run = dry_run
        self.done = Synced()
        self.linked: set[str] = set()
        """Keys of the documents that name links, or did before."""
        self._waiting: list[PendingDocument] = []
        self._failed: dict[str, str] | None = None
        """Of `together`; None: a document is written when it is taken."""

    @contextmanager
    def together(self, failed: dict[str, str]) -> Iterator[None]:
        """Write the documents that are taken within it some at a time. None of them is ever half there.

        Args:
            failed: Gets the paths of those that may not be written, and why.
        """
        self._failed = failed
        try:
            yield
            self._write_waiting()
        finally:
            self._failed = None
            self._waiting.clear()

    def take(self, root: str, path: str, content: Content, known: StoredDocument | None) -> None:
        """Write a document that is new, or may be otherwise than before.

        Raises:
            ImportFormatError: It cannot be read; nothing was written.
        """
        if known is not None and known.document.sha256 == content.sha256:
            self.done.unchanged += 1
            if known.stamp != content.stamp:
                self._write(known.document, content, known, None, note=lambda: None)
            return
        converted = convert(content.data, path)
        document = Document(
            id=digest(root, path) if known is None else known.document.id, namespace=self._namespace,
            path=path, root=root, title="", sha256=content.sha256, bytes=len(content.data), chunks=0,
            read_at=datetime.min,
        )  # fmt: skip
        paths = self.done.added if known is None else self.done.changed
        self._write(document, content, known, converted, note=partial(paths.append, path))

    def move(self, known: StoredDocument, root: str, path: str, content: Content) -> None:
        """Write a document that is elsewhere: what is known of its chunks stays."""
        document, before = replace(known.document, root=root, path=path), known.document
        old = before.path if before.root == root else f"{before.root}/{before.path}"
        note = partial(self.done.moved.__setitem__, path, old)
        self._write(document, content, known, convert(content.data, path), note=note)

    def remove(self, known: StoredDocument) -> None:
        """Take a document out."""
        document = known.document
        for _ in self._attempts():
            puts = [PutOp(self._namespace, f"{document.key}/{part}", None) for part in known.keys]
            if self._put(
                [*puts, PutOp(self._namespace, document.key, None)], {document.key: known}
            ):
                break
            found = self._store.get(self._namespace, document.key)
            if found is None or _place(stored_document(found)) != _place(
                known
            ):  # somebody else did it
                return
            known = stored_document(found)
        self.done.removed.append(document.path)

    def link(self, documents: Callable[[], Documents], *, every: bool = False) -> None:
        """Make the links of documents those that their front matter names: of those that were written, and of
        others that may name one which is new, elsewhere or gone.

        Args:
            documents: What is known of all, now that they are there.
            every: Of all of them.
        """
        done = self.done
        came_or_went = {
            posixpath.basename(path)
            for path in (*done.added, *done.moved, *done.moved.values(), *done.removed)
        }
        if not self.linked and not ((every or came_or_went) and self._has_links()):
            return
        known = documents()
        for one in known.values():
            if every or one.document.key in self.linked or names_any(one.links, came_or_went):
                refused = self._store._relink(
                    self._namespace, one.document.key, ends_of(one, known)
                )
                if refused:
                    self.done.unlinked[one.document.path] = "; ".join(refused)

    def _has_links(self) -> bool:
        """Return whether any document names links: most namespaces have none, and all would be read."""
        named = {"record": "document", "links": {"$ne": None}}
        return bool(self._store.search(self._namespace, filter=named, limit=1, refresh_ttl=False))

    def _write(
        self,
        document: Document,
        content: Content,
        known: StoredDocument | None,
        converted: Converted | None,
        *,
        note: Callable[[], object],
    ) -> None:
        """Write a document, at once or with others. ``converted`` None leaves its chunks as they are."""
        chunks = {} if converted is None else dict(self._chunks(document, converted))
        links = self._links(document, converted, known)
        if links or (known is not None and known.links):
            self.linked.add(document.key)
        self._waiting.append(
            PendingDocument(
                document=document, content=content, known=known, converted=converted, chunks=chunks,
                links=links, note=note,
            )
        )  # fmt: skip
        waiting = sum(len(one.chunks) + 1 for one in self._waiting)
        if self._failed is None or waiting > CHUNKS_TOGETHER:
            self._write_waiting()

    def _write_waiting(self) -> None:
        waiting = self._waiting.copy()
        self._waiting.clear()
        if len(waiting) > 1:
            planned = [self._planned(one, one.known) for one in waiting]
            try:
                written = self._put(
                    [put for puts in planned for put in puts],
                    {one.document.key: one.known for one in waiting},
                )
            except Exception:  # one of them is refused: written alone, it says why
                written = False
            if written:
                for one, puts in zip(waiting, planned, strict=True):
                    self._note(one, puts)
                return
        for one in waiting:
            try:
                self._write_alone(one)
            except (OSError, InvalidValueError) as error:  # an `OwnershipError` is one
                if self._failed is None:
                    raise
                self._failed[one.document.path] = reason(error)

    def _write_alone(self, one: PendingDocument) -> None:
        known = one.known
        for _ in self._attempts():
            puts = self._planned(one, known)
            if self._put(puts, {one.document.key: known}):
                self._note(one, puts)
                return
            found = self._store.get(self._namespace, one.document.key)
            known = None if found is None else stored_document(found)
            if one.known is None and known is not None and _place(known) != _place(one):
                self.linked.discard(one.document.key)
                one, known = _renamed(one), None
                if one.links:
                    self.linked.add(one.document.key)

    def _note(self, one: PendingDocument, puts: Sequence[PutOp]) -> None:
        """Keep account of a document that was written: of its chunks, those that are new or otherwise."""
        self.done.chunks += sum(put.value is not None for put in puts) - 1
        one.note()

    def _planned(self, one: PendingDocument, known: StoredDocument | None) -> list[PutOp]:
        """Return what is to be written of a document, where this is known of it."""
        document, new = one.document, one.chunks
        stays = one.converted is None
        before = {} if stays or known is None else self._stored(known)
        keys = (known.keys if known is not None else ()) if stays else tuple(new)
        chunks = {part: value for part, value in new.items() if before.get(part) != value}
        gone = dict.fromkeys(part for part in before if part not in new)
        puts = [
            PutOp(self._namespace, f"{document.key}/{part}", value)
            for part, value in {**chunks, **gone}.items()
        ]
        value = record(document, one.content, keys, one.converted, known, one.links)
        return [*puts, PutOp(self._namespace, document.key, value, index=False)]

    def _links(
        self, document: Document, converted: Converted | None, known: StoredDocument | None
    ) -> Links:
        """Return what the front matter of a document names."""
        if converted is None:
            return {} if known is None else known.links
        if converted.layout != "markdown" or converted.unit != "L":
            return {}
        try:
            return links_in(converted.text)
        except FrontMatterError as error:
            self.done.unlinked[document.path] = f"its front matter: {error}"
            return {}

    def _put(self, puts: list[PutOp], documents: Mapping[str, StoredDocument | None]) -> bool:
        """Write documents in one transaction; false where somebody else wrote one of them meanwhile."""
        if self.dry_run:
            return True
        expected = {
            (self._namespace, key): None if known is None else known.updated_at
            for key, known in documents.items()
        }
        try:
            self._store.put_all_if(puts, expected=expected)
        except ChangedMeanwhileError:
            return False
        return True

    @staticmethod
    def _attempts() -> Iterator[int]:
        yield from range(ATTEMPTS)
        raise ChangedMeanwhileError(
            "Somebody else writes the same document all the time. Read it again when they are done."
        )

    def _stored(self, known: StoredDocument) -> dict[str, Any]:
        """Return the values of a document's chunks, all of one moment."""
        asked = [GetOp(self._namespace, f"{known.document.key}/{part}") for part in known.keys]
        found = zip(known.keys, self._store.batch(asked), strict=True)
        return {part: item.value for part, item in found if isinstance(item, Item)}

    def _chunks(
        self, document: Document, converted: Converted
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the chunks of a document by the hash of their text, and a number where it is there twice."""
        times: dict[str, int] = {}
        for chunk in split(converted.text, converted.layout, characters=CHUNK_CHARACTERS):
            text = redact_text(converted.text[chunk.start : chunk.end], self._store.redactor).text
            part = hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
            times[part] = times.get(part, 0) + 1
            place = converted.cited(chunk.start, chunk.first_line, chunk.end, chunk.last_line)
            yield (
                part if times[part] == 1 else f"{part}-{times[part]}",
                {
                    "kind": "resource", "document": document.id, "path": document.path,
                    "heading": " > ".join(chunk.heading), "place": place, "text": text,
                },
            )  # fmt: skip
