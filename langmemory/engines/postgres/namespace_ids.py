"""The ids of namespaces that a process has asked for: they never change."""

from __future__ import annotations

import threading
from typing import Final

from langmemory.engines.postgres.connection import Connection
from langmemory.ledger.namespaces import find
from langmemory.types import Namespace

MOST: Final = 20_000


class NamespaceIds:
    """Ids by namespace. Thread-safe.

    A namespace that was forgotten and is made anew has a higher id than any before. So what was found
    holds for every snapshot in which no namespace was added since; one that is gone has no rows.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Namespace, tuple[int, int]] = {}
        """With the highest id of any namespace at that time."""

    def find(self, connection: Connection, namespace: Namespace, highest: int) -> int | None:
        """Return the id of a namespace; None if nothing was ever stored in or below it.

        Args:
            highest: The highest id of a namespace in the snapshot of the connection.
        """
        at, known = self._known.get(namespace, (-1, 0))
        if at == highest:
            return known
        found = find(connection, namespace)
        if found is not None:
            with self._lock:
                if len(self._known) >= MOST:
                    self._known.clear()
                self._known[namespace] = (highest, found)
        return found
