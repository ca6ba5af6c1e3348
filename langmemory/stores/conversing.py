"""The part of `MemoryStore` that a conversation asks beside recall: mandates, short ids, evidence,
how far two texts are apart, and which memories helped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike

from langmemory.arguments import whole_number
from langmemory.context.citations import Usage
from langmemory.context.notes import ID_CHARS, digest
from langmemory.embeddings.local import Vectors
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.records import items, labels, standing, usage
from langmemory.engines.sqlite.search import candidates
from langmemory.engines.sqlite.writing.naming import Names, unnumbered
from langmemory.engines.sqlite.writing.usage import UsageCounts, write
from langmemory.errors import EmbeddingError
from langmemory.formation.relations.vocabulary import TO_ASSISTANT
from langmemory.stores.base import SQLiteBaseStore
from langmemory.stores.recalling import RecallOptions, scope_of
from langmemory.types import Kind, Memory, MemoryUsage, Namespace

logger = logging.getLogger("langmemory.store")

Place = tuple[Namespace, str]
"""Namespace and key of a memory."""


class Conversing(SQLiteBaseStore):
    """What nodes and tools ask."""

    __slots__ = ()

    _counts: UsageCounts

    def memories(
        self,
        namespace: Namespace = (),
        *,
        kinds: Collection[Kind] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        viewer: str | None = None,
        past: bool = False,
        limit: int = 20,
    ) -> list[Memory]:
        """Return memories with their facets, what was said or became true last first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            kinds: Only these kinds of memory; None is every kind.
            since: Only what was said, or became true, at or after this time.
            until: Only what was said, or became true, before this time.
            viewer: Who is asking; None is the application, which sees everything.
            past: Include what no longer holds: superseded, archived, not yet active.
            limit: At most so many.

        Raises:
            ConfigError: There is no such kind.
        """
        prefix = self._check_namespace(namespace, may_be_empty=True)
        options: RecallOptions = {
            "kinds": kinds, "since": since, "until": until, "viewer": viewer,
        }  # fmt: skip
        scope = scope_of(prefix, options, frozenset())
        if past:
            scope = replace(scope, statuses=None)
        with self._engine.read() as snapshot:
            compiled = snapshot.scoped(scope, alive_at_us=self._searching.alive_at_us())
            ids = candidates.newest(snapshot.connection, compiled, whole_number("limit", limit))
            return self._memories(snapshot.connection, ids, viewer)

    def mandates(
        self, namespace: Namespace, *, viewer: str | None = None, limit: int = 100
    ) -> list[Memory]:
        """Memories of priority ``mandate`` that are in force, the most recently updated first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            viewer: Who is asking; None is the application, which sees everything.
            limit: At most so many.
        """
        prefix = self._check_namespace(namespace, may_be_empty=True)
        with self._engine.read() as snapshot:
            ids = standing.mandates(
                snapshot.connection,
                prefix,
                viewer=viewer,
                alive_at_us=self._searching.alive_at_us(),
                limit=whole_number("limit", limit),
            )
            return self._memories(snapshot.connection, ids, viewer)

    def requests(
        self, namespace: Namespace, *, viewer: str | None = None, limit: int = 20
    ) -> list[Memory]:
        """How the viewer has asked to be answered: in which language, by which name, without what.

        Only their own requests, the most important first. The application, and somebody unknown,
        have none.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            viewer: Who is asking.
            limit: At most so many.
        """
        prefix = self._check_namespace(namespace, may_be_empty=True)
        if not viewer:
            return []
        with self._engine.read() as snapshot:
            ids = standing.requests(
                snapshot.connection,
                prefix,
                owner=viewer,
                relations=TO_ASSISTANT,
                alive_at_us=self._searching.alive_at_us(),
                limit=whole_number("limit", limit),
            )
            return self._memories(snapshot.connection, ids, viewer)

    def evidence(
        self, namespace: Namespace, key: str, *, viewer: str | None = None
    ) -> list[Memory]:
        """What a memory was derived from and the viewer may read, oldest first."""
        namespace = self._check_namespace(namespace)
        with self._engine.read() as snapshot:
            ids = standing.evidence(snapshot.connection, namespace, key, viewer=viewer)
            return self._memories(snapshot.connection, ids, viewer)

    def said_after(self, namespace: Namespace, key: str, *, viewer: str | None = None) -> list[str]:
        """Keys of the turns that stand after a turn in its thread; none where it is not stored."""
        namespace = self._check_namespace(namespace)
        with self._engine.read() as snapshot:
            return standing.said_after(snapshot.connection, namespace, key, viewer=viewer)

    def retired(self, places: Iterable[Place], *, viewer: str | None = None) -> set[Place]:
        """Those of the memories that are not in force: archived, superseded, not yet active."""
        with self._engine.read() as snapshot:
            return standing.retired(snapshot.connection, places, viewer=viewer)

    def labelled(self, namespace: Namespace, id: str, *, viewer: str | None = None) -> list[Memory]:
        """Memories that a short id of the memory block may mean; mostly one.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            id: 8 to 64 hex digits, see `langmemory.context.notes.digest`.
            viewer: Who is asking; None is the application, which sees everything.
        """
        prefix = self._check_namespace(namespace, may_be_empty=True)
        try:
            hash = int(id[:ID_CHARS], 16)
        except ValueError:  # no id at all, so no memory's
            return []
        while True:
            with self._engine.read() as snapshot:
                ids = labels.find(snapshot.connection, hash, prefix, _hash, viewer=viewer)
                if ids is not None:
                    found = self._memories(snapshot.connection, ids, viewer)
                    break
            with self._engine.write() as connection:
                labels.add(connection, _hash)
        return [one for one in found if digest(one.namespace, one.key).startswith(id.lower())]

    def _memories(self, connection: Connection, ids: ArrayLike, viewer: str | None) -> list[Memory]:
        names = Names(connection, viewer)
        found = items.memories(connection, np.asarray(ids, np.int64), viewer=viewer)
        shown = [names.shown(memory) for memory in found]
        return shown if viewer is None else list(map(unnumbered, shown))

    # How far apart two texts are.

    def distance(self, one: str, other: str) -> float | None:
        """Cosine distance, 0..2, of two queries by the store's embedder; 1 where one of them has no
        content, None without an embedder and when it fails."""
        embedder = self._indexing.embedder
        if embedder is None:
            return None
        try:
            return _distance(embedder.embed_query(one), embedder.embed_query(other))
        except EmbeddingError as error:
            _warn(error)
            return None

    async def adistance(self, one: str, other: str) -> float | None:
        """`distance` without blocking the loop."""
        embedder = self._indexing.embedder
        if embedder is None:
            return None
        try:
            return _distance(
                *await asyncio.gather(embedder.aembed_query(one), embedder.aembed_query(other))
            )
        except EmbeddingError as error:
            _warn(error)
            return None

    # Which memories helped.

    def count_usage(self, counts: Iterable[Usage], *, viewer: str | None = None) -> None:
        """Add what an answer says of the memories it was given (`langmemory.context.usage`) to what
        is known of them. Returns at once; the file learns of it with the first counts that come
        half a minute after the last ones it learned of, and when the store is closed.

        Args:
            counts: See `Usage`.
            viewer: On whose behalf; others' private memories are not counted. None is the
                application.
        """
        if self._counts.note(counts, viewer):
            with suppress(RuntimeError):  # no thread to be had: the next one, or `close`, writes
                self._workers.later(self._write_counts)

    def usage(
        self, namespace: Namespace = (), *, viewer: str | None = None, limit: int = 100
    ) -> list[MemoryUsage]:
        """Which memories were shown, cited and right, over all threads; the most helpful first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            viewer: Who is asking; None is the application, which sees everything.
            limit: At most so many.
        """
        prefix = self._check_namespace(namespace, may_be_empty=True)
        limit = whole_number("limit", limit)
        if self._counts.any:
            with self._engine.write() as connection:  # also waits for what is being written
                self._write_counts(connection)
        with self._engine.read() as snapshot:
            return usage.of_namespace(snapshot.connection, prefix, viewer, limit)

    async def ausage(
        self, namespace: Namespace = (), *, viewer: str | None = None, limit: int = 100
    ) -> list[MemoryUsage]:
        """`usage` without blocking the loop."""
        return await asyncio.to_thread(self.usage, namespace, viewer=viewer, limit=limit)

    def _write_counts(self, connection: Connection) -> None:
        write(connection, self._counts.drain())


def _hash(namespace: Namespace, key: str) -> int:
    return int(digest(namespace, key)[:ID_CHARS], 16)


def _distance(one: Vectors, other: Vectors) -> float:
    return max(0.0, 1.0 - float(one @ other))  # rounding may leave less than nothing


def _warn(error: EmbeddingError) -> None:
    # Not the message: a provider may have put the text into it.
    logger.warning("embedder failed (%s): no distance", type(error.__cause__ or error).__name__)
