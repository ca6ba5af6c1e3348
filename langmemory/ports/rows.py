"""Rows of an export, by type."""

from __future__ import annotations

from typing import Final

ITEM_TYPES: Final = frozenset({"meta", "item", "history"})
"""Rows that are items, or tell of them and of the file."""
RECORD_TYPES: Final = frozenset(
    {
        "alias",
        "citation",
        "edge",
        "entity",
        "evidence",
        "link",
        "mention",
        "reflected",
        "removed",
        "review",
        "run",
        "secret",
        "usage",
    }
)
"""Rows of what was derived and what happened: runs, reviews, evidence, entities and others."""
