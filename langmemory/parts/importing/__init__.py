"""Conversation files → messages, and memory exports → rows.

`detect` says which format a file is, `read_messages` streams the messages of any conversation
format, `read_rows` streams the rows of langmemory's own export. Nothing here writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langmemory.hooks import lazy

if TYPE_CHECKING:
    from langmemory.parts.importing.formats import Format, detect, read_messages, read_rows
    from langmemory.parts.importing.message import ImportedMessage

__all__ = ["Format", "ImportedMessage", "detect", "read_messages", "read_rows"]

__getattr__ = lazy(
    __name__,
    {
        "formats": ("Format", "detect", "read_messages", "read_rows"),
        "message": ("ImportedMessage",),
    },
)
"""`langmemory --help` names the commands, and needs no format."""
