"""Words of the names of entities, kept in the process: which of thousands of names a text may speak of."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from langmemory.languages import split_words
from langmemory.languages.spelling import name_key
from langmemory.ledger import graph_rows
from langmemory.ledger.connection import Connection
from langmemory.ledger.graph_rows import EntityRow

MOST: Final = 100
"""Namespaces whose names are kept; the one that was not asked about for longest goes. A name takes some
220 bytes."""


@dataclass(slots=True)
class _Names:
    """The entities of a namespace, as ids, oldest first."""

    ids: list[int] = field(default_factory=list)
    by_word: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def read_on(self, connection: Connection, namespace: int) -> None:
        """Add those that came since."""
        after = self.ids[-1] if self.ids else None
        for row in graph_rows.entities_in(connection, namespace, after=after):
            self.ids.append(row.id)
            norm = name_key(row.name)
            for word in set(norm.split() if norm.isascii() else split_words(norm)):
                self.by_word[word].append(row.id)


class KnownNames:
    """Entities by the words of their names. Thread-safe.

    An entity keeps its name, and its id is higher than any before, which is never given twice. So only
    those above the highest id are read, and what is gone since has no row. Ask it with what is
    committed: an id that is rolled back is given again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, _Names] = OrderedDict()

    def forget(self) -> None:
        """Keep no name."""
        with self._lock:
            self._kept.clear()

    def near_first(
        self, connection: Connection, namespace: int, words: Collection[str], enough: int
    ) -> list[EntityRow]:
        """Return the entities of a namespace whose name has one of these words, then the oldest others as
        far as these are fewer than ``enough``."""
        with self._lock:
            names = self._kept.setdefault(namespace, _Names())
            self._kept.move_to_end(namespace)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
            names.read_on(connection, namespace)
            near = {id for word in words for id in names.by_word.get(word, ())}
            others = (id for id in names.ids if id not in near)
            far = list(islice(others, max(0, enough - len(near))))
        return [*graph_rows.entities(connection, near), *graph_rows.entities(connection, far)]
