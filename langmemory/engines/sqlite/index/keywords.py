"""The keyword index: FTS5 rows written with the item, and the log of whose words have changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.file.tables import KEYWORD


def write(
    connection: Connection, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool
) -> None:
    """Index items: (item id, namespace tokens, body, context). Replaces what was there."""
    verb = "INSERT" if fresh else "INSERT OR REPLACE"
    rows = list(rows)
    if not rows:
        return
    connection.executemany(
        f"{verb} INTO keyword (rowid, ns, body, context) VALUES (?, ?, ?, ?)", rows
    )
    _log(connection, [row[0] for row in rows])


def delete(connection: Connection, item: int) -> None:
    connection.execute("DELETE FROM keyword WHERE rowid = ?", (item,))
    _log(connection, [item])


def delete_all(connection: Connection) -> None:
    """Empty the index, to write it anew."""
    connection.execute("INSERT INTO keyword (keyword) VALUES ('delete-all')")
    connection.execute("INSERT INTO word_change (items) VALUES (NULL)")


def _log(connection: Connection, items: list[int]) -> None:
    """Say whose words have changed, to those who keep a copy of them."""
    connection.execute(
        "INSERT INTO word_change (items) VALUES (?)", (np.array(items, np.int64).tobytes(),)
    )


KEPT_CHANGES: Final = 65_536
"""Rows of the log of changes that stay; who has seen less makes a copy anew."""


def trim_log(connection: Connection) -> None:
    """Leave out what nobody needs of the log of changes."""
    connection.execute(
        "DELETE FROM word_change WHERE seq <= (SELECT max(seq) FROM word_change) - ?",
        (KEPT_CHANGES,),
    )


MERGED_PAGES: Final = 64
"""Pages of the index that are merged in one transaction (mostly some milliseconds)."""
MERGED_FROM: Final = 2
"""So many parts of about one size, written meanwhile, are merged with one another."""


def merge(connection: Connection, *, begin: bool) -> bool:
    """Merge the parts that single writes left the index in, a step of it; whether more is to do.

    A search opens every part for every word: merged, it takes two thirds of the time in a small
    namespace of a large file.

    Args:
        begin: This is the first step: all parts there are now go into one. The further steps must
            not begin again, or FTS5 starts over with the parts written meanwhile, and leaves one
            more behind each time.
    """
    known = connection.execute("SELECT v FROM keyword_config WHERE k = 'usermerge'").fetchone()
    if known != (MERGED_FROM,):
        _set(connection, "usermerge", MERGED_FROM)
    before = connection.total_changes()
    _set(connection, "merge", -MERGED_PAGES if begin else MERGED_PAGES)
    return bool(connection.total_changes() - before >= 2)  # the statement itself counts as one


def _set(connection: Connection, name: str, value: Any) -> None:
    """A setting of FTS5's, or one of its commands."""
    connection.execute("INSERT INTO keyword (keyword, rank) VALUES (?, ?)", (name, value))


SHADOW_TABLES: Final = ("keyword_data", "keyword_idx", "keyword_docsize", "keyword_config")


def shadow_tables_lost(connection: Connection) -> bool:
    """Return whether FTS5 lost a table of its own; the index can then only be written anew."""
    tables = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE name IN (?, ?, ?, ?, ?)",
        ("keyword", *SHADOW_TABLES),
    ).fetchone()[0]
    return int(tables) != 1 + len(SHADOW_TABLES)


def recreate(connection: Connection) -> None:
    """Drop what is left of the index and create it empty; it counts as lost until `found`."""
    connection.execute("INSERT OR REPLACE INTO setting (name, value) VALUES ('keywords', 'lost')")
    # DROP TABLE asks FTS5, which does not start without its tables.
    connection.execute(
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'keyword'; "
        "PRAGMA writable_schema = RESET"
    )
    for table in SHADOW_TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(KEYWORD)
    set_default_rank(connection)


def lost(connection: Connection) -> bool:
    """Return whether the index was created anew and nobody has written the items into it yet."""
    query = "SELECT 1 FROM setting WHERE name = 'keywords' AND value = 'lost'"
    return connection.execute(query).fetchone() is not None


def found(connection: Connection) -> None:
    """Say that the items are in the index again; in the transaction that wrote them."""
    connection.execute("DELETE FROM setting WHERE name = 'keywords'")


def set_default_rank(connection: Connection) -> None:
    """Column weights of ``rank``: the namespace counts nothing, the context half."""
    _set(connection, "rank", "bm25(0.0, 1.0, 0.5)")
