"""Creating, checking, migrating and mending a file."""

from __future__ import annotations

from typing import Final

import apsw

from langmemory.engines.sqlite import indexes, tables
from langmemory.engines.sqlite.connection import (
    APPLICATION_ID,
    Connection,
    Database,
    refuse_checkpointer,
)
from langmemory.errors import DatabaseError
from langmemory.ledger import verbatim
from langmemory.ledger.indexing import COLUMNS, TABLES, Indexing, redraft_row, tokens_of
from langmemory.ledger.items import Write
from langmemory.ledger.namespaces import namespace_tokens
from langmemory.ledger.tables import migrations
from langmemory.ledger.tables import schema as declared
from langmemory.ledger.tables.ddl import create
from langmemory.ledger.tables.table import Table

UNRELEASED: Final = 18
"""The last version of a file from before 0.1.0; see `migrations`."""


def version(connection: Connection) -> int:
    """Return the schema version of the file; 0 for an empty one."""
    return int(connection.pragma("user_version"))


def setup(database: Database) -> bool:
    """Bring the file to the current version. Cheap and safe to repeat, also from several processes.

    Returns:
        Whether the keyword index had lost its tables and is empty, until `indexes.words_found` is called.

    Raises:
        SchemaVersionError: The file is from a newer langmemory.
        DatabaseError: The file is a SQLite database of something else.
    """
    newest = migrations.newest()
    with database.read() as connection:
        _check(connection, database.path)
        lost = _words_lost(connection)
        whole = not lost and not _missing(connection)
        if version(connection) == newest and whole:
            database.schema_version = newest
            return indexes.words_lost(connection)
    with database.write() as connection:
        found = version(connection)  # another process may have been faster
        _check(connection, database.path)
        if found == 0:
            connection.execute(tables.statements())
            indexes.set_default_rank(connection)
            connection.execute(
                "INSERT INTO setting (name, value) VALUES ('generation', abs(random() >> 1))"
            )
        else:
            for statement in migrations.leading_on(found, tables.DIALECT):
                connection.execute(statement)
            for statement in create(_missing(connection), tables.DIALECT):
                connection.execute(statement)
        connection.pragma("user_version", newest)
        connection.pragma("application_id", APPLICATION_ID)
        if lost and _words_lost(connection):
            indexes.recreate_words(connection)
        lost = indexes.words_lost(connection)
    database.schema_version = newest
    return lost


def _words_lost(connection: Connection) -> bool:
    """Return whether the keyword index has to be created anew: it lacks tables, or rows. One that cannot be
    read is mended when it is asked, see `Engine.retried`."""
    if indexes.shadow_tables_lost(connection):
        return version(connection) > 0
    try:
        return not indexes.words_lost(connection) and indexes.words_missing(connection)
    except apsw.Error:
        return False


def _missing(connection: Connection) -> list[Table]:
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return declared.missing(name for (name,) in names)


def _check(connection: Connection, path: str) -> None:
    application = int(connection.pragma("application_id"))
    if application not in (0, APPLICATION_ID) or (
        application == 0
        and connection.execute("SELECT count(*) FROM sqlite_schema").get  # a foreign database
    ):
        raise DatabaseError(
            f"{path} is a SQLite database of another application "
            f"(application_id {application}). Name another file."
        )
    refuse_checkpointer(connection, path)
    migrations.check(version(connection), UNRELEASED, path)


BATCH: Final = 256
"""Items read and written at a time."""


def rebuild_keywords(connection: Connection, indexing: Indexing) -> int:
    """Write the whole keyword index anew from the items, and the tokens of texts of other scripts; how
    many items. In a write transaction."""
    indexes.delete_all_words(connection)
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
            draft = redraft_row(indexing, row)
            body = draft.body
            if row[9] and not draft.text.isascii():
                split[row[0]] = draft
            if body is None:
                continue
            written.append((row[0], namespace_tokens(connection, row[8]), body, ""))
            if row[5] is not None:
                turns.append(row[0])
        indexes.write_words(connection, written, fresh=True)
        verbatim.refresh_contexts(connection, turns)
        connection.executemany(
            "UPDATE item SET tokens = ? WHERE id = ?",
            zip(tokens_of(list(split.values())), split, strict=True),
        )
        count += len(written)
    indexes.words_found(connection)
    return count
