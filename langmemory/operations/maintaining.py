"""Reads and notes of a store for maintenance: views of namespaces by age and use, progress, the lease."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from langmemory.errors import MaintenanceBusyError
from langmemory.ledger import items, namespaces, progress, runs
from langmemory.ledger.ageing import AgeingView
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import run_in_write
from langmemory.ledger.indexing import Names
from langmemory.operations.archive import Archive
from langmemory.operations.core import existing
from langmemory.operations.gathering import OpenStore
from langmemory.types import Memory, Namespace

LEASE = "maintenance"
"""The lease of whoever maintains a file."""


class Maintaining:
    """Reads and notes that maintenance needs beside change sets."""

    __slots__ = ("_core",)

    def __init__(self, store: OpenStore) -> None:
        self._core = store._core

    def namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """Return the namespaces that hold memories, in alphabetical order.

        Args:
            prefix: By whole labels; ``()`` is the whole store.
        """
        with self._core.engine.read() as snapshot:
            return namespaces.with_memories(snapshot.connection, prefix)

    @contextmanager
    def view(self, namespace: Namespace) -> Iterator[AgeingView]:
        """Return one namespace as lifecycle reads it, for ``with``: everything is one snapshot."""
        self._core.write_pending()
        with self._core.engine.read() as snapshot:
            yield AgeingView(snapshot, namespace)

    def advance(self, task: str, namespace: Namespace, seq: int) -> None:
        """Note up to which place in the history a task has taken changes into account."""

        def advance(connection: Connection) -> None:
            found = namespaces.find(connection, namespace)
            if found is not None:
                progress.advance(connection, task, found, seq)

        run_in_write(self._core.engine, advance)

    def shown(self, namespace: Namespace, keys: Sequence[str]) -> dict[str, tuple[Memory, str]]:
        """Return memories of a namespace by key, each with its text as people read it."""
        with self._core.engine.read() as snapshot:
            connection = snapshot.connection
            ids = np.array(existing(connection, namespace, keys), np.int64)
            found = {}
            for one in items.memories(connection, ids):
                text = str(one.value.get("text", one.value.get("content", "")))
                reader = (one.owner or "") if one.privacy == "private" else ""
                named = Names(connection, reader).told(namespace, one.owner, one.value, text)
                found[one.key] = (one, named)
            return found

    def optimise(self) -> dict[str, float]:
        """Do what keeps the database fast and small; return what was found and done, by name."""
        return self._core.engine.optimise()

    @property
    def archive(self) -> Archive:
        """The archive file, which memories move to; one in memory has no path."""
        return self._core.archive

    def texts(self, namespace: Namespace, keys: Sequence[str]) -> dict[str, str]:
        """Return what memories of a namespace say, by key; those that are not there are left out."""
        with self._core.engine.read() as snapshot:
            found = (items.find(snapshot.connection, namespace, key) for key in keys)
            ids = np.array([one for one in found if one is not None], np.int64)
            return {one.key: one.text for one in items.memories(snapshot.connection, ids)}

    def runs_of(self, night: str) -> list[str]:
        """Return the ids of the runs of a night."""
        with self._core.engine.read() as snapshot:
            return [run.id for run in runs.of_night(snapshot.connection, night)]

    def changes_of_night(self, night: str, task: str, namespace: Namespace) -> int:
        """Return how many memories a task has changed in a namespace in one night."""
        with self._core.engine.read() as snapshot:
            return runs.changes_of_night(snapshot.connection, night, task, namespace)

    def last_night(self) -> dict[str, Any] | None:
        """Return what `note_night` noted last."""
        with self._core.engine.read() as snapshot:
            return progress.last_night(snapshot.connection)

    def note_night(self, night: dict[str, Any]) -> None:
        """Note how far a night has come, so that it goes on if the process ends."""
        run_in_write(self._core.engine, lambda connection: progress.note_night(connection, night))

    def undone_keys(self, namespace: Namespace, task: str) -> set[str]:
        """Return the keys of the memories that a task changed in runs that a person took back."""
        with self._core.engine.read() as snapshot:
            return runs.undone_keys(snapshot.connection, namespace, task)

    def take_lease(self, holder: str, seconds: float) -> None:
        """Take or renew the lease of maintenance.

        Raises:
            MaintenanceBusyError: Another process has it.
        """

        def take(connection: Connection) -> str | None:
            now = self._core.now_us()
            until = now + int(seconds * 1_000_000)
            if progress.take_lease(connection, LEASE, holder, now, until):
                return None
            other = progress.lease_holder(connection, LEASE, now)
            if other is not None and not _has_ended(other):
                return other
            if other is not None:
                progress.give_back_lease(connection, LEASE, other)
            progress.take_lease(connection, LEASE, holder, now, until)
            return None

        other = run_in_write(self._core.engine, take)
        if other is None:
            return
        raise MaintenanceBusyError(
            f"{self._core.path} is being maintained by {other}. Wait until it has finished; the lease of a "
            f"process that ended on another machine is free after {seconds:.0f} s."
        )

    def give_back_lease(self, holder: str) -> None:
        """Give the lease back."""
        run_in_write(
            self._core.engine, lambda there: progress.give_back_lease(there, LEASE, holder)
        )


def this_process() -> str:
    """Return the name under which this process holds a lease: that of the machine, and the process id."""
    return f"{_machine()}:{os.getpid()}"


def _machine() -> str:
    """Return the host name, and what tells this machine, or container, from others of that name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")[:8]
        number = f"{boot}-{os.stat('/proc/self/ns/pid').st_ino:x}"  # processes are numbered by it
    except OSError:  # not Linux
        number = f"{uuid.getnode():x}"
    return f"{socket.gethostname()}/{number}"


def _has_ended(holder: str) -> bool:
    """Return whether a holder, as `this_process` names it, was a process of this machine, and is no more."""
    machine, _, pid = holder.rpartition(":")
    if os.name != "posix" or machine != _machine() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, as another user
        return False
    return False
