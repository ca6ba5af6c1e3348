"""A connection that keeps the keyword index and the vector index beside the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np

from langmemory.engines.sqlite.file import rescue
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.index import keywords, vectors
from langmemory.ledger.connection import SLOT_BITS
from langmemory.ledger.settings import read_model
from langmemory.ports.candidates import Floats
from langmemory.search import binary


class IndexedConnection(Connection):
    """See `langmemory.ledger.connection.Connection`."""

    def rescued(self) -> AbstractContextManager[rescue.Rescued]:
        return rescue.rescued(self.db_filename("main"))

    def write_keywords(self, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool) -> None:
        keywords.write(self, rows, fresh=fresh)

    def delete_keywords(self, item: int) -> None:
        keywords.delete(self, item)

    def holds_vectors(self) -> bool:
        return True

    def write_vectors(
        self, rows: Iterable[tuple[int, int, Floats, Sequence[bytes | None]]], *, fresh: bool
    ) -> None:
        vectors.write(self, rows, fresh=fresh)

    def read_vectors(
        self, items: Sequence[int]
    ) -> Mapping[int, tuple[Floats, Sequence[bytes | None]]]:
        return vectors.of_items(self, items)

    def delete_vectors(self, item: int, namespace: int) -> None:
        vectors.delete(self, item, namespace)

    def delete_all_vectors(self) -> None:
        self.execute("DELETE FROM vector; DELETE FROM code; DELETE FROM code_segment")

    def create_next_vectors(self) -> None:
        self.execute(
            "CREATE TABLE IF NOT EXISTS vector_next (id INTEGER PRIMARY KEY, hash BLOB, e BLOB NOT NULL) "
            "STRICT; CREATE TABLE IF NOT EXISTS reembed_done (item INTEGER PRIMARY KEY, "
            "version INTEGER NOT NULL) STRICT"
        )

    def erase_vectors(self, items: Sequence[int]) -> None:
        """The sign bits of these items leave the log and its segments; that they are gone stays in
        it."""
        array = self.array(items)
        self.execute(
            f"DELETE FROM code WHERE bits IS NOT NULL AND vector >> {SLOT_BITS} IN "
            "(SELECT value FROM carray(?))",
            (array,),
        )
        model = read_model(self)
        if model.dims is not None:
            binary.without(self, np.array(items, np.int64), model.words)
        tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('vector_next', 'reembed_done')"
        if self.execute(tables).fetchone()[0] == 2:  # a move to another model is under way
            self.execute(
                f"DELETE FROM vector_next WHERE id >> {SLOT_BITS} IN (SELECT value FROM carray(?1)); "
                "DELETE FROM reembed_done WHERE item IN (SELECT value FROM carray(?1))",
                (array, array),
            )
