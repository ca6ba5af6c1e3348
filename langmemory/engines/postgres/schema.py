"""Looking at a schema: whether it is there, its tables and its version."""

from __future__ import annotations

from typing import Any, Final

from psycopg import sql

from langmemory.ledger.tables import schema as declared
from langmemory.ledger.tables.table import Table

UNRELEASED: Final = 3
"""The last version of a schema from before 0.1.0; see `migrations`."""


def is_there(connection: Any, schema: str) -> bool:
    """Return whether the database has a schema of this name."""
    query = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %s)"
    return bool(connection.execute(query, (schema,)).fetchone()[0])


def tables(connection: Any, schema: str) -> list[str]:
    """Return the names of the tables of a schema, in alphabetical order."""
    query = "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY tablename"
    return [row[0] for row in connection.execute(query, (schema,)).fetchall()]


def missing(connection: Any, schema: str) -> list[Table]:
    """Return the tables of parts that a schema lacks."""
    return declared.missing(tables(connection, schema))


def version(connection: Any, schema: str) -> int:
    """Return the version of a schema; 0 for an empty one."""
    table = sql.Identifier(schema, "langmemory_version")
    there = "SELECT to_regclass(%s) IS NOT NULL"
    if not connection.execute(there, (table.as_string(connection),)).fetchone()[0]:
        return 0
    found = connection.execute(sql.SQL("SELECT version FROM {}").format(table)).fetchone()
    return int(found[0])
