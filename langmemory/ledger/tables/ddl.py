"""The DDL of tables, by the dictionary of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langmemory.ledger.tables.table import Column, Table, Trigger, Type


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """How an engine spells a declaration."""

    types: Mapping[Type, str]
    """SQL type of each type; those of ``counter`` and ``serial`` make the column the primary key."""
    words: Mapping[str, str]
    """What stands for ``{word}`` in indexes and triggers."""
    options: Callable[[Table], str]
    """What follows the columns of a table."""
    trigger: Callable[[Table, Trigger, Mapping[str, str]], str]
    """The statements that create a trigger."""
    check: Callable[[str, str, str], list[str]]
    """The statements that replace the check of a column of a table by another one."""
    comments: bool = False
    """Whether the database keeps the text of a declaration, with its comments."""


def create(tables: Iterable[Table], dialect: Dialect) -> list[str]:
    """Return the statements that create tables and their indexes, then their triggers."""
    tables = tuple(tables)
    return [
        *(statement for table in tables for statement in _with_indexes(table, dialect)),
        *(dialect.trigger(table, one, dialect.words) for table in tables for one in table.triggers),
    ]


def add_column(table: str, column: Column, dialect: Dialect) -> str:
    """Return the statement that adds a column to a table; without a default it must allow NULL."""
    return f"ALTER TABLE {table} ADD COLUMN {_column(column, (), dialect)};"


def allow(table: str, column: str, words: Iterable[str], dialect: Dialect) -> list[str]:
    """Return the statements that let a column hold other words than it was declared with."""
    return dialect.check(table, column, _among(column, words))


def _with_indexes(table: Table, dialect: Dialect) -> list[str]:
    parts = [(_column(one, table.key, dialect), one.doc) for one in table.columns]
    if len(table.key) > 1:
        parts.append((f"PRIMARY KEY ({', '.join(table.key)})", ""))
    if table.unique:
        parts.append((f"UNIQUE ({', '.join(table.unique)})", ""))
    if table.check:
        parts.append((f"CHECK ({table.check})", ""))
    commas = [","] * (len(parts) - 1) + [""]
    lines = (
        f"    {part}{comma}" + (f" -- {doc}" if doc and dialect.comments else "")
        for (part, doc), comma in zip(parts, commas, strict=True)
    )
    options = dialect.options(table)
    return [
        f"CREATE TABLE {table.name} (\n"
        + "\n".join(lines)
        + (f"\n) {options};" if options else "\n);"),
        *(
            f"CREATE INDEX {one.name} ON {table.name} ({one.columns.format_map(dialect.words)})"
            + (f" WHERE {one.where};" if one.where else ";")
            for one in table.indexes
        ),
    ]


def _column(column: Column, key: tuple[str, ...], dialect: Dialect) -> str:
    spelled = f"{column.name} {dialect.types[column.type]}"
    if column.type in ("counter", "serial"):
        return spelled
    if key == (column.name,):
        spelled += " PRIMARY KEY"
    elif not column.null:
        spelled += " NOT NULL"
    if column.default is not None:
        spelled += f" DEFAULT {_literal(column.default)}"
    if column.unique:
        spelled += " UNIQUE"
    if column.one_of:
        spelled += f" {_among(column.name, column.one_of)}"
    if column.between:
        spelled += f" CHECK ({column.name} BETWEEN {column.between[0]} AND {column.between[1]})"
    return spelled


def _among(column: str, words: Iterable[Any]) -> str:
    return f"CHECK ({column} IN ({', '.join(map(_literal, words))}))"


def _literal(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
