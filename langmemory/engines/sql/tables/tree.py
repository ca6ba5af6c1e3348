"""Rows of summary nodes: memories that retell others, which recall finds by what they retell alone."""

from __future__ import annotations

IS_NODE = "{0}.kind = 'archival' AND {0}.index_fields = 'false'"
"""Whether an item, by its alias, is a node of the tree of summaries: no words and no vectors."""
