"""Items of LangGraph's own SQL stores, which all have a table ``store``."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Contents = Literal["memory", "items", "nothing"]
"""What is in a place: a memory of ours, the items of a store of LangGraph's, or neither."""

TABLES: Final = ("store", "store_migrations")


class ForeignItem(NamedTuple):
    """A row of the table ``store``."""

    path: str
    """The labels of the namespace, joined by a period as ours are."""
    key: str
    value: str
    """JSON."""
    created_at: str
    """ISO 8601, as the other times; without an offset in UTC."""
    updated_at: str
    expires_at: str | None
    ttl_minutes: float | None
