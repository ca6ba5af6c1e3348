"""Vectors of another embedding model, and sparse vectors of another encoder, for every item of a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

import numpy as np

from langmemory.errors import ConfigError, DatabaseError
from langmemory.ledger import sparse
from langmemory.ledger.connection import MAX_VECTORS, SLOT_BITS, Connection
from langmemory.ledger.engine import Engine
from langmemory.ledger.indexing import COLUMNS, TABLES, Indexing, redraft_row
from langmemory.ledger.items import Write
from langmemory.ledger.settings import ModelSetting, read_model, write_model
from langmemory.ledger.sparse import SparseSetting, read_sparse, write_sparse
from langmemory.ports.candidates import Floats

BATCH: Final = 256
"""Items embedded and written at a time."""
SWAPPED_AT_ONCE: Final = 4_096
"""New vectors that take their place at a time: SQLite keeps in memory what a statement changes, until
it is done."""

Progress = Callable[[int, int], None]
"""Called with (items done, items in all)."""


def reembed_items(
    engine: Engine, indexing: Indexing, model: str, progress: Progress
) -> ModelSetting:
    """Give every item vectors of another model, while those of the old one keep serving.

    New vectors are written beside the old ones in batches and take their place in one transaction
    at the end. A run that was killed goes on where it was; items changed meanwhile are embedded again.

    Args:
        model: The id of the model that ``indexing`` embeds with.

    Returns:
        The model the vectors now come from.

    Raises:
        EmbeddingError: The model failed; the database is as it was, and what was done is kept.
        DatabaseError: Another run towards another model began.
    """
    with engine.write() as connection:
        _begin(connection, model)
        done = int(connection.execute("SELECT count(*) FROM reembed_done").fetchone()[0])
        total = int(connection.execute("SELECT count(*) FROM item").fetchone()[0])
    after = 0  # not to look through all that is done for every batch
    while True:
        with engine.read() as snapshot:
            if _done_by_another(snapshot.connection, model):
                return read_model(snapshot.connection)
            todo = _next(snapshot.connection, indexing, after)
        if not todo:
            with engine.write() as connection:
                if _done_by_another(connection, model):
                    return read_model(connection)
                if not connection.execute(f"{_TODO} LIMIT 1").fetchone():
                    return _swap(connection, model)
            after = 0  # something was written meanwhile
            continue
        after = todo[-1][0]
        drafts = [draft for _, _, draft in todo]
        indexing.embed(drafts, indexing.pending(drafts), tokens=False)
        with engine.write() as connection:
            if _done_by_another(connection, model):
                return read_model(connection)
            # Vectors that an earlier run with the same model made at another length go.
            dims = max(one.embedded.shape[1] for one in drafts)
            found = connection.execute("SELECT length(e) / 4 FROM vector_next LIMIT 1").fetchone()
            if dims and found not in (None, (dims,)):
                connection.execute("DELETE FROM vector_next; DELETE FROM reembed_done")
            for item, version, draft in todo:
                _write_next(connection, item, version, draft)
        done = min(done + len(todo), total)
        progress(done, total)


_TODO: Final = (
    f"SELECT {COLUMNS}, i.updated_at FROM {TABLES} LEFT JOIN reembed_done d ON d.item = i.id "
    "WHERE (d.item IS NULL OR d.version <> i.updated_at)"
)


def _begin(connection: Connection, model: str) -> None:
    """Tables beside the index; those of an earlier run towards the same model are kept."""
    connection.create_next_vectors()
    row = connection.execute("SELECT value FROM setting WHERE name = 'reembed'").fetchone()
    if row is None or row[0] != model:
        connection.execute("DELETE FROM vector_next; DELETE FROM reembed_done")
        connection.execute(
            "INSERT OR REPLACE INTO setting (name, value) VALUES ('reembed', ?)", (model,)
        )


def _done_by_another(connection: Connection, model: str) -> bool:
    """Return whether another run has finished the same move meanwhile.

    Raises:
        DatabaseError: Another run moves the file elsewhere.
    """
    row = connection.execute("SELECT value FROM setting WHERE name = 'reembed'").fetchone()
    if row is None and read_model(connection).model in (model, None):
        return True
    if row is None or row[0] != model:
        towards = read_model(connection).model if row is None else row[0]
        raise DatabaseError(
            f"Another reembed, towards {towards}, took over. Let it finish, then run this one again."
        )
    return False


def _next(connection: Connection, indexing: Indexing, after: int) -> list[tuple[int, int, Write]]:
    """Return the items of higher ids than ``after`` that are still to be embedded, with their versions."""
    rows = connection.execute(
        f"{_TODO} AND i.id > ? ORDER BY i.id LIMIT {BATCH}", (after,)
    ).fetchall()
    return [(row[0], row[8], redraft_row(indexing, row)) for row in rows]


def _write_next(connection: Connection, item: int, version: int, draft: Write) -> None:
    current = connection.execute("SELECT updated_at FROM item WHERE id = ?", (item,)).fetchone()
    if current != (version,):  # written again, or gone: of what is forgotten nothing may come back
        return
    first = item << SLOT_BITS
    connection.execute(
        "DELETE FROM vector_next WHERE id >= ? AND id < ?", (first, first + MAX_VECTORS)
    )
    connection.executemany(
        "INSERT INTO vector_next (id, hash, e) VALUES (?, ?, ?)",
        [
            (first + n, digest, vector.tobytes())
            for n, (vector, digest) in enumerate(zip(draft.embedded, draft.hashes, strict=True))
        ],
    )
    connection.execute(
        "INSERT OR REPLACE INTO reembed_done (item, version) VALUES (?, ?)", (item, version)
    )


def _swap(connection: Connection, model: str) -> ModelSetting:
    """Let the new vectors take the place of the old ones."""
    first = connection.execute("SELECT length(e) / 4 FROM vector_next LIMIT 1").fetchone()
    setting = ModelSetting(
        model=model if first else None,
        dims=first[0] if first else None,
        generation=read_model(connection).generation + 1,
    )
    connection.execute(
        f"DELETE FROM vector_next WHERE id >> {SLOT_BITS} NOT IN (SELECT id FROM item)"
    )
    connection.delete_all_vectors()
    for rows in _runs(connection):
        connection.write_vectors(_by_item(rows), fresh=True)
    connection.execute(
        "DROP TABLE vector_next; DROP TABLE reembed_done; DELETE FROM setting WHERE name = 'reembed'"
    )
    write_model(connection, setting)
    return setting


def _runs(connection: Connection) -> Iterator[list[Any]]:
    """(vector id, namespace id, cache key, blob) of every new vector, some at a time: those of an item
    together."""
    after = -1
    while rows := connection.execute(
        "SELECT v.id, i.namespace, v.hash, v.e FROM vector_next v "
        f"JOIN item i ON i.id = v.id >> {SLOT_BITS} WHERE v.id > ? ORDER BY v.id LIMIT ?",
        (after, SWAPPED_AT_ONCE),
    ).fetchall():
        item = rows[-1][0] >> SLOT_BITS
        if rows[0][0] >> SLOT_BITS != item and len(rows) == SWAPPED_AT_ONCE:
            rows = [row for row in rows if row[0] >> SLOT_BITS != item]  # it may have more
        elif len(rows) == SWAPPED_AT_ONCE:
            rows = connection.execute(
                "SELECT v.id, i.namespace, v.hash, v.e FROM vector_next v "
                f"JOIN item i ON i.id = v.id >> {SLOT_BITS} WHERE i.id = ? AND v.id > ? ORDER BY v.id",
                (item, after),
            ).fetchall()
        after = rows[-1][0]
        yield rows


def _by_item(rows: list[Any]) -> Iterator[tuple[int, int, Floats, list[bytes | None]]]:
    """Yield the rows of `_runs` as `Connection.write_vectors` takes them."""
    for item, some in groupby(rows, lambda row: int(row[0]) >> SLOT_BITS):
        vectors = list(some)
        matrix = np.frombuffer(b"".join(row[3] for row in vectors), np.float32)
        yield item, vectors[0][1], matrix.reshape(len(vectors), -1), [row[2] for row in vectors]


ENCODED_AT_ONCE: Final = 256
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
                f"SELECT {COLUMNS}, i.updated_at FROM {_MISSING} AND i.id > ? ORDER BY i.id "
                f"LIMIT {ENCODED_AT_ONCE}",
                (after,),
            ).fetchall()
        if not rows:
            break
        after = rows[-1][0]
        drafts = [redraft_row(indexing, row) for row in rows]
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
