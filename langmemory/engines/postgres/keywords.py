"""The keyword index: the words of each item, and which of its places hold them."""

from __future__ import annotations

import zlib
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
        one.encode()[:LONGEST].decode("utf-8", "ignore") for one in cast("Sequence[str]", found)
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
    for item, namespaces, body, context in rows:
        in_body = tokenized(body)
        tokens = [*in_body, *(tokenized(context) if context else ())]
        words = list(dict.fromkeys(tokens))[:MOST]
        places_of = [of_namespace(int(one[1:])) for one in namespaces.split()]
        words += places_of
        places = np.array([hashed(token) for token in tokens], np.uint32).tobytes()
        length = len(tokens) + len(places_of)  # as FTS5 counts, the namespaces too
        written.append((item, words, len(in_body), length, places))
    if not written:
        return
    if not fresh:
        delete(connection, [row[0] for row in written])
    connection.raw.cursor().executemany(
        b"INSERT INTO keyword (item, words, body, length, places) "
        b"VALUES (%s, array_to_tsvector(%s), %s, %s, %s)",
        written,
    )
    _total(connection, len(written), sum(row[3] for row in written))


def delete(connection: Connection, items: Sequence[int]) -> None:
    gone = connection.raw.execute(
        b"DELETE FROM keyword WHERE item = ANY(%s) RETURNING length", (list(items),)
    ).fetchall()
    if gone:
        _total(connection, -len(gone), -sum(row[0] for row in gone))


def _total(connection: Connection, rows: int, tokens: int) -> None:
    connection.raw.execute(
        b"UPDATE keyword_total SET rows = rows + %s, tokens = tokens + %s", (rows, tokens)
    )
