"""Clearing the tables of deleted rows, and what a server keeps of them nevertheless."""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg import sql as quoting

from langmemory.pluralize import counted

_OURS: Final = (
    "SELECT tablename, pg_has_role(current_user, tableowner, 'USAGE') FROM pg_tables WHERE schemaname = %s "
    "ORDER BY tablename"
)
_OLDER: Final = (
    "SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL AND age(backend_xmin) > 0), "
    "(SELECT count(*) FROM pg_replication_slots WHERE xmin IS NOT NULL AND age(xmin) > 0)"
)
"""Those to whom deleted rows are still there; of other roles' only who may read the statistics knows."""

IN_PAGES: Final = "the pages of the tables, until they are vacuumed"
IN_FREE_SPACE: Final = (
    "free space in the pages of the tables, until later rows overwrite it (VACUUM FULL writes the "
    "tables anew)"
)
BEYOND: Final = (
    "the server's write-ahead log and its archives, until they are recycled",
    "backups and dumps made before, until they expire",
)


def vacuum(raw: psycopg.Connection[Any], schema: str) -> None:
    """Vacuum the tables that the role may vacuum: outside a transaction, each for itself."""
    for table, ours in raw.execute(_OURS.encode(), (schema,)).fetchall():
        if ours:
            raw.execute(quoting.SQL("VACUUM {}").format(quoting.Identifier(schema, table)))


def kept(raw: psycopg.Connection[Any], schema: str, *, vacuumed: bool) -> tuple[str, ...]:
    """Return where bytes of deleted rows may be left that nobody can look into from here."""
    if not vacuumed:
        return IN_PAGES, *BEYOND
    tables = raw.execute(_OURS.encode(), (schema,)).fetchall()
    found = [IN_FREE_SPACE]
    if others := [table for table, ours in tables if not ours]:
        found.append(
            f"{counted(len(others), 'table')} that this role may not vacuum ({', '.join(others[:3])}), "
            "until the server does"
        )
    row = raw.execute(_OLDER.encode()).fetchone()
    if row is not None and any(row):
        found.append(
            f"rows that {counted(row[0], 'open transaction')} and {counted(row[1], 'replication slot')} "
            "may still see, until they end and the tables are vacuumed again"
        )
    return *found, *BEYOND
