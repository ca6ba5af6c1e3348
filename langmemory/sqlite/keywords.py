"""The keyword index: FTS5 rows written with the item, and the search over them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import apsw
import numpy as np

from langmemory.sqlite.census import Census
from langmemory.sqlite.connection import Connection
from langmemory.sqlite.namespaces import Bindings, find, holds_everything, lineage
from langmemory.sqlite.scopes import CompiledScope
from langmemory.sqlite.vectors import Ids


def namespace_tokens(connection: Connection, namespace_id: int) -> str:
    """One token for the namespace and one per ancestor, so that a prefix is one term."""
    return " ".join(f"n{one}" for one in lineage(connection, namespace_id))


def write(
    connection: Connection, rows: Iterable[tuple[int, str, str, str]], *, fresh: bool
) -> None:
    """Index items: (item id, namespace tokens, body, context). Replaces what was there."""
    verb = "INSERT" if fresh else "INSERT OR REPLACE"
    connection.executemany(
        f"{verb} INTO keyword (rowid, ns, body, context) VALUES (?, ?, ?, ?)", rows
    )


def delete(connection: Connection, item: int) -> None:
    connection.execute("DELETE FROM keyword WHERE rowid = ?", (item,))


WIDE_SHARE: Final = 0.35
"""Share of the file from which a namespace is checked on the ranked rows instead of by FTS5, which
scores a row 2.7 times slower with the namespace's term in the expression."""
SCORED_ROWS: Final = 500
"""Rows worth scoring in one search (about 0.4 ms). In a larger file only rows with one of the query's
rarest words are scored, as many words as together stand in so many rows. Of 43,000 memories in one
namespace a search had R@10 .778 with 3,000, .784 with 800, .786 with 600 to 500, .779 with 300."""
FEWEST_WORDS: Final = 2
"""Words that may bring a row however frequent they are."""
HEADROOM: Final = 2
"""Ranked rows looked at for each wanted one when predicates decide afterwards."""

EVERY: Final = 1 << 40

_QUOTED = re.compile(r'"(?:[^"]|"")*"\*?')
_LIKE_NAMESPACE = re.compile(r"n\d+", re.IGNORECASE)


def search(
    connection: Connection,
    census: Census,
    scope: CompiledScope,
    match: str,
    limit: int,
    *,
    rank: str | None = None,
    selected: Ids | None = None,
) -> list[tuple[int, float]]:
    """(item id, BM25 > 0), best first, of the items in scope that match.

    Args:
        connection: A reader.
        census: Of this file.
        scope: What may be found.
        match: FTS5 expression: quoted strings joined by OR, without a column filter.
        limit: How many at most.
        rank: ``bm25(…)`` with other column weights than the file's default.
        selected: All items in scope, if they are known already.
    """
    namespace = scope.scope.namespace
    namespace_id = find(connection, namespace) if namespace else None
    if not match or (namespace and namespace_id is None):
        return []
    size = census.size(connection)
    # Tokens of the ns column look like n7: only such a word has to be kept away from it.
    expression = f"{{body context}} : ({match})" if _LIKE_NAMESPACE.search(match) else f"({match})"
    where, bindings = scope.where, scope.bindings
    rows: list[str] = []
    row_bindings: Bindings = ()
    if selected is not None:
        if not len(selected):
            return []
        # The plus keeps FTS5 from running the query anew for every id.
        rows.append("+rowid IN (SELECT value FROM carray(?))")
        row_bindings = (apsw.carray(np.ascontiguousarray(selected)),)
        where, bindings = "1", ()
    else:
        reach, within = size, ""
        if namespace_id is not None:
            token = f'ns : "n{namespace_id}"'
            held = census.rows(connection, token, EVERY, size)
            if held <= size * WIDE_SHARE:
                reach, within = held, f"{token} AND "
                expression = within + expression
            elif not holds_everything(connection, namespace):
                namespaces, labels = scope.namespaces()
                where = f"i.namespace IN {namespaces} AND ({where})"
                bindings = (*labels, *bindings)
        if reach > SCORED_ROWS:
            rare = _rare(connection, census, match, size, within)
            if rare is not None:
                rows.append("+rowid IN (SELECT rowid FROM keyword WHERE keyword MATCH ?)")
                row_bindings = (rare,)
    if rank is not None:
        rows.append("rank MATCH ?")
        row_bindings = (*row_bindings, rank)
    # "+rank": SQLite's sorter keeps only the best, FTS5's own sorts all rows.
    ranked = (
        "SELECT rowid AS id, rank AS score FROM keyword WHERE keyword MATCH ? "
        + "".join(f"AND {one} " for one in rows)
        + "ORDER BY +rank LIMIT ?"
    )
    if where == "1":
        found = connection.execute(ranked, (expression, *row_bindings, limit)).fetchall()
        return [(item, -score) for item, score in found]
    pool = limit * HEADROOM
    while True:
        found = connection.execute(
            f"WITH hit AS MATERIALIZED ({ranked}) SELECT hit.id, hit.score "
            "FROM hit CROSS JOIN item i ON i.id = hit.id "
            f"WHERE {where} ORDER BY hit.score LIMIT ?",
            (expression, *row_bindings, pool, *bindings, limit),
        ).fetchall()
        if len(found) >= limit or pool > size:
            return [(item, -score) for item, score in found]
        pool = max(pool * 8, 1)


