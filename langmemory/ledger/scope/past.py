"""Columns of an item as they were at a time, by the record of what changed since."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from langmemory.ledger.tables.facets import SQL_TYPES

REVISED: Final = (
    "EXISTS (SELECT 1 FROM history h WHERE h.item = i.id AND h.at > ? AND h.facets IS NOT NULL)"
)
"""Whether a run changed columns of the item ``i`` after a time, in microseconds."""

_NEXT: Final = (
    "(SELECT {} FROM history h WHERE h.item = {} AND h.at > ? AND h.action <> 'add' "
    "ORDER BY h.at, h.seq LIMIT 1)"
)
"""Of the first change of an item after a time: its value before that is the one of the time."""

TOLD: Final = f"coalesce({_NEXT.format('h.before IS NOT NULL', 'i.id')}, TRUE)"
"""Whether it is still known what the item ``i`` said at a time: it was not, if it was taken out and
not yet brought back, or if what it said was forgotten."""

UNCHANGED: Final = f"coalesce({_NEXT.format('h.before IS i.value', 'i.id')}, TRUE)"
"""Whether the item ``i`` said at a time what it says now."""


def typed(name: str, found: str) -> str:
    """Return a column that was read from JSON, as the table has it: some databases read a text."""
    return f"CAST({found} AS {SQL_TYPES[name]})" if name in SQL_TYPES else f"({found})"


def said(item: str) -> str:
    """Return the value that an item had at a time and has no more, or that is forgotten: then it is
    NULL."""
    return _NEXT.format("h.before", item)


def column(name: str) -> str:
    """Return a column of ``i`` at a time, in microseconds: what the first change after it replaced,
    or what it is. As JSON until it is chosen, in which a column that was NULL is not one without
    a change."""
    told = f"h.facets -> '$.{name}'"
    found = (
        f"coalesce((SELECT {told} FROM history h WHERE h.item = i.id AND h.at > ? "
        f"AND {told} IS NOT NULL ORDER BY h.at, h.seq LIMIT 1), json_quote(i.{name})) ->> '$'"
    )
    return typed(name, found)


def columns(names: Iterable[str]) -> str:
    """Return a query of one row: these columns of ``i`` at a time, which is bound once for each."""
    return "SELECT " + ", ".join(f"{column(name)} AS {name}" for name in names)
