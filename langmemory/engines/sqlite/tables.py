"""Declarations of tables as SQLite spells them, and the tables that it alone has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from langmemory.ledger.tables import schema
from langmemory.ledger.tables.ddl import Dialect, create
from langmemory.ledger.tables.table import Table, Trigger

KEYWORD: Final = """\
CREATE VIRTUAL TABLE keyword USING fts5 (
    ns, body, context,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);"""
"""Words: contentless, so the text stands once. ns: one token for the namespace and one per ancestor."""

_VECTOR: Final = """\
-- Embeddings, L2-normalised. id = item << 16 | n, the n-th vector of the item.
CREATE TABLE vector (
    id   INTEGER PRIMARY KEY,
    hash BLOB, -- the same text under the same model is looked up by it; NULL: not worth it
    e    BLOB NOT NULL -- float32[dims], as sqlite-vec reads it
) STRICT;
CREATE INDEX vector_hash ON vector (hash) WHERE hash IS NOT NULL;"""


def _options(table: Table) -> str:
    by_number = len(table.id) == 1 and table.column(table.id[0]).type in (
        "counter",
        "serial",
        "integer",
    )
    return "STRICT" if by_number else "STRICT, WITHOUT ROWID"


def _trigger(table: Table, trigger: Trigger, words: Mapping[str, str]) -> str:
    when = f" WHEN {trigger.when.format_map(words)}" if trigger.when else ""
    return (
        f"CREATE TRIGGER {trigger.name} AFTER {trigger.event} ON {trigger.on or table.name}{when} BEGIN\n"
        f"    {trigger.do.format_map(words)}\nEND;"
    )


def _check(table: str, column: str, check: str) -> list[str]:
    """The text of the declaration is changed, as https://sqlite.org/lang_altertable.html advises where rows
    stay as they are. That a table comes and goes tells other connections to read it again."""
    began = f"instr(sql, 'CHECK ({column} IN (')"
    after = f"{began} + instr(substr(sql, {began}), '))') + 1"
    quoted = check.replace("'", "''")
    return [
        "PRAGMA writable_schema = ON;",
        f"UPDATE sqlite_schema SET sql = substr(sql, 1, {began} - 1) || '{quoted}' || substr(sql, {after}) "
        f"WHERE type = 'table' AND name = '{table}' AND {began} > 0;",
        "PRAGMA writable_schema = RESET;",
        "CREATE TABLE declared_anew (id INTEGER) STRICT;",
        "DROP TABLE declared_anew;",
    ]


DIALECT: Final = Dialect(
    types={
        "counter": "INTEGER PRIMARY KEY AUTOINCREMENT", "serial": "INTEGER PRIMARY KEY",
        "integer": "INTEGER", "time": "INTEGER", "flag": "INTEGER", "real": "REAL", "text": "TEXT",
        "json": "TEXT", "blob": "BLOB", "anything": "ANY", "scalar": "ANY",
    },
    words={
        "now": "CAST(unixepoch('subsec') * 1000000 AS INTEGER)", "integer": "INTEGER",
        "differs_from": "IS NOT", "as_anything": "",
        "begins_with_year": "GLOB '[0-9][0-9][0-9][0-9]-*'",
    },
    options=_options,
    trigger=_trigger,
    check=_check,
    comments=True,
)  # fmt: skip


@schema.cached_derivation
def statements() -> str:
    """Return what creates the tables of an empty file."""
    return "\n".join([KEYWORD, _VECTOR, *create(schema.tables(), DIALECT)])
