"""Sparse vectors for every item of a database, by the encoder that a store has from now on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from langmemory.errors import ConfigError, DatabaseError
from langmemory.ledger.engine import Engine
from langmemory.ledger.tables import sparse
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.sparse import SparseSetting, read_sparse, write_sparse
from langmemory.ledger.writing.indexing import COLUMNS, TABLES, Indexing, reindexed
from langmemory.ledger.writing.reembedding import Progress

BATCH: Final = 256
"""Items encoded and written at a time."""
_MISSING: Final = f"{TABLES} LEFT JOIN sparse s ON s.item = i.id WHERE s.item IS NULL"


def encode_items(engine: Engine, indexing: Indexing, progress: Progress) -> int:
    """Give a sparse vector to every item that has none by the encoder of ``indexing``; return how many.

    Vectors of another encoder go first. Recall does not ask the sparse channel until this is done. What a
    killed run has done is kept. Items that a store without the encoder writes meanwhile may have none, which
    recalls say until the next run.

    Raises:
        ConfigError: There is no encoder.
        EmbeddingError: The encoder failed; what was done is kept.
        DatabaseError: Another run towards another encoder began.
    """
    encoder = indexing.sparse
    if encoder is None:
        raise ConfigError('reencode needs a sparse encoder; pass one, as sparse="splade".')
    with engine.write() as connection:
        write_sparse(connection, SparseSetting(encoder=encoder.name, gaps=True))
        total = int(connection.execute(f"SELECT count(*) FROM {_MISSING}").fetchone()[0])
    seen = written = after = 0
    while True:
        with engine.read() as snapshot:
            rows = snapshot.connection.execute(
                f"SELECT {COLUMNS}, i.updated_at FROM {_MISSING} AND i.id > ? ORDER BY i.id LIMIT {BATCH}",
                (after,),
            ).fetchall()
        if not rows:
            break
        after = rows[-1][0]
        drafts = [reindexed(indexing, row) for row in rows]
        indexing.encode(drafts)
        vectors = {
            row[0]: (row[8], draft.sparse)
            for row, draft in zip(rows, drafts, strict=True)
            if draft.sparse is not None
        }
        with engine.write() as connection:
            _check_ours(connection, encoder.name)
            written += _write(connection, vectors)
        seen += len(rows)
        progress(min(seen, total), total)
    with engine.write() as connection:
        _check_ours(connection, encoder.name)
        write_sparse(connection, replace(read_sparse(connection), gaps=False))
    return written


def _check_ours(connection: Connection, name: str) -> None:
    found = read_sparse(connection).encoder
    if found != name:
        raise DatabaseError(
            f"Another reencode, towards {found}, took over. Let it finish, then run this one again."
        )


def _write(connection: Connection, vectors: dict[int, Any]) -> int:
    """Write the vectors of those items that are as they were and have none yet; return how many."""
    there = dict(
        connection.execute(
            "SELECT i.id, i.updated_at FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
            "WHERE NOT EXISTS (SELECT 1 FROM sparse s WHERE s.item = i.id)",
            (connection.array(vectors),),
        ).fetchall()
    )
    kept = [(one, vector) for one, (at, vector) in vectors.items() if there.get(one) == at]
    sparse.write(connection, kept, fresh=True)
    return len(kept)
