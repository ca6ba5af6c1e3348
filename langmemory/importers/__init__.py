"""Conversation files → messages, and memory exports → rows.

`detect` says which format a file is, `read_messages` streams the messages of any conversation
format, `read_rows` streams the rows of langmemory's own export. Nothing here writes.
"""

from langmemory.importers.formats import Format, detect, read_messages, read_rows
from langmemory.importers.message import ImportedMessage

__all__ = ["Format", "ImportedMessage", "detect", "read_messages", "read_rows"]
