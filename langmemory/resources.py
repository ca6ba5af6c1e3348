"""Chunks of documents as stored values: what they are searched by, and how they are cited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

KEYS: Final = "doc/"
"""Begin the keys of documents and their chunks."""
NAMESPACE: Final = "documents"
"""The label under which they are, unless told otherwise."""
CLIENT: Final = "client:"
"""Begins the root of what was read on another machine and sent over REST. The server opens no such folder."""
MOST_BYTES: Final = 20_000_000
"""Of one file, unless told otherwise."""


def is_chunk(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a part of a document."""
    return (
        value.get("kind") == "resource"
        and isinstance(value.get("document"), str)
        and isinstance(value.get("text"), str)
    )


def searched_text(value: Mapping[str, Any]) -> str:
    """Return what a chunk is embedded and found by: the headings above it, and its text."""
    heading = value.get("heading")
    return (
        f"{heading}\n{value['text']}"
        if isinstance(heading, str) and heading
        else str(value["text"])
    )


def citation(value: Mapping[str, Any]) -> str:
    """Return where a chunk stands: ``docs/guide.md#L10-L24``, ``paper.pdf#page=3``; else its path and
    heading, as ``page.html (Install > Linux)``."""
    path, place = str(value.get("path", "")), value.get("place")
    if isinstance(place, str) and place:
        return f"{path}#{place}"
    heading = value.get("heading")
    return f"{path} ({heading})" if isinstance(heading, str) and heading else path


def opens_folder(value: Mapping[str, Any]) -> bool:
    """Return whether an item of this value has the machine of the store read a folder of its own, so that no
    client may write it."""
    record, root = value.get("record"), value.get("root")
    if record == "document" and root == "":  # of a text
        return False
    if record in ("source", "document"):
        return not (isinstance(root, str) and root.startswith(CLIENT))
    return record == "project"
