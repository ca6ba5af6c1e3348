"""A lost keyword index written anew from the items."""

from __future__ import annotations

from typing import Final

from langmemory.engines.sql.records.items import Write
from langmemory.engines.sql.tables.namespaces import namespace_tokens
from langmemory.engines.sql.writing import verbatim
from langmemory.engines.sql.writing.indexing import Indexing, tokens_of
from langmemory.engines.sql.writing.reindexing import COLUMNS, TABLES, reindexed
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.index import keywords

BATCH: Final = 256
"""Items read and written at a time."""


def rebuild_keywords(connection: Connection, indexing: Indexing) -> int:
    """Write the whole keyword index anew from the items, and the tokens of texts of other scripts; how
    many items. In a write transaction."""
    keywords.delete_all(connection)
    count = after = 0
    while rows := connection.execute(
        f"SELECT {COLUMNS}, i.namespace, i.tokens IS NOT NULL FROM {TABLES} WHERE i.id > ? "
        f"ORDER BY i.id LIMIT {BATCH}",
        (after,),
    ).fetchall():
        after = rows[-1][0]
        written, turns = [], []
        split: dict[int, Write] = {}
        for row in rows:
            draft = reindexed(indexing, row)
            body = draft.body
            if row[9] and not draft.text.isascii():
                split[row[0]] = draft
            if body is None:
                continue
            written.append((row[0], namespace_tokens(connection, row[8]), body, ""))
            if row[5] is not None:
                turns.append(row[0])
        keywords.write(connection, written, fresh=True)
        verbatim.refresh_contexts(connection, turns)
        connection.executemany(
            "UPDATE item SET tokens = ? WHERE id = ?",
            zip(tokens_of(list(split.values())), split, strict=True),
        )
        count += len(written)
    keywords.found(connection)
    return count
