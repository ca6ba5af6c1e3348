"""ViewerStore: a memory file as one person may see it.

It holds no rule of its own: every method hands its viewer down to the same body the application's
store runs, where it is a predicate of the SQL (`sqlite.scope.ownership`). What has no method here cannot
be reached on behalf of a viewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, Op, PutOp, Result, TTLConfig

from langmemory.config import Config
from langmemory.context.citations import Usage
from langmemory.engines.sqlite.reading import operations
from langmemory.engines.sqlite.writing.indexing import IndexConfig
from langmemory.errors import OwnershipError
from langmemory.messages import Message
from langmemory.redaction import Redactor
from langmemory.stores.graph.graph import Graph
from langmemory.stores.recalling import RecallOptions
from langmemory.types import (
    Applied,
    Forgotten,
    HistoryEntry,
    Memory,
    MemoryUsage,
    Namespace,
    Privacy,
    Recall,
    Remembered,
    Review,
)

if TYPE_CHECKING:
    from langmemory.stores.memory_store import MemoryStore


class ViewerStore(BaseStore):
    """A `BaseStore` over the same file, bound to one viewer; made by `MemoryStore.for_viewer`.

    Another person's private memory does not exist in it: it is not found, not listed, not counted
    and not deleted. Only its key is taken.
    """

    supports_ttl = True
    __slots__ = ("_store", "ttl_config", "viewer")

    def __init__(self, store: MemoryStore, viewer: str) -> None:
        """``viewer`` may be ``""`` here: somebody unknown, who owns nothing."""
        self._store = store
        self.viewer = viewer
        self.ttl_config: TTLConfig | None = store.ttl_config

    def __repr__(self) -> str:
        return f"{self._store!r}.for_viewer({self.viewer!r})"

    @property
    def index_config(self) -> IndexConfig | None:
        return self._store.index_config

    @property
    def embeddings(self) -> Embeddings | None:
        return self._store.embeddings

    @property
    def config(self) -> Config:
        return self._store.config

    @property
    def path(self) -> str:
        return self._store.path

    @property
    def answers_locally(self) -> bool:
        return self._store.answers_locally

    @property
    def redactor(self) -> Redactor | None:
        """See `MemoryStore.redactor`."""
        return self._store.redactor

    def for_viewer(self, viewer: str) -> ViewerStore:
        """This store, if it is this viewer's.

        Raises:
            OwnershipError: It is another's; only the application's store can be bound anew.
        """
        self._check(viewer)
        return self

    def for_anyone(self) -> ViewerStore:
        """See `MemoryStore.for_anyone`."""
        return self._store.for_anyone()

    # BaseStore.

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """See `MemoryStore.batch`. What is new becomes the viewer's.

        Raises:
            OwnershipError: A key is not free, or a memory would become private to somebody else.
        """
        return self._store._batch(self._taken_apart(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` without blocking the loop."""
        return await self._store._abatch(self._taken_apart(ops))

    def _taken_apart(self, ops: Iterable[Op]) -> operations.Batch:
        return operations.take_apart((self._owned(op) for op in ops), self.viewer)

    def _owned(self, op: Op) -> Op:
        """A put of something private says whose it is, for those who read values."""
        if not (isinstance(op, PutOp) and isinstance(op.value, dict) and self.viewer):
            return op
        if op.value.get("privacy") != "private" or op.value.get("owner"):
            return op
        return op._replace(value={**op.value, "owner": self.viewer})

    # Memory.

    def remember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
        owner: str | None = None,
        privacy: Privacy = "shared",
    ) -> Remembered:
        """See `MemoryStore.remember`; the owner is the viewer."""
        owner = self._owner(owner, privacy)
        return self._store.remember(
            namespace, messages, thread_id=thread_id, at=at, owner=owner, privacy=privacy
        )

    async def aremember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
        owner: str | None = None,
        privacy: Privacy = "shared",
    ) -> Remembered:
        """`remember` without blocking the loop."""
        owner = self._owner(owner, privacy)
        return await self._store.aremember(
            namespace, messages, thread_id=thread_id, at=at, owner=owner, privacy=privacy
        )

    def recall(self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]) -> Recall:
        """See `MemoryStore.recall`."""
        return self._store.recall(query, namespace, **self._seeing(options))

    async def arecall(
        self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]
    ) -> Recall:
        """`recall` without blocking the loop."""
        return await self._store.arecall(query, namespace, **self._seeing(options))

    def mandates(self, namespace: Namespace, *, limit: int = 100) -> list[Memory]:
        """See `MemoryStore.mandates`."""
        return self._store.mandates(namespace, viewer=self.viewer, limit=limit)

    def requests(self, namespace: Namespace, *, limit: int = 20) -> list[Memory]:
        """See `MemoryStore.requests`."""
        return self._store.requests(namespace, viewer=self.viewer, limit=limit)

    def evidence(self, namespace: Namespace, key: str) -> list[Memory]:
        """See `MemoryStore.evidence`."""
        return self._store.evidence(namespace, key, viewer=self.viewer)

    def said_after(self, namespace: Namespace, key: str) -> list[str]:
        """See `MemoryStore.said_after`."""
        return self._store.said_after(namespace, key, viewer=self.viewer)

    def retired(self, places: Iterable[tuple[Namespace, str]]) -> set[tuple[Namespace, str]]:
        """See `MemoryStore.retired`."""
        return self._store.retired(places, viewer=self.viewer)

    def labelled(self, namespace: Namespace, id: str) -> list[Memory]:
        """See `MemoryStore.labelled`."""
        return self._store.labelled(namespace, id, viewer=self.viewer)

    def distance(self, one: str, other: str) -> float | None:
        """See `MemoryStore.distance`."""
        return self._store.distance(one, other)

    async def adistance(self, one: str, other: str) -> float | None:
        """`distance` without blocking the loop."""
        return await self._store.adistance(one, other)

    def count_usage(self, counts: Iterable[Usage]) -> None:
        """See `MemoryStore.count_usage`."""
        self._store.count_usage(counts, viewer=self.viewer)

    def usage(self, namespace: Namespace = (), *, limit: int = 100) -> list[MemoryUsage]:
        """See `MemoryStore.usage`."""
        return self._store.usage(namespace, viewer=self.viewer, limit=limit)

    async def ausage(self, namespace: Namespace = (), *, limit: int = 100) -> list[MemoryUsage]:
        """`usage` without blocking the loop."""
        return await self._store.ausage(namespace, viewer=self.viewer, limit=limit)

    def graph(
        self,
        namespace: Namespace,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Graph:
        """See `MemoryStore.graph`."""
        return self._store.graph(namespace, viewer=self.viewer, as_of=as_of, known_at=known_at)

    def reviews(self, namespace: Namespace = (), *, open_only: bool = True) -> list[Review]:
        """See `MemoryStore.reviews`."""
        return self._store.reviews(namespace, open_only=open_only, viewer=self.viewer)

    async def areviews(self, namespace: Namespace = (), *, open_only: bool = True) -> list[Review]:
        """`reviews` without blocking the loop."""
        return await self._store.areviews(namespace, open_only=open_only, viewer=self.viewer)

    def remove(self, namespace: Namespace, key: str, *, reason: str) -> Applied:
        """See `MemoryStore.remove`."""
        return self._store.remove(namespace, key, reason=reason, viewer=self.viewer)

    async def aremove(self, namespace: Namespace, key: str, *, reason: str) -> Applied:
        """`remove` without blocking the loop."""
        return await self._store.aremove(namespace, key, reason=reason, viewer=self.viewer)

    def archive(self, namespace: Namespace, key: str, *, reason: str) -> Applied:
        """See `MemoryStore.archive`."""
        return self._store.archive(namespace, key, reason=reason, viewer=self.viewer)

    async def aarchive(self, namespace: Namespace, key: str, *, reason: str) -> Applied:
        """`archive` without blocking the loop."""
        return await self._store.aarchive(namespace, key, reason=reason, viewer=self.viewer)

    def delete_namespace(self, prefix: Namespace) -> int:
        """See `MemoryStore.delete_namespace`."""
        return self._store.delete_namespace(prefix, viewer=self.viewer)

    async def adelete_namespace(self, prefix: Namespace) -> int:
        """`delete_namespace` without blocking the loop."""
        return await self._store.adelete_namespace(prefix, viewer=self.viewer)

    def history(self, namespace: Namespace, key: str) -> list[HistoryEntry]:
        """See `MemoryStore.history`."""
        return self._store.history(namespace, key, viewer=self.viewer)

    async def ahistory(self, namespace: Namespace, key: str) -> list[HistoryEntry]:
        """`history` without blocking the loop."""
        return await self._store.ahistory(namespace, key, viewer=self.viewer)

    def iter_export(self, prefix: Namespace = ()) -> Iterator[dict[str, Any]]:
        """See `MemoryStore.iter_export`."""
        return self._store.iter_export(prefix, viewer=self.viewer)

    def forget(self, namespace: Namespace, *, dry_run: bool = False) -> Forgotten:
        """Forget all the viewer owns here; see `MemoryStore.forget`."""
        return self._store.forget(namespace, owner=self._known(), dry_run=dry_run)

    async def aforget(self, namespace: Namespace, *, dry_run: bool = False) -> Forgotten:
        """`forget` without blocking the loop."""
        return await self._store.aforget(namespace, owner=self._known(), dry_run=dry_run)

    # Who is asking.

    def _known(self) -> str:
        if not self.viewer:
            raise OwnershipError("Somebody unknown owns nothing; ask on behalf of a viewer.")
        return self.viewer

    def _seeing(self, options: RecallOptions) -> RecallOptions:
        viewer = options.get("viewer", self.viewer)
        if viewer != "":  # somebody unknown may see less, which is nobody's loss
            self._check(viewer)
        return {**options, "viewer": viewer}

    def _owner(self, owner: str | None, privacy: Privacy) -> str | None:
        if owner is not None:
            self._check(owner)
        return self._known() if privacy == "private" else self.viewer or None

    def _check(self, viewer: str | None) -> None:
        if viewer != self.viewer:
            raise OwnershipError(
                f"This store is bound to the viewer {self.viewer!r}, not to {viewer!r}. Leave the "
                "argument out, or ask the application's store."
            )
