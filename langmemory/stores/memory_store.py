"""MemoryStore: LangGraph's store, and what turns it into memory: `remember`, `recall`, history."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from langmemory.errors import ConfigError
from langmemory.sqlite import history, items
from langmemory.sqlite.connection import Connection
from langmemory.sqlite.namespaces import ids_below
from langmemory.sqlite.vectors import Floats
from langmemory.stores import transfer, verbatim
from langmemory.stores.base import SQLiteBaseStore, now_us
from langmemory.stores.verbatim import Message
from langmemory.types import (
    HistoryEntry,
    Kind,
    Namespace,
    Recall,
    RecallResult,
    Scope,
    Stats,
    Trace,
)


class MemoryStore(SQLiteBaseStore):
    """Long-term memory in one SQLite file: a `BaseStore` that searches by meaning and by words.

    One class for sync and async, for any thread and any event loop. Several stores, in several
    processes, may work on one file and see each other's writes. It needs no closing, but
    ``close`` (or ``with``) frees its threads and connections at once.

    Example:
        ```python
        store = MemoryStore("memory.db")
        store.put(("users", "maria"), "food", {"text": "Maria is allergic to peanuts"})
        store.search(("users",), query="what must Maria not eat?")
        ```
    """

    __slots__ = ()

    # Verbatim memory.

    def remember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
    ) -> list[str]:
        """Store messages word for word as episodic memories, in one transaction. No model is asked.

        Repeating it adds nothing: a message is known by its id, or without one by its thread, role,
        text and time. System prompts, injected memories and empty messages are left out.

        Args:
            namespace: Whose memory it is, for example ``("memories", user_id)``.
            messages: LangChain messages, or dicts with ``role`` and ``content`` and, if known,
                ``id``, ``name`` and ``at`` (ISO 8601 or datetime).
            thread_id: LangGraph's thread; messages are neighbours within it.
            at: When they were said, for messages that do not tell; now if nobody does.

        Returns:
            Keys of the memories that were added, in order.

        Raises:
            InvalidValueError: A message is not one; nothing was stored.
            EmbeddingError: The embedder failed; nothing was stored.
        """
        remembering = self._remembering(namespace, messages, thread_id, at)
        if not remembering.drafts:
            return []
        pending = self._indexing.pending(self._engine, remembering.drafts)
        embedded = self._indexing.embed(remembering.drafts, pending, tokens=True)
        writes = self._indexing.finish(remembering.drafts, embedded)
        with self._engine.write() as connection:
            return remembering.store(self, connection, writes)

    async def aremember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
    ) -> list[str]:
        """`remember` without blocking the loop."""
        workers = self._started()
        remembering = self._remembering(namespace, messages, thread_id, at)
        if not remembering.drafts:
            return []
        drafts = remembering.drafts
        pending = await workers.read(lambda: self._indexing.pending(self._engine, drafts))
        embedded = await self._indexing.aembed(drafts, pending, tokens=True)
        writes = self._indexing.finish(drafts, embedded)
        added: list[str] = await workers.write(
            lambda connection: remembering.store(self, connection, writes)
        )
        return added

    def _remembering(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        thread_id: str,
        at: datetime | None,
    ) -> _Remembering:
        self._check_namespace(namespace)
        if not thread_id:
            raise ConfigError("thread_id is empty; pass the id of the conversation.")
        if at is not None and at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        found = verbatim.turns(messages, thread_id=thread_id, at=at, now=datetime.now(UTC))
        drafts = [verbatim.draft(self._indexing, namespace, thread_id, turn) for turn in found]
        return _Remembering(namespace=tuple(namespace), thread_id=thread_id, drafts=drafts)

    # Recall.

    def recall(
        self,
        query: str,
        namespace: Namespace,
        *,
        limit: int = 10,
        kinds: Collection[Kind] | None = None,
        viewer: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        thread_id: str | None = None,
        exclude: Collection[str] = (),
        min_score: float | None = None,
        budget_tokens: int | None = None,
        preset: str | None = None,
        explain: bool = False,
        filter: Mapping[str, Any] | None = None,
    ) -> Recall:
        """The memories that answer a query, best first, and how they were found."""
        asked = _Asked(
            query=query,
            limit=limit,
            scope=Scope(
                namespace=tuple(namespace),
                filter=filter,
                kinds=None if kinds is None else tuple(kinds),
                statuses=("active",) if as_of is None and known_at is None else None,
                viewer=viewer,
                as_of=as_of,
                known_at=known_at,
                since=since,
                until=until,
                exclude=frozenset(exclude),
            ),
        )
        vectors = self._embed_queries([query] if query.strip() else [])
        return self._recall(asked, vectors.get(query))

    async def arecall(self, query: str, namespace: Namespace, **options: Any) -> Recall:
        """`recall` without blocking the loop; the same options."""
        return await self._started().read(lambda: self.recall(query, namespace, **options))

    def _recall(self, asked: _Asked, vector: Floats | None) -> Recall:
        with self._engine.read() as snapshot:
            ids, scores = self._rank(snapshot, asked.scope, asked.query, vector, asked.limit)
            found = list(items.memories(snapshot.connection, ids.tolist()))
        return Recall(
            query=asked.query,
            results=tuple(
                RecallResult(memory=memory, score=score, parts={"dense": score})
                for memory, score in zip(found, scores.tolist(), strict=True)
            ),
            trace=Trace(),
        )

    # The file as a whole.

    def delete_namespace(self, prefix: Namespace) -> int:
        """Delete every item in a namespace and below it, in one transaction; how many.

        The history keeps what they were. ``()`` is refused: delete the file instead.
        """
        if not prefix:
            raise ConfigError("delete_namespace(()) would empty the store; name a namespace.")
        now = now_us()
        with self._engine.write() as connection:
            return items.delete_namespaces(connection, ids_below(connection, tuple(prefix)), now)

    async def adelete_namespace(self, prefix: Namespace) -> int:
        """`delete_namespace` without blocking the loop."""
        return await asyncio.to_thread(self.delete_namespace, prefix)

    def history(self, namespace: Namespace, key: str) -> list[HistoryEntry]:
        """Every recorded change of an item, oldest first, also of items deleted since."""
        with self._engine.read() as snapshot:
            return history.of_item(snapshot.connection, tuple(namespace), key)

    async def ahistory(self, namespace: Namespace, key: str) -> list[HistoryEntry]:
        """`history` without blocking the loop."""
        return await asyncio.to_thread(self.history, namespace, key)

    def stats(self) -> Stats:
        """Counts and sizes of the file."""
        with self._engine.read() as snapshot:
            return snapshot.stats()

    def iter_export(self, prefix: Namespace = ()) -> Iterator[dict[str, Any]]:
        """Everything in a namespace and below it as JSON rows, `import_rows` takes them back.

        Items with all facets, times and TTL, and their history, on one snapshot.
        """
        with self._engine.read() as snapshot:
            yield from transfer.export_rows(snapshot.connection, tuple(prefix))

    def import_rows(self, rows: Iterable[Mapping[str, Any]]) -> int:
        """Restore exported rows as they were; how many items were new or different.

        Repeating it adds nothing. Vectors and keywords are made anew with this store's model.

        Raises:
            ImportFormatError: A row is not from an export; batches before it are stored.
        """
        changed = 0
        for batch in transfer.in_batches(rows):
            drafts = transfer.drafts(self._indexing, batch)
            pending = self._indexing.pending(self._engine, drafts)
            embedded = self._indexing.embed(drafts, pending, tokens=True)
            writes = self._indexing.finish(drafts, embedded)
            with self._engine.write() as connection:
                self._claim_model(connection, writes)
                changed += transfer.write_rows(connection, batch, writes, now_us())
        return changed


@dataclass(frozen=True, kw_only=True, slots=True)
class _Remembering:
    """Messages on their way into the file."""

    namespace: Namespace
    thread_id: str
    drafts: list[Any]

    def store(
        self, store: MemoryStore, connection: Connection, writes: list[items.Write]
    ) -> list[str]:
        store._claim_model(connection, writes)
        return verbatim.store(connection, self.namespace, self.thread_id, writes, now_us())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    query: str
    limit: int
    scope: Scope
