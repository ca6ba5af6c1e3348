"""Orders to a model that reads a text, where the text should only tell something."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from langmemory.languages import Topic
from langmemory.languages.tables import NEVER


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OrderWords:
    """Regular expressions, whatever the case."""

    orders: re.Pattern[str] = NEVER
    """Orders to a model that reads a memory, instead of words about somebody."""


_ORDERS: Final = Topic(
    OrderWords,
    "orders",
    about='orders to a model that reads memory ("ignore the rules above")',
    without="what a model concludes is checked for those of the other languages",
)


def gives_orders(text: str) -> bool:
    """Return whether a text gives orders to the model that reads it, in any language."""
    return _ORDERS.everywhere.orders.search(text) is not None
