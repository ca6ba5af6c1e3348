"""What a store holds of documents: those that were read, and the folders that are read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langgraph.store.base import SearchItem

from langmemory.documents.records import Source, StoredDocument, is_record, stored_document
from langmemory.documents.storing import ItemStore
from langmemory.types import Namespace

PAGE: Final = 10_000
"""Items that are read at a time."""


class DocumentIndex:
    """Documents and their sources in a store."""

    def __init__(self, store: ItemStore) -> None:
        self._store = store

    def documents(self, namespace: Namespace) -> dict[tuple[str, str], StoredDocument]:
        """Return the documents of a namespace by root and path."""
        found = (stored_document(item) for item in self._items(namespace, "document"))
        return {(one.document.root, one.document.path): one for one in found}

    def document(self, namespace: Namespace, root: str, path: str) -> StoredDocument | None:
        """Return what is known of one document, without looking at the others."""
        found = self._items(namespace, "document", root=root, path=path)
        return stored_document(found[0]) if found else None

    def sources(self, namespace: Namespace) -> Sequence[Source]:
        """Return the folders that are read again."""
        return [Source.of(item) for item in self._items(namespace, "source")]

    def leave_out(self, source: Source, path: str) -> None:
        """Read a file of a folder no longer, or none of the files below it."""
        if not source.leaves_out(path):
            self.remember(replace(source, left_out=(*source.left_out, path)))

    def remember(self, source: Source) -> None:
        """Keep a folder as it is now."""
        item = self._store.get(source.namespace, source.key)
        if item is None or Source.of(item) != source:
            self._store.put(source.namespace, source.key, source.value, index=False)

    def _items(self, namespace: Namespace, record: str, **named: str) -> Sequence[SearchItem]:
        found = list[SearchItem]()
        while True:
            page = self._store.search(
                namespace, filter={"record": record, **named}, limit=PAGE, offset=len(found),
                refresh_ttl=False,
            )  # fmt: skip
            found += page
            if len(page) < PAGE:
                return [
                    one
                    for one in found
                    if tuple(one.namespace) == namespace and is_record(one.value, record)
                ]
