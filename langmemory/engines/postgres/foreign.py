"""Reading LangGraph's PostgresStore."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from psycopg import sql as quoting

from langmemory.addresses import DEFAULT_SCHEMA, Address
from langmemory.engines.postgres.database import clear_errors
from langmemory.ledger.engine import TABLES, Contents, ForeignItem

USUAL_SCHEMA = "public"
"""Where PostgresStore keeps its tables, unless the ``search_path`` of its connection says otherwise."""
PIECE = 1_000
"""Rows that are fetched at a time."""


def contents(url: str) -> Contents:
    """Return what is in a schema of a server; without one named, also in the usual one of a PostgresStore.

    Raises:
        DatabaseError: There is no server, or it refuses.
    """
    address = Address(url)
    with clear_errors(address.shown()), psycopg.connect(address.url, autocommit=True) as connection:
        if _has(connection, address.schema, ("langmemory_version",)):
            return "memory"
        return "items" if _schema(connection, address) else "nothing"


def items(url: str) -> Iterator[ForeignItem]:
    """Yield the items of a PostgresStore, all of one moment."""
    address = Address(url)
    with clear_errors(address.shown()), psycopg.connect(address.url) as connection:
        query = quoting.SQL(
            "SELECT prefix, key, value::text, to_json(created_at) #>> '{{}}', "
            "to_json(updated_at) #>> '{{}}', to_json(expires_at) #>> '{{}}', "
            "ttl_minutes::double precision FROM {}.store ORDER BY created_at, prefix, key"
        ).format(quoting.Identifier(_schema(connection, address) or address.schema))
        with connection.cursor(name="langmemory_copy") as cursor:
            cursor.itersize = PIECE
            for row in cursor.execute(query):
                yield ForeignItem(*row)


def _schema(connection: psycopg.Connection, address: Address) -> str | None:
    """Return the schema in which a PostgresStore has its tables."""
    schemas = [address.schema, *([USUAL_SCHEMA] if address.schema == DEFAULT_SCHEMA else [])]
    return next((one for one in schemas if _has(connection, one, TABLES)), None)


def _has(connection: psycopg.Connection, schema: str, tables: tuple[str, ...]) -> bool:
    row = connection.execute(
        "SELECT count(*) FROM pg_tables WHERE schemaname = %s AND tablename = ANY(%s)",
        (schema, list(tables)),
    ).fetchone()
    return row == (len(tables),)
