"""Rows of summary nodes: memories that retell others, which recall finds by what they retell alone."""

from __future__ import annotations

from typing import Final

IS_NODE: Final = "({0}.kind = 'archival' AND coalesce({0}.index_fields, '') = 'false')"
"""Whether an item, by its alias, is a node of the tree of summaries: no words and no vectors."""
