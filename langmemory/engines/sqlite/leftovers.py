"""Forgotten words that the keyword index or the bytes of the file still hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

import apsw

from langmemory.engines.sqlite.file.connection import Connection, Database
from langmemory.languages import index_text
from langmemory.ledger.forgetting.residue import MOST_WORDS

MOST_BYTES: Final = 20_000_000_000
"""Of all words together so many bytes are looked at (about 20 s): fewer words in a large file."""

READ_BYTES: Final = 32 << 20
OVERLAP_BYTES: Final = 1 << 20
"""Longer than any word or passage worth looking for."""


def found_terms(connection: Connection, words: Iterable[str]) -> bool:
    """Return whether the keyword index still holds one of the words for a row that is gone."""
    connection.execute(
        "CREATE VIRTUAL TABLE temp.probe USING fts5 "
        "(body, tokenize = 'porter unicode61 remove_diacritics 2');"
        "CREATE VIRTUAL TABLE temp.probe_term USING fts5vocab ('temp', 'probe', 'row');"
        "CREATE VIRTUAL TABLE temp.keyword_term USING fts5vocab ('main', 'keyword', 'instance')"
    )
    try:
        connection.executemany(
            "INSERT INTO temp.probe (body) VALUES (?)", [(index_text(word),) for word in words]
        )
        row = connection.execute(
            "SELECT EXISTS (SELECT 1 FROM temp.probe_term p CROSS JOIN temp.keyword_term k "
            "ON k.term = p.term WHERE k.doc NOT IN (SELECT id FROM keyword_docsize))"
        ).fetchone()
        return bool(row[0])
    finally:
        connection.execute(
            "DROP TABLE temp.keyword_term; DROP TABLE temp.probe_term; DROP TABLE temp.probe"
        )


def found_in_bytes(database: Database, words: list[str]) -> tuple[int, list[str]]:
    """Return how many of the words were looked for, and the files that still hold one of them.

    As they were written and in lower case, in the file and its WAL; in memory, in the pages.
    """
    if database.in_memory:
        with database.read() as connection:
            image = connection.serialize("main")
        looked = _affordable(words, len(image))
        return len(looked), [database.path] if _any_in(image, looked) else []
    files = {database.file: apsw.SQLITE_OPEN_MAIN_DB, f"{database.file}-wal": apsw.SQLITE_OPEN_WAL}
    there = {path: kind for path, kind in files.items() if os.path.exists(path)}
    looked = _affordable(words, sum(map(os.path.getsize, there)))
    found = [
        path for path, kind in there.items() if any(_any_in(p, looked) for p in _parts(path, kind))
    ]
    return len(looked), found


def _parts(path: str, kind: int) -> Iterator[bytes]:
    """Yield the bytes of a file, some at a time and beginning with the last of those before.

    Read through SQLite: to close a file of one's own drops every lock that this process has on it,
    also those of SQLite (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    file = apsw.VFSFile("", path, [kind | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size = file.xFileSize()
        for start in range(0, size, READ_BYTES):
            begin = max(0, start - OVERLAP_BYTES)
            yield file.xRead(min(start + READ_BYTES, size) - begin, begin)
    finally:
        file.xClose()


def _affordable(words: list[str], size: int) -> list[str]:
    return words[: max(10, min(MOST_WORDS, MOST_BYTES // max(size, 1)))]


def _any_in(image: bytes, words: Iterable[str]) -> bool:
    forms = {form.encode() for word in words for form in (word, word.casefold())}
    return any(image.find(form) >= 0 for form in forms)
