"""`store.pages`: the lists of a file, one page after the other.

A page starts where the one before it ended, in SQL: what is added or deleted between two pages neither
repeats nor hides anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from langmemory.arguments import check_time
from langmemory.declaring import operation, room
from langmemory.declaring.fields import Cursor, Id, Key, Limit, Most
from langmemory.ledger import conversations, history, jobs, reviews, runs, standing, usage
from langmemory.ledger.applying import open_reviews
from langmemory.ledger.engine import Snapshot
from langmemory.ledger.listing import Place, counted, newest
from langmemory.ledger.values import from_us, to_us
from langmemory.namespaces import check_namespace
from langmemory.operations.conversing import shown
from langmemory.operations.core import Core
from langmemory.operations.cursors import Cursors, Part
from langmemory.recall_options import check_kinds
from langmemory.types import (
    Conversation,
    HistoryEntry,
    Job,
    JobState,
    Kind,
    Memory,
    MemoryUsage,
    Namespace,
    NamespaceCounts,
    Page,
    Review,
    Run,
    Scope,
    Status,
)

OPENING: Final = 200
"""Characters of the first words of a conversation."""
T = TypeVar("T")
Placed = tuple[Sequence[Part], T]
"""A row with its place in the list."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """Which memories are listed."""

    namespace: Namespace
    kinds: tuple[Kind, ...] | None
    statuses: tuple[Status, ...] | None
    since_us: int | None
    until_us: int | None

    @classmethod
    def of(
        cls,
        namespace: Namespace,
        *,
        kinds: Collection[Kind] | None,
        since: datetime | None,
        until: datetime | None,
        past: bool,
        statuses: Collection[Status] | None,
    ) -> Listing:
        """Return what was asked for; see `ViewerAdmin.memories`."""
        check_time("since", since)
        check_time("until", until)
        holding: tuple[Status, ...] | None = None if past else ("active",)
        return cls(
            namespace=check_namespace(namespace, may_be_empty=True),
            kinds=check_kinds(kinds),
            statuses=holding if statuses is None else tuple(statuses),
            since_us=None if since is None else to_us(since),
            until_us=None if until is None else to_us(until),
        )

    def read(
        self,
        core: Core,
        snapshot: Snapshot,
        viewer: str | None,
        limit: int,
        after: Place | None = None,
    ) -> list[Place]:
        """Return where the next memories stand, the latest first."""
        scope = Scope(
            namespace=self.namespace, kinds=self.kinds, statuses=self.statuses, viewer=viewer
        )
        return newest(
            snapshot.connection,
            snapshot.scoped(scope, alive_at_us=core.searching.alive_at_us()),
            after=after,
            limit=limit,
            since_us=self.since_us,
            until_us=self.until_us,
        )


class Pages:
    """Lists of what a viewer may know of. Each takes ``cursor``, which is `Page.next` of the page before,
    and ``limit``, the most items; a cursor of another list is refused with ConfigError."""

    __slots__ = ("_core", "_viewer")

    def __init__(self, core: Core, viewer: str | None) -> None:
        """``viewer`` None is the application, which sees everything."""
        self._core, self._viewer = core, viewer

    @operation("read", "GET /namespaces")
    def namespaces(
        self, namespace: Namespace = (), *, limit: Most = 100
    ) -> tuple[NamespaceCounts, ...]:
        """Return how much each namespace holds that is in force, such as the memory of each user; where
        something was said last first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            limit: At most so many.
        """
        prefix = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            return tuple(counted(snapshot.connection, prefix, self._viewer, limit))

    @operation("read", "GET /memories")
    def memories(
        self,
        namespace: Namespace = (),
        *,
        kinds: Collection[Kind] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        past: bool = False,
        statuses: Collection[Status] | None = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Page[Memory]:
        """Return memories, what was said or became true last first; see `ViewerAdmin.memories`."""
        asked = Listing.of(
            namespace, kinds=kinds, since=since, until=until, past=past, statuses=statuses
        )

        def read(place: Sequence[Any] | None) -> list[Placed[Memory]]:
            start = None if place is None else Place(*place)
            with self._core.engine.read() as snapshot:
                found = asked.read(self._core, snapshot, self._viewer, limit + 1, start)
                ids = [one.item for one in found]
                return list(zip(found, shown(snapshot.connection, ids, self._viewer), strict=True))

        return self._page("memories", cursor, limit, read)

    @operation("read", "GET /conversations")
    def conversations(
        self, namespace: Namespace = (), *, cursor: Cursor = None, limit: Limit = 50
    ) -> Page[Conversation]:
        """Return the conversations of people, the newest first, each with the one before and after it: what
        was talked about before that."""
        prefix = check_namespace(namespace, may_be_empty=True)

        def read(place: Sequence[Any] | None) -> list[Placed[Conversation]]:
            start = None if place is None else (place[0], place[1])
            with self._core.engine.read() as snapshot:
                connection = snapshot.connection
                found = conversations.newest(
                    connection, prefix, self._viewer, limit + 1, after=start
                )
                firsts = {
                    item for one in found for item in (one.talk.first, one.previous, one.next)
                }
                ids = sorted(item for item in firsts if item is not None)
                turns = dict(zip(ids, shown(connection, ids, self._viewer), strict=True))
            return [(one.talk[:2], _conversation(one, turns)) for one in found]

        return self._page("conversations", cursor, limit, read)

    @operation("read", "GET /history")
    def history(
        self, namespace: Namespace, key: Key, *, cursor: Cursor = None, limit: Limit = 50
    ) -> Page[HistoryEntry]:
        """Return recorded changes of an item, oldest first; see `ViewerChanges.history`."""
        namespace = check_namespace(namespace)

        def read(place: Sequence[Any] | None) -> list[Placed[HistoryEntry]]:
            start = None if place is None else history.Step(*place)
            with self._core.archive.in_place(namespace, key, self._viewer) as connection:
                return list(
                    history.steps_of(
                        connection, namespace, key, self._viewer, after=start, limit=limit + 1
                    )
                )

        return self._page("history", cursor, limit, read)

    @operation("read", "GET /evidence")
    def evidence(
        self, namespace: Namespace, key: Key, *, cursor: Cursor = None, limit: Limit = 50
    ) -> Page[Memory]:
        """Return what a memory was derived from, oldest first; see `ViewerChanges.evidence`."""
        namespace = check_namespace(namespace)

        def read(place: Sequence[Any] | None) -> list[Placed[Memory]]:
            start = 0 if place is None else place[0]
            with self._core.archive.in_place(namespace, key, None) as connection:
                found = standing.evidence(connection, namespace, key, viewer=self._viewer)
                ids = [one for one in found if one > start][: limit + 1]
                memories = shown(connection, ids, self._viewer)
                return [([one], memory) for one, memory in zip(ids, memories, strict=True)]

        return self._page("evidence", cursor, limit, read)

    @operation("read", "GET /reviews")
    def reviews(
        self,
        namespace: Namespace = (),
        *,
        open_only: bool = True,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Page[Review]:
        """Return questions, oldest first; see `ViewerChanges.reviews`."""
        namespace = check_namespace(namespace, may_be_empty=True)

        def read(place: Sequence[Any] | None) -> list[Placed[Review]]:
            start = None if place is None else (place[0], place[1])
            found: list[Placed[Review]] = []
            with self._core.engine.read() as snapshot:
                connection = snapshot.connection
                while len(found) <= limit:
                    rows = reviews.list_reviews(
                        connection, namespace, open_only=open_only, viewer=self._viewer,
                        after=start, limit=limit + 1,
                    )  # fmt: skip
                    kept = open_reviews(connection, rows) if open_only else rows
                    found += [((to_us(one.opened_at), one.id), one) for one in kept]
                    if len(rows) <= limit:
                        break
                    start = to_us(rows[-1].opened_at), rows[-1].id
            return found

        return self._page("reviews", cursor, limit, read)

    @operation("read", "GET /context/stats")
    def usage(
        self,
        namespace: Namespace = (),
        *,
        key: Key | None = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Page[MemoryUsage]:
        """Return which memories were shown, or only those of a key, the most helpful first; see
        `ViewerAdmin.usage`."""
        namespace = check_namespace(namespace, may_be_empty=True)
        if cursor is None and self._core.counts.any:
            with self._core.engine.write() as connection:  # also waits for what is being written
                self._core.write_counts(connection)

        def read(place: Sequence[Any] | None) -> Sequence[Placed[MemoryUsage]]:
            start = None if place is None else usage.Rank(*place)
            with self._core.engine.read() as snapshot:
                return usage.of_namespace(
                    snapshot.connection, namespace, self._viewer, limit + 1, key=key, after=start
                )

        return self._page("usage", cursor, limit, read)

    def _page(
        self,
        name: str,
        cursor: str | None,
        limit: int,
        read: Callable[[Sequence[Any] | None], Sequence[Placed[T]]],
    ) -> Page[T]:
        """Return a page of rows; ``read`` returns at least one more than ``limit``, if there are."""
        sealer = Cursors(self._core.engine).sealer(name)
        found = read(None if cursor is None else sealer.opened(cursor))
        more = len(found) > limit
        return Page(
            items=tuple(one for _, one in found[:limit]),
            next=sealer.sealed(found[limit - 1][0]) if more else None,
        )


def _conversation(one: conversations.Joined, turns: Mapping[int, Memory]) -> Conversation:
    talk, first = one.talk, turns[one.talk.first]
    beside = {"previous": one.previous, "next": one.next}
    return Conversation(
        namespace=first.namespace, key=first.key, thread_id=str(first.value.get("thread_id", "")),
        owner=first.owner, began_at=from_us(talk.began_us), ended_at=from_us(talk.ended_us),
        turns=talk.turns, opening=first.text[:OPENING],
        **{name: None if item is None else turns[item].key for name, item in beside.items()},
    )  # fmt: skip


@room("pages", tag="Lists")
class FilePages(Pages):
    """Lists of the whole file, for the application that owns it."""

    __slots__ = ()

    @operation("read", "GET /runs", whole="namespace")
    def runs(
        self, namespace: Namespace = (), *, cursor: Cursor = None, limit: Limit = 50
    ) -> Page[Run]:
        """Return runs, newest first; see `Changes.runs`."""
        namespace = check_namespace(namespace, may_be_empty=True)

        def read(place: Sequence[Any] | None) -> list[Placed[Run]]:
            start = None if place is None else (place[0], place[1])
            with self._core.engine.read() as snapshot:
                found = runs.newest(snapshot.connection, namespace, limit + 1, after=start)
            return [((to_us(one.at), one.id), one) for one in found]

        return self._page("runs", cursor, limit, read)

    @operation("read", "GET /changes", whole="namespace", about="changes.run")
    def changed_by(
        self, run_id: Id, *, cursor: Cursor = None, limit: Limit = 50
    ) -> Page[HistoryEntry]:
        """Return what a run changed, in the order in which it did; see `Changes.changed_by`."""

        def read(place: Sequence[Any] | None) -> list[Placed[HistoryEntry]]:
            start = 0 if place is None else place[0]
            with self._core.engine.read() as snapshot:
                found = history.of_run(snapshot.connection, run_id, limit + 1, after=start)
            return [([seq], entry) for seq, entry in found]

        return self._page("changes", cursor, limit, read)

    def jobs(
        self, states: Sequence[JobState], *, cursor: Cursor = None, limit: Limit = 50
    ) -> Page[Job]:
        """Return jobs in these states, by number."""

        def read(place: Sequence[Any] | None) -> list[Placed[Job]]:
            start = 0 if place is None else place[0]
            with self._core.engine.read() as snapshot:
                found = jobs.by_number(snapshot.connection, states, start, limit + 1)
            return [([one.id], one) for one in found]

        return self._page("jobs", cursor, limit, read)
