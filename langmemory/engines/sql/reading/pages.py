"""Rankings of earlier searches, so that a later page goes on where the page before it ended."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from langmemory.engines.sql.engine import Snapshot
from langmemory.engines.sql.reading.operations import Ranked
from langmemory.engines.sql.records.history import newest
from langmemory.types import Scope, SearchMode

GROWTH: Final = 8
"""Times as many are searched for when a page lies beyond what was found."""
MOST_RANKINGS: Final = 64
"""Searches whose rankings are kept, those asked last."""


class Ranking(NamedTuple):
    """The ranking of a search so far."""

    found: Ranked
    wanted: int
    """How many items were asked for in the end."""
    complete: bool
    """Whether they are all there are."""


class Pages:
    """The rankings of the last searches. Thread-safe.

    How many candidates are compared exactly depends on what earlier searches met, so the same search
    may rank far results otherwise when it is asked again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, tuple[int, Ranking]] = OrderedDict()

    def ranked(
        self,
        key: bytes,
        snapshot: Snapshot,
        best: Callable[[int], Ranked],
        *,
        first: int,
        begin: int,
        end: int,
    ) -> Ranked:
        """At least the first ``end`` items of a search, as far as there are so many.

        Args:
            key: Of the search, see `key_of`.
            snapshot: What it reads.
            best: Ranks so many items.
            first: How many to ask for at first, above 0.
            begin: Where the page begins; a first page is ranked anew.
            end: Where it ends.
        """
        known = self._get(key, snapshot) if begin else None
        if known is None:
            found = best(first)
            known = Ranking(found, first, complete=len(found[0]) < first)
        (ids, scores), wanted, complete = known
        while wanted < end and not complete:
            wanted *= GROWTH
            found = best(wanted)
            complete = len(found[0]) < wanted
            new = ~np.isin(found[0], ids)
            ids = np.concatenate((ids, found[0][new]))
            scores = np.concatenate((scores, found[1][new]))
        if begin or not complete:
            self._keep(key, snapshot, Ranking((ids, scores), wanted, complete))
        return ids, scores

    def _get(self, key: bytes, snapshot: Snapshot) -> Ranking | None:
        """A search that is kept, if nothing has changed since."""
        with self._lock:
            changes, ranking = self._kept.get(key, (-1, None))
        return ranking if changes == newest(snapshot.connection) else None

    def _keep(self, key: bytes, snapshot: Snapshot, ranking: Ranking) -> None:
        """For the next page."""
        changes = newest(snapshot.connection)
        with self._lock:
            self._kept[key] = (changes, ranking)
            self._kept.move_to_end(key)
            if len(self._kept) > MOST_RANKINGS:
                self._kept.popitem(last=False)


def key_of(scope: Scope, query: str, mode: SearchMode) -> bytes:
    """Under what the ranking of a search is kept: a digest, as a query is nobody's business."""
    asked = repr((scope.namespace, scope.filter, scope.viewer, query, mode))
    return hashlib.blake2b(asked.encode(errors="surrogatepass")).digest()
