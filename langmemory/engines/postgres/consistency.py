"""Whether a schema agrees with itself: rows, leaves, keywords, vectors, history, graph."""

from __future__ import annotations

from collections.abc import Iterator

from langmemory.engines.postgres.connection import Connection
from langmemory.engines.postgres.leaves import encoded
from langmemory.ledger import consistency
from langmemory.ledger.connection import SLOT_BITS
from langmemory.ledger.consistency import named
from langmemory.ledger.settings import read_model

_INDEXED = "SELECT id FROM item WHERE index_fields IS DISTINCT FROM 'false'"


def check(connection: Connection, *, vectors: bool) -> list[str]:
    """Return the problems of the schema, in words; empty when nothing is. Reads every row once.

    Args:
        vectors: The database has pgvector.
    """
    problems: list[str] = []
    for part in (consistency.rows, consistency.moved, _keywords):
        problems += part(connection)
    problems += consistency.filter_leaves(connection, encoded)
    if vectors:
        problems += _vectors(connection)
    return [*problems, *consistency.history(connection), *consistency.graph(connection)]


def _keywords(connection: Connection) -> Iterator[str]:
    yield from named(
        connection,
        "items are to be found by words and are not in the keyword index",
        f"{_INDEXED} EXCEPT SELECT item FROM keyword",
    )
    yield from named(
        connection,
        "rows of the keyword index belong to no item, or to one that is not to be indexed",
        f"SELECT item FROM keyword EXCEPT {_INDEXED}",
    )
    told = connection.execute("SELECT rows, tokens FROM keyword_total").fetchall()
    there = connection.execute("SELECT count(*), coalesce(sum(length), 0) FROM keyword").fetchone()
    if told != [there]:
        yield (
            f"the keyword index has {there[0]:,} rows of {there[1]:,} tokens, and another number is noted"
        )


def _vectors(connection: Connection) -> Iterator[str]:
    model = read_model(connection)
    yield from named(
        connection,
        "items are gone and left vectors",
        "SELECT item FROM embedding EXCEPT SELECT id FROM item",
    )
    yield from named(
        connection,
        "vectors have the item or namespace of another",
        "SELECT v.id FROM embedding v JOIN item i ON i.id = v.item "
        f"WHERE v.namespace <> i.namespace OR v.id >> {SLOT_BITS} <> v.item",
    )
    yield from named(
        connection,
        f"vectors are not of the model's {model.dims} dims",
        "SELECT id FROM embedding WHERE vector_dims(e) <> ?",
        (model.dims or 0,),
    )
