"""The columns of a memory, by the table of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from langmemory.ledger.tables.schema import ITEM
from langmemory.ledger.tables.table import NUMBERS
from langmemory.types import Memory


def _names(*parts: Any) -> tuple[str, ...]:
    return tuple(column.name for column in ITEM.parts(*parts))


FACETS: Final = _names("facet", "standing", "place")
"""Columns a write may set beyond the item itself."""
REVISABLE: Final = _names("facet", "standing")
"""Columns a run may set; together with the value and ``updated_at`` all that an undo restores."""
UPKEEP: Final = _names("upkeep")
"""Columns of an item, besides its facets, that are kept to put it back."""
AT_FIRST: Final[Mapping[str, Any]] = {
    **{column.name: column.default for column in ITEM.parts("facet", "standing")},
    "index_fields": None,
    "expires_at": None,
}
"""Columns that tell how an item stood, and what they are where nobody set them. The history keeps
what a change or the end of the item replaced, so that it can be shown as it was at any time."""

_FIELDS: Final = frozenset(field.name for field in fields(Memory))
SHOWN: Final = tuple(name for name in ITEM.names if name in _FIELDS or name == "thread")
"""Columns that a `Memory` shows, in the order of the table."""
COUNTED: Final = tuple(name for name in UPKEEP if name in SHOWN)
"""Columns that a `Memory` shows beside those of `FACETS` and what it says: when it came and was used."""

TIMES: Final = ITEM.of_type("time")
FLAGS: Final = ITEM.of_type("flag")
SQL_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(ITEM.of_type(*NUMBERS), "INTEGER"),
    **dict.fromkeys(ITEM.of_type("real"), "REAL"),
}
"""Columns that are not texts."""
