"""The store that documents are in, as far as they know it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from langgraph.store.base import Item, Op, PutOp, Result, SearchItem

from langmemory.redaction import Redactor
from langmemory.types import Namespace


class Storing(Protocol):
    """A `BaseStore` that writes several items together, if others still are as they were read."""

    @property
    def redactor(self) -> Redactor | None: ...

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
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]: ...

    def _relink(
        self, namespace: Namespace, source: str, wanted: Iterable[tuple[str, Iterable[str]]]
    ) -> list[str]:
        """Make the links of a document those that its front matter names; return what could not be linked."""

    def put_all_if(
        self, puts: Iterable[PutOp], *, expected: Mapping[tuple[Namespace, str], datetime | None]
    ) -> None: ...
