"""Reads of a store for a prompt beside recall: mandates, requests, short ids, evidence, and how far two
texts are apart. Nodes and tools use it; it is no part of the public face."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

import numpy as np
from langgraph.store.base import BaseStore
from numpy.typing import ArrayLike

from langmemory.arguments import whole_number
from langmemory.citing import ID_CHARS, digest
from langmemory.errors import EmbeddingError
from langmemory.formation.relations.vocabulary import TO_ASSISTANT
from langmemory.ledger import items, standing
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import run_in_write
from langmemory.ledger.indexing import Names, without_numbers
from langmemory.namespaces import check_namespace
from langmemory.operations.core import Core
from langmemory.procedures import Named, Procedure, is_procedure
from langmemory.steps import Steps, Wait, awaiting, blocking
from langmemory.types import Memory, MinScore, Namespace

logger = logging.getLogger("langmemory.store")

MOST_PROCEDURES: Final = 500
"""Procedures whose tasks are compared with a text; more than anybody told."""

Place = tuple[Namespace, str]
"""Namespace and key of a memory."""


class Conversing:
    """A memory file as the prompt of one viewer needs it."""

    __slots__ = ("_core", "_viewer")

    def __init__(self, core: Core, viewer: str | None) -> None:
        """``viewer`` None is the application, which sees everything."""
        self._core, self._viewer = core, viewer

    @property
    def answers_locally(self) -> bool:
        """Whether a recall waits for nothing but this file: what embeds takes microseconds, and no
        other model has a say."""
        core = self._core
        models = (core.expander, core.planner, core.reranker)
        return core.embeds_cheaply and not any(one is not None for one in models)

    @property
    def min_score(self) -> MinScore:
        """The lowest score of what a block shows, where nothing else is asked for."""
        return self._core.config.recall.min_score

    def mandates(self, namespace: Namespace, *, limit: int = 100) -> list[Memory]:
        """Return memories of priority ``mandate`` that are in force, the most recently updated
        first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            limit: At most so many.
        """
        prefix = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            ids = standing.mandates(
                snapshot.connection,
                prefix,
                viewer=self._viewer,
                alive_at_us=self._core.searching.alive_at_us(),
                limit=whole_number("limit", limit),
            )
            return shown(snapshot.connection, ids, self._viewer)

    def requests(self, namespace: Namespace, *, limit: int = 20) -> list[Memory]:
        """Return how the viewer asked to be answered: in which language, by which name, without
        what.

        Only their own requests, the most important first. The application, and somebody unknown,
        have none.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            limit: At most so many.
        """
        prefix = check_namespace(namespace, may_be_empty=True)
        if not self._viewer:
            return []
        with self._core.engine.read() as snapshot:
            ids = standing.requests(
                snapshot.connection,
                prefix,
                owner=self._viewer,
                relations=TO_ASSISTANT,
                alive_at_us=self._core.searching.alive_at_us(),
                limit=whole_number("limit", limit),
            )
            return shown(snapshot.connection, ids, self._viewer)

    def procedures(self, namespace: Namespace, task: str, *, limit: int = 3) -> list[Memory]:
        """Return procedures in force whose task a text names, the longest task first; those that failed more
        often than they succeeded behind the others.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            task: What is to be done, in words.
            limit: At most so many.
        """
        prefix = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            known = standing.procedures(
                snapshot.connection,
                prefix,
                viewer=self._viewer,
                alive_at_us=self._core.searching.alive_at_us(),
                limit=MOST_PROCEDURES,
            )
            if not known:
                return []
            named = Named(task)
            ids = [item for item, one in known if one in named]
            fitting = shown(snapshot.connection, ids, self._viewer) if ids else []
        found = [(Procedure.of(one), one) for one in fitting if is_procedure(one.value)]
        found.sort(key=lambda each: (each[0].outcomes.fails_more, -len(each[0].task)))
        return [one for _, one in found[:limit]]

    def said_after(self, namespace: Namespace, key: str) -> list[str]:
        """Return keys of the turns that stand after a turn in its thread; none where it is not
        stored."""
        namespace = check_namespace(namespace)
        with self._core.engine.read() as snapshot:
            return standing.said_after(snapshot.connection, namespace, key, viewer=self._viewer)

    def retired(self, places: Iterable[Place]) -> set[Place]:
        """Return those of the memories that are not in force: archived, superseded, not yet active."""
        with self._core.engine.read() as snapshot:
            return standing.inactive_places(snapshot.connection, places, viewer=self._viewer)

    def labelled(self, namespace: Namespace, id: str) -> list[Memory]:
        """Return memories that a short id of the memory block may mean; mostly one.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            id: 8 to 64 hex digits, see `langmemory.context.notes.digest`.
        """
        prefix = check_namespace(namespace, may_be_empty=True)
        try:
            hash = int(id[:ID_CHARS], 16)
        except ValueError:  # no id at all, so no memory's
            return []
        while True:
            with self._core.engine.read() as snapshot:
                ids = items.find_by_hash(
                    snapshot.connection, hash, prefix, _hash, viewer=self._viewer
                )
                if ids is not None:
                    found = shown(snapshot.connection, ids, self._viewer)
                    break
            run_in_write(self._core.engine, lambda connection: items.add_hashes(connection, _hash))
        return [one for one in found if digest(one.namespace, one.key).startswith(id.lower())]

    def _distance(self, one: str, other: str) -> Steps[float | None]:
        """Return the cosine distance, 0..2, of two queries by the store's embedder; 1 where one of
        them has no content, None without an embedder and when it fails."""
        embedder = self._core.indexing.embedder
        if embedder is None:
            return None
        try:
            first, second = yield Wait(
                lambda: (embedder.embed_query(one), embedder.embed_query(other)),
                lambda: asyncio.gather(embedder.aembed_query(one), embedder.aembed_query(other)),
            )
        except EmbeddingError as error:
            # Not the message: a provider may have put the text into it.
            why = type(error.__cause__ or error).__name__
            logger.warning("embedder failed (%s): no distance", why)
            return None
        return max(0.0, 1.0 - float(first @ second))  # rounding may leave less than nothing

    distance, adistance = blocking(_distance), awaiting(_distance)


def conversing_of(store: BaseStore) -> Conversing | None:
    """Return what a store tells beside recall; None of one that is no langmemory store."""
    return getattr(store, "_conversing", None)


def shown(connection: Connection, ids: ArrayLike, viewer: str | None) -> list[Memory]:
    """Return memories as the viewer may see them, with the names of those who speak."""
    names = Names(connection, viewer)
    found = items.memories(connection, np.asarray(ids, np.int64), viewer=viewer)
    memories = [names.shown(memory) for memory in found]
    return memories if viewer is None else list(map(without_numbers, memories))


def _hash(namespace: Namespace, key: str) -> int:
    return int(digest(namespace, key)[:ID_CHARS], 16)
