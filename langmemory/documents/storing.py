"""The store that documents are in, as far as they know it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from langgraph.store.base import Item, Op, PutOp, Result, SearchItem

from langmemory.documents.files import Content
from langmemory.documents.records import StoredDocument, Synced
from langmemory.redaction import Redactor
from langmemory.types import Namespace

Documents: TypeAlias = Mapping[tuple[str, str], StoredDocument]
"""What is known of the documents of a namespace, by root and path."""


class ItemStore(Protocol):
    """A `BaseStore`."""

    def batch(self, ops: Iterable[Op]) -> list[Result]: ...

    def get(self, namespace: Namespace, key: str) -> Item | None: ...

    def put(
        self, namespace: Namespace, key: str, value: dict[str, Any], *, index: Any = None
    ) -> None: ...

    def delete(self, namespace: Namespace, key: str) -> None: ...

    def search(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]: ...


class ConditionalStore(ItemStore, Protocol):
    """A `BaseStore` that writes several items together, if others still are as they were read."""

    @property
    def redactor(self) -> Redactor | None: ...

    def _relink(
        self, namespace: Namespace, source: str, wanted: Iterable[tuple[str, Iterable[str]]]
    ) -> list[str]:
        """Make the links of a document those that its front matter names; return what could not be linked."""

    def put_all_if(
        self, puts: Iterable[PutOp], *, expected: Mapping[tuple[Namespace, str], datetime | None]
    ) -> None: ...


class DocumentSink(Protocol):
    """Takes documents, and keeps account of what was done with them: into a store, or to a server."""

    done: Synced
    dry_run: bool

    def take(
        self, root: str, path: str, content: Content, known: StoredDocument | None
    ) -> None: ...

    def together(self, failed: dict[str, str]) -> AbstractContextManager[None]: ...

    def move(self, known: StoredDocument, root: str, path: str, content: Content) -> None: ...

    def remove(self, known: StoredDocument) -> None: ...

    def link(self, documents: Callable[[], Documents], *, every: bool = False) -> None: ...
