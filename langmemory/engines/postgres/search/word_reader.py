"""Reading the words of the keyword index for a copy in memory."""

from __future__ import annotations

from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from langmemory.engines.postgres.connection import Connection
from langmemory.engines.postgres.keywords import hashed
from langmemory.ledger import connection as port
from langmemory.search.word_search import (
    BYTES_A_ROW,
    BYTES_A_TOKEN,
    BYTES_A_WORD,
    Words,
    by_namespace_of,
    newest,
    norms_of,
    often_of,
)

READ_AT_ONCE: Final = 20_000
"""Rows of the index read at a time."""


def read(connection: port.Connection, budget_bytes: int) -> Words | None:
    """Return the words of the index; None where they are too many."""
    seq = newest(connection)
    held, tokens, items = connection.execute(
        # The words of namespaces begin with an @ and are not copied.
        "SELECT coalesce(sum(rows), 0), count(*), (SELECT rows FROM keyword_total) "
        "FROM word_count WHERE word < '@' OR word >= 'A'"
    ).fetchone()
    if held * BYTES_A_WORD + tokens * BYTES_A_TOKEN + items * BYTES_A_ROW > budget_bytes:
        return None
    ids, namespaces, lengths, keys = _rows(cast("Connection", connection))
    # A key is the hash of a token, its row, and 1 in the context: sorted, they stand by token and row.
    keys.sort()
    row = (keys >> np.uint64(1) & np.uint64(0x7FFFFFFF)).astype(np.int32)
    token = keys >> np.uint64(32)
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:] >> np.uint64(1), keys[:-1] >> np.uint64(1), out=new[1:])
    begin = np.flatnonzero(new)
    if len(begin):
        context = np.add.reduceat((keys & np.uint64(1)).astype(np.int64), begin)
        body = np.diff(begin, append=len(keys)) - context
        often = often_of(body, context)
    else:
        often = np.empty(0, np.uint8)
    token = token[begin]
    first = (
        np.flatnonzero(np.concatenate(([True], token[1:] != token[:-1]))) if len(token) else begin
    )
    return Words(
        seq=seq,
        ids=ids,
        norms=norms_of(lengths),
        hashes=token[first].astype(np.int64),
        starts=first.astype(np.int64),
        ends=np.concatenate((first[1:], [len(token)]))[: len(first)].astype(np.int64),
        rows=row[begin],
        often=often,
        by_namespace=by_namespace_of(namespaces),
        hash_of=hashed,
    )


def _rows(
    connection: Connection,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Return the items of the index (ascending), their namespaces and lengths, int64[n]; and a key for each
    token, uint64[t]."""
    ids, namespaces, lengths = list[int](), list[int](), list[int]()
    keys = [np.empty(0, np.uint64)]
    after = -1
    while True:
        rows = connection.raw.execute(
            b"SELECT k.item, coalesce(i.namespace, 0), k.length, k.body, k.places FROM keyword k "
            b"LEFT JOIN item i ON i.id = k.item WHERE k.item > %s ORDER BY k.item LIMIT %s",
            (after, READ_AT_ONCE),
            binary=True,
        ).fetchall()
        if not rows:
            break
        after = rows[-1][0]
        sizes = np.array([len(row[4]) // 4 for row in rows], np.int64)
        starts = np.cumsum(sizes) - sizes
        at = np.repeat(np.arange(len(rows)), sizes)
        place = np.arange(len(at)) - starts[at]
        context = place >= np.array([row[3] for row in rows], np.int64)[at]
        hashes = np.frombuffer(b"".join(row[4] for row in rows), np.uint32).astype(np.uint64)
        within = (2 * (at + len(ids)) + context).astype(np.uint64)
        keys.append(hashes << np.uint64(32) | within)
        ids += [one[0] for one in rows]
        namespaces += [one[1] for one in rows]
        lengths += [one[2] for one in rows]
    return (
        np.array(ids, np.int64),
        np.array(namespaces, np.int64),
        np.array(lengths, np.int64),
        np.concatenate(keys),
    )
