"""Reading the words of the keyword index for a copy in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.ledger.connection import Connection
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

READ_AT_ONCE: Final = 10_000
"""Occurrences read between two pauses, in which other threads search (about 2 ms)."""
PAUSE_SECONDS: Final = 0.002

_ITEMS = (
    "SELECT group_concat(printf('%016x%016x%016x', id, namespace, depth), '' ORDER BY id) FROM ("
    "SELECT k.id, coalesce(i.namespace, 0) AS namespace, "
    "length(n.path) - length(replace(n.path, '.', '')) + 1 AS depth FROM keyword_docsize k "
    "LEFT JOIN item i ON i.id = k.id LEFT JOIN namespace n ON n.id = i.namespace "
    "WHERE k.id > ? ORDER BY k.id LIMIT ?)"
)
"""Rows of the index, their namespaces, and how many tokens name these."""
_PLACES = (
    "SELECT CAST(term AS BLOB), group_concat(printf('%016x', doc * 2 + (col = 'context')), '') "
    "FROM temp.word_place WHERE col <> 'ns' GROUP BY term"
)
"""Token by token, without sorting, where it stands: item << 1, and 1 in the context. As bytes, since
FTS5 may cut a token within a character."""
LONGEST_TOKEN: Final = 32_768
"""Bytes of a token that FTS5 keeps."""


def _hash(token: str) -> int:
    """Return a hash of 64 bits. That two of a million are the same is as likely as one in forty million."""
    return hash(token.encode()[:LONGEST_TOKEN])


def _numbers(text: str | None) -> NDArray[np.int64]:
    """Numbers of sixteen hexadecimal digits each: SQLite puts them together while other threads go on,
    where rows would be made one by one."""
    return np.frombuffer(bytes.fromhex(text or ""), ">i8").astype(np.int64)


def read(connection: Connection, budget_bytes: int) -> Words | None:
    """Return the words of the index; None where they are too many."""
    connection.execute(
        "CREATE VIRTUAL TABLE temp.word USING fts5vocab('main', 'keyword', 'col');"
        "CREATE VIRTUAL TABLE temp.word_place USING fts5vocab('main', 'keyword', 'instance')"
    )
    seq = newest(connection)
    most, tokens, items = connection.execute(
        "SELECT coalesce(sum(doc), 0), count(*), (SELECT count(*) FROM keyword_docsize) "
        "FROM temp.word WHERE col <> 'ns'"
    ).fetchone()
    if most * BYTES_A_WORD + tokens * BYTES_A_TOKEN + items * BYTES_A_ROW > budget_bytes:
        return None
    ids, namespaces, lengths = _items(connection).T
    hashes, ends = list[int](), [np.empty(0, np.int64)]
    rows, often = np.empty(most, np.int32), np.empty(most, np.uint8)
    end = 0
    for some, places in _by_tokens(connection):
        hashes += map(hash, some)
        together = np.concatenate(places)
        row = np.searchsorted(ids, together >> 1)
        np.add.at(lengths, row, 1)
        last = np.cumsum([len(one) for one in places])
        new = np.ones(len(row), np.bool_)
        np.not_equal(row[1:], row[:-1], out=new[1:])
        new[last[:-1]] = True  # where the next token begins
        begin = np.flatnonzero(new)
        context = np.add.reduceat(together & 1, begin)
        body = np.diff(begin, append=len(row)) - context
        held = slice(end, end + len(begin))
        rows[held] = row[begin]
        often[held] = often_of(body, context)
        ends.append(end + np.cumsum(new)[last - 1])
        end = held.stop
    edges = np.concatenate(ends)
    order = np.argsort(np.array(hashes, np.int64))
    return Words(
        seq=seq,
        ids=ids.copy(),
        norms=norms_of(lengths),
        hashes=np.array(hashes, np.int64)[order],
        starts=np.concatenate(([0], edges[:-1]))[: len(edges)][order],
        ends=edges[order],
        rows=rows[:end],
        often=often[:end],
        by_namespace=by_namespace_of(namespaces),
        hash_of=_hash,
    )


def _items(connection: Connection) -> NDArray[np.int64]:
    """int64[n, 3]: the rows of `_ITEMS`, read some at a time."""
    parts, last = [np.empty((0, 3), np.int64)], -1
    while True:
        found = connection.execute(_ITEMS, (last, READ_AT_ONCE)).fetchone()
        parts.append(_numbers(found[0]).reshape(-1, 3))
        if len(parts[-1]) < READ_AT_ONCE:
            return np.concatenate(parts)
        last = int(parts[-1][-1, 0])


def _by_tokens(
    connection: Connection,
) -> Iterator[tuple[list[bytes], list[NDArray[np.int64]]]]:
    """Yield all tokens with their places, some at a time, with pauses."""
    tokens, places, size = list[bytes](), list[NDArray[np.int64]](), 0
    for token, text in connection.execute(_PLACES):
        tokens.append(token)
        places.append(_numbers(text))
        size += len(places[-1])
        if size >= READ_AT_ONCE:
            yield tokens, places
            tokens, places, size = [], [], 0
            time.sleep(PAUSE_SECONDS)
    if tokens:
        yield tokens, places
