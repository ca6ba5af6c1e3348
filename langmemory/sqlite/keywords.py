"""The keyword index: FTS5 rows written with the item, and the search over them."""

from __future__ import annotations

from collections.abc import Iterable

from langmemory.sqlite.connection import Connection
from langmemory.sqlite.namespaces import Bindings, lineage
from langmemory.sqlite.scopes import CompiledScope
from langmemory.types import Namespace


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


def search(
    connection: Connection,
    scope: CompiledScope,
    prefix: tuple[Namespace, int | None],
    match: str,
    limit: int,
    *,
    rank: str | None = None,
) -> list[tuple[int, float]]:
    """(item id, BM25 > 0), best first, of the items in scope that match.

    Args:
        connection: A reader.
        scope: Predicates beyond the namespace.
        prefix: The namespace and its id; an id of None with a namespace means that nothing is there.
        match: FTS5 expression of quoted strings, without a column filter.
        limit: How many at most.
        rank: ``bm25(…)`` with other column weights than the file's default.
    """
    namespace, namespace_id = prefix
    if not match or (namespace and namespace_id is None):
        return []
    expression = f"{{body context}} : ({match})"
    if namespace_id is not None:
        expression = f'ns : "n{namespace_id}" AND {expression}'
    bindings: Bindings = (expression,)
    ranked = ""
    if rank is not None:
        ranked, bindings = " AND rank MATCH ?", (expression, rank)
    if scope.trivial:
        sql = (
            f"SELECT rowid, -rank FROM keyword WHERE keyword MATCH ?{ranked} ORDER BY rank LIMIT ?"
        )
    else:
        sql = (
            "SELECT k.rowid, -k.rank FROM keyword k CROSS JOIN item i ON i.id = k.rowid "
            f"WHERE k.keyword MATCH ?{ranked.replace('rank MATCH', 'k.rank MATCH')} "
            f"AND {scope.where} ORDER BY k.rank LIMIT ?"
        )
        bindings = (*bindings, *scope.bindings)
    found: list[tuple[int, float]] = connection.execute(sql, (*bindings, limit)).fetchall()
    return found


def shadow_tables_lost(connection: Connection) -> bool:
    """Whether FTS5 lost a table of its own; the index can then only be written anew."""
    found = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE name IN "
        "('keyword_data', 'keyword_idx', 'keyword_docsize', 'keyword_config')"
    ).fetchone()[0]
    return int(found) != 4


def recreate(connection: Connection, schema_sql: str) -> None:
    """Drop what is left of the index and create it empty."""
    connection.execute("DROP TABLE IF EXISTS keyword")
    start = schema_sql.index("CREATE VIRTUAL TABLE keyword")
    connection.execute(schema_sql[start : schema_sql.index(";", start) + 1])
    set_default_rank(connection)


def set_default_rank(connection: Connection) -> None:
    """Column weights of ``rank``: the namespace counts nothing, the context half."""
    connection.execute("INSERT INTO keyword (keyword, rank) VALUES ('rank', 'bm25(0.0, 1.0, 0.5)')")