def _rare(connection: Connection, census: Census, match: str, size: int, within: str) -> str | None:
    """An expression of the rarest words, in ``within``, that together match `SCORED_ROWS`; None when
    all words do."""
    terms = list(dict.fromkeys(_QUOTED.findall(match)))
    counts = {term: census.rows(connection, within + term, SCORED_ROWS + 1, size) for term in terms}
    kept: list[str] = []
    scored = 0
    for term in sorted(terms, key=lambda one: counts[one]):
        scored += counts[term]
        if len(kept) >= FEWEST_WORDS and scored > SCORED_ROWS:
            return f"{within}({' OR '.join(kept)})"
        kept.append(term)
    return None


MERGED_PAGES: Final = 64
"""Pages of the index that are merged in one transaction (mostly some milliseconds)."""


def merge(connection: Connection) -> bool:
    """Merge the parts that single writes left the index in, a step of it; whether more is to do.

    A search opens every part for every word: merged, it takes two thirds of the time in a small
    namespace of a large file.
    """
    before = connection.total_changes()
    # Negative: parts of all sizes at once, as `optimize` does.
    connection.execute("INSERT INTO keyword (keyword, rank) VALUES ('merge', ?)", (-MERGED_PAGES,))
    return bool(connection.total_changes() - before >= 2)  # the statement itself counts as one


SHADOW_TABLES: Final = ("keyword_data", "keyword_idx", "keyword_docsize", "keyword_config")


def shadow_tables_lost(connection: Connection) -> bool:
    """Whether FTS5 lost a table of its own; the index can then only be written anew."""
    tables = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE name IN (?, ?, ?, ?, ?)",
        ("keyword", *SHADOW_TABLES),
    ).fetchone()[0]
    return int(tables) != 1 + len(SHADOW_TABLES)


def recreate(connection: Connection, schema_sql: str) -> None:
    """Drop what is left of the index and create it empty; it counts as lost until `found`."""
    connection.execute("INSERT OR REPLACE INTO setting (name, value) VALUES ('keywords', 'lost')")
    # DROP TABLE asks FTS5, which does not start without its tables.
    connection.execute(
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'keyword'; "
        "PRAGMA writable_schema = RESET"
    )
    for table in SHADOW_TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    start = schema_sql.index("CREATE VIRTUAL TABLE keyword")
    connection.execute(schema_sql[start : schema_sql.index(";", start) + 1])
    set_default_rank(connection)


def lost(connection: Connection) -> bool:
    """Whether the index was created anew and nobody has written the items into it yet."""
    return (
        connection.execute(
            "SELECT 1 FROM setting WHERE name = 'keywords' AND value = 'lost'"
        ).fetchone()
        is not None
    )


def found(connection: Connection) -> None:
    """Say that the items are in the index again; in the transaction that wrote them."""
    connection.execute("DELETE FROM setting WHERE name = 'keywords'")


def set_default_rank(connection: Connection) -> None:
    """Column weights of ``rank``: the namespace counts nothing, the context half."""
    connection.execute("INSERT INTO keyword (keyword, rank) VALUES ('rank', 'bm25(0.0, 1.0, 0.5)')")
