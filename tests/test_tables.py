"""The list of tables: it is consistent, and nothing else lists tables or their columns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.ledger.tables.schema import tables
from langmemory.ledger.tables.table import PERSON, Table

PACKAGE = Path(__file__).parents[1] / "langmemory"
FOLDERS = ("ledger", "search", "engines", "operations")
"""Where tables are read and written."""
SCHEMA = "ledger/tables/schema.py"
FEW_COLUMNS = 4
"""So many columns of one table beside each other are a list of its columns."""
MEANT = {
    "operations/events.py": "types of events, two of which are called like the tables they tell of",
    "ledger/items.py": "what stands for the ids of two tables in a memory",
}
"""Modules with a list that is none of tables, and why."""


def constants(node: ast.AST) -> list[str]:
    """Return the texts of a tuple, a list, a set, or a mapping of constants; else nothing."""
    if isinstance(node, ast.Dict):
        plain = all(isinstance(one, ast.Constant | ast.Tuple) for one in node.values)
        parts: list[ast.expr | None] = list(node.keys) if plain else []
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = list(node.elts)
    else:
        return []
    first = [one.elts[0] if isinstance(one, ast.Tuple) and one.elts else one for one in parts]
    found = [one.value for one in first if isinstance(one, ast.Constant)]
    whole = len(found) == len(parts) and all(isinstance(one, str) for one in found)
    return [str(one) for one in found] if whole else []


def lists(source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lists of tables, and of columns of one table, that a module spells: its line and they."""
    names = {table.name for table in tables()}
    columns = [set(table.names) for table in tables()]
    for node in ast.walk(ast.parse(source)):
        found = set(constants(node))
        several = len(found) > 1 and found <= names
        if several or (len(found) >= FEW_COLUMNS and any(found <= one for one in columns)):
            yield node.lineno, sorted(found)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "source",
    [
        'for table in ("evidence", "mention"): pass',
        'X = {"usage": "item", "citation": "item"}',
        'X = (("edge", "fact", "item"), ("alias", "entity", "entity"))',
        'X = frozenset({"kind", "privacy", "status", "priority"})',
    ],
)
def test_a_list_of_tables_is_seen(source: str) -> None:
    """A tuple, a set, a mapping and rows that begin with the names of tables are lists."""
    assert list(lists(source))


def test_tables_are_listed_once() -> None:
    """No module lists tables, or the columns of one, but the list of tables itself."""
    found = {
        f"{module.relative_to(PACKAGE).as_posix()}:{line}: {', '.join(names)}"
        for folder in FOLDERS
        for module in sorted((PACKAGE / folder).rglob("*.py"))
        if module.relative_to(PACKAGE).as_posix() not in {SCHEMA, *MEANT}
        for line, names in lists(module.read_text("utf-8"))
    }
    assert not found, f"derive it from {SCHEMA}"


def test_each_exception_is_needed() -> None:
    """A module that may spell a list does."""
    for module in MEANT:
        assert list(lists((PACKAGE / module).read_text("utf-8"))), module


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_a_declaration_is_consistent(table: Table) -> None:
    """A table says what a row is, has a key, names columns and tables that there are, and says who
    reads it in one way; what stands beside an item says which."""
    assert table.doc.endswith(".")
    assert table.id
    assert {*table.id, *table.unique, *table.readers.through} <= set(table.names)
    known = {one.name for one in tables()} | {PERSON}
    assert {one.of for one in table.columns if one.of} <= known
    readers = table.readers
    assert [bool(readers.through), bool(readers.where), bool(readers.nobody)].count(True) == 1
    assert not table.beside or table.ids_of("item")
    assert not (table.undone and "run" not in table.names)
