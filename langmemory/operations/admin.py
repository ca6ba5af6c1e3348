"""`store.admin`: the file as a whole. Listing, export and import, deleting namespaces, checks, usage."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final, get_args

from langmemory.arguments import whole_number
from langmemory.context.citations import Mark, Usage, used
from langmemory.declaring import operation, room
from langmemory.declaring.fields import Id, Ids
from langmemory.errors import ConfigError, DamagedFileError, DatabaseError
from langmemory.ledger import items, removal, runs, usage, verbatim
from langmemory.ledger.ageing import health
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import run_in_write
from langmemory.ledger.items import Write
from langmemory.ledger.part_rows import registered
from langmemory.ledger.transfer import moving, transfer
from langmemory.ledger.values import to_us
from langmemory.lifecycle.health import Health
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.namespaces import check_namespace
from langmemory.operations.changes import dry_run_savepoint
from langmemory.operations.conversing import Conversing, shown
from langmemory.operations.core import Core, mark_pages_of
from langmemory.operations.paging import Listing
from langmemory.operations.procedures import Procedures
from langmemory.pluralize import count_noun
from langmemory.procedures import KEYS as PROCEDURES
from langmemory.procedures import Outcome
from langmemory.search.searching import now_us
from langmemory.steps import twin
from langmemory.types import Kind, Memory, MemoryUsage, Namespace, Status

OUTCOME: Final[Mapping[bool, Outcome]] = {True: "succeeded", False: "failed"}


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadThread:
    """A conversation that has turns nobody has reflected on."""

    namespace: Namespace
    thread_id: str
    turns: int


class ViewerAdmin:
    """The part of a file that a viewer may list, take with them and delete of a file."""

    __slots__ = ("_core", "_viewer")

    def __init__(self, core: Core, viewer: str | None) -> None:
        """``viewer`` None is the application, which sees everything."""
        self._core, self._viewer = core, viewer

    def memory(self, namespace: Namespace, key: str) -> Memory | None:
        """Return one memory with its facets, whatever its status, be it in the memory file or in the archive
        file; None where there is none."""
        namespace = check_namespace(namespace)
        alive_at_us = self._core.searching.alive_at_us()
        with self._core.archive.in_place(namespace, key, None) as connection:
            item = items.find(connection, namespace, key, viewer=self._viewer)
            if item is None or items.is_expired(connection, item, alive_at_us):
                return None
            return shown(connection, [item], self._viewer)[0]

    amemory = twin(memory)

    def memories(
        self,
        namespace: Namespace = (),
        *,
        kinds: Collection[Kind] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        past: bool = False,
        statuses: Collection[Status] | None = None,
        limit: int = 20,
    ) -> list[Memory]:
        """Return memories with their facets, what was said or became true last first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            kinds: Only these kinds of memory; None is every kind.
            since: Only what was said, or became true, at or after this time.
            until: Only what was said, or became true, before this time.
            past: Include what no longer holds: superseded, archived, not yet active.
            statuses: Only memories of these statuses; None leaves it to ``past``.
            limit: At most so many.

        Raises:
            ConfigError: There is no such kind.
        """
        asked = Listing.of(
            namespace, kinds=kinds, since=since, until=until, past=past, statuses=statuses
        )
        with self._core.engine.read() as snapshot:
            places = asked.read(self._core, snapshot, self._viewer, whole_number("limit", limit))
            return shown(snapshot.connection, [one.item for one in places], self._viewer)

    @operation("write", "POST /context/counts")
    def count_usage(self, counts: Sequence[Usage], namespace: Namespace = ()) -> None:
        """Add what an answer says of the memories it was given (`langmemory.context.usage`) to what
        is known of them. Returns at once; the file learns of it with the first counts that come
        half a minute after the last ones it learned of, and when the store is closed.

        Args:
            counts: See `Usage`.
            namespace: Prefix by whole labels; memories elsewhere are not counted. ``()`` is the whole store.
        """
        depth = len(check_namespace(namespace, may_be_empty=True))
        counts = [one for one in counts if tuple(one["namespace"][:depth]) == namespace]
        if self._core.counts.note(counts, self._viewer):
            self._core.write_later(self._core.write_counts)

    @operation("write", "POST /context/usage", for_models=True)
    def report_usage(
        self,
        namespace: Namespace,
        cited: Ids = (),
        *,
        shown: Ids = (),
        right: bool | None = None,
        answer: Id | None = None,
    ) -> int:
        """Count what an answer made of memories, for an application that keeps no memory block: by the ids
        that stand in a block. Return how many of the ids stand for one memory here.

        A block that a server made, and memories that its tools showed, are counted as shown already.

        Args:
            namespace: Prefix by whole labels; memories of these ids are looked for there.
            cited: Ids that the answer cites, such as ``M:1a2b3c4d`` or ``1a2b3c4d``.
            shown: Ids that stood in a prompt that was made elsewhere.
            right: Whether the answer turned out well; None as long as nobody knows. It is also
                the outcome of a procedure that is cited.
            answer: Id of the answer. A report that comes again counts once, and one that adds whether the
                answer was right adds just that. The store knows its latest 10,000 pairs of an answer and a
                memory again, until it is closed.
        """
        marks: dict[str, set[Mark]] = {}
        for ids, mark in zip((shown, cited, cited if right else ()), get_args(Mark), strict=True):
            for one in ids:
                marks.setdefault(one.rpartition(":")[2].lower(), set()).add(mark)
        counts, conversing = list[Usage](), Conversing(self._core, self._viewer)
        for id, new in marks.items():
            memories = conversing.labelled(namespace, id)
            if len(memories) != 1:  # an id that may mean several counts for none
                continue
            [memory] = memories
            place = memory.namespace, memory.key
            if answer is not None:
                new = self._core.counts.unreported(new, self._viewer, answer, *place)
            counts.append(used(memory, new))
            if (
                right is not None
                and memory.key.startswith(PROCEDURES)
                and "referenced" in marks[id]
            ):
                self._record_outcome(memory, right, answer)
        self.count_usage(counts)
        return len(counts)

    def _record_outcome(self, memory: Memory, right: bool, answer: str | None) -> None:
        """Record that an answer which cites a procedure turned out well, or not; once for each answer."""
        place, before = (memory.namespace, memory.key), None
        if answer is not None:
            before = self._core.counts.outcome_before(right, self._viewer, answer, *place)
        if before is not right:
            Procedures(self._core, self._viewer).record_outcome(
                *place, OUTCOME[right], why="" if right else "the answer was wrong",
                revises=None if before is None else OUTCOME[before],
            )  # fmt: skip

    def usage(self, namespace: Namespace = (), *, limit: int = 100) -> list[MemoryUsage]:
        """Return which memories were shown, cited and right, over all threads; the most helpful
        first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            limit: At most so many.
        """
        prefix = check_namespace(namespace, may_be_empty=True)
        limit = whole_number("limit", limit)
        if self._core.counts.any:
            with self._core.engine.write() as connection:  # also waits for what is being written
                self._core.write_counts(connection)
        with self._core.engine.read() as snapshot:
            found = usage.of_namespace(snapshot.connection, prefix, self._viewer, limit)
            return [one for _, one in found]

    ausage = twin(usage)

    def delete_namespace(self, prefix: Namespace) -> int:
        """Delete every item in a namespace and below it, also in the archive file; how many. Secrets of the
        vault there are deleted, too.

        The history keeps what they were; the pages of the journal follow. ``()`` is refused: delete
        the file instead. Private memories of others than the ``viewer`` stay; None is the
        application, which may delete all. Each thousand is a transaction, between which others
        write: interrupted, repeat it.
        """
        if not prefix:
            raise ConfigError("delete_namespace(()) would empty the store; name a namespace.")
        prefix = check_namespace(prefix)
        self._core.archive.return_all(lambda connection: moving.moved_under(connection, prefix))

        def delete(connection: Connection) -> None:
            for rows in registered().values():
                rows.delete_namespace(connection, prefix, self._viewer, self._core.now_us())

        run_in_write(self._core.engine, delete)
        return self._core.remove_all(
            items.under(prefix, viewer=self._viewer), "delete", reason=removal.WHOLE_NAMESPACE
        )

    adelete_namespace = twin(delete_namespace)

    def export(self, prefix: Namespace = (), *, history: bool = True) -> Iterator[dict[str, Any]]:
        """Yield a namespace and those below it as JSON rows, which `import_rows` takes back.

        Items with all facets, times and TTL, their history and runs, entities, evidence and
        reviews. Of a viewer only their memories and the evidence of these: nothing in the rows is, or
        once was, a private memory of somebody else. It reads in pieces, so that it does not hold up
        the file: every memory comes with its history as of one moment, what is added after the
        export began is left out, and what changes meanwhile may be in it as before or as after. What
        moved to the archive file is in it as if it had not, read from a temporary copy of the file. Of a
        damaged file it brings out all that can be read, then raises `DamagedFileError`.

        Args:
            prefix: ``()`` is the whole store.
            history: False leaves out the record of what happened (history, runs, what was
                reflected on) and gives what is known now alone.
        """
        prefix = check_namespace(prefix, may_be_empty=True)
        with suppress(DatabaseError):  # a full disk must not stand in the way of a backup
            self._core.write_pending()
        state = transfer.Exporting()
        options: dict[str, Any] = {"history": history, "state": state}
        try:
            with self._core.archive.whole(prefix) as (copy, missing):
                reading = self._reading if copy is None else lambda: nullcontext(copy)
                yield from transfer.export_rows(reading, prefix, self._viewer, **options)
            if missing is not None:
                raise DamagedFileError(
                    f"All that is in the memory file was brought out. {missing.rstrip('.')}.", ()
                )
            return
        except DatabaseError as error:
            rescued = self._core.engine.rescued(error)
            if rescued is None:
                raise
        with rescued as found:
            copy = found.connection
            yield from transfer.export_rows(
                lambda: nullcontext(copy), prefix, self._viewer, **options
            )
        lost = count_noun(len(found.damages), "problem")
        raise DamagedFileError(
            f"{self._core.path} is damaged ({lost}). All rows that can be read were brought out; `langmemory "
            "doctor` names the others.",
            found.damages,
        )

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._core.engine.read() as snapshot:
            yield snapshot.connection


@room("admin", tag="Whole file")
class Admin(ViewerAdmin):
    """The file as a whole, for the application that owns it."""

    __slots__ = ()

    def import_rows(self, rows: Iterable[Mapping[str, Any]], *, dry_run: bool = False) -> int:
        """Restore exported rows as they were; how many items were new or different.

        Repeating it adds nothing. Vectors and keywords are made anew with this store's model; the
        pages of the journal follow.

        Args:
            rows: As `export` yields them.
            dry_run: Only say how many would be new or different, and whether they can be read. Memories that
                moved to the archive file count as new.

        Raises:
            ImportFormatError: A row is not from an export; batches before it are stored.
        """
        changed = 0
        with self._core.engine.glance() as snapshot:
            since = runs.forgettings(snapshot.connection)
        for batch in transfer.in_batches(rows):
            drafts = transfer.drafts(self._core.indexing, batch)
            if dry_run:
                with self._core.engine.write() as connection, dry_run_savepoint(connection):
                    changed += transfer.write_rows(connection, batch, drafts, now_us(), since)
                continue
            writes = self._core.complete(drafts)
            restore = partial(self._restored, batch, writes, since)
            changed += self._core.write(restore)
        return changed

    def _restored(
        self,
        batch: Sequence[Mapping[str, Any]],
        writes: Sequence[Write],
        since: Any,
        connection: Connection,
    ) -> int:
        """Restore a batch of rows; return how many were new or different."""
        writes = [replace(one) for one in writes]  # they are filled in, and it may be called again
        self._core.claim_model(connection, writes)
        places = {(one.namespace, one.key) for one in writes}
        self._core.archive.bring_back_named(connection, places)
        mark_pages_of(connection, places)
        changed = transfer.write_rows(connection, batch, writes, now_us(), since)
        mark_pages_of(connection, places)
        return changed

    def health(self, prefix: Namespace = (), *, now: datetime | None = None) -> Health:
        """Return figures of a namespace and what is below it, which `Health.findings` reads.

        Args:
            prefix: By whole labels; ``()`` is the whole store.
            now: By which time memories have faded; None is now.
        """
        prefix = check_namespace(prefix, may_be_empty=True)
        self._core.write_pending()
        at = now_us() if now is None else to_us(now)
        with self._core.engine.read() as snapshot:
            policies = PolicyOptions.of(self._core.config.lifecycle)
            size = self._core.archive.bytes()
            return health(snapshot, prefix, policies, at, archive_bytes=size)

    ahealth = twin(health)

    @operation("read", "GET /check", whole="file")
    def check(self) -> list[str]:
        """Return what is inconsistent in the file, in its archive file, and between the two, one line for
        each; none where all is well."""
        return [*self._core.engine.check(), *self._core.archive.check()]

    def enable_rls(self, role: str | None = None, *, viewer: str | None = None) -> None:
        """Let the database itself keep private memories from roles that are not its owner (PostgreSQL).

        The policies ask the rule by which a `ViewerStore` reads. They hold for statements by hand and
        for a store that is opened with the role, which may only read. The viewer of a transaction is
        whoever ``SET LOCAL langmemory.viewer`` names, as a `ViewerStore` does; without it somebody
        unknown. The store of the owner works as before. Repeat it after an upgrade.

        Args:
            role: May read from now on, and is granted what it needs. None: nobody but the owner reads.
            viewer: Binds the role to this person, whatever a transaction says: for those who write SQL
                of their own.

        Raises:
            ConfigError: The database is a file; there is no such role, or policies do not hold for it.
            DatabaseError: The store was not opened as the owner of the tables.
        """
        if viewer is not None and role is None:
            raise ConfigError(f"viewer={viewer!r} binds a role: pass the role, too.")
        self._core.engine.enable_rls(role, viewer)

    def disable_rls(self, role: str | None = None) -> None:
        """Take back what `enable_rls` gave to a role; None: to every role, and all policies with it.

        Raises:
            ConfigError: The database is a file.
            DatabaseError: The store was not opened as the owner of the tables.
        """
        self._core.engine.disable_rls(role)

    def unread_threads(self, prefix: Namespace = ()) -> list[UnreadThread]:
        """Return conversations with turns that no reflection has read, the oldest turn first.

        Args:
            prefix: By whole labels; ``()`` is the whole store.
        """
        prefix = check_namespace(prefix, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            return [
                UnreadThread(namespace=row.namespace, thread_id=row.name, turns=row.turns)
                for row in verbatim.threads(snapshot.connection, prefix, now_us())
            ]

    aunread_threads = twin(unread_threads)
