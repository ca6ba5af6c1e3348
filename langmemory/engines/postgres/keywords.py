"""The keyword index: the words of each item, and which of its places hold them."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

import apsw
import numpy as np

if TYPE_CHECKING:
    from langmemory.engines.postgres.connection import Connection

TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])
"""As of the keyword index of a memory file, so that both rank alike."""
LONGEST: Final = 2_000
"""Bytes of a word that are kept; a lexeme of PostgreSQL has at most 2,046."""
MOST: Final = 20_000
"""Different words of an item that can be found; a tsvector takes a megabyte."""


@lru_cache(maxsize=1)
def _tokenizer() -> apsw.FTS5Tokenizer:
    return apsw.Connection(":memory:").fts5_tokenizer(*TOKENIZER)


def tokenized(text: str) -> list[str]:
    """Return the words of a text as the index has them."""
    found: Any = _tokenizer()(
        text.encode("utf-8", "ignore"), apsw.FTS5_TOKENIZE_QUERY, None,
        include_offsets=False, include_colocated=False,
    )  # fmt: skip
    return [
        one if len(one) <= LONGEST // 4 else one.encode()[:LONGEST].decode("utf-8", "ignore")
        for one in cast("Sequence[str]", found)
    ]


def hashed(token: str) -> int:
    """Return the number that stands for a word in ``keyword.places``."""
    return zlib.crc32(token.encode())


def of_namespace(namespace: int) -> str:
    """Return the word of a namespace; no text has one that begins so."""
    return f"@{namespace}"


def write(
    connection: Connection, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool
) -> None:
    """Index items: (item id, namespace tokens, body, context). Replaces what was there."""
    written: list[tuple[Any, ...]] = []
    change = _Change()
    for item, namespaces, body, context in rows:
        in_body = tokenized(body)
        tokens = [*in_body, *(tokenized(context) if context else ())]
        words = list(dict.fromkeys(tokens))[:MOST]
        places_of = [of_namespace(int(one[1:])) for one in namespaces.split()]
        words += places_of
        places = np.array([hashed(token) for token in tokens], np.uint32).tobytes()
        length = len(tokens) + len(places_of)  # as FTS5 counts, the namespaces too
        written.append((item, words, len(in_body), length, places))
        change.add(item, words, length, 1)
    if not written:
        return
    if not fresh:
        _delete(connection, [row[0] for row in written], change)
    connection.send_many(
        b"INSERT INTO keyword (item, words, body, length, places) "
        b"VALUES (%s, array_to_tsvector(%s), %s, %s, %s)",
        written,
    )
    change.write(connection)


def delete(connection: Connection, items: Sequence[int]) -> None:
    """Take items out of the index."""
    change = _Change()
    _delete(connection, items, change)
    change.write(connection)


def _delete(connection: Connection, items: Sequence[int], change: _Change) -> None:
    for item, words, length in connection.raw.execute(
        b"DELETE FROM keyword WHERE item = ANY(%s) RETURNING item, tsvector_to_array(words), length",
        (list(items),),
    ).fetchall():
        change.add(item, words, length, -1)


class _Change:
    """What a write changes of the counts, and whose words it changes: written as one statement."""

    def __init__(self) -> None:
        self._rows = self._tokens = 0
        self._words = Counter[str]()
        self._items = list[int]()

    def add(self, item: int, words: Iterable[str], length: int, times: int) -> None:
        """Count a row of the index, or one that goes (``times`` -1)."""
        self._rows += times
        self._tokens += times * length
        for word in words:
            self._words[word] += times
        self._items.append(item)

    def write(self, connection: Connection) -> None:
        if not self._items:
            return
        changed = sorted((word, by) for word, by in self._words.items() if by)
        connection.raw.execute(
            b"WITH total AS (UPDATE keyword_total SET rows = rows + %s, tokens = tokens + %s), "
            b"logged AS (INSERT INTO word_change (seq, items) "
            b"SELECT coalesce(max(seq), 0) + 1, %s FROM word_change) "
            b"INSERT INTO word_count (word, rows) SELECT * FROM unnest(%s::text[], %s::bigint[]) "
            b"ON CONFLICT (word) DO UPDATE SET rows = word_count.rows + excluded.rows",
            (
                self._rows,
                self._tokens,
                np.unique(np.array(self._items, np.int64)).tobytes(),
                [word for word, _ in changed],
                [by for _, by in changed],
            ),
        )
        if fewer := [word for word, by in changed if by < 0]:
            connection.raw.execute(
                b"DELETE FROM word_count WHERE word = ANY(%s) AND rows <= 0", (fewer,)
            )


KEPT_CHANGES: Final = 65_536
"""Rows of the log of changes that stay; who has seen less makes a copy anew."""


def trim_log(connection: Connection) -> None:
    """Leave out what nobody needs of the log of changes."""
    connection.raw.execute(
        b"DELETE FROM word_change WHERE seq <= (SELECT max(seq) FROM word_change) - %s",
        (KEPT_CHANGES,),
    )
