"""The archive file: where memories move that were archived long ago, and how they come back.

A move copies memories into the archive file first, durably, and then takes them out of the memory file in
one transaction of that, which notes where they are (``archived_item``). A process that ends in between
leaves a copy that nobody reads: the memory file is the truth, and the next night sweeps the copy. The way
back is the reverse. Whoever writes to both holds the lock of the memory file.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from langmemory.errors import DatabaseError
from langmemory.ledger import items, namespaces, runs
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine
from langmemory.ledger.filters import Condition
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.settings import ARCHIVE_IDENTITY, ARCHIVE_OF, read_model
from langmemory.ledger.transfer import moving
from langmemory.pacing import in_steps
from langmemory.pluralize import memories
from langmemory.search.searching import now_us
from langmemory.types import Namespace

AT_ONCE: Final = 25
"""Memories that one transaction moves: others write between two of them."""


class Archive:
    """The archive file of an open memory file, itself opened when it is first needed."""

    __slots__ = ("_archive", "_engine", "_indexing", "_lock", "_open", "path")

    def __init__(
        self,
        engine: Engine,
        open_archive: Callable[[str], Engine],
        path: str | None,
        indexing: Indexing,
    ) -> None:
        """``path`` None: nothing moves, as of a file in memory."""
        self._engine, self._open, self._indexing = engine, open_archive, indexing
        self.path = path
        self._lock = threading.Lock()
        self._archive: Engine | None = None

    def of(self, engine: Engine) -> Archive:
        """Return the same archive, beside this engine of the same database."""
        return Archive(engine, self._open, self.path, self._indexing)

    # Opening.

    def opened(self) -> Engine | None:
        """Return the archive file; None where there is none of this memory file.

        Raises:
            DatabaseError: It cannot be opened.
        """
        if self._archive is None and self.path is not None and os.path.exists(self.path):
            identity = self._engine.first(
                "SELECT value FROM setting WHERE name = ?", (ARCHIVE_IDENTITY,)
            )
            if identity is not None:
                return self._adopted(str(identity[0]))
        return self._archive

    def expected(self) -> Engine:
        """Return the archive file, of a memory file of which something moved.

        Raises:
            DatabaseError: It is not there.
        """
        found = self.opened()
        if found is None:
            raise DatabaseError(self.missing() or f"{self.path} is no archive file.")
        return found

    def missing(self) -> str | None:
        """Return what is wrong and what to do where memories moved to a file that is not there."""
        count = self.count()
        if not count or self.opened() is not None:
            return None
        return (
            f"{memories(count)} of {self._engine.path} moved to {self.path}, which is not there. "
            "Put the archive file back, or set database.archive_path to where it is"
        )

    def _created(self) -> Engine:
        if self.path is None:
            raise DatabaseError(
                f"{self._engine.path} has no archive file: a memory in memory, or on a server, keeps all "
                "its rows."
            )
        with self._engine.write() as connection:  # before anything is in the archive file
            connection.execute(
                "INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)",
                (ARCHIVE_IDENTITY, secrets.token_hex(16)),
            )
        identity = self._engine.first(
            "SELECT value FROM setting WHERE name = ?", (ARCHIVE_IDENTITY,)
        )
        return self._adopted(str(identity[0]))

    def _adopted(self, identity: str) -> Engine:
        with self._lock:
            if self._archive is not None:
                return self._archive
            found = self._open(str(self.path))
            try:
                found.mend(self._indexing)
                with found.write() as connection:
                    connection.execute(
                        "INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)",
                        (ARCHIVE_OF, identity),
                    )
                    owner, taken = connection.execute(
                        "SELECT (SELECT value FROM setting WHERE name = ?), "
                        "EXISTS (SELECT 1 FROM item)",
                        (ARCHIVE_OF,),
                    ).fetchone()
                    if owner != identity and not taken:
                        connection.execute(
                            "UPDATE setting SET value = ? WHERE name = ?", (identity, ARCHIVE_OF)
                        )
                        owner = identity
                if owner != identity:
                    raise DatabaseError(
                        f"{self.path} holds the archive of another memory file than "
                        f"{self._engine.path}. Set database.archive_path to a file of its own."
                    )
            except BaseException:
                found.close()
                raise
            self._archive = found
            return found

    def close(self) -> None:
        """Close the archive file, if it is open."""
        with self._lock:
            if self._archive is not None:
                self._archive.close()
                self._archive = None

    # Moving.

    def move(
        self,
        namespace: Namespace,
        keys: Sequence[str],
        *,
        run_id: str,
        reason: str,
        note: dict[str, Any],
    ) -> list[str]:
        """Move memories of one namespace, at most `AT_ONCE`, in a run of kind ``maintenance``; return the
        keys of those that may move. See `moving.MOVABLE`."""
        archive = self._created()
        with self._engine.write() as main:
            wanted = [
                item for key in keys if (item := items.find(main, namespace, key)) is not None
            ]
            going = items.those(main, Condition(moving.MOVABLE, ()), wanted)
            if not going:
                return []
            with archive.write() as there:
                ours, theirs = read_model(main).model, read_model(there).model
                if None not in (ours, theirs) and ours != theirs:
                    raise DatabaseError(
                        f"The vectors of {self.path} come from {theirs}, those of {self._engine.path} from "
                        f"{ours}. Run `langmemory reembed`, then nothing keeps memories from moving."
                    )
                moving.copy(main, there, going, self._indexing)
            moved = [key for key in keys if items.find(main, namespace, key) in set(going)]
            now = now_us()
            runs.insert(
                main, run_id, kind="maintenance", namespace=namespaces.intern(main, namespace),
                at_us=now, reason=reason, note={**note, "keys": sorted(moved)},
            )  # fmt: skip
            moving.move_out(main, going, run_id, now)
        return moved

    def movable(self, namespace: Namespace, keys: Sequence[str]) -> list[str]:
        """Return those of the memories that may move."""
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            found = {key: items.find(connection, namespace, key) for key in keys}
            ids = [item for item in found.values() if item is not None]
            going = set(items.those(connection, Condition(moving.MOVABLE, ()), ids))
        return [key for key, item in found.items() if item in going]

    def sweep(self) -> int:
        """Overwrite in the archive file what the memory file does not know to be there; how many items."""
        archive = self.opened()
        if archive is None:
            return 0
        with archive.read() as there, self._engine.read() as snapshot:
            rows = there.connection.execute("SELECT id FROM item ORDER BY id").fetchall()
            away = moving.archived_ids(snapshot.connection)
        left = [int(row[0]) for row in rows if int(row[0]) not in away]
        swept: list[int] = []
        for some in in_steps(left, AT_ONCE):
            with self._engine.write() as main:  # nobody is moving anything meanwhile
                gone = sorted({*some} - {*moving.moved_among(main, some)})
                with archive.write() as connection, archive.erasing(connection):
                    moving.drop(connection, gone)
            swept += gone
        with archive.write() as connection, archive.erasing(connection):
            moving.drop_unused_names(connection)
            if swept:
                connection.erase_vectors(swept)
        return len(swept)

    # Coming back.

    def bring_back(self, connection: Connection, ids: Sequence[int]) -> list[int]:
        """Copy moved memories back, within a transaction of the memory file or of a copy of it; return the
        ids of these and of what they were derived from.

        Raises:
            DatabaseError: The archive file, or one of them in it, is not there.
        """
        if not ids:
            return []
        with self.expected().read() as there:
            return moving.bring_back(connection, there.connection, ids, self._indexing)

    def bring_back_named(
        self, connection: Connection, places: Iterable[tuple[Namespace, str]]
    ) -> list[int]:
        """As `bring_back`, of whatever moved from under these names: it is to be written, or deleted."""
        return self.bring_back(connection, moving.moved_named(connection, places))

    def return_all(self, find: Callable[[Connection], Sequence[int]]) -> int:
        """Bring back all moved memories that a query of the memory file finds, `AT_ONCE` in a transaction,
        and sweep the archive file; how many came back."""
        with self._engine.read() as snapshot:
            found = find(snapshot.connection)
        count = 0
        for some in in_steps(found, AT_ONCE):
            with self._engine.write() as connection:
                count += len(self.bring_back(connection, moving.moved_among(connection, some)))
        if count:
            self.sweep()
        return count

    def touched_by(self, run_id: str) -> list[int]:
        """Return the ids of the moved memories that the undo of a run needs."""
        with self._engine.read() as snapshot:
            if not moving.any_moved(snapshot.connection):
                return []
            with self.expected().read() as there:
                return moving.touched_by(snapshot.connection, there.connection, run_id)

    def return_touched(self, run_ids: Sequence[str]) -> list[str]:
        """Bring back all moved memories that the undo of these runs needs; return their keys."""
        found = sorted({item for run_id in run_ids for item in self.touched_by(run_id)})
        if not found:
            return []
        with self._engine.read() as snapshot:
            keys = self.keys(snapshot.connection, found)
        self.return_all(lambda connection: moving.moved_among(connection, found))
        return keys

    def keys(self, connection: Connection, ids: Sequence[int]) -> list[str]:
        """Return the keys of moved memories."""
        rows = connection.execute(
            "SELECT key FROM archived_item WHERE item IN (SELECT value FROM carray(?)) ORDER BY item",
            (connection.array(ids),),
        )
        return [str(row[0]) for row in rows]

    @contextmanager
    def in_place(self, namespace: Namespace, key: str, viewer: str | None) -> Iterator[Connection]:
        """Return a connection that reads the memory file as if a moved memory of this name were back, and
        whatever a viewer's right to read about it depends on. Nothing is written."""

        def find(connection: Connection) -> list[int]:
            if viewer is None or not moving.any_moved(connection):
                return moving.moved_named(connection, [(namespace, key)])
            with self.expected().read() as there:
                return moving.sharing_runs(connection, there.connection, namespace, key)

        with self._engine.read() as snapshot:
            if not find(snapshot.connection):
                yield snapshot.connection
                return
        with self._engine.write() as connection:
            connection.execute("SAVEPOINT in_place")
            try:
                self.bring_back(connection, find(connection))
                yield connection
            finally:
                if connection.in_transaction:  # unless SQLite gave it up
                    connection.execute("ROLLBACK TO in_place; RELEASE in_place")

    @contextmanager
    def whole(self, prefix: Namespace) -> Iterator[tuple[Connection | None, str | None]]:
        """Return a private copy of the memory file with all back that moved from a namespace and below it,
        None where nothing did; or None, and why nothing can come back."""
        with self._engine.read() as snapshot:
            found = moving.moved_under(snapshot.connection, prefix)
        if not found:
            yield None, None
            return
        with self._engine.copy() as connection:
            try:
                going = moving.moved_under(connection, prefix)
                for start in range(0, len(going), AT_ONCE):
                    self.bring_back(connection, going[start : start + AT_ONCE])
            except DatabaseError as error:
                problem = str(error)
            else:
                yield connection, None
                return
        yield None, problem

    # Looking.

    def bytes(self) -> int:
        """Return the size of the archive file with its WAL; 0 where there is none."""
        files = () if self.path is None else (self.path, f"{self.path}-wal")
        return sum(os.path.getsize(one) for one in files if os.path.exists(one))

    def count(self) -> int:
        """Return how many memories are in the archive file, and not in the memory file."""
        return int(self._engine.first("SELECT count(*) FROM archived_item", ())[0])

    def check(self) -> list[str]:
        """Return what is inconsistent in the archive file, and between the two, one line each."""
        try:
            archive, missing = self.opened(), self.missing()
        except DatabaseError as error:
            return [f"archive: {error}"]
        if missing:
            return [f"archive: {missing}"]
        if archive is None:
            return []
        problems = archive.check()
        with self._engine.read() as snapshot:
            away = moving.archived_ids(snapshot.connection)
            with archive.read() as there:
                rows = there.connection.execute("SELECT id FROM item").fetchall()
        if lost := sorted(away - {int(row[0]) for row in rows}):
            some = ", ".join(map(str, lost[:3]))
            problems.append(f"memories that are in neither file: {some} ({len(lost)} in all)")
        return [f"archive: {one}" for one in problems]

    def leftovers(self) -> int:
        """Return how many memories in the archive file are copies that nobody reads."""
        archive = self.opened()
        if archive is None:
            return 0
        with archive.read() as there, self._engine.read() as snapshot:
            (held,) = there.connection.execute("SELECT count(*) FROM item").fetchone()
            (away,) = snapshot.connection.execute("SELECT count(*) FROM archived_item").fetchone()
        return max(0, int(held) - int(away))

    def known(self, ids: Sequence[int]) -> set[int]:
        """Return those of the items that moved, and are no copies that a killed process left."""
        with self._engine.read() as snapshot:
            return set(moving.moved_among(snapshot.connection, ids))
