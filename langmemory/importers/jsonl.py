"""JSONL of messages: one object per line with role, content, at, thread, and maybe name and id.

A line may also be a message as LangChain dumps it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from langmemory.importers.json_stream import iterate_lines
from langmemory.importers.message import ImportedMessage, MessageReader


def read_jsonl(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the messages. Without `thread` they belong to one named after the file."""
    reader = MessageReader(file=file.name)
    default_thread = Path(file.name).stem
    for number, line in iterate_lines(file):
        thread = str(line.get("thread") or line.get("thread_id") or default_thread)
        yield reader.dumped(f"line {number}", line, thread=thread)
